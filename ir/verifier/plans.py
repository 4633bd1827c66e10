"""Check that a region iterates over what its body computes, and that its plan can be compiled.

The emitter follows the plan exactly, so everything is checked here: every axis is in exactly one loop, collapsed axes
are contiguous, layouts are those of the arrays, and vectors and trees fit one another. Together with views that stay
inside their operands (`view_bounds.py`), this guarantees that no access of a region leaves its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ..accesses import coefficient, home_index, region_accesses, region_elements, region_positions
from ..composites import composites, totals
from ..dims import Size
from ..errors import quantity
from ..forms import ROWS, has_rows_in_lanes, walks_along_vectors
from ..graph import Graph, Node, Value
from ..indexing import is_affine
from ..layouts import GENERAL, UNIT, C
from ..ops import CONCATENATE, GATHER, LOOP, MATMUL, NUMPY, POSITIONS, REGION, RESHAPE, SCAN, WHEN, WHILE, Trait
from ..products import is_symmetric, product_space
from ..schemas import AttributeProblem, Stage
from ..stages import region_stages
from ..text.printer import attr_text
from ..types import Attr, AxisGroups, axis_groups, integer, ints, sizes
from ..widths import widest
from ..windows import is_one_walk, window_axes
from .forms import form_problem

Problem = AttributeProblem
BYTES = 64  # bytes of the widest vectors
OUTSIDE = frozenset((REGION, LOOP, NUMPY, CONCATENATE, WHILE, WHEN))  # ops that can't be part of a loop nest
OF_PRODUCTS = ("registers", "blocks", "turned")
OF_ROWS = ("row_width", "row_cost")


def region_problem(region: Node, layouts: Mapping[Value, str], stage: Stage) -> Problem | None:
    """Describes what is wrong with a region's attributes; `layouts` are the layout classes of the values around it."""
    return _space_problem(region) or _body_problem(region) or _plan_problem(region, layouts, stage)


# -- what is iterated over


def _body(region: Node) -> Graph:
    assert region.body is not None
    return region.body


def _reductions(region: Node) -> list[Node]:
    return [n for n in _body(region) if Trait.REDUCTION in n.op.traits]


def _product(region: Node) -> Node | None:
    return next((n for n in _body(region) if n.op is MATMUL), None)


def _space(region: Node) -> tuple[Size, ...]:
    return tuple(sizes(region.attrs, "space"))


def _scanned(region: Node) -> tuple[int, ...]:
    return ints(region.attrs, "scanned") if "scanned" in region.attrs else ()


def _space_problem(region: Node) -> Problem | None:
    rank, reduced, scanned = len(_space(region)), ints(region.attrs, "reduced"), _scanned(region)
    for name, axes in (("reduced", reduced), ("scanned", scanned)):
        if list(axes) != sorted(set(axes)) or any(axis >= rank for axis in axes):
            return Problem(name, f"attribute '{name}' must be sorted axes of a space with {rank} axes, not {axes}")
    if len(scanned) > 1 or (scanned and reduced and scanned != reduced):
        return Problem("scanned", f"attribute 'scanned' must be one axis, and the only reduced one, not {scanned}")
    return None


