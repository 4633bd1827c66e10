"""Ask which class of sizes a region is in: long columns, short rows, large memory, large products, windows.

Each question has an answer for the sizes of a call, and a guard that keeps the answer true. If the sizes are not known,
or a region has one form for all of them, there is no answer and no guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...ir import dims
from ...ir.accesses import Access, coefficient, region_accesses, region_positions, walk_kind
from ...ir.dims import Size
from ...ir.forms import longest_short_row, reduces_across, walks_along_vectors
from ...ir.graph import Node
from ...ir.indexing import loop_name
from ...ir.ops import GATHER
from ...ir.products import SMALL, amount
from ...ir.tuples import NamedTuple
from ...ir.types import axis_groups, integer, ints, sizes
from ...ir.windows import STRAIGHT, unrolled_lengths

LARGE = 8 << 20  # bytes: from here on, at least, non-temporal stores pay if the result is read next (docs/memory.md)
LONG_LINE = 4 << 10  # bytes along the vectors
Env = Mapping[str, int]
Guard = tuple[Size, Size]


class SizeBound(NamedTuple):
    """States that a size reaches a limit, or does not."""

    size: Size
    limit: int
    reached: bool

    @property
    def guard(self) -> Guard:
        """The bound as an equality."""
        least, most = dims.maximum(self.size, self.limit), dims.minimum(self.size, self.limit - 1)
        return (least if self.reached else most), self.size


class SizeAnswer(NamedTuple):
    """Whether a region is in a class (None: unknown), and the bounds that keep the answer true."""

    yes: bool | None = None
    bound: SizeBound | None = None


def guards_of(answers: Iterable[SizeAnswer]) -> list[Guard]:
    """The guards that keep answers true. Of two bounds on one size, the narrower is enough."""
    found: dict[tuple[Size, bool], SizeBound] = {}
    for _, bound in answers:
        if bound is None:
            continue
        known = found.setdefault((bound.size, bound.reached), bound)
        if (bound.limit > known.limit) == bound.reached:
            found[bound.size, bound.reached] = bound
    return [bound.guard for bound in found.values()]


def _at_least(size: Size, limit: int, env: Env) -> SizeAnswer:
    """Whether a size reaches a limit."""
    if not dims.symbols(size) <= env.keys():
        return SizeAnswer()
    yes = dims.evaluate(size, env) >= limit
    return SizeAnswer(yes) if isinstance(size, int) else SizeAnswer(yes, SizeBound(size, limit, yes))


def long_columns(region: Node, cut_from: int, env: Env) -> SizeAnswer:
    """Whether rows are long enough to be cut into chunks, which pays from `cut_from` columns on (0: unknown)."""
    if not cut_from:
        return SizeAnswer()
    space = tuple(sizes(region.attrs, "space"))
    columns = dims.product(space[axis] for axis in ints(region.attrs, "reduced"))
    return _at_least(columns, cut_from, env)


def large(region: Node, env: Env, cache: int = LARGE) -> SizeAnswer:
    """Tell whether a region moves more memory than `cache`, or reduces across long lines.

    A line that is overwritten as a whole need not be read first. If each line is far away from the one before, memory
    is slow, so a step takes more vectors. What non-temporal stores write counts half: they are slow themselves, and
    pay where much is read beside them.
    """
    if not (reduces_across(region) or _is_streamable(region)):
        return SizeAnswer()
    return _at_least(*_traffic(region, max(cache, LARGE)), env)


def long_rows(region: Node, env: Env) -> SizeAnswer:
    """Tell whether what is written along the vectors is so long that its ends, which share lines, cost little.

    A line that normal and non-temporal stores both write costs 150 to 300 ns (Zen 4).
    """
    space, vector = tuple(sizes(region.attrs, "space")), integer(region.attrs, "vector")
    groups = (*axis_groups(region.attrs, "rows"), *axis_groups(region.attrs, "columns"))
    if len(groups) < 2:
        return SizeAnswer(bool(groups))  # without loops, one element is written
    line = next(group for group in groups if vector in group)
    size = region.results[0].type.dtype.size
    return _at_least(dims.product((size, *(space[axis] for axis in line))), LONG_LINE, env)


def large_product(product: Node, env: Env) -> SizeAnswer:
    """Tell whether a product has so many terms that packing operands pays."""
    return _at_least(amount(product), SMALL, env)


def _is_streamable(region: Node) -> bool:
    """Tell whether non-temporal stores can pay: not for products, nor for tiles, whose short pieces are far apart."""
    return region.attrs.get("columns") == () and "registers" not in region.attrs and "tile" not in region.attrs


def _traffic(region: Node, cache: int) -> tuple[Size, int]:
    """Return how many bytes a region (or a line of it) moves, in halves if it may stream, and when that is large."""
    space = tuple(sizes(region.attrs, "space"))
    if reduces_across(region) and all(v.type.shape != space for v in region.results):
        line = axis_groups(region.attrs, "rows")[-1]
        size = max(v.type.dtype.size for v in (*region.operands, *region.results))
        return dims.product((size, *(space[axis] for axis in line))), LONG_LINE
    total: Size = 0
    for value in (*region.operands, *region.results):
        halves = 1 if value is region.results[0] else 2
        total = total + dims.product((halves * value.type.dtype.size, *value.type.shape))
    return total, 2 * cache


def short_rows(region: Node, env: Env) -> SizeAnswer:
    """Whether vectors along rows would be nearly empty."""
    length = _row_length(region)
    if length is None:
        return SizeAnswer()
    found = _at_least(length, longest_short_row(region) + 1, env)
    return found if found.yes is None else SizeAnswer(not found.yes, found.bound)


def _row_length(region: Node) -> Size | None:
    """Return the length of a row, if vectors run along rows but need not."""
    rows, columns = axis_groups(region.attrs, "rows"), axis_groups(region.attrs, "columns")
    space = tuple(sizes(region.attrs, "space"))
    if "scanned" in region.attrs:
        return None
    if not columns:
        return _flat_length(region, rows, space) if len(rows) > 1 else None
    if not rows or len(columns) > 1 or not walks_along_vectors(region):
        return None
    return dims.product(space[axis] for axis in columns[0])


def _flat_length(region: Node, rows: tuple[tuple[int, ...], ...], space: tuple[Size, ...]) -> Size | None:
    """The row length of a region without reductions, if its stores continue evenly from row to row.

    Loads must continue evenly too, or be the same for all rows, or be one number for each row.
    """
    assert region.body is not None
    body, (outer, inner) = region.body, (group[-1] for group in rows[-2:])
    if region_positions(region) or any(n.op is GATHER for n in body):
        return None
    if any(v.type.dtype.kind == "complex" for v in (*body.inputs, *body.outputs)):
        return None
    length = dims.product(space[axis] for axis in rows[-1])
    layouts = region.attrs["layouts"]
    assert isinstance(layouts, tuple)
    named = dict(zip((*region.operands, *region.results), map(str, layouts), strict=True))
    accesses = region_accesses(region, named)
    kinds = [walk_kind(access.address, loop_name(outer), loop_name(inner), length) for access in accesses]
    if any(k is None or (a.is_store and not _is_dense(a, k, inner)) for a, k in zip(accesses, kinds, strict=True)):
        return None
    return length


def _is_dense(access: Access, kind: str | None, inner: int) -> bool:
    return kind == "flat" and coefficient(access.address, inner) == access.itemsize


def window_taps(region: Node, env: Env) -> tuple[tuple[int, ...], tuple[Guard, ...]]:
    """The lengths of a region's windows that are unrolled, 0 for those that stay loops."""
    space = tuple(sizes(region.attrs, "space"))
    lengths = [space[axis] for axis in ints(region.attrs, "windows")]
    if not all(dims.symbols(length) <= env.keys() for length in lengths):
        return (0,) * len(lengths), ()
    numbers = [dims.evaluate(length, env) for length in lengths]
    taps = unrolled_lengths(numbers)
    guards: list[Guard] = []
    for length, number, tap in zip(lengths, numbers, taps, strict=True):
        if isinstance(length, int):
            continue
        if tap:
            guards.append((tap, length))
        elif number > STRAIGHT:
            guards.append((dims.maximum(length, STRAIGHT + 1), length))
    return taps, tuple(guards)
