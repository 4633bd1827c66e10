"""`choose-forms`: the sizes of a call decide the form of each region: attributes, and guards for those sizes.

Before (softmax, AVX-512):

    %0 = "weft.region"(%x) ({ ... }) {space = #weft.dims<n, m>, ..., rows = ["0"], columns = ["1"], vector = 1 : i64,
        width = 16 : i64, unroll = 2 : i64, ..., chunk = 32 : i64, cut_from = 262144 : i64} : ...

After, for rows of 8 columns:

    %0 = "weft.region"(%x) ({ ... }) {..., rows = ["0"], columns = ["1"], vector = 0 : i64, width = 16 : i64,
        unroll = 1 : i64, ..., form = "rows", guards = ["min(16, m) == m"]} : ...

Needs the plans of `schedule`. It guarantees that the backend only has to translate the plan: nothing about loops is
left to decide. `sizes` are those of the call, as in `m=8,n=4096`. What they leave open is decided for all sizes.
`any_size` asks for one form that serves all of them, for libraries: long columns are told apart when it runs, and only
short rows have guards. `cache` is how many bytes of memory a call may move before results are written by non-temporal
stores.

`form` says how the loops run (`ir/forms.py`); `guards` are equalities between sizes under which it is chosen. A region
that has a form keeps it. `vector`, `unroll` and `jam` mean what they do in `schedule`, and are final now: in short rows
each lane computes one row, a step over long lines takes 8 vectors, one over large arrays whose functions wait for one
another takes 4, and streamed rows are computed one by one.
`cut_from` is left in `rows or chunks` only, and says from how many columns on chunks run. Other attributes of a region:

    shared_walks    sums and the reductions that they need share the walk of a chunk (`ir/composites.py`)
    spread          the last stage, which only writes, runs line after line in the order of memory
    stream          the first result is written by non-temporal stores
    early_exit      a walk that looks for the first true element stops when it is found
    taps            the lengths of windows that are unrolled, 0 for those that stay loops
    peel            the operand or result (counted as in `layouts`) at whose next cache line whole vectors begin
    lines           how many lines a step of a walk across them takes; it walks chunks in the order of memory
    called          functions that are used so often that their code is a function of its own
    prefetch        how many lines (with shared walks: chunks) ahead to prefetch, and into which cache

A node of the body has `keep` if its value is kept in memory between stages: in the row of a result that is not written
yet (`"result 0"`), in scratch memory of one row (`"scratch"`), or as one number for each row (`"row 0"`).
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.errors import ValueProblem
from ..ir.forms import (
    CHUNKS,
    EITHER,
    FLAT,
    LARGE_PRODUCT,
    LONG_STEP,
    PRODUCT,
    PRODUCTS,
    RESULT,
    ROWS,
    SMALL_PRODUCT,
    WINDOWS,
    reduces_across,
    walks_along_vectors,
)
from ..ir.graph import Graph, Node, Value
from ..ir.ops import Trait
from ..ir.records import record
from ..ir.stages import RegionStages, finds_first, only_writes, region_stages
from ..ir.types import Attr, Guards, axis_groups, integer
from ..ir.widths import widest
from .planning.called import are_chained, called_functions
from .planning.kept_values import values_between_stages, values_of_rows
from .planning.memory_hints import is_cheap, lines_together, peeled_slot, prefetched
from .planning.regions import Plan, annotate_regions
from .planning.size_classes import (
    LARGE,
    Env,
    SizeAnswer,
    guards_of,
    large,
    large_product,
    long_columns,
    long_rows,
    short_rows,
    window_taps,
)
from .planning.tiling import is_of_rows, product_in
from .planning.unroll_and_jam import walked_rows

CACHED = 1 << 20  # bytes of columns that stay in a core's cache between the stages
_COMPUTED = frozenset(" ,()*+-")  # characters in the text of a size that is not a single symbol
CHAINED_UNROLL = 4  # vectors in a step; only large arrays repay the time that it takes to compile
EXACT_STEPS = 16  # steps of a block whose elements may be combined in any order


@record
class ChooseForms:
    """Writes the form of each region."""

    sizes: str = ""
    any_size: bool = False
    cache: int = LARGE
    name: ClassVar[str] = "choose-forms"

    def check_options(self) -> None:
        """Raises a `ValueProblem` if `sizes` can't be parsed."""
        sizes_of(self.sizes)

    def run(self, graph: Graph) -> Graph:
        env = sizes_of(self.sizes)
        others = {} if self.any_size else env
        return annotate_regions(graph, lambda region: _plan(region, env, others, self.cache))


def sizes_text(env: Env) -> str:
    """Sizes as an option: `m=8,n=4096`. Sizes computed from others, such as `max(0, n - 3)`, are left out."""
    return ",".join(f"{name}={number}" for name, number in env.items() if not _COMPUTED & set(name))


def sizes_of(text: str) -> dict[str, int]:
    """Parses what `sizes_text` wrote."""
    found = {}
    for pair in text.split(",") if text else ():
        name, _, number = pair.partition("=")
        if not name or not number.isdecimal():
            raise ValueProblem(f"sizes must look like 'm=8,n=4096', not '{text}'")
        found[name] = int(number)
    return found


