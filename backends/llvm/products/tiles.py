"""The shape of a tile in, the text of the function out that adds products to it: the innermost loop of every product.

A tile is a few rows by a few vectors of the result, all of it in registers. For each k the function reads one element
of every row of the left operand, from a copy of it in which rows lie `row_bytes` apart, and the vectors of one line
of the right operand. An element is one chain of terms in the order of k, whatever the tile's shape is; a chain that an
earlier call began goes on from memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.dtypes import DType
from ..casts import memory_element
from ..text import Emitter, Val

UNROLL = 4
PAD = 64  # bytes between rows of the copy, so that they do not compete for the same lines of the cache


@dataclass(frozen=True)
class Tile:
    """So many rows by so many vectors of `width` elements.

    Their totals lie in memory as lines of `columns`, of which a narrow tile uses the first. `depth` is how many terms
    one call adds at most.
    """

    dtype: DType
    rows: int
    vectors: int
    width: int
    columns: int
    depth: int

    @property
    def elem(self) -> str:
        return memory_element(self.dtype)

    @property
    def size(self) -> int:
        return self.dtype.size

    @property
    def line_bytes(self) -> int:
        return self.columns * self.size

    @property
    def row_bytes(self) -> int:
        """From one row of the left operand's copy to the next."""
        return self.depth * self.size + PAD

    @property
    def bytes(self) -> int:
        return self.rows * self.line_bytes

    @property
    def symbol(self) -> str:
        return f"weft_tile_{self.dtype}_{self.rows}x{self.vectors}x{self.width}of{self.columns}d{self.depth}"


def call_tile(e: Emitter, tile: Tile, left: Val, right: Val, line: Val, sums: Val, count: Val, goes_on: Val) -> None:
    """Adds `count` terms to the totals at `sums`, which are begun unless they go on."""
    if tile.symbol not in e.declared:
        text, needed = _function(tile)
        e.declared |= {**needed, tile.symbol: text}
    arguments = ", ".join(x.typed for x in (left, right, line, sums, count, goes_on))
    e.lines.append(f"  call void @{tile.symbol}({arguments})")


def _function(tile: Tile) -> tuple[str, dict[str, str]]:
    """The text, and the declarations that it needs. `line` is how far apart lines of the right operand lie."""
    e = Emitter()
    e.place("entry")
    left, right, sums = (Val(f"%{name}", "ptr", 0) for name in ("left", "right", "sums"))
    line, count = Val("%line", "i64", 0), Val("%count", "i64", 0)
    totals = _started(e, tile, sums)
    for steps, many in ((UNROLL, -UNROLL), (1, UNROLL - 1)):
        turns = e.op("and", count, e.const("i64", many))
        left, right, totals = _walk(e, tile, turns, steps, line, (left, right, totals))
    for place, total in zip(_places(e, tile, sums), totals, strict=True):
        e.store(total, place, 1)
    head = (
        f"define internal void @{tile.symbol}(ptr noalias %left, ptr noalias %right, i64 %line, ptr noalias %sums, "
        "i64 %count, i1 %goes_on) noinline {"
    )
    return "\n".join([head, *e.lines, "  ret void", "}"]), e.declared


def _places(e: Emitter, tile: Tile, sums: Val) -> list[Val]:
    step = tile.width * tile.size
    offsets = [row * tile.line_bytes + v * step for row in range(tile.rows) for v in range(tile.vectors)]
    return [e.offset(sums, e.const("i64", offset)) for offset in offsets]


def _started(e: Emitter, tile: Tile, sums: Val) -> list[Val]:
    """What the chains begin with."""
    load, begin = e.label("load"), e.label("begin")
    before = e.block
    e.cbr(Val("%goes_on", "i1", 0), load, begin)
    e.place(load)
    loaded = [e.load(place, tile.elem, tile.width, 1) for place in _places(e, tile, sums)]
    e.br(begin)
    e.place(begin)
    return [
        e.emit(f"phi {x.type} [ zeroinitializer, %{before} ], [ {x.text}, %{load} ]", tile.elem, tile.width)
        for x in loaded
    ]


def _walk(
    e: Emitter, tile: Tile, count: Val, steps: int, line: Val, state: tuple[Val, Val, list[Val]]
) -> tuple[Val, Val, list[Val]]:
    """Adds `count` terms, so many in one turn of the loop; gives where the operands go on, and the totals."""

    def turn(values: list[Val]) -> list[Val]:
        at, left, right, *totals = values
        for k in range(steps):
            places = [e.offset(right, e.const("i64", v * tile.width * tile.size)) for v in range(tile.vectors)]
            vectors = [e.load(place, tile.elem, tile.width, 1) for place in places]
            for row in range(tile.rows):
                place = e.offset(left, e.const("i64", row * tile.row_bytes + k * tile.size))
                x = e.splat(e.load(place, tile.elem, 0, 1), tile.width)
                for v, y in enumerate(vectors):
                    slot = row * tile.vectors + v
                    totals[slot] = _with_term(e, tile.dtype, x, y, totals[slot])
            right = e.offset(right, line)
        left = e.offset(left, e.const("i64", steps * tile.size))
        return [e.op("add", at, e.const("i64", steps)), left, right, *totals]

    left, right, totals = state
    start = [e.const("i64", 0), left, right, *totals]
    _, left, right, *totals = e.repeat(start, lambda values: e.icmp("slt", values[0], count), turn)
    return left, right, totals


def _with_term(e: Emitter, dtype: DType, x: Val, y: Val, total: Val) -> Val:
    if dtype.kind == "bool":
        return e.op("or", e.op("and", x, y), total)
    if dtype.kind == "float":
        return e.fma(x, y, total)
    return e.op("add", e.op("mul", x, y), total)
