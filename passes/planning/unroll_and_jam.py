"""Choose how many rows one step computes together (unroll-and-jam) and how many a thread takes at a time.

Rows that read the same elements, like neighbours in a stencil or a convolution, load them once if one step computes
several rows: `v[i - 1, j]` of one row is `v[i, j]` of the row before. The number of loads decides. Pieces of several
rows and planes find their neighbours' elements in the cache, and share few elements with other threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from ...ir.accesses import coefficient, region_elements
from ...ir.dims import Size
from ...ir.forms import vectors_at_once, walks_along_vectors
from ...ir.graph import Node, Value
from ...ir.indexing import Index
from ...ir.stages import RegionStages
from ...ir.tuples import NamedTuple
from ...ir.types import Attr, axis_groups, integer, ints

SAMPLE = 3  # taps assumed for a window of unknown length
VECTOR, NUMBER = 4, 1  # cost of a load: an unaligned one touches two lines, a scalar serves several vectors
GAIN = 0.9  # jam rows if at most this share of the loads is left
ROWS, PLANES = (16,), (8, 16)  # rows of a piece along the outer loops
WALKED = 4  # rows that are walked together, each with as many vectors of totals
VECTORS = 2  # vectors of each row per step in windows, whose totals take the registers


class RowLoad(NamedTuple):
    """A load: its index without constants, the constants, and the stride along each axis."""

    value: Value
    place: Index
    numbers: tuple[int, ...]
    steps: Mapping[int, tuple[Size, ...]]


def plan_together(region: Node, attrs: Mapping[str, Attr], vector_bytes: int) -> dict[str, Attr]:
    """The attributes of a region whose rows share loads; none if they share nothing."""
    jam = plan_jam(region, attrs, vector_bytes)
    planned: dict[str, Attr] = {"jam": jam} if jam is not None else {}
    if jam is not None or "windows" in attrs:
        planned["piece"] = PLANES if len(axis_groups(attrs, "rows")) > 2 else ROWS
    if jam is not None and "windows" in attrs:
        planned["unroll"] = VECTORS
    return planned


def plan_jam(region: Node, attrs: Mapping[str, Attr], vector_bytes: int) -> tuple[int, int] | None:
    """The axis, and how many rows along it one step computes; None if computing several gains nothing."""
    rows, vector = axis_groups(attrs, "rows"), integer(attrs, "vector")
    if len(rows) < 2 or rows[-1][-1] != vector or (attrs["columns"] and "windows" not in attrs):
        return None
    windows = ints(attrs, "windows") if "windows" in attrs else ()
    axes = [group[-1] for group in rows[:-1]]
    loads = _loads(region, (*axes, *windows, vector))
    if not windows:  # values that all rows share are in the first-level cache anyway
        loads = [x for x in loads if any(y.place == x.place and y.value is x.value and y is not x for y in loads)]
    if not loads:
        return None
    alone = _cost(loads, axes[0], 1, windows, vector)
    found: list[tuple[float, int, int]] = []
    for axis in axes:
        is_shared = any(any(x.steps[vector]) and not any(x.steps[axis]) for x in loads)
        # As many totals as fit the registers. Without windows, more rows were slower if they are a power of two apart.
        count = 2 if not windows else 8 if is_shared and vector_bytes > 32 else 4
        found.append((_cost(loads, axis, count, windows, vector) / count, -axis, count))
    cost, axis, count = min(found)
    return (-axis, count) if cost <= GAIN * alone else None


def walked_rows(region: Node, stages: RegionStages) -> tuple[int, int] | None:
    """The axis, and how many rows along it are walked together.

    If all rows need a vector, as in a matrix-vector product, it is loaded once. The totals must fit into registers,
    which takes 32 of them. Within a row each running sum waits for the one before; different rows do not wait for each
    other.
    """
    rows, columns = axis_groups(region.attrs, "rows"), axis_groups(region.attrs, "columns")
    if not rows or len(columns) != 1 or not walks_along_vectors(region):
        return None
    if "scanned" in region.attrs:
        return (rows[-1][-1], WALKED) if stages.stage_count == 1 and not stages.reductions[0] else None
    reductions, outputs = stages.reductions[0], stages.outputs[0]
    if stages.stage_count > 1 or len(reductions) != 1 or outputs or not integer(reductions[0].attrs, "steps"):
        return None
    vector, axis = columns[-1][-1], rows[-1][-1]
    along = [x for x in _loads(region, (vector, axis)) if any(x.steps[vector])]
    is_shared = any(not any(x.steps[axis]) for x in along) and any(any(x.steps[axis]) for x in along)
    return (axis, WALKED) if is_shared and vectors_at_once(region, reductions) <= WALKED else None


def _loads(region: Node, axes: tuple[int, ...]) -> list[RowLoad]:
    assert region.body is not None
    inputs, found = set(region.body.inputs), list[RowLoad]()
    for value, index in region_elements(region):
        if value in inputs:
            numbers = tuple(_number(i) for i in index)
            place = tuple(i - n for i, n in zip(index, numbers, strict=True))
            found.append(RowLoad(value, place, numbers, {a: tuple(coefficient(i, a) for i in index) for a in axes}))
    return found


def _number(size: Size) -> int:
    return size if isinstance(size, int) else next((c for monomial, c in size.terms if not monomial), 0)


def _cost(loads: list[RowLoad], axis: int, count: int, windows: tuple[int, ...], vector: int) -> float:
    """The cost of all loads for one vector of each jammed row."""
    distinct: dict[tuple[Value, Index, Index], int] = {}
    for load in loads:
        cost = VECTOR if any(load.steps[vector]) else NUMBER
        for down, *tap in itertools.product(range(count), *(range(SAMPLE) for _ in windows)):
            moved: list[Size] = list(load.numbers)
            for by, steps in (
                (down, load.steps[axis]),
                *((k, load.steps[w]) for k, w in zip(tap, windows, strict=True)),
            ):
                moved = [n + by * step for n, step in zip(moved, steps, strict=True)] if by else moved
            distinct[load.value, load.place, tuple(moved)] = cost
    return sum(distinct.values())
