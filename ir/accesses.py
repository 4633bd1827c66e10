"""List the memory accesses of one iteration of a region, with byte addresses as polynomials over loop variables."""

from __future__ import annotations

from collections.abc import Mapping

from . import dims
from .dims import Atom, Monomial, Size
from .graph import Graph, Node, Value
from .indexing import Index, broadcast_index, loop_name, loop_variables, operand_elements
from .layouts import C, byte_strides, piece_layout
from .ops import CONCATENATE, IOTA, POSITIONS, REGION, Trait
from .tuples import NamedTuple
from .types import integer, ints, sizes


class Access(NamedTuple):
    """A load from an operand or a store to a result. `slot` counts operands first, then results."""

    slot: int
    address: Size
    itemsize: int
    is_store: bool


def home_index(space: tuple[Size, ...], reduced: tuple[int, ...], shape: tuple[Size, ...]) -> Index | None:
    """Return the index of the element that one iteration computes of a value that has the whole space or only
    its rows.
    """
    index = loop_variables(space)
    if shape == space:
        return index
    if shape == tuple(1 if k in reduced else n for k, n in enumerate(space)):
        return tuple(0 if k in reduced else i for k, i in enumerate(index))
    if shape == tuple(n for k, n in enumerate(space) if k not in reduced):
        return tuple(i for k, i in enumerate(index) if k not in reduced)
    return None


def slot_name(slot: int) -> str:
    """The name of the symbols for the strides of an operand or result, which only the call knows."""
    return f"arg{slot}"


def slot_strides(region: Node, slot: int, layout: str) -> tuple[Size, ...]:
    """The byte strides of a region's operand or result; `slot` counts operands first."""
    value = (*region.operands, *region.results)[slot]
    return byte_strides(layout, value.type.shape, value.type.dtype.size, slot_name(slot))


def address(index: Index, strides: tuple[Size, ...]) -> Size:
    """The byte offset of the element at an index."""
    total: Size = 0
    for i, stride in zip(index, strides, strict=True):
        total = total + i * stride
    return total


def coefficient(expression: Size, axis: int) -> Size:
    """Return by how much a linear expression grows if the loop variable of an axis grows by one."""
    return coefficient_of(expression, loop_name(axis))


def coefficient_of(expression: Size, name: str) -> Size:
    """Return by how much a linear expression grows if a variable grows by one."""
    if isinstance(expression, int):
        return 0
    variable = Atom(name)
    found: dict[Monomial, int] = {}
    for monomial, factor in expression.terms:
        if variable in monomial:
            at = monomial.index(variable)
            rest = monomial[:at] + monomial[at + 1 :]
            found[rest] = found.get(rest, 0) + factor
    return dims.from_terms(found)


def walk_kind(address: Size, outer: str, inner: str, length: Size) -> str | None:
    """Tell how an address moves from row to row: "flat", the same "row" each time, a "column", or "fixed"."""
    along, across = coefficient_of(address, inner), coefficient_of(address, outer)
    if along == 0:
        return "fixed" if across == 0 else "column"
    if across == 0:
        return "row"
    return "flat" if across == along * length else None


def region_accesses(region: Node, layouts: Mapping[Value, str]) -> list[Access]:
    """List every load and store of one iteration of a region. Only part of a gather's address is known."""
    body = region.body
    assert body is not None
    found: dict[Access, None] = {}
    for k, (value, index) in enumerate(_roots(region)):
        slot = len(body.inputs) + k
        strides = slot_strides(region, slot, layouts[region.results[k]])
        found[Access(slot, address(index, strides), value.type.dtype.size, True)] = None
    slots = {value: slot for slot, value in enumerate(body.inputs)}
    for value, index in region_elements(region):
        if value in slots:
            strides = slot_strides(region, slots[value], layouts[region.operands[slots[value]]])
            found[Access(slots[value], address(index, strides), value.type.dtype.size, False)] = None
    return list(found)


def region_position(region: Node) -> Size:
    """The position, in C order, of an iteration's element among those that are reduced together."""
    space = tuple(sizes(region.attrs, "space"))
    variables = loop_variables(space)
    total: Size = 0
    for axis in ints(region.attrs, "reduced"):
        total = total * space[axis] + variables[axis]
    return total


def region_positions(region: Node) -> list[Size]:
    """List the indices that one iteration of a region uses as numbers, such as those of `iota`."""
    assert region.body is not None
    found: dict[Size, None] = {}
    if any(node.op in POSITIONS for node in region.body):
        found[region_position(region)] = None
    for value, index in region_elements(region):
        if value.node is not None and value.node.op is IOTA:
            found[index[integer(value.node.attrs, "axis")]] = None
    return list(found)


def region_elements(region: Node) -> tuple[tuple[Value, Index], ...]:
    """List every element that one iteration of a region needs.

    The result is kept, since a plan and its checks ask several times.
    """
    attrs, found = region.elements
    if attrs is not region.attrs:
        found = _elements(region)
        region.elements = region.attrs, found
    return found


def _elements(region: Node) -> tuple[tuple[Value, Index], ...]:
    space = tuple(sizes(region.attrs, "space"))
    seen: dict[tuple[Value, Index], None] = {}
    pending = _roots(region)
    while pending:
        element = pending.pop()
        if element in seen:
            continue
        seen[element] = None
        if element[0].node is not None:
            pending += operands_at(element[0].node, element[1], space)
    return tuple(seen)


def _roots(region: Node) -> list[tuple[Value, Index]]:
    """The elements that one iteration stores."""
    body, space, reduced = region.body, tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
    assert body is not None
    found = []
    for value in body.outputs:
        index = home_index(space, reduced, value.type.shape)
        assert index is not None
        found.append((value, index))
    return found


def operands_at(node: Node, index: Index, space: tuple[Size, ...]) -> list[tuple[Value, Index]]:
    """List the operand elements that an element needs; a reduction reads its operand at every index of the space."""
    if Trait.REDUCTION in node.op.traits:
        return [(v, broadcast_index(v.type.shape, loop_variables(space))) for v in node.operands]
    return operand_elements(node, index)


def value_layouts(graph: Graph) -> dict[Value, str]:
    """Return the layout class of every value in memory: the one in the attributes for arguments and results of regions,
    else C.

    A piece of a concatenation is stored inside the whole.
    """
    given, wanted = graph.attrs.get("layouts"), graph.attrs.get("out_layouts")
    found = dict.fromkeys((*graph.inputs, *(r for n in graph for r in n.results)), C)
    if isinstance(given, tuple):
        found.update(zip(graph.inputs, map(str, given), strict=True))
    if isinstance(wanted, tuple):
        outputs = zip(graph.outputs, wanted, strict=True)
        found.update({v: str(w) for v, w in outputs if v.node is not None and v.node.op in (REGION, CONCATENATE)})
    for node in reversed(graph.nodes):
        if node.op is CONCATENATE:
            axis, whole = integer(node.attrs, "axis"), found[node.result]
            found.update({v: piece_layout(whole, v.type.shape, axis) for v in node.operands})
    return found