def _body_problem(region: Node) -> Problem | None:
    """Checks that reductions and scans run along the region's axes and that its iterations compute every output."""
    space, reduced, scanned = _space(region), ints(region.attrs, "reduced"), _scanned(region)
    product, body = _product(region), _body(region)
    for node in body:
        if (
            node.op in OUTSIDE
            or (node.op is RESHAPE and not is_affine(node))
            or (node.op is MATMUL and node is not product)
        ):
            return Problem("space", f"a region can't contain this {node.op.name}")
        if Trait.REDUCTION in node.op.traits:
            if node.operands[0].type.shape != space:
                return Problem(
                    "space",
                    f"{node.op.name} reduces {node.operands[0].type}, which does not have the shape of the space",
                )
            if ints(node.attrs, "axes") != reduced:
                return Problem(
                    "reduced",
                    f"{node.op.name} reduces axes {ints(node.attrs, 'axes')}, but the region reduces {reduced}",
                )
        if node.op is SCAN and (node.result.type.shape != space or (integer(node.attrs, "axis"),) != scanned):
            return Problem(
                "scanned",
                f"scan runs along axis {node.attrs['axis']} of {node.result.type}, but 'scanned' is {scanned}",
            )
    if product is not None and (problem := _product_space_problem(region, product)):
        return problem
    if reduced and product is None and not _reductions(region):
        return Problem("reduced", f"attribute 'reduced' is {reduced}, but nothing is reduced")
    if scanned and not any(n.op is SCAN for n in body):
        return Problem("scanned", f"attribute 'scanned' is {scanned}, but nothing is scanned")
    for value in body.outputs:
        if home_index(space, reduced, value.type.shape) is None:
            return Problem("space", f"result {value.type} has neither the shape of the space nor that of its rows")
    return _elements_problem(region)


def _product_space_problem(region: Node, product: Node) -> Problem | None:
    space, reduced, shape = _space(region), ints(region.attrs, "reduced"), product.result.type.shape
    if _scanned(region):
        return Problem("scanned", "a region with a product can't scan")
    if space == shape:
        if reduced != (len(shape) - 1,) or not _reductions(region):
            return Problem("reduced", f"attribute 'reduced' must be the last axis of the product, not {reduced}")
    elif space != product_space(product.operands[0].type.shape, shape):
        return Problem("space", f"the space must be that of the product {product.result.type} or of its rows")
    elif reduced != (len(shape),) or _reductions(region):
        return Problem("reduced", f"attribute 'reduced' must be the axis of the terms, not {reduced}")
    return None


def _elements_problem(region: Node) -> Problem | None:
    """Check that values which an iteration computes are read by that iteration only, and that gathers read memory."""
    space, reduced, body = _space(region), ints(region.attrs, "reduced"), _body(region)
    for value, index in region_elements(region):
        node = value.node
        if node is None:
            continue
        is_made = Trait.REDUCTION in node.op.traits or node.op in (SCAN, MATMUL)
        if is_made and index != home_index(space, reduced, value.type.shape):
            return Problem("space", f"{node.op.name} is read in another iteration than the one that computes it")
        if node.op is GATHER and not _is_memory(node.operands[0], body):
            return Problem("space", "gather must read an array in memory")
    return None


def _is_memory(value: Value, body: Graph) -> bool:
    while value.node is not None and (Trait.VIEW in value.node.op.traits or value.node.op.name in ("real", "imag")):
        value = value.node.operands[0]
    return value in body.inputs


# -- the plan


def _plan_problem(region: Node, layouts: Mapping[Value, str], stage: Stage) -> Problem | None:
    attrs, product = region.attrs, _product(region)
    of_rows = product is not None and product.result.type.shape == _space(region)
    for name in ("symmetric", "in_place"):
        if name in attrs and product is None:
            return Problem(name, f"attribute '{name}' is only for products")
    for name in (*OF_PRODUCTS, *OF_ROWS):
        wanted = stage >= Stage.SCHEDULED and product is not None and (of_rows or name not in OF_ROWS)
        if name in attrs and (product is None or (name in OF_ROWS and not of_rows)):
            return Problem(name, f"attribute '{name}' is only for {'rows of ' * (name in OF_ROWS)}products")
        if wanted and name not in attrs:
            return Problem(name, f"attribute '{name}' is missing")
    if "layouts" in attrs and (problem := _layouts_problem(region, layouts)):
        return problem
    given = [name for name in ("rows", "columns", "vector") if name in attrs]
    if len(given) in (1, 2):
        return Problem(given[0], f"attribute '{given[0]}' is incomplete: loops need 'rows', 'columns' and 'vector'")
    if not given:
        stray = next((n for n in attrs if n not in ("space", "reduced", "scanned", "impl", "score")), None)
        return Problem(stray, f"attribute '{stray}' needs loops: 'rows', 'columns' and 'vector'") if stray else None
    if product is not None:
        return _product_loops_problem(region, product, of_rows) or form_problem(region)
    return (
        _loops_problem(region, layouts) or _vector_problem(region) or _options_problem(region) or form_problem(region)
    )


