"""`schedule`: each region gets its loops, vector width and unrolling as attributes, to be compiled or edited.

Before:

    %0 = "weft.region"(%x, %y) ({ ... }) {space = #weft.dims<n, m>, reduced = array<i64>} : ...

After (both operands and the result in C layout, AVX-512):

    %0 = "weft.region"(%x, %y) ({ ... }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"],
        columns = [], vector = 1 : i64, layouts = ["C", "C", "C"], width = 16 : i64, unroll = 4 : i64} : ...

Needs the trees of `lower-reductions`. `vector_bytes` is the size of the machine's vectors. Width and unrolling never
change a result: the lanes of a reduction are logical ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..ir.accesses import value_layouts
from ..ir.complexes import PARTS
from ..ir.graph import Graph, Node
from ..ir.ops import Trait
from ..ir.types import Attr
from .loops import Loops, plan_loops
from .regions import Plan, annotate_regions

CHEAP_UNROLL, COSTLY_UNROLL = 4, 2


@dataclass(frozen=True)
class Schedule:
    """Writes the plan of each region."""

    vector_bytes: int = 64
    name: ClassVar[str] = "schedule"

    def run(self, graph: Graph) -> Graph:
        layouts = value_layouts(graph)

        def plan(region: Node) -> Plan:
            attrs: dict[str, Attr] = {}
            if "rows" not in region.attrs:
                loops = plan_loops(region, layouts)
                attrs |= {
                    "rows": Loops.text(loops.rows),
                    "columns": Loops.text(loops.columns),
                    "vector": loops.vector,
                }
            attrs["layouts"] = tuple(layouts[v] for v in (*region.operands, *region.results))
            attrs["width"] = self.vector_bytes // _widest(region)
            attrs["unroll"] = COSTLY_UNROLL if _is_costly(region) else CHEAP_UNROLL
            return attrs, {}

        return annotate_regions(graph, plan)


def _widest(region: Node) -> int:
    """The largest element that the region computes with, in bytes."""
    assert region.body is not None
    values = [*region.body.inputs, *(r for n in region.body for r in n.results)]
    dtypes = [v.type.dtype for v in values if v.type.shape]
    return max((PARTS.get(d, d).size for d in dtypes), default=4)


def _is_costly(region: Node) -> bool:
    """Whether one iteration holds so much work that more vectors in flight would only spill registers."""
    assert region.body is not None
    expensive = sum(Trait.EXPENSIVE in n.op.traits and Trait.REDUCTION not in n.op.traits for n in region.body)
    return expensive > 1 or len(region.body) > 40
