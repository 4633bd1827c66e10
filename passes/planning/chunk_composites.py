"""Compute sums that need another reduction of the same data (`ir/composites.py`) in one pass over the chunks.

A single machine cuts long columns into parts and gives each part its own shift. A chunk that begins at a part does the
same. For sums of powers its kernel takes the chunk in rows of one part each, and returns the shift and the sums of each
row; they wait until all chunks are there, and are then moved to the common shift and added up as one machine does it.
Moments of neighbours are joined wherever they meet: a kernel returns those of a node of the tree, which is many parts,
and tasks merge those of nodes. If the bits may differ, a whole chunk is one part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...ir.builder import Builder
from ...ir.composites import Composite
from ...ir.dims import symbol
from ...ir.graph import Value
from ...ir.ops import TABLE
from ...ir.records import record
from ...ir.types import TensorType
from .chunk_pieces import ChunkPiece, ChunkSource, Index, PieceBuilder, WholeArray

SUB, DIV, MUL, MAX, SUM = (TABLE[name] for name in ("sub", "div", "mul", "max", "sum"))


@record
class ChunkJoin:
    """Brings the sums of parts to a common shift, so that they can be added.

    `piece` computes this shift for moments, or the factor of each part for powers.
    """

    number: int
    kind: str
    reference: int
    piece: ChunkPiece


class PartSums:
    """Adds the sums of parts, powers or moments, to a piece; `axes` are the axes of a part in the piece's values.

    `tree` asks for parts of so many blocks, and for one lane where vectors lie across them, as on one machine.
    """

    def __init__(self, piece: PieceBuilder, axes: Sequence[int], tree: Mapping[str, int] | None = None) -> None:
        self.piece, self.axes, self.outputs, self.tree = piece, tuple(axes), list[Value](), dict(tree or {})
        self._of: dict[Value, tuple[Value, Value, Value]] = {}
        self._sums: dict[tuple[str, Value], Value] = {}

    def slots(self, composite: Composite, u: Value) -> tuple[int, ...]:
        """The numbers of the outputs of a composite. For powers these are the shift of each part and the sum.

        Moments are the sum of each part, its shift, the sum of differences from it, and that of their squares.
        """
        builder, kind = self.piece.builder, composite.kind
        total, own, apart = self._parts(composite, u)
        if not kind.startswith("moment"):
            return self._slot(own), self._sum(kind, u, lambda: builder.op(TABLE[kind], apart))
        plain = self._sum("apart", u, lambda: apart)
        return (
            self._slot(total), self._slot(own), plain,
            self._sum("squares", u, lambda: builder.op(MUL, apart, apart)),
        )  # fmt: skip

    def reference(self, composite: Composite, u: Value) -> int:
        """The number of the output that holds the reduction that gives the shift."""
        return self._slot(self._parts(composite, u)[0])

    def _parts(self, composite: Composite, u: Value) -> tuple[Value, Value, Value]:
        """The reduction of each part, its shift, and the differences from it."""
        if u not in self._of:
            op, span = self.piece.builder.op, composite.node.span
            if composite.kind.startswith("moment"):
                total = op(SUM, u, axes=self.axes, keepdims=True, span=span, **self.tree)
                own = op(DIV, total, self.piece.length(u.type.dtype), span=span)
            else:
                own = total = op(MAX, u, axes=self.axes, keepdims=True, span=span)
            self._of[u] = total, own, op(SUB, u, own, span=span)
        return self._of[u]

    def _sum(self, name: str, u: Value, made: Callable[[], Value]) -> int:
        if (name, u) not in self._sums:
            self._sums[name, u] = self.piece.builder.op(
                SUM, made(), axes=self.axes, keepdims=True, span=None, **self.tree
            )
        return self._slot(self._sums[name, u])

    def _slot(self, value: Value) -> int:
        if value not in self.outputs:
            self.outputs.append(value)
        return self.outputs.index(value)


def join_of(whole: WholeArray, composite: Composite, index: Index, name: str) -> ChunkJoin:
    """The join of a composite; `index` is that of its shift."""
    number, reference = whole.merged[composite.node.result], whole.merged[composite.reference.result]
    if composite.kind.startswith("moment"):
        shifts = PieceBuilder(whole, name)
        return ChunkJoin(number, composite.kind, reference, shifts.finish(shifts.values([(composite.shift, index)])))
    builder, type = Builder(name), TensorType(composite.shift.type.dtype, (symbol("k"),))
    own, shift = builder.input("own", type), builder.input("shift", type)
    builder.attrs["results"] = ("array",)
    graph = builder.finish([builder.op(TABLE[composite.kind], builder.op(SUB, own, shift))])
    piece = ChunkPiece(graph, (ChunkSource("own", 0), ChunkSource("shift", 0)))
    return ChunkJoin(number, composite.kind, reference, piece)
