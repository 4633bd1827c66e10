"""`split-complex`: every complex value becomes two real ones.

Before:

    %0 = "weft.exp"(%x) : (tensor<?xc64, #weft.dims<n>>) -> tensor<?xc64, #weft.dims<n>>
    %1 = "weft.add"(%0, %0) : ...

After:

    %0 = "weft.real"(%x) : (tensor<?xc64, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.imag"(%x) : ...
    %2 = "weft.complex_function"(%0, %1) {function = "exp", part = 0 : i64} : ...
    %3 = "weft.complex_function"(%0, %1) {function = "exp", part = 1 : i64} : ...
    %4 = "weft.add"(%2, %2) : ...
    %5 = "weft.add"(%3, %3) : ...
    %6 = "weft.complex"(%4, %5) : ...

Needs chosen kernels. Guarantees that only `real`, `imag` and `complex` see complex numbers, and these only where
the numbers are in memory: arguments, results, concatenations, reshapes that merge axes, and the operands and results
of NumPy functions.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ..ir.complexes import PARTS
from ..ir.dtypes import DType
from ..ir.graph import Graph, Node, Value
from ..ir.indexing import is_affine
from ..ir.layouts import C
from ..ir.ops import (
    BROADCAST,
    CAST,
    COMPLEX,
    COMPLEX_FUNCTION,
    CONCATENATE,
    CONSTANT,
    DECLARED,
    FLOW,
    IMAG,
    IN_PARTS,
    REAL,
    RESHAPE,
    TABLE,
    WHILE,
    OpDef,
)
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.types import Attr, Sizes, TensorType, integer
from .rules.complex_rules import BOTH_PARTS, RULES, Parts

FUNCTIONS_WITH_REAL_RESULT = frozenset((TABLE["abs"],))
IN_MEMORY = (DECLARED | {CONCATENATE}) - set(FLOW)  # these read and return complex numbers


def is_complex(value: Value) -> bool:
    return value.type.dtype in PARTS


def merges_axes(node: Node) -> bool:
    """Whether a node reads memory in another shape: then its complex numbers are in memory, too."""
    return node.op is RESHAPE and not is_affine(node)


def has_complex(graph: Graph) -> bool:
    values = (*graph.inputs, *(v for n in graph for v in (*n.operands, *n.results)))
    return any(map(is_complex, values)) or any(
        n.op in FLOW and n.body is not None and has_complex(n.body) for n in graph
    )


@record
class SplitComplex:
    """Takes complex values apart."""

    name: ClassVar[str] = "split-complex"

    def run(self, graph: Graph) -> Graph:
        if not has_complex(graph):
            return graph
        splitter = _ComplexSplitter(graph)
        for node in graph:
            splitter.node(node)
        for value in dict.fromkeys(graph.outputs):
            if is_complex(value):
                splitter.replace(value, splitter.joined(value))
        return splitter.finish()


def split_body(body: Graph) -> Graph:
    """Splits the inputs and outputs of an elementwise program into parts."""
    if not has_complex(body):
        return body
    splitter = _ComplexSplitter(body)
    splitter.builder.inputs = []
    for value in body.inputs:
        parts = [splitter.builder.input(value.name or "in", TensorType(d)) for d in _part_dtypes(value)]
        if len(parts) == 2:
            splitter.parts[value] = parts[0], parts[1]
        else:
            splitter.replace(value, parts[0])
    for node in body:
        splitter.node(node)
    return splitter.builder.finish([part for v in body.outputs for part in splitter.flat(v)])


def _part_dtypes(value: Value) -> tuple[DType, ...]:
    dtype = value.type.dtype
    return (PARTS[dtype],) * 2 if is_complex(value) else (dtype,)


class _ComplexSplitter(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.parts: dict[Value, Parts] = {}
        self.whole: dict[Value, Value] = {}
        layouts = graph.attrs.get("layouts", ())
        assert isinstance(layouts, tuple)
        self.layouts = dict(zip(graph.inputs, layouts, strict=False))

    def node(self, node: Node) -> None:
        if node.op in FLOW:
            self.flow(node)
            return
        if node.op in IN_MEMORY:
            # An argument stays in memory: joining its parts would copy it and lose its memory order.
            taken = [self.joined(v) if is_complex(v) and v.node is not None else self.get(v) for v in node.operands]
            self.copy(node, taken)
            return
        if not any(is_complex(v) for v in (*node.operands, *node.results)):
            self.copy(node)
            return
        if merges_axes(node):
            self.copy(node, [self.dense(node.operands[0])])
            return
        made = self.split(node)
        if is_complex(node.result):
            assert isinstance(made, tuple)
            self.parts[node.result] = made
        else:
            assert isinstance(made, Value)
            self.replace(node.result, made)

    def split(self, node: Node) -> Value | Parts:
        """Replaces a node on complex numbers by nodes on their parts."""
        if node.op is CONSTANT:
            return self.constant(node)
        if node.op is CAST:
            return self.cast(node)
        if node.op in IN_PARTS:
            return self.apart(node)
        operands = [self.of(v) if is_complex(v) else self.get(v) for v in node.operands]
        if node.op in BOTH_PARTS:
            return self.on_part(node, operands, 0), self.on_part(node, operands, 1)
        rule = RULES.get(node.op)
        if rule is not None:
            return rule(partial(self.op, node), *operands)
        return self.function(node, operands)

    def flow(self, node: Node) -> None:
        """Splits an elementwise program: its operands and results become parts."""
        assert node.body is not None
        attrs = dict(node.attrs)
        if node.op is WHILE:
            carried = integer(node.attrs, "carried")
            attrs["carried"] = len([p for v in node.operands[:carried] for p in self.flat(v)])
        types = [TensorType(d, v.type.shape) for v in node.results for d in _part_dtypes(v)]
        operands = [part for v in node.operands for part in self.flat(v)]
        body = split_body(node.body)
        made = iter(self.builder.node(node.op, operands, attrs, node.span, body, tuple(types)).results)
        for value in node.results:
            if is_complex(value):
                self.parts[value] = next(made), next(made)
            else:
                self.replace(value, next(made))

    def flat(self, value: Value) -> tuple[Value, ...]:
        return self.of(value) if is_complex(value) else (self.get(value),)

    def on_part(self, node: Node, operands: list[Value | Parts], k: int) -> Value:
        values = [v[k] if isinstance(v, tuple) else v for v in operands]
        return self.builder.node(node.op, values, node.attrs, node.span).result

    def function(self, node: Node, operands: list[Value | Parts]) -> Value | Parts:
        flat = [part for v in operands for part in (v if isinstance(v, tuple) else (v,))]

        def part(k: int) -> Value:
            return self.builder.op(COMPLEX_FUNCTION, *flat, span=node.span, function=node.op.name, part=k)

        return part(0) if node.op in FUNCTIONS_WITH_REAL_RESULT else (part(0), part(1))

    def apart(self, node: Node) -> Value | Parts:
        """Handle `real`, `imag` and `complex` of the graph itself, which only select parts."""
        if node.op is COMPLEX:
            re, im = self.operands(node)
            return re, im
        return self.of(node.operands[0])[0 if node.op is REAL else 1]

    def constant(self, node: Node) -> Parts:
        value, dtype = node.attrs["value"], PARTS[node.result.type.dtype]
        assert isinstance(value, (bool, int, float, complex))
        number = complex(value)
        return self.builder.constant(number.real, dtype, node.span), self.builder.constant(
            number.imag, dtype, node.span
        )

    def cast(self, node: Node) -> Value | Parts:
        value, to = node.operands[0], node.result.type.dtype
        if not is_complex(value):
            zero = self.builder.constant(0.0, PARTS[to], node.span)
            shape = node.result.type.shape
            if shape:
                zero = self.builder.op(BROADCAST, zero, span=node.span, shape=Sizes(shape))
            return self.converted(node, self.get(value), PARTS[to]), zero
        re, im = self.of(value)
        if to in PARTS:
            return self.converted(node, re, PARTS[to]), self.converted(node, im, PARTS[to])
        if to.kind == "bool":
            return self.op(node, TABLE["logical_or"], *(self.converted(node, part, to) for part in (re, im)))
        return self.converted(node, re, to)

    def converted(self, node: Node, value: Value, to: DType) -> Value:
        return value if value.type.dtype == to else self.builder.op(CAST, value, span=node.span, to=to)

    def op(self, node: Node, op: OpDef, *values: Value, **attrs: Attr) -> Value:
        return self.builder.op(op, *values, span=node.span, **attrs)

    def of(self, value: Value) -> Parts:
        """Return the parts of a value, which are loaded if the value is in memory."""
        if value not in self.parts:
            new, span = self.get(value), value.node.span if value.node else None
            self.parts[value] = self.builder.op(REAL, new, span=span), self.builder.op(IMAG, new, span=span)
        return self.parts[value]

    def dense(self, value: Value) -> Value:
        """The value in memory and in C order."""
        if value.node is not None:
            return self.joined(value)
        if self.layouts.get(value) == C:
            return self.get(value)
        if value not in self.whole:
            self.whole[value] = self.builder.op(COMPLEX, *self.of(value))
        return self.whole[value]

    def joined(self, value: Value) -> Value:
        """The value as complex numbers: joined from parts, or unchanged if it is in memory."""
        if value.node is not None and (value.node.op in IN_MEMORY or merges_axes(value.node)):
            return self.get(value)
        if value not in self.whole:
            span = value.node.span if value.node else None
            self.whole[value] = self.builder.op(COMPLEX, *self.of(value), span=span)
        return self.whole[value]
