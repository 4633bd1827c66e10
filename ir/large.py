"""A scheduled graph and the sizes of a call in, which of its regions move more memory than caches hold out.

Results of such a region are written past the caches: a line that is overwritten as a whole needn't be read first. A
compiled graph has the stores that its first call needs; guards keep other calls away from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import dims
from .dims import Size
from .graph import Graph, Node
from .loops import regions

LARGE = 8 << 20  # bytes: from here on it pays even if the result is read next (measured; docs/memory.md)


def large_regions(graph: Graph, env: Mapping[str, int]) -> dict[Node, bool]:
    """Whether each region without reductions is large; those of unknown sizes are left out.

    A product has one form. So have tiles: they write short pieces of lines far apart, which is slow past the caches.
    """
    found = {}
    for node in regions(graph):
        if node.attrs.get("columns") != () or "registers" in node.attrs or "tile" in node.attrs:
            continue
        if dims.symbols(bytes := _bytes(node)) <= env.keys():
            found[node] = dims.evaluate(bytes, env) >= LARGE
    return found


def large_guards(large: Mapping[Node, bool]) -> list[tuple[Size, Size]]:
    """Equalities between sizes that hold as long as regions are as large, or as small, as they were."""
    found: list[tuple[Size, Size]] = []
    for region, is_large in large.items():
        bytes = _bytes(region)
        found.append((dims.maximum(bytes, LARGE) if is_large else dims.minimum(bytes, LARGE - 1), bytes))
    return found


def _bytes(region: Node) -> Size:
    """What is read and written, at least."""
    total: Size = 0
    for value in (*region.operands, *region.results):
        total = total + dims.product((value.type.dtype.size, *value.type.shape))
    return total
