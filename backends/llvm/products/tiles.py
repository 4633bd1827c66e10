"""Emit the innermost loop of every product: a function that adds products to one tile.

A tile is a few rows by a few vectors of the result, all of it in registers. For each k the function reads one element
of every row of the left operand and the vectors of one line of the right operand. An element is one chain of terms in
the order of k, whatever the shape of the tile; a chain that an earlier call began continues from memory.

Packed operands are in the order in which the tile reads them; the rows of the left one are at fixed distances. A `free`
tile reads operands in place with any strides, and only the existing lanes of the last vector. A `direct` tile writes
totals directly to the result. The `tallest` tile is the one of which large matrices consist.
"""

from __future__ import annotations

from ....ir.dtypes import DType
from ....ir.records import record
from ..code.casts import memory_element
from ..code.text import Emitter, Val
from .lanes import lane_mask

STEPS = 4  # vectors of a line that are worth a turn of the loop: narrow tiles take several terms at a time
LINE = 64  # bytes of a cache line
PAD = 64  # bytes between rows of the copy, so that they do not compete for the same cache lines
FEW_ROWS = 4  # a free tile with this many rows may have fewer
LINES_AHEAD = 8  # of an operand in place: its lines are too far apart for the CPU to prefetch them
SHARED = 3  # rows of a free tile that share one pointer


@record
class Tile:
    """The shape of a tile: rows by vectors of `width` elements.

    Totals are stored as lines of `columns`; a narrow tile uses only the first ones. `depth` is the most terms that one
    call adds, and `owner` the graph that the tile is compiled for.
    """

    owner: str
    dtype: DType
    rows: int
    vectors: int
    width: int
    columns: int
    depth: int
    is_free: bool = False
    is_direct: bool = False
    is_tallest: bool = False

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
        """The stride of rows in the packed left operand, in bytes."""
        return self.depth * self.size + PAD

    @property
    def bytes(self) -> int:
        return self.rows * self.line_bytes

    @property
    def symbol(self) -> str:
        kind = "direct_tile" if self.is_direct else "free_tile" if self.is_free else "tile"
        return f"{self.owner}_{kind}_{self.dtype}_{self.rows}x{self.vectors}x{self.width}"

    @property
    def parameters(self) -> dict[str, str]:
        """Return the names and types of the parameters. `line` is the stride of the right operand, `count` the number
        of terms.

        The left operand of a free tile has the strides `row` and `term`; `rows` and `lanes` tell how many rows, and
        lanes of the last vector, exist. `out` is the row stride of a direct tile's totals.
        """
        common = {"left": "ptr", "right": "ptr", "line": "i64", "sums": "ptr", "count": "i64"}
        if not self.is_free:
            return {**common, "goes_on": "i1"}
        free = {**common, "row": "i64", "term": "i64", "rows": "i64", "lanes": "i64"}
        return {**free, "out": "i64"} if self.is_direct else free


def call_tile(e: Emitter, tile: Tile, **arguments: Val) -> None:
    """Emits a call that adds terms to the totals at `sums`, which start at 0 unless they continue."""
    if tile.symbol not in e.declared:
        text, needed = _function(tile)
        e.declared |= {**needed, tile.symbol: text}
    words = ", ".join(f"{type} {arguments[name].text}" for name, type in tile.parameters.items())
    e.lines.append(f"  call void @{tile.symbol}({words})")


