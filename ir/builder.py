"""Build graphs node by node: check operands, run the op's rules and record the span. Nothing else makes nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .dims import Size
from .dtypes import BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from .errors import LimitExceeded, Span, TypeProblem, WeftError, quantity
from .facts import Facts
from .footprints import check_type
from .graph import Graph, Node, Value
from .limits import limiter
from .ops import CAST, CONSTANT, LOOP, NUMPY, REGION, SIZE, OpDef, Trait
from .types import Attr, Guards, Sizes, TensorType, ints

TIMED = 64  # nodes between two checks of the time limit


class Builder:
    """Builds one graph. `facts` holds what is known about its sizes."""

    def __init__(self, name: str, facts: Facts | None = None) -> None:
        self.name = name
        self.facts = facts or Facts()
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.attrs: dict[str, Attr] = {}

    def input(self, name: str, type: TensorType, scalar: bool = False) -> Value:
        value = Value(type, name=name)
        value.scalar = scalar
        self.inputs.append(value)
        return value

    def node(
        self,
        op: OpDef,
        operands: Sequence[Value],
        attrs: Mapping[str, Attr] | None = None,
        span: Span | None = None,
        body: Graph | None = None,
        types: tuple[TensorType, ...] | None = None,
    ) -> Node:
        """Adds a node. The op's rules give its result types; `types` is for ops without rules, such as regions."""
        attrs = attrs or {}
        if op.arity is not None and len(operands) != op.arity:
            raise TypeProblem(f"{op.name} takes {quantity(op.arity, 'operand')}, not {len(operands)}", span)
        if len(self.nodes) >= limiter.now.nodes:
            hint = "split the kernel into several, or allow more with WEFT_MAX_NODES or weft.set_limits(nodes=...)"
            raise LimitExceeded(f"more than {limiter.now.nodes} operations in one kernel", span, hint)
        if len(self.nodes) % TIMED == TIMED - 1:
            limiter.check_time(span)
        if types is None:
            types = self.infer(op, operands, attrs, span)
        node = Node(op, tuple(operands), attrs, types, span, body)
        self.nodes.append(node)
        return node

    def op(self, op: OpDef, *operands: Value, span: Span | None = None, **attrs: Attr) -> Value:
        """Adds a node with one result and returns that result."""
        return self.node(op, operands, attrs, span).result

    def infer(
        self, op: OpDef, operands: Sequence[Value], attrs: Mapping[str, Attr], span: Span | None
    ) -> tuple[TensorType, ...]:
        """The result types by the op's rules."""
        try:
            _, results = op.dtypes(tuple(v.type.dtype for v in operands), attrs)
            shapes = op.shapes(self.facts, [v.type.shape for v in operands], attrs)
        except WeftError as error:
            error.span = error.span or span
            raise
        pairs = zip(results, shapes, strict=True)
        types = tuple(TensorType(d.strong if d.weak and s else d, s) for d, s in pairs)
        known = {v.type.shape for v in operands}
        for type in types:
            if type.shape not in known or type.dtype.size > min(v.type.dtype.size for v in operands):
                check_type(type, self.facts, span)
        return types

    def constant(
        self, value: bool | int | float | complex, dtype: DType | None = None, span: Span | None = None
    ) -> Value:
        """A literal: weak, as a Python number is, unless a dtype is given."""
        if dtype is None:
            weak = {int: WEAK_INT, float: WEAK_FLOAT, complex: WEAK_COMPLEX}
            dtype = BOOL if isinstance(value, bool) else weak[type(value)]
        return self.op(CONSTANT, value=value, dtype=dtype, span=span)

    def size(self, size: Size, span: Span | None = None) -> Value:
        """A size as a weak integer."""
        size = self.facts.canonical(size)
        if isinstance(size, int):
            return self.constant(size, span=span)
        return self.op(SIZE, size=Sizes((size,)), span=span)

    def finish(self, outputs: Sequence[Value], before: Guards | None = None) -> Graph:
        """Returns the graph, with every size in its canonical form.

        The guards in `before` are kept if no others were added.
        """
        self._settle(self.inputs, self.nodes)
        attrs = dict(self.attrs)
        if self.facts.guards:
            guards = Guards(self.facts.live_guards)
            attrs["guards"] = before if before is not None and before == guards else guards
        return Graph(self.name, tuple(self.inputs), tuple(self.nodes), tuple(outputs), attrs)

    def _settle(self, inputs: Sequence[Value], nodes: Sequence[Node]) -> None:
        if self.facts.is_empty:
            return  # every size is in its canonical form
        known = self.facts.canonical
        for value in [*inputs, *(r for n in nodes for r in n.results)]:
            shape = tuple(known(s) for s in value.type.shape)
            if shape != value.type.shape:
                value.type = TensorType(value.type.dtype, shape)
        for node in nodes:
            if any(isinstance(a, Sizes) for a in node.attrs.values()):
                node.attrs = {
                    k: Sizes(known(s) for s in a) if isinstance(a, Sizes) else a for k, a in node.attrs.items()
                }
            if node.op is LOOP and node.body is not None:  # the graph was finished before all of this was known
                self._settle(node.body.inputs, node.body.nodes)


def is_number_result(value: Value) -> bool:
    """Whether NumPy returns this value as a Python number, as `np.array_equal` does."""
    node = value.node
    return node is not None and "numbers" in node.attrs and value.index in ints(node.attrs, "numbers")


def is_scalar_result(value: Value) -> bool:
    """Whether NumPy returns this value as a scalar rather than as a 0-d array."""
    node = value.node
    if node is None or value.type.shape:
        return value.scalar
    if node.op is CAST:
        return is_scalar_result(node.operands[0])
    if node.op is REGION and node.body is not None:
        made = node.body.outputs[value.index]
        while made.node is not None and made.node.op is CAST:
            made = made.node.operands[0]
        given = dict(zip(node.body.inputs, node.operands, strict=True))
        return is_scalar_result(given.get(made, made))
    if node.op is NUMPY:
        return "scalars" in node.attrs and value.index in ints(node.attrs, "scalars")
    return Trait.SCALAR in node.op.traits or "element" in node.attrs