def _plan(region: Node, env: Env, others: Env, cache: int) -> Plan:
    """Choose the form of a region. The sizes `env` decide whether rows are short; `others` decide everything else."""
    is_short, is_large = short_rows(region, env), large(region, others, cache)
    cut_from = integer(region.attrs, "cut_from") if "cut_from" in region.attrs else 0
    is_long = long_columns(region, cut_from, others)
    taps, of_windows = window_taps(region, others) if "windows" in region.attrs else ((), ())
    plan, kept = dict(region.attrs), dict[Value, str]()
    for name in ("jam", "cut_from", "stream"):
        plan.pop(name, None)
    stages = region_stages(region)
    packs = SizeAnswer()
    if (product := product_in(region)) is not None:
        packs = large_product(product, others)
        plan["form"] = PRODUCT if packs.yes is None else LARGE_PRODUCT if packs.yes else SMALL_PRODUCT
        if is_of_rows(region):
            kept = _rows_of_product(region, stages, plan, bool(is_short.yes))
    elif is_short.yes and not region.attrs["columns"]:
        plan |= {"form": FLAT, "unroll": 1}
    elif is_short.yes:
        kept = _lanes(region, stages, plan)
    elif taps and _is_walkable(region, taps):
        plan |= {"form": WINDOWS, "taps": taps}
    else:
        if reduces_across(region):
            plan["unroll"] = LONG_STEP if is_large.yes else region.attrs["unroll"]
            cut_from = cut_from or _cut_lines_from(region, stages, integer(plan, "unroll"))
            is_long = long_columns(region, cut_from, others)
        kept = _loops(region, stages, plan, is_long.yes, cut_from)
        if is_large.yes and _waits(region):
            plan["unroll"] = CHAINED_UNROLL
    if _ends_early(region, stages) and not (is_short.yes or "taps" in plan):
        plan["early_exit"] = True
    rows = long_rows(region, others) if is_large.yes else SizeAnswer()
    _place(region, stages, plan, kept, bool(rows.yes))
    if region.body is not None and (called := called_functions(region.body)):
        plan["called"] = called
    of_memory = () if is_short.yes else (is_large, rows)  # short rows are never streamed
    guards = (*guards_of((is_long, is_short, *of_memory, packs)), *of_windows)
    if guards:
        plan["guards"] = Guards(dict.fromkeys(guards))
    gone = dict.fromkeys(region.attrs.keys() - plan.keys())
    return {**plan, **gone}, {v.node: {"keep": place} for v, place in kept.items() if v.node is not None}


def _waits(region: Node) -> bool:
    """Whether the functions of elementwise code wait for one another while a step has few vectors."""
    assert region.body is not None
    is_few = 1 < integer(region.attrs, "unroll") < CHAINED_UNROLL
    return is_few and not region.attrs["columns"] and not reduces_across(region) and are_chained(region.body)


def _rows_of_product(region: Node, stages: RegionStages, plan: dict[str, Attr], is_short: bool) -> dict[Value, str]:
    """The form of the stages over a product's rows, which may be short. The product chooses its blocks at run time."""
    if is_short:
        plan |= {"vector": axis_groups(region.attrs, "rows")[-1][-1], "unroll": 1}
    return values_between_stages(region, stages, has_scratch=True)