def _function(tile: Tile) -> tuple[str, dict[str, str]]:
    """The text, and the declarations that it needs."""
    e = Emitter()
    e.place("entry")
    given = {name: Val(f"%{name}", type, 0) for name, type in tile.parameters.items()}
    if not tile.is_free:
        _fetch_next(e, tile, given)
    totals = _started(e, tile, given)
    mask = lane_mask(e, given["lanes"], tile.width) if tile.is_free else None
    pointers = _free_rows(e, tile, given) if tile.is_free else [given["left"]]
    state = [given["right"], *pointers, *totals]
    together = 1 if tile.is_free else max(1, STEPS // tile.vectors)
    for steps, many in ((together, -together), (1, together - 1)) if together > 1 else ((1, -1),):
        turns = e.op("and", given["count"], e.const("i64", many))
        state = _walk(e, tile, given, turns, steps, mask, state)
    totals = state[1 + len(pointers) :]
    if tile.is_direct:
        assert mask is not None
        _store_rows(e, tile, given, mask, totals)
    else:
        for place, total in zip(_places(e, tile, given["sums"]), totals, strict=True):
            e.store(total, place, 1)
    words = ", ".join(f"{'ptr noalias' if type == 'ptr' else type} %{name}" for name, type in tile.parameters.items())
    return "\n".join(
        [f"define internal void @{tile.symbol}({words}) noinline {{", *e.lines, "  ret void", "}"]
    ), e.declared


def _fetch_next(e: Emitter, tile: Tile, given: dict[str, Val]) -> None:
    """Prefetch the totals of the next tile below, and the first elements of its rows."""
    rows = [tile.rows * tile.row_bytes + row * tile.row_bytes + near for row in range(tile.rows) for near in (0, LINE)]
    for name, offsets in (("sums", range(tile.bytes, 2 * tile.bytes, LINE)), ("left", rows)):
        for offset in offsets:
            place = e.offset(given[name], e.const("i64", offset))
            e.declared["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
            e.lines.append(f"  call void @llvm.prefetch.p0({place.typed}, i32 0, i32 3, i32 1)")


def _places(e: Emitter, tile: Tile, sums: Val) -> list[Val]:
    step = tile.width * tile.size
    offsets = [row * tile.line_bytes + v * step for row in range(tile.rows) for v in range(tile.vectors)]
    return [e.offset(sums, e.const("i64", offset)) for offset in offsets]


def _started(e: Emitter, tile: Tile, given: dict[str, Val]) -> list[Val]:
    """The initial values of the chains."""
    zero = Val("zeroinitializer", tile.elem, tile.width)
    if tile.is_free:
        return [zero] * tile.rows * tile.vectors
    load, begin = e.label("load"), e.label("begin")
    before = e.block
    e.cbr(given["goes_on"], load, begin)
    e.place(load)
    loaded = [e.load(place, tile.elem, tile.width, 1) for place in _places(e, tile, given["sums"])]
    e.br(begin)
    e.place(begin)
    return [
        e.emit(f"phi {x.type} [ zeroinitializer, %{before} ], [ {x.text}, %{load} ]", tile.elem, tile.width)
        for x in loaded
    ]


def _store_rows(e: Emitter, tile: Tile, given: dict[str, Val], mask: Val, totals: list[Val]) -> None:
    """Store totals to the result; the row that stands in for missing ones is stored again."""
    step = tile.width * tile.size
    for row, start in enumerate(_rows(e, tile, given, given["sums"], given["out"])):
        for v in range(tile.vectors):
            place, total = e.offset(start, e.const("i64", v * step)), totals[row * tile.vectors + v]
            if v < tile.vectors - 1:
                e.store(total, place, 1)
            else:
                e.masked_store(total, place, mask)


def _free_rows(e: Emitter, tile: Tile, given: dict[str, Val]) -> list[Val]:
    """Return pointers to rows of the left operand: to each row if there are few, otherwise to some."""
    found = _rows(e, tile, given, given["left"], given["row"])
    return found if tile.rows <= FEW_ROWS else found[::SHARED]


def _rows(e: Emitter, tile: Tile, given: dict[str, Val], first: Val, step: Val) -> list[Val]:
    """Return the start of each row; the last one stands in for missing rows."""
    places = [e.const("i64", k) for k in range(tile.rows)]
    if tile.rows <= FEW_ROWS:
        last = e.op("sub", given["rows"], e.const("i64", 1))
        places = [e.call("smin", last, place) for place in places]
    return [e.offset(first, e.op("mul", step, place)) for place in places]


def _row_places(e: Emitter, tile: Tile, given: dict[str, Val], pointers: list[Val], k: int) -> list[Val]:
    """The addresses of one element of each row."""
    if not tile.is_free:
        offsets = [row * tile.row_bytes + k * tile.size for row in range(tile.rows)]
        return [e.offset(pointers[0], e.const("i64", offset)) for offset in offsets]
    if tile.rows <= FEW_ROWS:
        return pointers
    steps = [e.op("mul", given["row"], e.const("i64", row % SHARED)) for row in range(SHARED)]
    return [e.offset(pointers[row // SHARED], steps[row % SHARED]) for row in range(tile.rows)]


def _walk(
    e: Emitter, tile: Tile, given: dict[str, Val], count: Val, steps: int, mask: Val | None, state: list[Val]
) -> list[Val]:
    """Add `count` terms, several per iteration; return where the operands continue, and the totals."""
    moving = len(state) - tile.rows * tile.vectors - 1

    def turn(values: list[Val]) -> list[Val]:
        at, right, *rest = values
        pointers, totals = rest[:moving], rest[moving:]
        for k in range(steps):
            if tile.is_tallest:
                _fetch_line(e, tile, given, right)
            vectors = _line(e, tile, right, mask)
            for row, place in enumerate(_row_places(e, tile, given, pointers, k)):
                x = e.splat(e.load(place, tile.elem, 0, 1), tile.width)
                for v, y in enumerate(vectors):
                    slot = row * tile.vectors + v
                    totals[slot] = _with_term(e, tile.dtype, x, y, totals[slot])
            right = e.offset(right, given["line"])
        step = given["term"] if tile.is_free else e.const("i64", steps * tile.size)
        pointers = [e.offset(pointer, step) for pointer in pointers]
        return [e.op("add", at, e.const("i64", steps)), right, *pointers, *totals]

    start = [e.const("i64", 0), *state]
    return e.repeat(start, lambda values: e.icmp("slt", values[0], count), turn)[1:]


def _fetch_line(e: Emitter, tile: Tile, given: dict[str, Val], right: Val) -> None:
    """Prefetch a part of a line of the right operand that will be needed some terms later."""
    ahead = e.offset(right, e.op("mul", given["line"], e.const("i64", LINES_AHEAD)))
    for offset in range(0, tile.vectors * tile.width * tile.size, LINE):
        e.prefetch(e.offset(ahead, e.const("i64", offset)), 1)


def _line(e: Emitter, tile: Tile, right: Val, mask: Val | None) -> list[Val]:
    """The vectors of one line of the right operand."""
    places = [e.offset(right, e.const("i64", v * tile.width * tile.size)) for v in range(tile.vectors)]
    whole = places if mask is None else places[:-1]
    vectors = [e.load(place, tile.elem, tile.width, 1) for place in whole]
    return vectors if mask is None else [*vectors, e.masked_load(places[-1], tile.elem, mask)]


def _with_term(e: Emitter, dtype: DType, x: Val, y: Val, total: Val) -> Val:
    if dtype.kind == "bool":
        return e.op("or", e.op("and", x, y), total)
    if dtype.kind == "float":
        return e.fma(x, y, total)
    return e.op("add", e.op("mul", x, y), total)
