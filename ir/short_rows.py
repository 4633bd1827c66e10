"""Decide which regions of a scheduled graph have short rows for the sizes of a call.

Such a region is compiled in one of two ways: vectors lie along a row or, where they would be nearly empty, across
rows. A compiled graph has the one that its first call needs; guards keep other calls away from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import dims
from .accesses import Access, coefficient, region_accesses, region_positions
from .dims import Size
from .graph import Graph, Node
from .ops import GATHER
from .types import axis_groups, integer, sizes
from .walking import regions

FEW = 16  # columns; no more than the lanes of any tree, so that each lane has one of a row's elements


def short_regions(graph: Graph, env: Mapping[str, int]) -> dict[Node, bool]:
    """Whether the rows of each region that is compiled in two ways are short; those of unknown sizes are left out."""
    found = {}
    for node in regions(graph):
        length = _length(node)
        if length is not None and dims.symbols(length) <= env.keys():
            found[node] = dims.evaluate(length, env) <= most_elements(node)
    return found


def short_guards(short: Mapping[Node, bool]) -> list[tuple[Size, Size]]:
    """Equalities between sizes that hold as long as rows are as short, or as long, as they were."""
    found: list[tuple[Size, Size]] = []
    for region, is_short in short.items():
        length = _length(region)
        assert length is not None
        most = most_elements(region)
        found.append((dims.minimum(length, most) if is_short else dims.maximum(length, most + 1), length))

    return found


def most_elements(region: Node) -> int:
    """How long a short row is at most; one that is walked element by element would fill half a vector."""
    return FEW if region.attrs["columns"] else min(FEW, integer(region.attrs, "width") // 2)


def _length(region: Node) -> Size | None:
    """The length of a row, where vectors lie along rows and needn't."""
    rows, columns = axis_groups(region.attrs, "rows"), axis_groups(region.attrs, "columns")
    space, vector = tuple(sizes(region.attrs, "space")), integer(region.attrs, "vector")
    if "scanned" in region.attrs:
        return None
    if not columns:
        return _flat_length(region, rows, space) if len(rows) > 1 else None
    if not rows or len(columns) > 1 or columns[0][-1] != vector:
        return None
    return dims.product(space[axis] for axis in columns[0])


def _flat_length(region: Node, rows: tuple[tuple[int, ...], ...], space: tuple[Size, ...]) -> Size | None:
    """The same of a region without reductions, if all that it stores goes on in equal steps from row to row.

    What it loads goes on so too, or is the same for all rows, or one number for each.
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
    kinds = [walk_kind(access.address, outer, inner, length) for access in accesses]
    if any(k is None or (a.is_store and not _is_dense(a, k, inner)) for a, k in zip(accesses, kinds, strict=True)):
        return None
    return length


def _is_dense(access: Access, kind: str | None, inner: int) -> bool:
    return kind == "flat" and coefficient(access.address, inner) == access.itemsize


def walk_kind(address: Size, outer: int, inner: int, length: Size) -> str | None:
    """How an address goes on through rows of a length: "flat", the same "row" each time, a "column", or "fixed"."""
    along, across = coefficient(address, inner), coefficient(address, outer)
    if along == 0:
        return "fixed" if across == 0 else "column"
    if across == 0:
        return "row"
    return "flat" if across == along * length else None
