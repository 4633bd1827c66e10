"""`schedule`: each region gets its loops, vector width and unrolling as attributes, to be compiled or edited.

Before:

    %0 = "weft.region"(%x, %y) ({ ... }) {space = #weft.dims<n, m>, reduced = array<i64>} : ...

After (both operands and the result in C layout, AVX-512):

    %0 = "weft.region"(%x, %y) ({ ... }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"],
        columns = [], vector = 1 : i64, layouts = ["C", "C", "C"], width = 16 : i64, unroll = 4 : i64,
        cost = 116 : i64} : ...

Needs the trees of `lower-reductions`. `vector_bytes` is the size of the machine's vectors, and `core_cache` that of a
core's second-level cache (0: unknown), which decides whether products pack their operands. Width and unroll never
change a result, because the lanes of a reduction are logical. `cost` is the estimated time of one element in
picoseconds; it decides how large the pieces for threads are. `chunk` is how many blocks of the reductions' trees a
thread takes at a time if threads share columns, and `cut_from` how many columns a row must have for that, if shorter
rows are walked whole. `tile` is how far a piece goes along the vectors if operands are in different orders (C and
Fortran). `jam` is an axis and how many rows along it one step computes, if they read the same elements; threads then
take multiples of `piece` rows along the outer loops (`unroll_and_jam`).

The other options override what is chosen from the body, with the same bits: `unroll` and `tile` (0
leaves the choice), and `share`, which scales the region's work, in percent, when it is decided whether
threads share it (0: never). `stream` writes the first result by non-temporal stores, which saves reading the lines it
overwrites (1: always, -1: never, 0: where a call moves more memory than caches hold).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.accesses import coefficient, region_accesses, value_layouts
from ..ir.graph import Graph, Node, Value
from ..ir.ops import EACH, FLOW, MATMUL, SCAN, WHEN, WHILE, Trait
from ..ir.records import record
from ..ir.stages import known_stages
from ..ir.types import Attr, axis_groups, integer, ints, sizes
from ..ir.widths import widest
from .lower_reductions import LONG_CHUNK, SEVERAL_CHUNKS, STEPS, UNCACHED_CHUNKS
from .planning.costs import element_cost, window_cost
from .planning.loops import plan_loops
from .planning.regions import Plan, annotate_regions
from .planning.tiling import is_of_rows, plan_product, product_in
from .planning.unroll_and_jam import plan_together

CHEAP_UNROLL, COSTLY_UNROLL = 4, 2
LONG_BODY = 200  # operations; one vector has enough of them to keep the machine busy, and half the code compiles faster
TILE = 128  # elements of each line, so that the shared part stays in the first-level cache
FLAT_CHUNK = 8  # blocks, each of one line per step: as many lines as the CPU prefetches


@record
class Schedule:
    """Writes the plan of each region."""

    vector_bytes: int = 64
    unroll: int = 0
    tile: int = 0
    share: int = 100
    stream: int = 0
    core_cache: int = 0
    name: ClassVar[str] = "schedule"

    def run(self, graph: Graph) -> Graph:
        layouts = value_layouts(graph)

        def plan(region: Node) -> Plan:
            if (product := product_in(region)) is not None:
                planned = plan_product(region, product, layouts, self.vector_bytes, self.core_cache)
                if is_of_rows(region):
                    planned["row_width"] = self.vector_bytes // widest(region, integer(region.attrs, "vector"))
                    planned["unroll"] = self._unrolled(region)
                return planned, {}
            attrs: dict[str, Attr] = {}
            if "rows" not in region.attrs:
                loops = plan_loops(region, layouts)
                attrs |= {
                    "rows": loops.rows,
                    "columns": loops.columns,
                    "vector": loops.vector,
                }
            attrs["layouts"] = tuple(layouts[v] for v in (*region.operands, *region.results))
            vector = integer({**region.attrs, **attrs}, "vector")
            attrs["width"] = self.vector_bytes // widest(region, vector)
            is_scattered = _is_scattered(region, layouts, {**region.attrs, **attrs})
            is_single = is_scattered or _is_chain(region, vector)
            attrs["unroll"] = self.unroll or 1 if is_single else self._unrolled(region)
            cost = window_cost(region) if "windows" in region.attrs else element_cost(region)
            attrs["cost"] = cost * self.share // 100
            if not _is_costly(region):
                attrs |= plan_together(region, {**region.attrs, **attrs}, self.vector_bytes)
                attrs["unroll"] = self.unroll or attrs["unroll"]
            if _mixes_orders(region, layouts, {**region.attrs, **attrs}):
                attrs["tile"] = self.tile or TILE
            if self.stream and not {**region.attrs, **attrs}["columns"]:
                attrs["stream"] = self.stream > 0
            if (chunk := _chunk(region, {**region.attrs, **attrs})) is not None:
                attrs["chunk"] = chunk
            if chunk is not None and (cut_from := _cut_from(region, {**region.attrs, **attrs})):
                attrs["cut_from"] = cut_from
            return attrs, {}

        return annotate_regions(graph, plan)

    def _unrolled(self, region: Node) -> int:
        if not self.unroll and len(region.body or ()) >= LONG_BODY:
            return 1
        return self.unroll or (COSTLY_UNROLL if _is_costly(region) else CHEAP_UNROLL)


def _is_scattered(region: Node, layouts: Mapping[Value, str], attrs: Mapping[str, Attr]) -> bool:
    """Whether no access is contiguous along the vectors, as in a matrix column. Then each lane needs its own load."""
    vector = integer(attrs, "vector")
    if attrs["columns"] or vector < 0:
        return False
    steps = [(coefficient(a.address, vector), a.itemsize) for a in region_accesses(region, layouts)]
    return not any(step == size for step, size in steps)


def _is_chain(region: Node, vector: int) -> bool:
    """Whether each vector waits for the one before it, as in a running sum.

    Then more vectors in a step save no time.
    """
    return "scanned" in region.attrs and vector in ints(region.attrs, "scanned") and not _is_costly(region)


def _mixes_orders(region: Node, layouts: Mapping[Value, str], attrs: Mapping[str, Attr]) -> bool:
    """Whether some operands are contiguous along the vectors and others along the loop around them."""
    rows, vector = axis_groups(attrs, "rows"), integer(attrs, "vector")
    if attrs["columns"] or len(rows) != 2:
        return False
    outer = rows[0][-1]
    accesses = region_accesses(region, layouts)
    return any(
        coefficient(a.address, outer) == a.itemsize and coefficient(a.address, vector) not in (0, a.itemsize)
        for a in accesses
    )


def _chunk(region: Node, attrs: Mapping[str, Attr]) -> int | None:
    """Return how many blocks a thread takes at a time, if threads share columns as well as rows."""
    columns = axis_groups(attrs, "columns")
    if not columns or "scanned" in attrs or "windows" in attrs:
        return None
    shared = (integer(n.attrs, "chunk") for n in region.body or () if "composite" in n.attrs)
    return next(shared, LONG_CHUNK if columns[-1][-1] == attrs["vector"] else FLAT_CHUNK)


def _cut_from(region: Node, attrs: Mapping[str, Attr]) -> int:
    """Return the number of columns from which chunks pay, if vectors run along them; 0 if they always do.

    A single walk is worth sharing early. Several walks over a row find it in the cache as long as it fits.
    """
    assert region.body is not None
    reductions = [n for n in region.body if Trait.REDUCTION in n.op.traits]
    if shared := [integer(n.attrs, "cut_from") for n in reductions if "composite" in n.attrs]:
        return max(shared)
    if not attrs["rows"] or not reductions or axis_groups(attrs, "columns")[-1][-1] != attrs["vector"]:
        return 0
    stages, space = known_stages(region.body), tuple(sizes(region.attrs, "space"))
    walked = [*(n.operands[0] for n in reductions), *(v for v in region.body.outputs if v.type.shape == space)]
    chunks = SEVERAL_CHUNKS if max(stages[v] for v in walked) == 0 else UNCACHED_CHUNKS
    return chunks * LONG_CHUNK * STEPS * integer(reductions[0].attrs, "lanes")


def _is_costly(region: Node) -> bool:
    """Tell whether one iteration has so much work that more vectors in flight would only spill registers.

    A mathematical function does. A reduction does not: it needs several vectors to hide the latency of its sums.
    """
    assert region.body is not None
    return _is_heavy(region.body) or any(n.op is EACH and n.body is not None and _is_heavy(n.body) for n in region.body)


def _is_heavy(body: Graph) -> bool:
    """Tell whether a body has much work. A `while` counts as one step: several vectors hide its latency."""
    working = [n for n in body if n.op not in (SCAN, MATMUL) and Trait.REDUCTION not in n.op.traits]
    inner = [n.body for n in working if n.op in (WHILE, WHEN) and n.body is not None]
    costly = any(Trait.EXPENSIVE in n.op.traits and n.op not in FLOW for n in working)
    return costly or len(body) > 40 or any(map(_is_heavy, inner))