def _layouts_problem(region: Node, layouts: Mapping[Value, str]) -> Problem | None:
    given, values = region.attrs["layouts"], (*region.operands, *region.results)
    assert isinstance(given, tuple)
    if len(given) != len(values):
        return Problem(
            "layouts",
            f"attribute 'layouts' has {quantity(len(given), 'entry', 'entries')} for {quantity(len(values), 'array')}",
        )
    for k, (said, value) in enumerate(zip(given, values, strict=True)):
        have, shape = layouts.get(value, C), value.type.shape
        if not shape:
            continue
        is_wider = said == GENERAL or (said == UNIT and have == C and any(n != 1 for n in shape))
        if said != have and not is_wider:
            return Problem("layouts", f"array {k} has layout '{have}', but attribute 'layouts' says '{said}'")
    return None


def _loops_problem(region: Node, layouts: Mapping[Value, str]) -> Problem | None:
    """Checks that every axis is in one loop, and that collapsed axes have matching strides in every access."""
    space, attrs = _space(region), region.attrs
    inside = {*ints(attrs, "reduced"), *_scanned(region)}
    axes = [axis for axis, size in enumerate(space) if size != 1]
    for name, wanted in (("rows", [a for a in axes if a not in inside]), ("columns", [a for a in axes if a in inside])):
        found = [axis for group in axis_groups(attrs, name) for axis in group]
        if sorted(found) != wanted:
            return Problem(name, f"attribute '{name}' must have each of the axes {wanted} once, not {found}")
    named = layouts
    if "layouts" in attrs and isinstance(attrs["layouts"], tuple):
        named = dict(zip((*region.operands, *region.results), map(str, attrs["layouts"]), strict=True))
    walked = [*(a.address for a in region_accesses(region, named)), *region_positions(region)]
    for name in ("rows", "columns"):
        for group in axis_groups(attrs, name):
            for outer, inner in pairwise(group):
                if any(coefficient(w, outer) != coefficient(w, inner) * space[inner] for w in walked):
                    return Problem(
                        name, f"axes {outer} and {inner} can't be collapsed: some array is not contiguous across them"
                    )
    return None


def _vector_problem(region: Node) -> Problem | None:
    """Checks that vectors run along the innermost loop of rows or columns; along columns, trees need lanes."""
    attrs, vector = region.attrs, integer(region.attrs, "vector")
    rows, columns = axis_groups(attrs, "rows"), axis_groups(attrs, "columns")
    ends = [groups[-1][-1] for groups in (rows, columns) if groups] or [-1]
    if vector not in ends:
        return Problem(
            "vector", f"attribute 'vector' must be the innermost axis of rows or columns, one of {ends}, not {vector}"
        )
    is_along = bool(columns) and columns[-1][-1] == vector
    trees = [n for n in _reductions(region) if "order" in n.attrs]
    if any(axis_groups(n.attrs, "order") != columns for n in trees):
        return Problem("columns", f"attribute 'columns' is {_texts(columns)}, but a tree has another order")
    lanes = {integer(n.attrs, "lanes") for n in trees if "lanes" in n.attrs}
    if len(lanes) > 1 or any((count > 1) != is_along and not has_rows_in_lanes(region) for count in lanes):
        return Problem("vector", f"attribute 'vector' is {vector}, which does not fit trees with {sorted(lanes)} lanes")
    if len({n.attrs["steps"] for n in trees if n.attrs.get("steps")}) > 1:
        return Problem("columns", "the trees of a region must have the same 'steps'")
    width = integer(attrs, "width") if "width" in attrs else 1
    lying = columns[-1][-1] if has_rows_in_lanes(region) else vector  # values of rows may take several registers
    if vector >= 0 and width * widest(region, lying) > BYTES:
        most = BYTES // widest(region, lying)
        return Problem("width", f"attribute 'width' is {width}, but a vector holds at most {most} of these elements")
    if is_along and any(count % width for count in lanes):
        return Problem(
            "width", f"attribute 'width' is {width}, which does not divide the {max(lanes)} lanes of the trees"
        )
    return None


