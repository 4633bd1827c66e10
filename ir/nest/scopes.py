"""Walk a nest and tell, at every node, which loops are around it and what is known about their variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import dims
from ..dims import LOOP, Size
from ..graph import Graph, Node, Value
from ..records import record
from ..types import Guards, Sizes, axis_groups, sizes
from .ops import ACCESSES, ALLOC, BIND, CHECK, FOR, GRAPHS, LOOPS, PRODUCT, STORE, VIEW, WALK


@record
class LoopVariable:
    """A variable `@name`, of a loop or for a number from data: it goes from `first` up to `end`, which it does not
    reach.
    """

    name: str
    first: Size
    end: Size

    @property
    def facts(self) -> tuple[Size, Size]:
        """Sizes that are at least 0 wherever the variable has a value."""
        own = dims.symbol(LOOP + self.name)
        return own - self.first, self.end - 1 - own

    def __str__(self) -> str:
        return f"@{self.name} from {self.first} to {self.end}"


@record(eq=False)
class Location:
    """A node and the nodes around it, outermost first."""

    node: Node
    around: tuple[Node, ...]
    order: int

    @property
    def loops(self) -> tuple[Node, ...]:
        return tuple(n for n in self.around if n.op in LOOPS)


def places(nest: Graph) -> list[Location]:
    """Every node of a nest, in the order in which it runs. What an assignment computes is a graph, not part of it."""
    found: list[Location] = []
    _collect(nest, (), found)
    return found


def _collect(graph: Graph, around: tuple[Node, ...], found: list[Location]) -> None:
    for node in graph:
        found.append(Location(node, around, len(found)))
        if node.body is not None and node.op not in GRAPHS:
            _collect(node.body, (*around, node), found)


def nodes_in(nest: Graph) -> Iterator[Node]:
    """All nodes of a nest or a body, in their order."""
    for node in nest:
        yield node
        yield from inside(node)


def inside(node: Node) -> Iterator[Node]:
    """The nodes in the body of a node, bodies of bodies included."""
    for inner in (node.body if node.op not in GRAPHS else None) or ():
        yield inner
        yield from inside(inner)


def variables(node: Node) -> tuple[LoopVariable, ...]:
    """The variables that a node defines for its body, or (`bind`) for what follows."""
    if node.op in (FOR, BIND):
        first, end = sizes(node.attrs, "range")
        return (LoopVariable(str(node.attrs["var"]), first, end),)
    if node.op in (WALK, PRODUCT):
        bounds, names = sizes(node.attrs, "range"), node.attrs["vars"]
        assert isinstance(names, tuple)
        return tuple(LoopVariable(str(name), bounds[2 * k], bounds[2 * k + 1]) for k, name in enumerate(names))
    return ()


def bound_before(place: Location, nest: Graph) -> tuple[LoopVariable, ...]:
    """The numbers from data that are in scope at a node."""
    found: list[LoopVariable] = []
    for graph in (nest, *(n.body for n in place.around if n.body is not None)):
        for node in graph:
            if node is place.node or node in place.around:
                break
            if node.op is BIND:
                found += variables(node)
    return tuple(found)


@record(eq=False)
class MemoryAccess:
    """A load or a store, resolved to the buffer that owns the memory and to the index there.

    If a view collapses axes of the buffer (`collapsed`), the index is that of the collapsed axes.
    """

    place: Location
    buffer: Value
    at: tuple[Size, ...]
    collapsed: tuple[tuple[int, ...], ...] | None = None

    @property
    def is_store(self) -> bool:
        return self.place.node.op is STORE

    def __str__(self) -> str:
        line = f" in line {self.place.node.span.line}" if self.place.node.span else ""
        what = "store to" if self.is_store else "load of"
        return f"the {what} %{self.buffer.name or 'memory'} at {Sizes(self.at)}{line}"


def accesses(found: Sequence[Location]) -> list[MemoryAccess]:
    """The loads and stores among places, resolved through views."""
    result = []
    for place in found:
        if place.node.op in ACCESSES:
            buffer, index = _through(place.node.operands[-1], sizes(place.node.attrs, "at"))
            groups, owner = None, buffer
            if buffer.node is not None and buffer.node.op is VIEW:
                groups, (owner, _) = axis_groups(buffer.node.attrs, "collapse"), base(buffer, index)
            result.append(MemoryAccess(place, owner, index, groups))
    return result


def base(buffer: Value, at: Sequence[Size]) -> tuple[Value, tuple[Size, ...]]:
    """The buffer that owns the memory of a view, and the index in it of the view's element `at`."""
    buffer, index = _through(buffer, at)
    while buffer.node is not None and buffer.node.op is VIEW:
        found, (inner,) = dict[int, Size](), buffer.node.operands
        for group, place in zip(axis_groups(buffer.node.attrs, "collapse"), index, strict=True):
            for axis in reversed(group[1:]):
                above = dims.floordiv(place, inner.type.shape[axis])
                found[axis] = place - above * inner.type.shape[axis]
                place = above
            found[group[0]] = place
        buffer, index = _through(inner, [found[axis] for axis in range(inner.type.rank)])
    return buffer, index


