"""`to-nest`: regions become loop nests: loops with their kinds, loads and stores, as the plan says.

Before (elementwise, AVX-512):

    %0 = "weft.region"(%x, %y) ({ ... }) {space = #weft.dims<n, m>, ..., rows = ["0+1"], columns = [], vector = 1 : i64,
        layouts = ["C", "C", "C"], width = 16 : i64, unroll = 4 : i64, ..., form = "rows", peel = 2 : i64} : ...

After: the region keeps its body as its meaning, and has a second one.

    %0 = "weft.region"(%x, %y) ({ ... }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
      ^bb0(%x : memref<?x?xf32, #weft.dims<n, m>>, %y : ..., %out : ...):
        %1 = "nest.view"(%x) {collapse = ["0+1"]} : (...) -> memref<?xf32, #weft.dims<m*n>>
        ...
        "nest.for"() ({
          %4 = "nest.load"(%1) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<m*n>>) -> tensor<f32>
          ...
          "nest.store"(%6, %3) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<m*n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, m*n>, kind = "vector", width = 16 : i64, times = 4 : i64, line = 2 : i64,
            shared, grain = 64 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, ...} : ...

Needs the forms of `choose-forms`. All regions get a nest but those whose columns are always cut into chunks, and the
tiles of products. A loop takes these attributes from the plan:

    kind        `vector` for the innermost loop, `jammed` for rows that share loads (`jam`), else `serial`
    width       lanes of a vector; `times` is the vectors of a step (`unroll`), or the rows of a step
    line        the buffer to whose cache lines whole vectors are aligned (`peel`)
    flat        for the loop around short rows, if vectors run from row to row (`form` is "flat")
    shared      for the two outer loops, which threads share; `grain` is how many steps a thread takes at least, and
                `most` how far a piece goes along the inner one (`tile`)

A walk over windows has the `taps` of the plan, and `chained` sums. A store is non-temporal (`stream`) if the plan says
so. The backend translates the nest.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir import dims
from ..ir.dims import LOOP, Size
from ..ir.forms import FLAT, PRODUCTS, has_nest, nest_arrays
from ..ir.graph import Graph, Node, Value
from ..ir.indexing import loop_name
from ..ir.nest import ops
from ..ir.ops import REGION
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.stages import region_stages
from ..ir.types import Attr, Sizes, TensorType, axis_groups, integer, ints, sizes
from .nests.numbers import Numbers
from .nests.row_stages import NestStages
from .nests.writing import Names, NestBlock

STEMS = "ijklpqrs"
SHARED = 2  # outer loops that threads share


@record
class ToNest:
    """Writes the loop nests of regions."""

    name: ClassVar[str] = "to-nest"

    def run(self, graph: Graph) -> Graph:
        if not any(node.op is REGION and node.code is None and has_nest(node) for node in graph):
            return graph
        rewriter = Rewriter(graph)
        for node in graph:
            copy = rewriter.copy(node)
            if node.op is REGION and node.code is None and has_nest(node):
                copy.code = nest_of(node)
        return rewriter.finish()


def nest_of(region: Node) -> Graph:
    """The loop nest of a region, or of the rows of its product."""
    if region.attrs["form"] in PRODUCTS:
        region = _rows_of_product(region)
    names = [v.name or "in" for v in region.operands] + [f"out{k}" for k in range(len(region.results))]
    arrays = (*region.operands, *region.results)
    fresh = Names(())
    buffers = [Value(_memory(v), name=fresh.fresh(name)) for v, name in zip(arrays, names, strict=True)]
    layouts = region.attrs["layouts"]
    assert isinstance(layouts, tuple)
    nest = NestBlock(None, span=region.span)
    _loops(region, nest, buffers)
    access = ("read",) * len(region.operands) + ("write",) * len(region.results)
    attrs: dict[str, Attr] = {"access": access, "layouts": layouts}
    return Graph("nest", tuple(buffers), tuple(nest.nodes), (), attrs)


def _rows_of_product(region: Node) -> Node:
    """The region that computes row by row once the product is in memory, which is one more array to read."""
    read, layouts = nest_arrays(region)
    body, *_, product = region.body, *read
    assert body is not None
    given = Value(product.type, name="product")
    attrs = {**region.attrs, "layouts": layouts, "width": region.attrs["row_width"]}
    types = tuple(v.type for v in region.results)
    rows = Graph(body.name, (*body.inputs, product), body.nodes, body.outputs)
    return Node(region.op, (*region.operands, given), attrs, types, region.span, rows)


def _memory(value: Value) -> TensorType:
    return TensorType(value.type.dtype.strong, value.type.shape, "memref")


def _loops(region: Node, nest: NestBlock, buffers: list[Value]) -> None:
    """Writes the loops over rows from the outside in, and what one row computes."""
    rows, space = axis_groups(region.attrs, "rows"), tuple(sizes(region.attrs, "space"))
    fresh = Names(())
    variables: dict[str, Size] = {}
    groups = (*rows, *axis_groups(region.attrs, "columns"))
    names = [fresh.fresh(STEMS[k % len(STEMS)]) for k in range(len(groups))]
    for name, group in zip(names, groups, strict=True):
        variables |= {loop_name(axis): 0 for axis in group[:-1]}
        variables[loop_name(group[-1])] = dims.symbol(LOOP + name)
    blocks = [nest]
    for name in names[: len(rows)]:
        blocks.append(NestBlock(blocks[-1], (LOOP + name,)))
    numbers = Numbers(region, blocks[-1], dict(enumerate(buffers)), variables, fresh)
    if groups[len(rows) :]:
        NestStages(region, numbers, names[len(rows) :]).write()
    else:
        _elements(region, numbers)
    for k in reversed(range(len(rows))):
        extent = dims.product(space[axis] for axis in rows[k])
        attrs: dict[str, Attr] = {"var": names[k], "range": Sizes((0, extent)), **_kind(region, rows, k)}
        blocks[k].add(ops.FOR, (), attrs, (), blocks[k + 1].body())


def _kind(region: Node, rows: tuple[tuple[int, ...], ...], k: int) -> dict[str, Attr]:
    """The attributes that say how one loop over rows runs."""
    plan, axis = region.attrs, rows[k][-1]
    found: dict[str, Attr] = {"kind": "serial"}
    grain = 1
    jammed, jam = ints(plan, "jam") if "jam" in plan else (-1, 1)
    if axis == integer(plan, "vector"):
        width, times = integer(plan, "width"), integer(plan, "unroll")
        found = {"kind": "vector", "width": width, "times": times}
        grain = width * times
        if "peel" in plan and not plan["columns"]:
            found["line"] = plan["peel"]
    elif axis == jammed:
        found = {"kind": "jammed", "times": jam}
        grain = jam
    is_flat = plan["form"] == FLAT
    if is_flat and k == len(rows) - 2:
        found["flat"] = True
    if k >= SHARED or (is_flat and k == len(rows) - 1):
        return found
    found["shared"] = True
    piece = (*ints(plan, "piece"), 1)[k] if "piece" in plan else 1
    if max(grain, piece) > 1:
        found["grain"] = max(grain, piece)
    if k == 1 and "tile" in plan:
        found["most"] = plan["tile"]
    return found


def _elements(region: Node, numbers: Numbers) -> None:
    """Write what one step computes and stores if there are no columns: results by stage, those of rows last."""
    stages = region_stages(region)
    streamed = bool(region.attrs.get("stream"))
    for slot, value in (*(pair for outputs in stages.outputs for pair in outputs), *stages.row_outputs):
        numbers.store(slot, value, streamed)
        streamed = False
