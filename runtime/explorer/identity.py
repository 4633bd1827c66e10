"""Follow each operation through the passes, so that a difference between two graphs is a change and not a renumbering.

Passes rebuild graphs, so no object survives them. An operation of the next graph is the same as one before if it does
the same to the same operands; failing that, if it comes from the same place in the source. An operation without a
counterpart is new; its parents are what came from the same place before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from ...ir.errors import Span
from ...ir.graph import Graph, Node, Value
from ...ir.ops import LOOP, REGION
from ...ir.types import TensorType

Key = tuple[Hashable, ...]


class Identities:
    """The numbers of all operations and inputs in all graphs. Equal numbers are the same operation."""

    def __init__(self, snapshots: Sequence[Graph]) -> None:
        self.spans: list[Span | None] = []
        self.parents: list[set[int]] = []
        self._of: dict[Value | Node, int] = {}
        self._inputs: dict[Hashable, int] = {}
        before: list[Node] = []
        for graph in dict.fromkeys(snapshots):  # a pass that changes nothing returns the graph it was given
            now = _Step(self, before)
            now.enter(graph, ())
            before = now.nodes

    def __getitem__(self, thing: Value | Node) -> int:
        return self._of[thing]

    def get(self, thing: Value | Node) -> int:
        """Return a number, or -1 for something that no graph has."""
        return self._of.get(thing, -1)

    def __contains__(self, thing: object) -> bool:
        return thing in self._of

    def number(self, thing: Value | Node, number: int) -> None:
        """Give a node and its results a number, or a value. The results of a region are those of its operations."""
        self._of[thing] = number
        if not isinstance(thing, Node):
            return
        inside = thing.body.outputs if thing.op is REGION and thing.body is not None else ()
        for k, value in enumerate(thing.results):
            self._of[value] = self._of[inside[k]] if inside else number

    def fresh(self, span: Span | None, parents: set[int]) -> int:
        """Return a new number."""
        self.spans.append(span)
        self.parents.append(parents)
        return len(self.spans) - 1

    def input(self, key: Hashable) -> int:
        """Return the number of an input with this place and name."""
        if key not in self._inputs:
            self._inputs[key] = self.fresh(None, set())
        return self._inputs[key]

    def relatives(self) -> list[list[int]]:
        """Return, for each number, the numbers that it came from and those that came from it."""
        above: list[set[int]] = []
        for parents in self.parents:
            above.append(parents.union(*(above[p] for p in parents)) if parents else set())
        found = [set(a) for a in above]
        for number, own in enumerate(above):
            for ancestor in own:
                found[ancestor].add(number)
        return [sorted(numbers) for numbers in found]


class _Step:
    """Match the operations of one graph with those of the graph before."""

    def __init__(self, identities: Identities, before: list[Node]) -> None:
        self.ids, self.nodes = identities, list[Node]()
        self._old: list[dict[Key, list[Node]]] = [{}, {}, {}]
        for node in before:
            for table, key in zip(self._old, self._keys(node), strict=True):
                table.setdefault(key, []).append(node)
        self._taken: set[Node] = set()
        self._at: dict[Span, list[int]] = {}
        for node in before:
            if node.span is not None and node.op not in (REGION, LOOP):
                self._at.setdefault(node.span, []).append(identities[node])

    def enter(self, graph: Graph, place: Key, given: Sequence[Value] = ()) -> None:
        """Number the values of a graph, operands before results; a region's inputs get its operands' numbers."""
        for k, value in enumerate(graph.inputs):
            outer = given[k] if k < len(given) else None
            self.ids.number(value, self.ids[outer] if outer is not None else self.ids.input((*place, k, value.name)))
        for node in graph:
            if node.body is not None:
                is_region = node.op is REGION
                inside = (*place, *map(self.ids.__getitem__, node.operands), node.op.name)
                self.enter(node.body, () if is_region else inside, node.operands if is_region else ())
            self.ids.number(node, self._match(node))
            self.nodes.append(node)

    def _match(self, node: Node) -> int:
        for table, key in zip(self._old, self._keys(node), strict=True):
            found = next((old for old in table.get(key, ()) if old not in self._taken), None)
            if found is not None:
                self._taken.add(found)
                return self.ids[found]
        same = self._old[0].get(next(self._keys(node)))
        if same:
            return self.ids[same[0]]  # one operation that is computed in two kernels
        parents = set(self._at.get(node.span, ())) if node.span is not None and node.op is not REGION else set()
        return self.ids.fresh(node.span, parents)

    def _keys(self, node: Node) -> Iterator[Key]:
        """Yield what two operations have in common if they are the same, the surest first."""
        types = tuple(map(_shape, (v.type for v in node.results)))
        if node.op is REGION:
            assert node.body is not None
            outputs = tuple(self.ids[v] for v in node.body.outputs)
            yield from [("region", outputs), ("region", outputs[:1]), ("region", outputs[-1:])]
            return
        yield node.op.name, tuple(self.ids[v] for v in node.operands), types, str(node.attrs.get("value", ""))
        yield (node.op.name, node.span, types) if node.span is not None else (node,)
        yield (node.span, types) if node.span is not None and node.operands else (node, "")


def _shape(type: TensorType) -> Hashable:
    return tuple(type.shape)
