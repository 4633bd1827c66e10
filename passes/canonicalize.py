"""`canonicalize`: constants are folded, identities removed and costly operations replaced by cheap ones, bit for bit.

Before:

    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.power"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.div"(%1, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>

After:

    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.square"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 0.5 : f64, dtype = f32} : () -> tensor<f32>
    %3 = "weft.mul"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>

Needs explicit casts: an operation that has yet to be promoted is left alone. Guarantees the same bits for every finite
value, NaN, infinity and zero (NaN payloads aside), and that a commutative op has its constant on the right. Operations
that are no longer used are left to `drop-dead`. The rules are in `fold`, `arithmetic`, `logic`, `conversions`, `views`,
`scans`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.builder import is_scalar_result
from ..ir.dims import Size
from ..ir.errors import Span
from ..ir.flow import map_bodies
from ..ir.graph import Graph, Node, Value
from ..ir.kernels import KernelLookup
from ..ir.opdef import commutes
from ..ir.ops import BROADCAST, CAST, CONSTANT, DECLARED, OpDef, Trait
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.types import Attr, TensorType
from .rules import arithmetic, conversions, fold, logic, scans, views
from .rules.site import Rule, Site, constant_of

_TABLES = (fold.RULES, arithmetic.RULES, logic.RULES, conversions.RULES, views.RULES, scans.RULES)
RULES: Mapping[OpDef, tuple[Rule, ...]] = {
    op: tuple(rule for table in _TABLES for rule in table.get(op, ()))
    for op in dict.fromkeys(op for table in _TABLES for op in table)
}


@record
class Canonicalize:
    """Apply the rules to every operation, operands first, and also to the operations that rules make.

    With a `source` of kernels, ops that a user's kernel computes are left alone.
    """

    source: KernelLookup | None = None
    name: ClassVar[str] = "canonicalize"

    def run(self, graph: Graph) -> Graph:
        return _Canonicalizer(map_bodies(graph, self.run), self.source).run()


class _Canonicalizer(Rewriter):
    def __init__(self, graph: Graph, source: KernelLookup | None) -> None:
        super().__init__(graph)
        self.changed, self.source = False, source

    def run(self) -> Graph:
        returned = _returned_numbers(self.graph)
        for node in self.graph:
            found = self.simplified(node)
            if found is not None and self.source is not None:
                self.source.note_use(node.op.name)
            if found is not None and (
                self.is_replaced(node)
                or (node.result in returned and is_scalar_result(node.result) != is_scalar_result(found))
            ):
                found = None
            if found is None:
                self.copy(node)
            else:
                self.changed = True
                self.replace(node.result, found)
        return self.finish() if self.changed else self.graph

    def simplified(self, node: Node) -> Value | None:
        """The replacement of the node's result, if a rule applies."""
        if len(node.results) != 1 or node.op in DECLARED:
            return None
        operands = self.operands(node)
        tidy = _tidy(node.op, operands, node.result.type)
        found = self.apply(node.op, tidy, node.attrs, node.result.type, node.span)
        if found is None and tidy != operands:
            return self.builder.node(node.op, tidy, node.attrs, node.span).result
        return found

    def is_replaced(self, node: Node) -> bool:
        """Whether a user's kernel computes this node."""
        dtypes = tuple(v.type.dtype for v in node.operands)
        return self.source is not None and self.source.is_replaced(node.op.name, dtypes)

    def apply(
        self, op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Attr], type: TensorType, span: Span | None
    ) -> Value | None:
        if op not in RULES or not _is_promoted(op, operands, attrs):
            return None
        site = Site(op, operands, attrs, type, span, self.make)
        for rule in RULES[op]:
            found = rule(site)
            if found is not None:
                assert found.type == type, (rule, found.type, type)
                return found
        return None

    def make(self, op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Attr], span: Span | None) -> Value:
        """Makes an operation, or its simplified form."""
        if op is CONSTANT:
            return self.builder.node(op, operands, attrs, span).result
        (type,) = self.builder.infer(op, operands, attrs, span)
        operands = _tidy(op, operands, type)
        found = self.apply(op, operands, attrs, type, span)
        return found if found is not None else self.builder.node(op, operands, attrs, span).result


def _is_promoted(op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Attr]) -> bool:
    have = tuple(v.type.dtype for v in operands)
    return op is CAST or (not any(d.weak for d in have) and op.dtypes(have, attrs)[0] == have)


def _returned_numbers(graph: Graph) -> set[Value]:
    """Find outputs without dimensions and the operands of their casts. Each must stay a scalar or a 0-d array."""
    found: set[Value] = set()
    for value in graph.outputs:
        while not value.type.shape:
            found.add(value)
            if value.node is None or value.node.op is not CAST:
                break
            value = value.node.operands[0]
    return found


def _tidy(op: OpDef, operands: tuple[Value, ...], type: TensorType) -> tuple[Value, ...]:
    """Brings the operands of an elementwise op into the form that the rules expect."""
    if Trait.ELEMENTWISE not in op.traits:
        return operands
    for i, value in enumerate(operands):
        if value.node is not None and value.node.op is BROADCAST:
            shorter = (*operands[:i], value.node.operands[0], *operands[i + 1 :])
            if _fill([v.type.shape for v in shorter], type.shape):
                operands = shorter
    if commutes(op, [v.type.dtype for v in operands]) and [constant_of(v) is None for v in operands] == [False, True]:
        return operands[::-1]
    return operands


def _fill(shapes: list[tuple[Size, ...]], result: tuple[Size, ...]) -> bool:
    """Whether broadcasting these shapes certainly gives the result's shape."""
    return all(
        size == 1 or any(len(s) >= -axis and s[axis] == size for s in shapes)
        for axis, size in zip(range(-len(result), 0), result, strict=True)
    ) and any(len(s) == len(result) for s in shapes)
