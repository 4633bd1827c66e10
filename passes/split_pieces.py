"""`split-pieces`: an elementwise op of a concatenation becomes a concatenation of the op on each piece.

Before (`x - roll(x, 1)`):

    %0 = "weft.slice"(%x) {starts = #weft.dims<n - 1>, ...} : ...
    %1 = "weft.slice"(%x) {starts = #weft.dims<0>, ...} : ...
    %2 = "weft.concatenate"(%0, %1) {axis = 0 : i64} : ...
    %3 = "weft.sub"(%x, %2) : ...

After:

    %2 = "weft.slice"(%x) {starts = #weft.dims<0>, sizes = #weft.dims<1>, ...} : ...
    %3 = "weft.sub"(%2, %0) : ...
    %4 = "weft.slice"(%x) {starts = #weft.dims<1>, sizes = #weft.dims<n - 1>, ...} : ...
    %5 = "weft.sub"(%4, %1) : ...
    %6 = "weft.concatenate"(%3, %5) {axis = 0 : i64} : ...

Loops write their piece where it belongs, so what was concatenated is never in memory by itself. A concatenation that
something else reads as well stays as it is, and so does one of many pieces.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.dims import Size
from ..ir.graph import Graph, Node, Value
from ..ir.ops import COMPLEX, CONCATENATE, IMAG, REAL, SLICE, Trait
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.tuples import NamedTuple
from ..ir.types import Sizes, integer
from .drop_dead import DropDead
from .planning.sizes import size_makers, used_symbols

MOST_PIECES = 8
PARTS = (REAL, IMAG)


class Pieces(NamedTuple):
    """A value as a concatenation of others. The axis is counted from the last one, as in broadcasting."""

    parts: tuple[Value, ...]
    axis: int

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(part.type.shape[self.axis] for part in self.parts)


@record
class SplitPieces:
    """Moves elementwise ops into the pieces of concatenations."""

    name: ClassVar[str] = "split-pieces"

    def run(self, graph: Graph) -> Graph:
        if not any(n.op is CONCATENATE for n in graph):
            return graph
        rewriter, late = Rewriter(graph), size_makers(graph).keys()
        moves = _only_read_by_elements(graph)
        known: dict[Value, Pieces] = {}
        changed = False
        for node in graph:
            split = _split_of(node, known)
            if split is None or used_symbols(node) & late:
                rewriter.copy(node)
                if node.op is CONCATENATE and node.result in moves and len(node.operands) <= MOST_PIECES:
                    axis = integer(node.attrs, "axis") - node.result.type.rank
                    known[node.result] = Pieces(rewriter.operands(node), axis)
                continue
            parts = tuple(_part(rewriter, node, known, split, k) for k in range(len(split.parts)))
            axis = split.axis + node.result.type.rank
            whole = rewriter.builder.op(CONCATENATE, *parts, span=node.span, axis=axis)
            rewriter.replace(node.result, whole)
            changed = True
            if node.result in moves:
                known[node.result] = Pieces(parts, split.axis)
        # A piece may itself be a concatenation, along another axis.
        return self.run(DropDead().run(rewriter.finish())) if changed else graph


def _only_read_by_elements(graph: Graph) -> set[Value]:
    """Values that only elementwise ops read."""
    found = {v for node in graph for v in node.results} - set(graph.outputs)
    for node in graph:
        if not _is_elementwise(node):
            found.difference_update(node.operands)
    return found


def _is_elementwise(node: Node) -> bool:
    return Trait.ELEMENTWISE in node.op.traits and node.body is None and len(node.results) == 1


def _split_of(node: Node, known: dict[Value, Pieces]) -> Pieces | None:
    """How to split an elementwise op: like its concatenated operands, if they agree."""
    found = [known[v] for v in node.operands if v in known]
    if not found or not _is_elementwise(node):
        return None
    first = found[0]
    if any(other.axis != first.axis or other.sizes != first.sizes for other in found):
        return None
    whole = next(v for v in node.operands if v in known).type.shape[first.axis]
    if node.result.type.shape[first.axis] != whole:
        return None
    shapes = [v.type.shape for v in node.operands if v not in known]
    along = [shape[first.axis] for shape in shapes if len(shape) >= -first.axis]
    return first if all(size in (1, whole) for size in along) else None


def _part(rewriter: Rewriter, node: Node, known: dict[Value, Pieces], split: Pieces, k: int) -> Value:
    """The op on the k-th piece."""
    operands = []
    for value in node.operands:
        if value in known:
            operands.append(known[value].parts[k])
        else:
            operands.append(_slice(rewriter, rewriter.get(value), split, k, node))
    whole = operands[0].node
    if node.op in PARTS and whole is not None and whole.op is COMPLEX:
        return whole.operands[PARTS.index(node.op)]  # as `split-complex` would have it
    return rewriter.builder.node(node.op, operands, node.attrs, node.span).result


def _slice(rewriter: Rewriter, value: Value, split: Pieces, k: int, node: Node) -> Value:
    """The slice of an operand that belongs to a piece, or the whole operand if it is broadcast along the axis."""
    shape, axis = value.type.shape, split.axis
    if len(shape) < -axis or shape[axis] == 1:
        return value
    start: Size = 0
    for size in split.sizes[:k]:
        start = start + size
    starts: list[Size] = [0] * len(shape)
    wanted = list(shape)
    starts[axis], wanted[axis] = start, split.sizes[k]
    steps = (1,) * len(shape)
    return rewriter.builder.op(SLICE, value, span=node.span, starts=Sizes(starts), steps=steps, sizes=Sizes(wanted))