def _lanes(region: Node, stages: RegionStages, plan: dict[str, Attr]) -> dict[Value, str]:
    """Plan vectors across rows. Each lane needs a load of its own, so one vector at a time is enough.

    Values with one number per row are now in vectors, too, and may be the widest.
    """
    across = axis_groups(region.attrs, "rows")[-1][-1]
    vector_bytes = integer(region.attrs, "width") * widest(region, integer(region.attrs, "vector"))
    plan |= {"form": ROWS, "vector": across, "width": vector_bytes // widest(region, across), "unroll": 1}
    return values_between_stages(region, stages, has_scratch=True)


def _loops(
    region: Node, stages: RegionStages, plan: dict[str, Attr], is_long: bool | None, cut_from: int
) -> dict[Value, str]:
    """Chooses rows one after another, columns in chunks, or both, and the values to keep."""
    has_rows = bool(region.attrs["rows"])
    kept = values_between_stages(region, stages, has_scratch=has_rows)
    is_cut, spread = _can_be_cut(region, stages, kept), _is_spread(region, stages)
    spread = spread and not (shares_walks(region) and is_long is None)  # only long columns share a walk
    in_both_ways = has_rows or "cut_from" in region.attrs
    needs_rows = not is_cut or (in_both_ways and (not is_long if has_rows else is_long is None))
    needs_rows = needs_rows and not spread
    needs_chunks = is_cut and not (has_rows and is_long is False)
    plan["form"] = EITHER if needs_rows and needs_chunks else ROWS if needs_rows else CHUNKS
    if needs_rows and needs_chunks:
        plan["cut_from"] = cut_from
    shares = needs_chunks and shares_walks(region) and is_long is not False
    if shares:
        plan["shared_walks"] = True
    if not needs_rows:  # a chunk has no scratch row, and values of a shared walk are never stored
        kept = {v: place for v, place in kept.items() if place.startswith(RESULT) and not shares}
    if spread:
        plan["spread"] = True
        kept |= values_of_rows(region, stages, kept)
    return kept


def _place(region: Node, stages: RegionStages, plan: dict[str, Attr], kept: dict[Value, str], may_stream: bool) -> None:
    """Chooses how loops access memory: peeling, non-temporal stores, prefetching, several rows in a step."""
    planned = Node(region.op, region.operands, plan, tuple(v.type for v in region.results), region.span, region.body)
    if plan["form"] not in (FLAT, WINDOWS, *PRODUCTS) and (slot := peeled_slot(planned, stages)) is not None:
        plan["peel"] = slot
    if plan["form"] not in (FLAT, WINDOWS) and (ahead := prefetched(planned)) is not None:
        plan["prefetch"] = ahead
    if plan["form"] in (CHUNKS, EITHER) and (lines := lines_together(planned)):
        plan["lines"] = lines
    if "peel" in plan and _streams(region, stages, plan, kept, may_stream):
        plan["stream"] = True
    if "jam" in region.attrs and (plan["form"] in (FLAT, WINDOWS) or not (plan["columns"] or "stream" in plan)):
        plan["jam"] = region.attrs["jam"]  # not in streamed rows, each of which has its own lines to fill
    may_walk = plan["form"] == ROWS and ("scanned" in plan or is_cheap(region))
    if may_walk and (rows := walked_rows(planned, stages)) is not None:
        plan["jam"] = rows
        if "scanned" in plan:  # the CPU looks ahead from row to row only if the code of one is short
            plan["unroll"] = 1


def _streams(
    region: Node, stages: RegionStages, plan: dict[str, Attr], kept: dict[Value, str], may_stream: bool
) -> bool:
    """Whether non-temporal stores write the result that loops are aligned to."""
    slot = integer(plan, "peel")
    if slot < len(region.operands) or region.results[slot - len(region.operands)].type.dtype.kind == "complex":
        return False
    if not plan["columns"]:
        return bool(region.attrs.get("stream", may_stream))
    # If an earlier stage has stored something in a result for this one, lines are read before they are written.
    written = {_result(region, slot) for slot, _ in stages.outputs[-1]}
    return may_stream and written.isdisjoint(kept.values())


def _result(region: Node, slot: int) -> str:
    return f"{RESULT} {slot - len(region.operands)}"


def shares_walks(region: Node) -> bool:
    """Whether the region's reductions may share a walk."""
    return any("composite" in n.attrs for n in region.body or () if Trait.REDUCTION in n.op.traits)


def _can_be_cut(region: Node, stages: RegionStages, kept: dict[Value, str]) -> bool:
    """Tell whether the columns may be walked in chunks.

    They may not if a row keeps values that chunks have no memory for, or if the walk over each row may end at once.
    """
    if "chunk" not in region.attrs or not any(stages.reductions):
        return False
    if not region.attrs["rows"] or not walks_along_vectors(region) or shares_walks(region):
        return True
    return all(place.startswith(RESULT) for place in kept.values()) and not _ends_early(region, stages)


def _ends_early(region: Node, stages: RegionStages) -> bool:
    """Whether a walk in C order only looks for the first true element, so that it can stop there."""
    walked = [axis for group in axis_groups(region.attrs, "columns") for axis in group]
    in_order = walks_along_vectors(region) and walked == sorted(walked)
    return in_order and any(finds_first(r, o) for r, o in zip(stages.reductions, stages.outputs, strict=True))


def _is_spread(region: Node, stages: RegionStages) -> bool:
    """Whether the last stage only writes, line after line. Then columns are always walked in chunks."""
    return reduces_across(region) and any(stages.reductions) and only_writes(stages, stages.stage_count - 1)


def _cut_lines_from(region: Node, stages: RegionStages, unroll: int) -> int:
    """Return the number of columns from which chunks are better, if vectors run along the rows, or 0 if the number does
    not matter.

    A single walk reads memory in long lines; several walks find the data in the cache as long as it fits.
    """
    if not any(stages.reductions) or _is_spread(region, stages):
        return 0
    lines = integer(region.attrs, "chunk") * EXACT_STEPS
    step = integer(region.attrs, "width") * unroll * 4
    return lines + 1 if stages.stage_count == 1 else max(lines, CACHED // step) + 1


def _is_walkable(region: Node, taps: tuple[int, ...]) -> bool:
    """Whether window totals can stay in registers.

    They can if they are summed in any order, in one chain, or in an unrolled tree.
    """
    columns = region.attrs["columns"]
    assert isinstance(columns, tuple)
    is_straight = len(columns) == len(taps) and all(taps)
    return is_straight or not any(Trait.REDUCTION in n.op.traits and n.attrs["steps"] for n in region.body or ())