def _through(buffer: Value, at: Sequence[Size]) -> tuple[Value, tuple[Size, ...]]:
    """Resolve an index through views up to the memory, or to a view that collapses axes of it."""
    index = tuple(at)
    while buffer.node is not None and buffer.node.op is VIEW and "collapse" not in buffer.node.attrs:
        names = buffer.node.attrs["vars"]
        assert isinstance(names, tuple)
        env = {LOOP + str(name): part for name, part in zip(names, index, strict=True)}
        index = tuple(dims.substitute(part, env) for part in sizes(buffer.node.attrs, "at"))
        buffer = buffer.node.operands[0]
    return buffer, index


def memory_of(buffer: Value) -> Value:
    """The buffer that owns the memory of a view."""
    while buffer.node is not None and buffer.node.op is VIEW:
        buffer = buffer.node.operands[0]
    return buffer


def is_private(buffer: Value, loop: Node) -> bool:
    """Whether a buffer is private to each step of a loop, because it is allocated inside."""
    return buffer.node is not None and buffer.node.op is ALLOC and any(n is buffer.node for n in inside(loop))


def has_loop_inside(loop: Node) -> bool:
    return any(n.op in LOOPS for n in inside(loop))


# -- what a body needs from around it


def shared_loops(loop: Node) -> list[Node]:
    """Return a shared loop, and the inner one if it is shared too and has the same range in all steps."""
    assert loop.body is not None
    inner = loop.body.nodes[0] if len(loop.body.nodes) == 1 else None
    if inner is None or inner.op is not FOR or not inner.attrs.get("shared"):
        return [loop]
    own = LOOP + variables(loop)[0].name
    return [loop] if any(own in dims.symbols(s) for s in sizes(inner.attrs, "range")) else [loop, inner]


def views_of(nodes: Sequence[Node]) -> Iterator[Node]:
    """The views through which some nodes access memory."""
    for node in nodes:
        for value in node.operands:
            while value.node is not None and value.node.op is VIEW:
                yield value.node
                value = value.node.operands[0]


def free_values(node: Node) -> Iterator[Value]:
    """Return the values that a node and its body use, including memory behind views."""
    for inner in (node, *inside(node)):
        yield from inner.operands
        yield from inner.body.outputs if inner.body is not None else ()
        yield from (memory_of(value) for value in inner.operands if value.type.kind == "memref")


def guard_names(node: Node) -> frozenset[str]:
    """The names in the guards of a node."""
    guards = node.attrs.get("guards", Guards())
    assert isinstance(guards, Guards)
    return frozenset(name for pair in guards for size in pair for name in dims.symbols(size))


def body_of(graph: Graph, wanted: Node) -> Graph | None:
    """The body in which a node stands."""
    if wanted in graph.nodes:
        return graph
    return next((found for node in graph if node.body is not None and (found := body_of(node.body, wanted))), None)


def needed_for(wanted: Value, nodes: Sequence[Node]) -> Graph:
    """Find the nodes that compute a value, and everything among them that may fail."""
    found, values = list[Node](), {wanted}
    for node in reversed(nodes):
        if node.op in (BIND, CHECK) or values & set(node.results):
            found.append(node)
            values |= set(node.operands)
    return Graph("needed", (), tuple(reversed(found)), ())