def _may_walk_rows(region: Node) -> bool:
    """Whether each row is walked once, along the vectors, only to add up or to scan.

    Such rows can be walked together.
    """
    if region.attrs.get("form") != ROWS or not walks_along_vectors(region):
        return False
    stages = region_stages(region)
    if "scanned" in region.attrs:
        return len(axis_groups(region.attrs, "columns")) == 1 == stages.stage_count and not stages.reductions[0]
    blocks = all(integer(n.attrs, "steps") and n.op not in POSITIONS for n in _reductions(region))
    return len(axis_groups(region.attrs, "columns")) == 1 == stages.stage_count and not stages.outputs[0] and blocks


def _options_problem(region: Node) -> Problem | None:
    """Checks the optional attributes of a plan against its loops."""
    attrs, space = region.attrs, _space(region)
    rows, columns = axis_groups(attrs, "rows"), axis_groups(attrs, "columns")
    if "windows" in attrs and (problem := _windows_problem(region, columns)):
        return problem
    has_windows = bool(attrs.get("windows"))
    if not has_windows and any(n.attrs.get("chained") for n in _reductions(region)):
        return Problem("windows", "attribute 'windows' is missing, but a 'chained' sum needs it")
    if "jam" in attrs:
        axis, count = ints(attrs, "jam")
        along = not has_windows and _may_walk_rows(region)
        outer = rows if along else rows[:-1]
        if axis not in [g[-1] for g in outer] or not 1 <= count <= 8 or (columns and not (has_windows or along)):
            return Problem(
                "jam", f"attribute 'jam' must be an outer loop of rows and 1 to 8 of them, not ({axis}, {count})"
            )
        if rows[-1][-1] != attrs["vector"] and not along:
            return Problem("jam", "attribute 'jam' needs vectors along the rows")
    if "piece" in attrs and not rows:
        return Problem("piece", "attribute 'piece' needs rows, and there are none")
    if "tile" in attrs and (columns or len(rows) < 2):
        return Problem("tile", "attribute 'tile' needs two loops of rows and no columns")
    if attrs.get("stream") and columns and "form" not in attrs:
        return Problem("stream", "attribute 'stream' is only for regions without columns")
    if "chunk" in attrs and (not columns or has_windows or _scanned(region)):
        return Problem("chunk", "attribute 'chunk' needs columns, without windows or scans")
    if "cut_from" in attrs and "chunk" not in attrs:
        return Problem("cut_from", "attribute 'cut_from' needs 'chunk'")
    return _composites_problem(region, space)


def _texts(groups: tuple[tuple[int, ...], ...]) -> str:
    return attr_text(AxisGroups(groups))


def _windows_problem(region: Node, columns: tuple[tuple[int, ...], ...]) -> Problem | None:
    windows = ints(region.attrs, "windows")
    if columns[len(columns) - len(windows) :] != tuple((axis,) for axis in windows):
        return Problem("windows", f"attribute 'windows' must be the last loops of {_texts(columns)}, not {windows}")
    if not set(windows) <= set(window_axes(region)) or not is_one_walk(region) or _scanned(region):
        return Problem("windows", f"attribute 'windows' is {windows}, but these axes are not windows of one walk")
    if axis_groups(region.attrs, "rows")[-1:] == () or columns[-1][-1] == region.attrs["vector"]:
        return Problem("windows", "attribute 'windows' needs vectors along the rows")
    return None


