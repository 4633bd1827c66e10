"""Decide which regions of a scheduled graph are large for the sizes of a call.

A region that writes results of its whole space is if it moves more memory than caches hold. Then they are written past
the caches: a line that is overwritten as a whole needn't be read first. Reductions over the axes outside of the vectors
alone are large if what lies along the vectors is long. A step of large ones takes more vectors, for memory is slow
where each line is far away from the one before. A compiled graph has the code that its first call needs; guards keep
other calls away from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import dims
from .dims import Size
from .graph import Graph, Node
from .loops import regions
from .types import axis_groups, integer, sizes

LARGE = 8 << 20  # bytes: from here on it pays even if the result is read next (measured; docs/memory.md)
LONG_LINE = 4 << 10  # bytes along the vectors


def large_regions(graph: Graph, env: Mapping[str, int]) -> dict[Node, bool]:
    """Whether each region that has two forms is large; those of unknown sizes are left out."""
    found = {}
    for node in regions(graph):
        if not reduces_across(node) and not _is_streamable(node):
            continue
        bytes, limit = _bytes(node)
        if dims.symbols(bytes) <= env.keys():
            found[node] = dims.evaluate(bytes, env) >= limit
    return found


def reduces_across(region: Node) -> bool:
    """Whether reductions run over axes outside of the vectors, in chunks that threads share."""
    columns = axis_groups(region.attrs, "columns") if "chunk" in region.attrs else ()
    return bool(columns) and columns[-1][-1] != integer(region.attrs, "vector")


def _is_streamable(region: Node) -> bool:
    """Not a product, which has one form; nor tiles: short pieces of lines far apart are slow past the caches."""
    return region.attrs.get("columns") == () and "registers" not in region.attrs and "tile" not in region.attrs


def large_guards(large: Mapping[Node, bool]) -> list[tuple[Size, Size]]:
    """Equalities between sizes that hold as long as regions are as large, or as small, as they were."""
    found: list[tuple[Size, Size]] = []
    for region, is_large in large.items():
        bytes, limit = _bytes(region)
        found.append((dims.maximum(bytes, limit) if is_large else dims.minimum(bytes, limit - 1), bytes))
    return found


def _bytes(region: Node) -> tuple[Size, int]:
    """What is read and written, at least, or a line of it; and from where on that is large."""
    space = tuple(sizes(region.attrs, "space"))
    if reduces_across(region) and all(v.type.shape != space for v in region.results):
        line = axis_groups(region.attrs, "rows")[-1]
        size = max(v.type.dtype.size for v in (*region.operands, *region.results))
        return dims.product((size, *(space[axis] for axis in line))), LONG_LINE
    total: Size = 0
    for value in (*region.operands, *region.results):
        total = total + dims.product((value.type.dtype.size, *value.type.shape))
    return total, LARGE
