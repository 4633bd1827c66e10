"""Define the dataflow graph: operations that produce typed values.

A `Graph` keeps its nodes in a topological order, which is all that passes need. It can be converted to a networkx
`MultiDiGraph` (`networks.py`); networkx is imported only then, because that takes longer than a compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .errors import Span, Unsupported
from .types import Attr, Guards, TensorType

if TYPE_CHECKING:
    import networkx as nx

    from .dims import Size
    from .ops import OpDef

    Elements = tuple[tuple["Value", tuple[Size, ...]], ...]


class Value:
    """A result of a node, or an input of a graph. Values are compared by identity.

    `scalar` marks an input that is a NumPy scalar, not an array without dimensions.
    """

    __slots__ = ("index", "name", "node", "scalar", "type")

    def __init__(self, type: TensorType, node: Node | None = None, index: int = 0, name: str | None = None) -> None:
        self.type = type
        self.node = node
        self.index = index
        self.name = name
        self.scalar = False

    def __repr__(self) -> str:
        return f"<{self.name or (self.node.op.name if self.node else 'input')}: {self.type}>"

    def __bool__(self) -> bool:
        """Raise an error: the truth of a value is known only when the graph runs. Test it with `is not None`."""
        raise Unsupported("the truth of a value is not known before the call", hint="write True or False here")


class Node:
    """One operation: its definition, operands, attributes, results, source span, and its body if it has one.

    The body of a region says what it computes. Its `code`, a loop nest, says how, once `to-nest` has decided that.
    `elements` remembers which elements one iteration reads and writes, and the attributes for which that was found.
    """

    __slots__ = ("attrs", "body", "code", "elements", "op", "operands", "results", "span")

    def __init__(
        self,
        op: OpDef,
        operands: tuple[Value, ...],
        attrs: Mapping[str, Attr],
        types: tuple[TensorType, ...],
        span: Span | None,
        body: Graph | None = None,
        code: Graph | None = None,
    ) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs
        self.span = span
        self.body = body
        self.code = code
        self.elements: tuple[Mapping[str, Attr] | None, Elements] = (None, ())
        self.results = tuple([Value(t, self, i) for i, t in enumerate(types)])

    @property
    def result(self) -> Value:
        return self.results[0]

    def __repr__(self) -> str:
        attrs = "".join(f" {name}={value}" for name, value in self.attrs.items())
        return f"<{self.op.name}{attrs}>"


class Graph:
    """A kernel, or the body of a node: inputs, nodes in topological order, outputs, and attributes."""

    def __init__(
        self,
        name: str,
        inputs: tuple[Value, ...],
        nodes: tuple[Node, ...],
        outputs: tuple[Value, ...],
        attrs: Mapping[str, Attr] | None = None,
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.nodes = nodes
        self.outputs = outputs
        self.attrs: Mapping[str, Attr] = attrs or {}

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """Convert the graph to networkx without loss; `weft.compile` makes a kernel of it again."""
        from .networks import to_networkx

        return to_networkx(self)


def graph_guards(graph: Graph) -> Guards:
    """Return the equalities between sizes under which a graph is valid."""
    found = graph.attrs.get("guards", Guards())
    assert isinstance(found, Guards)
    return found
