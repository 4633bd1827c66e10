"""Check that the form of a region can be compiled, with the same bits as any other form.

The emitter follows the form exactly. So everything that lanes, chunks or windows need must be there, and values kept
between stages must be in memory that nothing else overwrites.
"""

from __future__ import annotations

from .. import dims
from ..accesses import address, coefficient, region_elements, slot_strides
from ..composites import SCALED, TOTAL
from ..dims import Size
from ..forms import (
    CHUNKS,
    EITHER,
    FEW,
    FLAT,
    PRODUCTS,
    RESULT,
    ROW,
    ROWS,
    WINDOWS,
    has_rows_in_lanes,
    longest_short_row,
    region_guards,
    walks_along_vectors,
)
from ..functions import called_problem
from ..graph import Node
from ..indexing import loop_name
from ..ops import MATMUL, Trait
from ..schemas import AttributeProblem
from ..stages import needed_in, only_writes, region_stages
from ..types import axis_groups, integer, ints, sizes, texts

Problem = AttributeProblem
_TAKEN_BY = (
    ("taps", (WINDOWS,)),
    ("shared_walks", (CHUNKS, EITHER)),
    ("spread", (CHUNKS,)),
    ("lines", (CHUNKS, EITHER)),
)


def form_problem(region: Node) -> Problem | None:
    """Describes what is wrong with the form of a region, if it has one."""
    if "form" not in region.attrs:
        stray = ("guards", "taps", "shared_walks", "spread", "early_exit", "peel", "prefetch", "lines", "called")
        name = next((name for name in stray if name in region.attrs), None)
        return None if name is None else Problem(name, f"attribute '{name}' needs 'form'")
    assert region.body is not None
    if wrong := called_problem(region.body, texts(region.attrs, "called")):
        return wrong
    return _loops_problem(region) or _lanes_problem(region) or _memory_problem(region) or _kept_problem(region)


def _loops_problem(region: Node) -> Problem | None:
    attrs, form = region.attrs, region.attrs["form"]
    if (form in PRODUCTS) != any(n.op is MATMUL for n in region.body or ()):
        forms = " or ".join(f"'{name}'" for name in PRODUCTS)
        return Problem("form", f"attribute 'form' is '{form}', but products need {forms}, and nothing else has these")
    taps, windows = (ints(attrs, name) if name in attrs else () for name in ("taps", "windows"))
    if form == WINDOWS and (not taps or len(taps) != len(windows)):
        return Problem("form", "form 'windows' needs attribute 'windows' and as many 'taps'")
    space = tuple(sizes(attrs, "space"))
    for axis, count in zip(windows, taps, strict=False) if form == WINDOWS else ():
        if count and space[axis] != count and (count, space[axis]) not in region_guards(region):
            return Problem("taps", f"attribute 'taps' needs a guard that the window of {space[axis]} is {count}")
    if form == WINDOWS and 0 in taps[taps.count(0) :]:
        return Problem("taps", "attribute 'taps' must unroll the innermost windows, and loop over those around them")
    if form == WINDOWS and not _is_walkable(region):
        return Problem("taps", "attribute 'taps' must unroll these sums, not loop over them: their order matters")
    if form in (CHUNKS, EITHER) and "chunk" not in attrs:
        return Problem("form", f"form '{form}' needs attribute 'chunk'")
    if (form == EITHER) != ("cut_from" in attrs):
        return Problem("cut_from", f"form '{EITHER}' needs attribute 'cut_from', and no other form takes it")
    for name, wanted in _TAKEN_BY:
        if attrs.get(name) and form not in wanted:
            return Problem(name, f"form '{form}' does not take attribute '{name}'")
    stages = region_stages(region)
    is_spread = bool(attrs["rows"]) and not walks_along_vectors(region) and only_writes(stages, stages.stage_count - 1)
    if form in (CHUNKS, EITHER) and not any(stages.reductions):
        return Problem("form", f"form '{form}' needs a reduction, and there is none")
    if form == FLAT and (attrs["columns"] or len(axis_groups(attrs, "rows")) < 2 or not _is_short(region)):
        most = longest_short_row(region)
        return Problem("form", f"form '{FLAT}' needs a guard that rows have at most {most} elements")
    walked = [axis for group in axis_groups(attrs, "columns") for axis in group]
    if attrs.get("early_exit") and not (walks_along_vectors(region) and walked == sorted(walked)):
        return Problem("early_exit", "attribute 'early_exit' needs vectors along the columns, in C order")
    if attrs.get("spread") and not is_spread:
        return Problem("spread", "attribute 'spread' needs vectors along the rows and a last stage that only writes")
    return _lines_problem(region) or _shared_problem(region)


