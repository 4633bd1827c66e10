"""Write the body of a loop nest: a block holds nodes in order, and its inner blocks are the bodies of loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir import dims
from ...ir.dims import LOOP, Size
from ...ir.dtypes import DType
from ...ir.errors import Span
from ...ir.graph import Graph, Node, Value
from ...ir.indexing import Index
from ...ir.nest import ops
from ...ir.opdef import OpDef
from ...ir.schemas import COMMON, parse_schema
from ...ir.types import Attr, Sizes, TensorType

Element = tuple[Value, Index]
OF_PLAN = frozenset(parse_schema(COMMON))


class NestBlock:
    """A body under construction, inside another one. `names` are the variables that its loop defines.

    `elements` are the numbers that this block has computed, by array and index.
    """

    def __init__(self, around: NestBlock | None, names: Iterable[str] = (), span: Span | None = None) -> None:
        self.around, self.names = around, frozenset(names)
        self.span: Span | None = span if around is None else around.span
        self.nodes: list[Node] = []
        self.elements: dict[Element, Value] = {}
        self.depth: int = 0 if around is None else around.depth + 1

    def add(
        self,
        op: OpDef,
        operands: Sequence[Value] = (),
        attrs: Mapping[str, Attr] | None = None,
        types: Sequence[TensorType] = (),
        body: Graph | None = None,
        span: Span | None = None,
    ) -> Node:
        node = Node(op, tuple(operands), attrs or {}, tuple(types), span or self.span, body)
        self.nodes.append(node)
        return node

    def number(self, op: OpDef, operands: Sequence[Value], attrs: Mapping[str, Attr], dtype: DType) -> Value:
        """Adds an op of numbers."""
        return self.add(op, operands, attrs, (TensorType(dtype),)).result

    def load(self, buffer: Value, at: Sequence[Size]) -> Value:
        return self.add(ops.LOAD, (buffer,), {"at": Sizes(at)}, (TensorType(buffer.type.dtype),)).result

    def store(self, value: Value, buffer: Value, at: Sequence[Size]) -> None:
        self.add(ops.STORE, (value, buffer), {"at": Sizes(at)})

    def body(self, inputs: Sequence[Value] = (), outputs: Sequence[Value] = ()) -> Graph:
        return Graph("nest", tuple(inputs), tuple(self.nodes), tuple(outputs))

    def loop(self, inner: NestBlock, name: str, size: Size, kind: str, speed: Mapping[str, Attr]) -> Node:
        """Adds a loop whose body is a finished inner block."""
        attrs: dict[str, Attr] = {"var": name, "range": Sizes((0, size)), "kind": kind}
        return self.add(ops.FOR, (), {**attrs, **(speed if kind == "vector" else {})}, (), inner.body())

    def chain(self) -> list[NestBlock]:
        """This block and those around it, innermost first."""
        found: list[NestBlock] = []
        block: NestBlock | None = self
        while block is not None:
            found.append(block)
            block = block.around
        return found

    def known(self, element: Element) -> Value | None:
        """Return an element that was already computed here or around, as a number."""
        return next((b.elements[element] for b in self.chain() if element in b.elements), None)

    def home_of(self, sizes: Iterable[Size]) -> NestBlock:
        """The outermost block in which all variables of these sizes have values."""
        used = {name for size in sizes for name in dims.symbols(size) if name.startswith(LOOP)}
        return next((b for b in self.chain() if b.around is None or b.names & used), self)


class Names:
    """Make variable names that no loop of a nest has yet."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def fresh(self, stem: str) -> str:
        count, name = 0, stem
        while name in self.taken:
            count += 1
            name = f"{stem}{count}"
        self.taken.add(name)
        return name


def own_attrs(node: Node) -> dict[str, Attr]:
    """Return the attributes that define what an op computes."""
    return {name: attr for name, attr in node.attrs.items() if name not in OF_PLAN}
