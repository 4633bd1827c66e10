"""`lower-reductions`: every reduction gets the tree in which it combines elements.

Before:

    %1 = "weft.sum"(%x) {axes = array<i64: 0, 1>} : ...

After (C layout, so both axes run as one):

    %1 = "weft.sum"(%x) {axes = array<i64: 0, 1>, order = ["0+1"], lanes = 64 : i64, steps = 16 : i64} : ...

The tree: the reduced elements are walked in `order`, the last group innermost. Each run of the innermost group is cut
into blocks of `lanes * steps` elements. In a block, lane l adds up the elements l, l + lanes, ... one after another;
missing ones count as the identity. Blocks are combined in pairs, pairs of pairs and so on, in the order in which they
came. At the end what is left is combined from the youngest to the oldest. Then the lanes are combined, the upper half
with the lower half, until one is left. `steps = 0` is one block without end, for operations where order can't matter.
`lanes = 1` is a reduction whose vectors run along a kept axis. A reduction that says so before this pass, as
`split-chunks` writes it, keeps it whatever the layouts are.

A sum that needs another reduction of the same data (`ir/composites.py` has which) may share its walk:

    %4 = "weft.sum"(%3) {axes = array<i64: 1>, ..., composite = "exp", chunk = 32 : i64, cut_from = 262144 : i64} : ...

Columns of `cut_from` elements or more are then cut into chunks of `chunk` blocks. Each has its own shift; its
lanes are combined to one number. Powers are moved to the common shift, and chunks are combined as blocks are. Moments
of two chunks are joined in the same order, together with the sum that they need, which is `composite = "total"`.

A sum of products over windows (`ir/windows.py`) is one chain instead, as the elements of a matrix product are: from 0
on, each product joins the total by an FMA, in `order`.

    %3 = "weft.sum"(%2) {axes = array<i64: 1>, order = ["1"], lanes = 1 : i64, steps = 0 : i64, chained} : ...

Needs regions. The tree depends on the program, its layout classes and dtypes (reductions in one region share their
lanes), never on threads, vector width or caches.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.accesses import value_layouts
from ..ir.composites import SCALED, SUM, TOTAL, composites, is_exact, totals
from ..ir.dtypes import DType
from ..ir.graph import Graph, Node
from ..ir.ops import POSITIONS, Trait
from ..ir.records import record
from ..ir.types import Attr, sizes
from ..ir.windows import is_one_walk, product_in_sum
from .planning.loops import plan_loops
from .planning.regions import Plan, annotate_regions
from .planning.tiling import is_of_rows, row_loops

STEPS = 16
LONG_CHUNK = 32  # blocks: 128 KB
LINES_CHUNK = 8  # blocks of vectors that lie across the columns: 64 KB of eight of them
LINES_PART = 1  # of these blocks: moments of 16 lines, still in the nearest cache when they are walked again
SEVERAL_CHUNKS = 4  # enough to share between threads
UNCACHED_CHUNKS = 8  # 1 MB, and as much of results: it does not stay in a core's cache
LANE_BYTES = 256


@record
class LowerReductions:
    """Writes the tree of each reduction."""

    name: ClassVar[str] = "lower-reductions"

    def run(self, graph: Graph) -> Graph:
        layouts = value_layouts(graph)

        def lower(region: Node) -> Plan:
            assert region.body is not None
            reductions = [n for n in region.body if Trait.REDUCTION in n.op.traits]
            if not reductions:
                return {}, {}
            of_rows = is_of_rows(region)
            single = any(n.attrs.get("lanes") == 1 for n in reductions)
            loops = row_loops(region) if of_rows else plan_loops(region, layouts, is_along_rows=single)
            lanes = 1
            if any(loops.vector in group for group in loops.columns):
                lanes = LANE_BYTES // max(_least(reductions), *(_carried(n).size for n in reductions))
            plan: dict[str, Attr] = {
                "rows": loops.rows,
                "columns": loops.columns,
                "vector": loops.vector,
            }
            trees: dict[Node, dict[str, Attr]] = {
                node: {"order": loops.columns, "lanes": lanes, "steps": 0 if is_exact(node) else STEPS}
                for node in reductions
            }
            if loops.windows and is_one_walk(region):
                plan["windows"] = loops.windows
                sums = [n for n in reductions if not is_exact(n)]
                if all(map(product_in_sum, sums)):
                    trees |= {n: {**trees[n], "chained": True, "steps": 0} for n in sums}
            if len(loops.columns) == 1 and not ("scanned" in region.attrs or "windows" in plan or of_rows):
                for node, shared in _shared_walks(region, lanes, bool(loops.rows)).items():
                    trees[node] |= shared
            return plan, trees

        return annotate_regions(graph, lower)


def _shared_walks(region: Node, lanes: int, has_rows: bool) -> dict[Node, dict[str, Attr]]:
    """The attributes of reductions that share a walk.

    If a row fits the cache, two walks are as fast, and expensive values are computed once for all stages. If parts are
    requested (`split_chunks.py`), their moments are needed for every length of a row.
    """
    assert region.body is not None
    found = composites(region.body, sizes(region.attrs, "space"), in_lanes=lanes > 1)
    terms = {c.node.operands[0] for c in found if c.kind in SCALED.values()}
    repeats = any(v in terms for n in region.body if n.op is not SUM for v in n.operands)
    chunks = UNCACHED_CHUNKS if repeats else SEVERAL_CHUNKS if has_rows else 0
    chunk = LONG_CHUNK if lanes > 1 else LINES_CHUNK
    plan: dict[str, Attr] = {"chunk": chunk}
    if lanes == 1:
        plan["moment_part"] = LINES_PART
    is_asked_for = any("moment_part" in n.attrs for n in region.body)
    plan["cut_from"] = 1 if is_asked_for else chunks * LONG_CHUNK * STEPS * lanes
    kinds = {c.node: c.kind for c in found} | dict.fromkeys(totals(region.body, found), TOTAL)
    return {node: {"composite": kind, **plan} for node, kind in kinds.items()}


def _least(reductions: list[Node]) -> int:
    """Return the minimum bytes of a lane. Values computed on the way may be wider than those reduced."""
    return 1 if all(n.op in POSITIONS and n.operands[0].node is None for n in reductions) else 4


def _carried(node: Node) -> DType:
    """The dtype that the lanes hold: the dtype of the totals, or that of the elements for `argmin` and `argmax`."""
    return (node.operands[0] if node.op in POSITIONS else node.result).type.dtype