def _lines_problem(region: Node) -> Problem | None:
    """Check that a block of each sum has as many steps as a step of the walk takes lines."""
    if "lines" not in region.attrs:
        return None
    reductions = [n for n in region.body or () if Trait.REDUCTION in n.op.traits]
    groups = [len(axis_groups(region.attrs, kind)) for kind in ("rows", "columns")]
    if walks_along_vectors(region) or groups != [1, 1] or region.attrs.get("shared_walks"):
        return Problem(
            "lines", "attribute 'lines' needs one loop over rows, along which the vectors lie, and one over columns"
        )
    lines = integer(region.attrs, "lines")
    if not lines or any(n.attrs["lanes"] != 1 or n.attrs["steps"] != lines for n in reductions):
        return Problem("lines", "attribute 'lines' must equal 'steps' of all reductions, and these must have one lane")
    return None


def _shared_problem(region: Node) -> Problem | None:
    """Check that the length of the columns decides whether sums share a walk, because that changes bits."""
    attrs = region.attrs
    sums = [n for n in region.body or () if Trait.REDUCTION in n.op.traits and "composite" in n.attrs]
    if attrs.get("shared_walks") and not sums:
        return Problem("shared_walks", "attribute 'shared_walks' needs 'composite' sums")
    if not sums or max(integer(n.attrs, "cut_from") for n in sums) == 0:
        return None
    assert all(n.attrs["composite"] in (*SCALED.values(), "moment1", "moment2", TOTAL) for n in sums)
    limit = max(integer(n.attrs, "cut_from") for n in sums)
    columns = _columns(region)
    if isinstance(columns, int):
        return None
    is_long = (dims.maximum(columns, limit), columns) in region_guards(region)
    is_not = (dims.minimum(columns, limit - 1), columns) in region_guards(region)
    is_not = is_not or (limit > FEW and bool(attrs["rows"]) and _is_short(region))
    shares = bool(attrs.get("shared_walks"))
    if attrs["form"] == EITHER:
        fits = shares and integer(attrs, "cut_from") == limit
    else:
        fits = is_long if shares else is_not
    if fits:
        return None
    return Problem("form", f"sums must share a walk from {limit} columns on: check 'form', 'guards' and 'shared_walks'")


def _is_walkable(region: Node) -> bool:
    taps = ints(region.attrs, "taps")
    is_straight = len(axis_groups(region.attrs, "columns")) == len(taps) and all(taps)
    return is_straight or not any(Trait.REDUCTION in n.op.traits and n.attrs["steps"] for n in region.body or ())


def _columns(region: Node) -> dims.Size:
    space = tuple(sizes(region.attrs, "space"))
    return dims.product(space[axis] for group in axis_groups(region.attrs, "columns") for axis in group)


def _is_short(region: Node) -> bool:
    """Whether a guard, or the size itself, shows that rows are short."""
    space, rows = tuple(sizes(region.attrs, "space")), axis_groups(region.attrs, "rows")
    length = _columns(region) if region.attrs["columns"] else dims.product(space[axis] for axis in rows[-1])
    most = longest_short_row(region)
    if isinstance(length, int):
        return length <= most
    return (dims.minimum(length, most), length) in region_guards(region)


def _lanes_problem(region: Node) -> Problem | None:
    """Check vectors across short rows whose trees have lanes along the columns: each column is one lane's total."""
    if not has_rows_in_lanes(region):
        return None
    attrs = region.attrs
    if attrs["form"] not in (ROWS, *PRODUCTS) or len(axis_groups(attrs, "columns")) > 1:
        return Problem(
            "vector", f"attribute 'vector' is {attrs['vector']}, but this form needs vectors along the columns"
        )
    if not _is_short(region):
        return Problem(
            "vector", f"vectors along axis {attrs['vector']} need a guard that rows have at most {FEW} columns"
        )
    if integer(attrs, "unroll") != 1:
        return Problem("unroll", f"attribute 'unroll' must be 1 for vectors across short rows, not {attrs['unroll']}")
    return None