def _composites_problem(region: Node, space: tuple[Size, ...]) -> Problem | None:
    """Checks that all sums share a walk together, in chunks of the region's length."""
    said = {n for n in _reductions(region) if "composite" in n.attrs}
    if not said:
        return None
    columns = axis_groups(region.attrs, "columns")
    has_form = "form" in region.attrs
    if len(columns) != 1 or _scanned(region):
        return Problem("columns", "'composite' sums need one loop of columns")
    shared = composites(_body(region), space, in_lanes=any(n.attrs.get("lanes") != 1 for n in said))
    if said != {*(c.node for c in shared), *totals(_body(region), shared)}:
        return Problem("space", "all sums that can share a walk must be 'composite', not only some")
    for name in ("chunk",) if has_form else ("chunk", "cut_from"):
        found = {n.attrs.get(name) for n in said}
        if len(found) > 1 or ("width" in region.attrs and {region.attrs.get(name) or 0} != found):
            return Problem(
                name, f"attribute '{name}' is {region.attrs.get(name)}, but its sums have {sorted(map(str, found))}"
            )
    return None


def _product_loops_problem(region: Node, product: Node, of_rows: bool) -> Problem | None:
    attrs, space, size = region.attrs, _space(region), product.result.type.dtype.size
    rank = product.result.type.rank
    rows = AxisGroups((axis,) for axis in range(rank - 1) if space[axis] != 1) if of_rows else AxisGroups()
    columns = AxisGroups(((rank - 1,),)) if of_rows else AxisGroups()
    loops: dict[str, Attr] = {"rows": rows, "columns": columns, "vector": rank - 1}
    for name, wanted in loops.items():
        if attrs[name] != wanted and not (name == "vector" and of_rows and has_rows_in_lanes(region)):
            return Problem(name, f"attribute '{name}' of this product must be {attr_text(wanted)}")
    for node in _reductions(region):
        if "order" in node.attrs and axis_groups(node.attrs, "order") != columns:
            return Problem("columns", "a tree must have the order of the columns")
    stray = next((n for n in ("windows", "chunk", "cut_from", "tile", "jam", "piece", "stream") if n in attrs), None)
    if stray is not None:
        return Problem(stray, f"products do not take attribute '{stray}'")
    if "registers" not in attrs:
        return None
    (high, wide), (block_rows, block_columns, _) = ints(attrs, "registers"), ints(attrs, "blocks")
    width = integer(attrs, "width")
    if width * size > BYTES or width * size < 16:
        return Problem(
            "width", f"attribute 'width' must be from {16 // size} to {BYTES // size} for this dtype, not {width}"
        )
    if block_rows % high or block_columns % (wide * width):
        return Problem(
            "blocks", f"attribute 'blocks' must have rows and columns that are multiples of {high} and {wide * width}"
        )
    if len(set(ints(attrs, "turned"))) != len(ints(attrs, "turned")):
        return Problem("turned", "attribute 'turned' names a factor twice")
    if "symmetric" in attrs and (of_rows or not is_symmetric(product)):
        return Problem("symmetric", "attribute 'symmetric' is only for a matrix times its own transpose, without rows")
    if of_rows:
        lanes = {integer(n.attrs, "lanes") for n in _reductions(region) if "lanes" in n.attrs}
        row_width = integer(attrs, "row_width")
        if row_width * widest(region, rank - 1) > BYTES or any(count % row_width for count in lanes):
            return Problem(
                "row_width", f"attribute 'row_width' is {row_width}, which does not fit {sorted(lanes)} lanes"
            )
    return None


def unplaced(graph: Graph) -> tuple[Node, str] | None:
    """Find a node of a fused graph, or of a loop's body, that no step of a call runs, and say why."""
    owned = dict[Value, Node]()
    for node in graph:
        if node.op not in (REGION, LOOP, NUMPY, CONCATENATE, RESHAPE):
            return node, "is outside of all regions after fuse"
        if node.op is not CONCATENATE:
            continue
        for value in node.operands:
            if value.node is None or value.node.op not in (REGION, CONCATENATE):
                return node, "joins an array that no region writes in place"
            if value in owned or value in graph.outputs:
                return node, "joins an array that is already stored elsewhere"
            owned[value] = node
    return None
