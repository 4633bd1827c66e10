"""Check the walks of a region's nest, and that what it writes is loaded again only where the emitter allows it.

The emitter computes a number where it is first needed. So a load of a result or of scratch memory must move with the
loop around it, and nothing else in that loop may write there, except the store that ends the step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from .. import dims
from ..dims import LOOP, Size
from ..forms import FEW, PRODUCTS, nest_arrays, region_guards
from ..graph import Graph, Node
from ..types import axis_groups, integer, ints, sizes, texts
from ..windows import MOST
from . import ops
from .scopes import inside, memory_of, nodes_in, variables

LOOPS = (ops.FOR, ops.WALK)
EFFECTS = (*LOOPS, ops.ACROSS, ops.STORE)
Problem = tuple[Node, str]


def rows_problem(region: Node, nest: Graph) -> Problem | None:
    """Describes what is wrong with the loops inside of rows, and where."""
    if region.attrs["form"] in PRODUCTS and (found := _product(region, nest)) is not None:
        return found
    for body, around in _bodies(nest, ()):
        for node in body:
            message = _CHECKS[node.op](region, node, body, around) if node.op in _CHECKS else None
            if message is not None:
                return node, message
    return None


def _product(region: Node, nest: Graph) -> Problem | None:
    """Check the outer loops over the rows of a product. Only the current row of it is in memory."""
    space, product, body, own = sizes(region.attrs, "space"), nest.inputs[len(region.operands)], nest, dict[int, Size]()
    for (axis,) in axis_groups(region.attrs, "rows"):
        loops = [n for n in body if n.op in EFFECTS]
        if len(loops) != 1 or loops[0].op is not ops.FOR or tuple(sizes(loops[0].attrs, "range")) != (0, space[axis]):
            return (loops or [region])[0], "must begin with the loops over all rows of the product"
        own[axis] = dims.symbol(LOOP + variables(loops[0])[0].name)
        assert loops[0].body is not None
        body = loops[0].body
    row = tuple(own.get(axis, 0) for axis in range(product.type.rank - 1))
    for node in nodes_in(nest):
        if product in node.operands and (node.op is not ops.LOAD or tuple(sizes(node.attrs, "at"))[:-1] != row):
            return node, "can only load the row of the product that is computed"
    return None


def _bodies(body: Graph, around: tuple[Node, ...]) -> Iterator[tuple[Graph, tuple[Node, ...]]]:
    """The bodies of a nest, with the loops around them, outermost first."""
    yield body, around
    for node in body:
        if node.op in LOOPS and node.body is not None:
            yield from _bodies(node.body, (*around, node))


def _walk(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    if any(n.op in (*LOOPS, ops.ACROSS, ops.ALLOC) for n in inside(node)):
        return "can't have loops or memory of its own inside, in the nest of a region"
    if any(v.first != 0 or _has_variables(v.end) for v in variables(node)):
        return "must have ranges from 0 that do not depend on other loops, in the nest of a region"
    names, steps = texts(node.attrs, "combine"), ints(node.attrs, "steps")
    assert node.body is not None
    kinds = [v.type.dtype.kind for v in node.body.outputs]
    chained = ints(node.attrs, "chained") if "chained" in node.attrs else (0,) * len(names)
    sums = [
        s
        for name, kind, s, is_chained in zip(names, kinds, steps, chained, strict=True)
        if kind == "float" and name in ("sum", "prod") and not is_chained
    ]
    if 0 in sums or len({s for s in steps if s}) > 1:
        return "must have the same 'steps' for all sums, in the nest of a region"
    if ("taps" in node.attrs or any(chained)) and (problem := _taps(region, node, max(steps))):
        return problem
    if node.attrs.get("until"):
        is_first = all(n in ops.POSITIONS and kind == "bool" for n, kind in zip(names, kinds, strict=True))
        if not is_first or any(n.op is ops.STORE for n in node.body) or node.attrs["kind"] != "vector":
            return "can end early (until) only if it looks for the first true element, in vectors"
    return _lanes(region, node, around) if node.attrs["kind"] == "vector" else None


def _taps(region: Node, node: Node, steps: int) -> str | None:
    """Check a walk over windows, whose ranges must be as long as the taps that are unrolled."""
    taps, found = ints(node.attrs, "taps") if "taps" in node.attrs else (), variables(node)
    if len(taps) != len(found) or math.prod(n or 1 for n in taps) > MOST:
        return f"needs 'taps' for each of its ranges, of at most {MOST} elements together"
    for variable, count in zip(found, taps, strict=True):
        if count and variable.end != count and (count, variable.end) not in region_guards(region):
            return f"needs a guard that the range of @{variable.name} is {count}"
    is_plain = node.attrs["kind"] == "serial" and not any(n.op is ops.STORE for n in inside(node))
    if not is_plain or any(n in ops.POSITIONS for n in texts(node.attrs, "combine")):
        return "can have 'taps' only if it is serial, stores nothing and gives no position"
    if 0 in taps[taps.count(0) :]:
        return "must unroll its innermost ranges, because loops are around what is unrolled"
    if steps and not all(taps):
        return "must unroll these sums, not loop over them, because their order matters"
    return None


def _lanes(region: Node, node: Node, around: tuple[Node, ...]) -> str | None:
    """Check that the vectors of a walk fit its tree. Inside vectors of rows, each step is one lane."""
    counts = {v.type.shape[0] for v in node.results if v.type.kind == "vector"}
    if len(counts) > 1:
        return "must have results with the same number of lanes, in the nest of a region"
    lanes = next((n for n in counts if isinstance(n, int)), 0)
    if any(n.attrs["kind"] == "vector" and "width" in n.attrs for n in around):
        if len(variables(node)) > 1 or (lanes and lanes < FEW) or not _is_few(region, variables(node)[0].end):
            return f"must have at most {FEW} steps, and as many lanes, inside of vectors of rows"
        return None
    times = integer(node.attrs, "times") if "times" in node.attrs else 1
    if "width" not in node.attrs or lanes % integer(node.attrs, "width") or times & (times - 1):
        return "needs a 'width' that divides the number of lanes, and 'times' that are a power of two"
    return None


def _is_few(region: Node, size: Size) -> bool:
    return size <= FEW if isinstance(size, int) else (dims.minimum(size, FEW), size) in region_guards(region)


def _across(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    walk = node.operands[0].node
    if walk is None or walk not in body.nodes:
        return "must be in the same body as its walk, in the nest of a region"
    if texts(walk.attrs, "combine")[node.operands[0].index] != node.attrs["combine"]:
        return "must combine lanes as their walk does, in the nest of a region"
    return None


def _scan(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    loop = around[-1] if around else None
    found = variables(loop) if loop is not None else ()
    if loop is None or [v.name for v in found] != [node.attrs["var"]] or loop.attrs["kind"] not in ("serial", "vector"):
        return "must be along the serial or vector loop around it, in the nest of a region"
    if found[0].first != 0 or _has_variables(found[0].end) or any(n.op in LOOPS for n in body):
        return "must be along a loop from 0 with no other loop inside, in the nest of a region"
    return None


def _alloc(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    memory = node.results[0].type
    if any(n.attrs["kind"] == "jammed" for n in around) or memory.dtype.kind == "complex":
        return "can't be inside of rows that are computed together, nor complex, in the nest of a region"
    if any(_has_variables(size) for size in memory.shape):
        return "must have a size that does not depend on loops, in the nest of a region"
    return None


def _load(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    """Checks the load of something that the nest writes."""
    memory = memory_of(node.operands[0])
    if memory.node is None and memory in _operands(region):
        return None
    if not around or not _uses(node, around[-1]):
        return "must move with the loop around it, because the nest writes what it loads"
    stores = [n for n in body if n.op is ops.STORE and memory_of(n.operands[1]) is memory]
    if not stores:
        return None
    effects = [n for n in body if n.op in EFFECTS]
    ends = stores == effects[-1:] and not body.outputs and around[-1].op is ops.FOR
    if not ends or (stores[0].operands[1], stores[0].attrs["at"]) != (node.operands[0], node.attrs["at"]):
        return "loads what the same step writes, which only the last store of a loop may do, at the same place"
    return None


def _store(region: Node, node: Node, body: Graph, around: tuple[Node, ...]) -> str | None:
    same = [n for n in body if n.op is ops.STORE and memory_of(n.operands[1]) is memory_of(node.operands[1])]
    if node.attrs.get("stream") and len(same) > 1:
        return "must be the only store of a step to its buffer, because it is non-temporal"
    return None


def _operands(region: Node) -> tuple[object, ...]:
    assert region.code is not None
    return region.code.inputs[: len(nest_arrays(region)[0])]


def _uses(node: Node, loop: Node) -> bool:
    own = LOOP + variables(loop)[-1].name
    return any(own in dims.symbols(size) for size in sizes(node.attrs, "at"))


def _has_variables(size: Size) -> bool:
    return any(name.startswith(LOOP) for name in dims.symbols(size))


_CHECKS = {ops.WALK: _walk, ops.ACROSS: _across, ops.SCAN: _scan, ops.ALLOC: _alloc, ops.LOAD: _load, ops.STORE: _store}