def _memory_problem(region: Node) -> Problem | None:
    attrs, values = region.attrs, (*region.operands, *region.results)
    layouts, vector = attrs["layouts"], integer(attrs, "vector")
    assert isinstance(layouts, tuple)
    for name in ("peel", "stream"):
        if name not in attrs or (name == "stream" and not attrs[name]):
            continue
        if attrs["form"] in (FLAT, WINDOWS, *PRODUCTS):
            return Problem(name, f"form '{attrs['form']}' does not take attribute '{name}'")
        stages = region_stages(region)
        slot = integer(attrs, "peel") if name == "peel" else next((s for s, _ in stages.outputs[-1]), len(values))
        if slot >= len(values):
            return Problem(name, f"attribute '{name}' needs an array to align")
        strides = slot_strides(region, slot, str(layouts[slot]))
        if not _is_contiguous(region, slot, strides, vector) or (
            name == "stream" and values[slot].type.dtype.kind == "complex"
        ):
            return Problem(name, f"attribute '{name}' needs an array that is contiguous along the vectors")
    if "peel" in attrs:
        slot, of_result = integer(attrs, "peel"), integer(attrs, "peel") >= len(region.operands)
        wanted = not attrs["columns"] or bool(attrs.get("spread"))
        if of_result != wanted or (of_result and slot != region_stages(region).outputs[-1][0][0]):
            return Problem("peel", f"attribute 'peel' must be the first array that these loops access, not {slot}")
    if "prefetch" in attrs and (not attrs["columns"] or ints(attrs, "prefetch")[1] > 3):
        return Problem("prefetch", "attribute 'prefetch' needs columns and a cache level from 1 to 3")
    return None


def _is_contiguous(region: Node, slot: int, strides: tuple[Size, ...], vector: int) -> bool:
    """Tell whether vectors access neighbouring elements of an operand or result; operands may be read through views."""
    assert region.body is not None
    size = (*region.operands, *region.results)[slot].type.dtype.size
    if slot >= len(region.operands):
        return len(strides) == len(sizes(region.attrs, "space")) and vector >= 0 and strides[vector] == size
    joined: dict[str, Size] = {
        loop_name(axis): 0 for group in axis_groups(region.attrs, "columns") for axis in group[:-1]
    }
    return any(
        coefficient(address(tuple(dims.substitute(i, joined) for i in index), strides), vector) == size
        for value, index in region_elements(region)
        if value is region.body.inputs[slot]
    )


def _kept_problem(region: Node) -> Problem | None:
    """Checks that nothing overwrites a kept value while a stage needs it."""
    assert region.body is not None
    space, stages = tuple(sizes(region.attrs, "space")), region_stages(region)
    places = {n.result: str(n.attrs["keep"]) for n in region.body if "keep" in n.attrs}
    if not places:
        return None
    needed, outputs = needed_in(region, stages, {}), dict(enumerate(region.body.outputs))
    taken = [place for place in places.values() if place.startswith(RESULT)]
    if len(set(taken)) < len(taken):
        return Problem("form", "two values can't be kept in one result")
    for value, place in places.items():
        if place.startswith(ROW):
            if not region.attrs.get("spread"):
                return Problem("spread", f"keeping a value in '{place}' needs attribute 'spread'")
            continue
        if value.type.shape != space or not region.attrs["columns"]:
            return Problem("form", f"can't keep {value.type} in '{place}': it does not have the region's shape")
        if not place.startswith(RESULT):
            continue
        output = outputs.get(int(place.removeprefix(RESULT)))
        if output is None or output.type != value.type:
            return Problem("form", f"can't keep {value.type} in '{place}', which is {output and output.type}")
        last, made = max(needed.get(value, {0})), stages.known[output]
        is_last = [v for _, v in stages.outputs[made]][-1:] == [output] and not stages.reductions[made]
        if made < last or (made == last and not is_last):
            return Problem(
                "form", f"can't keep {value.type} in '{place}', which is written before stage {last + 1} ends"
            )
    return None
