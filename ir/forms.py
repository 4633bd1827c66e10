"""Read the form that `choose-forms` gave a region: how its loops run, and for which sizes.

A region is compiled in the form that suits the sizes of the first call that needs it. Its plan has `form`:

| `form` | the loops |
| --- | --- |
| `rows` | one row after another, all stages of each; vectors run along the columns or across rows |
| `chunks` | columns are cut into chunks that threads share, stage by stage |
| `rows or chunks` | both are compiled, and `cut_from` columns or more are cut when it runs |
| `flat` | vectors run through several short rows as if they were one |
| `windows` | totals of windows stay in registers; `taps` are the lengths that are unrolled |
| `small product` | tiles of a matrix product whose operands are read in place, and stages over its rows |
| `large product` | the same for more terms: operands are packed, or the right one fits a core's cache |
| `product` | both are compiled, and the sizes decide when it runs |

`guards` are the equalities between sizes under which the form holds: a call that breaks one gets another form.
"""

from __future__ import annotations

from collections.abc import Sequence

from .graph import Graph, Node, Value
from .layouts import C
from .ops import MATMUL, Trait
from .types import Guards, axis_groups, integer
from .walking import regions

ROWS, CHUNKS, EITHER, FLAT, WINDOWS = "rows", "chunks", "rows or chunks", "flat", "windows"
PRODUCT, SMALL_PRODUCT, LARGE_PRODUCT = "product", "small product", "large product"
PRODUCTS = (PRODUCT, SMALL_PRODUCT, LARGE_PRODUCT)
FORMS = (ROWS, CHUNKS, EITHER, FLAT, WINDOWS, *PRODUCTS)
FEW = 16  # most columns of a short row: no more than any tree has lanes, so that each lane has one element
LONG_STEP = 8  # vectors per step of reductions over axes outside of the vectors, if lines are long
RESULT, SCRATCH, ROW = "result", "scratch", "row"  # where a value is kept; all but scratch are followed by a number


def form_guards(graph: Graph) -> Guards:
    """The equalities between sizes under which the forms of a graph's regions hold, each once."""
    return Guards(dict.fromkeys(guard for region in regions(graph) for guard in region_guards(region)))


def region_guards(region: Node) -> Guards:
    found = region.attrs.get("guards", Guards())
    assert isinstance(found, Guards)
    return found


def walks_along_vectors(region: Node) -> bool:
    """Whether vectors run along the innermost loop over the columns."""
    columns = axis_groups(region.attrs, "columns")
    return bool(columns) and columns[-1][-1] == integer(region.attrs, "vector")


def has_rows_in_lanes(region: Node) -> bool:
    """Whether each lane computes one row, although the reduction trees have lanes along the columns."""
    if not region.attrs["columns"] or walks_along_vectors(region):
        return False
    return any(Trait.REDUCTION in n.op.traits and integer(n.attrs, "lanes") > 1 for n in region.body or ())


def vectors_at_once(region: Node, reductions: Sequence[Node]) -> int:
    """How many vectors one step of a stage processes; along the columns the reduction trees decide it."""
    if not reductions or not walks_along_vectors(region):
        return integer(region.attrs, "unroll")
    return integer(reductions[0].attrs, "lanes") // integer(region.attrs, "width")


def reduces_across(region: Node) -> bool:
    """Whether reductions run over axes outside of the vectors, in chunks that threads share."""
    return "chunk" in region.attrs and bool(region.attrs["columns"]) and not walks_along_vectors(region)


def longest_short_row(region: Node) -> int:
    """The length up to which a row counts as short: walked element by element, it would fill half a vector."""
    return FEW if region.attrs["columns"] else min(FEW, integer(region.attrs, "width") // 2)


def has_nest(region: Node) -> bool:
    """Whether a region that has a form runs as a loop nest, at least for some sizes or in the rows of its product."""
    form = region.attrs.get("form")
    return form in (ROWS, EITHER, FLAT, WINDOWS) or (form in PRODUCTS and "row_width" in region.attrs)


def nest_arrays(region: Node) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    """What the nest of a region reads, a product in memory last, and the layouts of that and of the results."""
    layouts = region.attrs["layouts"]
    assert isinstance(layouts, tuple) and region.body is not None
    count, given = len(region.operands), tuple(map(str, layouts))
    if region.attrs["form"] not in PRODUCTS:
        return region.operands, given
    product = next(n.result for n in region.body if n.op is MATMUL)
    return (*region.operands, product), (*given[:count], C, *given[count:])
