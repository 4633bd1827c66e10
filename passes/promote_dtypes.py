"""`promote-dtypes`: NumPy's promotion (NEP 50) becomes explicit casts, and weak numbers get dtypes.

Before:

    %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.add"(%1, %k) : (tensor<?xf32, #weft.dims<n>>, tensor<i64>) -> tensor<?xf64, #weft.dims<n>>

After:

    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.cast"(%1) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %3 = "weft.cast"(%k) {to = f64} : (tensor<i64>) -> tensor<f64>
    %4 = "weft.add"(%2, %3) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>

Needs nothing. Guarantees `Stage.PROMOTED`: operands have the dtypes that the op computes in, outputs are strong, and
only casts and NumPy functions read a weak value (an input that is a Python number, or a size). A literal that
does not fit the dtype it meets is an `OverflowProblem`, as in NumPy.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.dtypes import F64, I64, U64, WEAK_INT, DType
from ..ir.errors import Span
from ..ir.flow import map_bodies
from ..ir.graph import Graph, Node, Value
from ..ir.ops import CAST, CONSTANT, DECLARED, TABLE, WHERE, OpDef
from ..ir.records import record
from ..ir.rewrite import Rewriter
from .rules.literals import Number, converted, fits, literal

EQ, NE, LT, LE, GT, GE = (TABLE[n] for n in ("eq", "ne", "lt", "le", "gt", "ge"))
MIRRORED = {EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE}


@record
class PromoteDtypes:
    """Makes every conversion a node."""

    name: ClassVar[str] = "promote-dtypes"

    def run(self, graph: Graph) -> Graph:
        graph = map_bodies(graph, self.run)
        promoter = _Promoter(graph)
        for node in graph:
            promoter.node(node)
        for value in dict.fromkeys(graph.outputs):
            if value.type.dtype.weak:
                promoter.replace(value, promoter.strong(value, value.type.dtype.strong, _span(value), CAST))
        unused = any(n.results and is_weak_constant(n.result) and n.result not in promoter.values for n in graph)
        return promoter.finish() if promoter.changed or unused else graph


class _Promoter(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.changed = False
        self.made: dict[tuple[Value, DType, bool], Value] = {}

    def node(self, node: Node) -> None:
        if node.results and is_weak_constant(node.result):
            return  # each use makes its own
        if node.op in DECLARED:
            self.copy(node, [self.as_it_was(v) for v in node.operands])
        elif node.op is CAST and not is_weak_constant(node.operands[0]):
            self.copy(node)
        elif not self.compare_beyond_range(node):
            pairs = zip(node.operands, self.compute_dtypes(node), strict=True)
            self.copy(node, [self.strong(v, d.strong, node.span, node.op) for v, d in pairs])

    def compute_dtypes(self, node: Node) -> tuple[DType, ...]:
        """The dtypes that an op computes in.

        A comparison with an argument that is a Python integer uses its full range.
        """
        want, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
        numbers = [v.type.dtype == WEAK_INT and not is_weak_constant(v) for v in node.operands]
        if node.op in MIRRORED and any(numbers) and all(d.is_integer for d in want):
            return tuple(U64 if d == U64 and not number else I64 for d, number in zip(want, numbers, strict=True))
        return want

    def as_it_was(self, value: Value) -> Value:
        """Keep a literal unchanged, for a NumPy function."""
        if is_weak_constant(value) and value not in self.values:
            assert value.node is not None
            self.copy(value.node)
        return self.get(value)

    def strong(self, value: Value, want: DType, span: Span | None, op: OpDef) -> Value:
        """Converts a value to the dtype that its use needs."""
        if not is_weak_constant(value) and self.get(value).type.dtype == want:
            return self.get(value)
        self.changed = True
        # `where` and `astype` convert a Python number as an array, other functions as a number.
        as_array = op is WHERE or op is CAST
        key = (value, want, as_array)
        if key not in self.made:
            if is_weak_constant(value):
                self.made[key] = self.constant(value, want, span, as_array)
            else:
                self.made[key] = self.cast(value, want, span, as_array)
        return self.made[key]

    def constant(self, value: Value, want: DType, span: Span | None, as_array: bool) -> Value:
        assert value.node is not None
        number = literal_of(value)
        place = value.node.span or span
        if as_array:
            number = converted(literal(number, value.type.dtype.strong, place), want)
        return self.builder.constant(literal(number, want, place), want, place)

    def cast(self, value: Value, want: DType, span: Span | None, as_array: bool) -> Value:
        new = self.get(value)
        from_int = value.type.dtype == WEAK_INT and want.kind in ("float", "complex")
        if from_int and want != F64 and not as_array:
            # Python's int becomes a double first, so a large one is rounded twice.
            new = self.builder.op(CAST, new, span=span, to=F64)
        return self.builder.op(CAST, new, span=span, to=want)

    def compare_beyond_range(self, node: Node) -> bool:
        """Folds a comparison of integers with a literal beyond their dtype: NumPy compares exactly."""
        if node.op not in MIRRORED:
            return False
        want, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
        for at in (0, 1):
            number, dtype = literal_of(node.operands[at]), want[at]
            if not is_weak_constant(node.operands[at]) or not dtype.is_integer or fits(number, dtype):
                continue
            assert isinstance(number, int)
            op = node.op if at == 1 else MIRRORED[node.op]
            holds = op is NE or op in ((LT, LE) if number > 0 else (GT, GE))
            other = self.strong(node.operands[1 - at], dtype, node.span, node.op)
            self.replace(node.result, self.builder.op(EQ if holds else NE, other, other, span=node.span))
            self.changed = True
            return True
        return False


def is_weak_constant(value: Value) -> bool:
    return value.node is not None and value.node.op is CONSTANT and value.type.dtype.weak


def literal_of(value: Value) -> Number:
    """The number of a constant; 0 for anything else."""
    found = value.node.attrs["value"] if value.node is not None and value.node.op is CONSTANT else 0
    assert isinstance(found, (bool, int, float, complex))
    return found


def _span(value: Value) -> Span | None:
    return value.node.span if value.node else None
