"""Check the loop nest of a region: that it fits the region, and that the emitter of kernels can translate it.

A region's nest reads the operands and writes the results. It may load again what it wrote, in a later loop of the same
row and at the same place. So the emitter may compute a number wherever it is first needed. Indices are linear in the
variables of loops.
"""

from __future__ import annotations

from .. import dims
from ..accesses import coefficient_of
from ..dims import LOOP, Size
from ..errors import VerifyProblem
from ..forms import has_nest, has_rows_in_lanes, nest_arrays, region_guards
from ..graph import Graph, Node, graph_guards
from ..opdef import Trait
from ..ops import COMPLEX, CONSTANT, EACH, IMAG, REAL, SIZE
from ..schemas import AttributeProblem
from ..text.places import Places
from ..types import Guards, TensorType, axis_groups, integer, sizes
from ..walking import graphs, regions
from ..widths import widest
from . import ops
from .rows import rows_problem
from .rules import node_problem
from .scopes import nodes_in, variables
from .verify import verify_nest

VECTOR_BYTES = 64  # of the largest vectors
ALLOWED = frozenset(
    (
        *(ops.FOR, ops.WALK, ops.ACROSS, ops.SCAN, ops.LOAD, ops.STORE, ops.FETCH, ops.VIEW, ops.BIND, ops.ALLOC),
        *(ops.ASK, CONSTANT, SIZE, EACH),
    )
)


def verify_code(graph: Graph, places: Places | None = None) -> Guards:
    """Check the loop nests of a graph's regions in full; return the guards that they need in addition.

    They may rely on the guards of the graph and of the region's form.
    """
    needed: dict[tuple[Size, Size], None] = {}
    for inner in graphs(graph):
        for region in regions(inner):
            if region.code is None:
                continue
            if found := code_problem(region):
                node, wrong = found
                place = places.of_problem(node, wrong) if places is not None else None
                message = wrong if isinstance(wrong, str) else wrong.message
                raise VerifyProblem(f"{node.op.name}: {message}", place or node.span)
            nest = region.code
            known = dict.fromkeys((*graph_guards(graph), *graph_guards(inner), *region_guards(region), *_own(nest)))
            attrs = {**nest.attrs, "guards": Guards(known)}
            needed |= dict.fromkeys(
                verify_nest(Graph(nest.name, nest.inputs, nest.nodes, nest.outputs, attrs), places, guards_ends=True)
            )
    return Guards(needed)


def _own(nest: Graph) -> Guards:
    found = nest.attrs.get("guards", Guards())
    assert isinstance(found, Guards)
    return found


def code_problem(region: Node) -> tuple[Node, str | AttributeProblem] | None:
    """Describe what is wrong with the structure of a region's nest, and where. Indices are proved elsewhere."""
    nest = region.code
    if (nest is not None) != has_nest(region):
        return region, "needs a loop nest" if nest is None else "can't have a loop nest: it has no form, or another one"
    if nest is None:
        return None
    read, layouts = nest_arrays(region)
    types = [TensorType(v.type.dtype.strong, v.type.shape, "memref") for v in (*read, *region.results)]
    if [v.type for v in nest.inputs] != types:
        return region, "the buffers of its nest must have the types of its operands and results"
    access = ("read",) * len(read) + ("write",) * len(region.results)
    if nest.attrs.get("access") != access or nest.attrs.get("layouts") != layouts:
        return region, "its nest must read the operands and write the results, in the layouts of the region"
    if _own(nest):
        return region, "guards of its nest must be guards of the region"
    return _nodes_problem(region, nest) or _loops_problem(nest) or rows_problem(region, nest)


def _nodes_problem(region: Node, nest: Graph) -> tuple[Node, str | AttributeProblem] | None:
    lying = axis_groups(region.attrs, "columns")[-1][-1] if has_rows_in_lanes(region) else region.attrs["vector"]
    assert isinstance(lying, int)  # values of rows may take several registers
    widest_of = widest(region, lying)
    for node in nodes_in(nest):
        if node.op not in ALLOWED and (node.op in ops.OPS or Trait.ELEMENTWISE not in node.op.traits):
            return node, "can't be in the nest of a region"
        if wrong := node_problem(node):
            return node, wrong
        if node.op is ops.FOR and node.operands:
            return node, "can't carry values in the nest of a region"
        width = integer(node.attrs, "width") if "width" in node.attrs else 1
        if node.op in (ops.FOR, ops.WALK) and width * widest_of > max(VECTOR_BYTES, widest_of):
            return node, f"can have at most {VECTOR_BYTES // widest_of} lanes"
        if node.op is ops.VIEW and ("collapse" not in node.attrs or node.operands[0] not in nest.inputs):
            return node, "must collapse axes of an operand or result"
        if node.op is ops.BIND and variables(node)[0].first != 0:
            return node, "must have a range from 0 in the nest of a region"
        names = [name for name in ("at", "range", "size", "position") if name in node.attrs]
        found = [size for name in names for size in sizes(node.attrs, name)]
        if not all(map(is_linear, found)):
            return node, "must have sizes that are linear in the variables of loops"
        if problem := _complex_problem(node):
            return node, problem
    return None


def _complex_problem(node: Node) -> str | None:
    """Complex numbers may be loaded and stored; everything else is computed on their parts."""
    given = [v for v in node.operands if v.type.kind == "tensor" and v.type.dtype.kind == "complex"]
    if not given:
        return None
    (value,) = given
    made = None if value.node is None else value.node.op
    fits = made is COMPLEX if node.op is ops.STORE else node.op in (REAL, IMAG) and made is ops.LOAD
    return None if fits else "can only store `weft.complex` of two parts, and read the parts of a complex number"


def _loops_problem(nest: Graph) -> tuple[Node, str] | None:
    """Checks that threads can share the outer loops: nothing else is in the nest."""
    shared = [n for n in nodes_in(nest) if n.attrs.get("shared")]
    body: Graph | None = nest
    for loop in shared:
        effects = [n for n in body or () if n.op in (ops.FOR, ops.WALK, ops.STORE, ops.FETCH)]
        if effects != [loop]:
            return loop, "must be the only loop or store where it stands, because threads share it"
        if any(name.startswith(LOOP) for size in sizes(loop.attrs, "range") for name in dims.symbols(size)):
            return loop, "must have a range that does not depend on another loop, because threads share it"
        body = loop.body
    return None


def is_linear(size: Size) -> bool:
    """Whether a size is a sum of loop variables, each times a size, plus a size."""
    rest = size
    for name in dims.symbols(size):
        if name.startswith(LOOP):
            factor = coefficient_of(size, name)
            if any(n.startswith(LOOP) for n in dims.symbols(factor)):
                return False
            rest = rest - factor * dims.symbol(name)
    return not any(name.startswith(LOOP) for name in dims.symbols(rest))
