"""A region in, the memory accesses of one iteration out, their byte addresses as polynomials over loop variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import dims
from .dims import Atom, Dim, Size
from .graph import Graph, Node, Value
from .indexing import Index, broadcast_index, loop_variables, operand_index
from .layouts import byte_strides
from .ops import REGION, Trait
from .types import ints, sizes


@dataclass(frozen=True)
class Access:
    """A load from an operand or a store to a result. `slot` counts operands first, then results."""

    slot: int
    address: Size
    itemsize: int
    is_store: bool


def home_index(space: tuple[Size, ...], reduced: tuple[int, ...], shape: tuple[Size, ...]) -> Index | None:
    """The index of the element of a value that belongs to one iteration: of the whole space, or of its rows."""
    index = loop_variables(space)
    if shape == space:
        return index
    if shape == tuple(1 if k in reduced else n for k, n in enumerate(space)):
        return tuple(0 if k in reduced else i for k, i in enumerate(index))
    if shape == tuple(n for k, n in enumerate(space) if k not in reduced):
        return tuple(i for k, i in enumerate(index) if k not in reduced)
    return None


def slot_name(slot: int) -> str:
    """What the strides of an operand or result are called where only the call knows them."""
    return f"arg{slot}"


def slot_strides(region: Node, slot: int, layout: str) -> tuple[Size, ...]:
    """The byte strides of an operand (or, counted on, a result) of a region."""
    value = (*region.operands, *region.results)[slot]
    return byte_strides(layout, value.type.shape, value.type.dtype.size, slot_name(slot))


def address(index: Index, strides: tuple[Size, ...]) -> Size:
    """The byte offset of the element at an index."""
    total: Size = 0
    for i, stride in zip(index, strides, strict=True):
        total = total + i * stride
    return total


def coefficient(expression: Size, axis: int) -> Size:
    """What one step of the loop variable of an axis adds to a linear expression."""
    if isinstance(expression, int):
        return 0
    variable = Atom(f"i{axis}")
    total: Size = 0
    for monomial, factor in expression.terms:
        if variable in monomial:
            rest = list(monomial)
            rest.remove(variable)
            total = total + dims.product((factor, *(Dim((((a,), 1),)) for a in rest)))
    return total


def region_accesses(region: Node, layouts: Mapping[Value, str]) -> list[Access]:
    """Every load and store of one iteration of a region."""
    body = region.body
    assert body is not None
    space, reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
    found: dict[Access, None] = {}
    seen: set[tuple[Value, Index]] = set()
    pending: list[tuple[Value, Index]] = []
    for k, value in enumerate(body.outputs):
        index = home_index(space, reduced, value.type.shape)
        assert index is not None
        slot = len(body.inputs) + k
        strides = slot_strides(region, slot, layouts[region.results[k]])
        found[Access(slot, address(index, strides), value.type.dtype.size, True)] = None
        pending.append((value, index))
    slots = {value: slot for slot, value in enumerate(body.inputs)}
    while pending:
        value, index = pending.pop()
        if (value, index) in seen:
            continue
        seen.add((value, index))
        if value in slots:
            slot = slots[value]
            strides = slot_strides(region, slot, layouts[region.operands[slot]])
            found[Access(slot, address(index, strides), value.type.dtype.size, False)] = None
            continue
        assert value.node is not None
        pending += operands_at(value.node, index, space)
    return list(found)


def operands_at(node: Node, index: Index, space: tuple[Size, ...]) -> list[tuple[Value, Index]]:
    """What an element needs: of a reduction, its operand at the whole space's index."""
    if Trait.REDUCTION in node.op.traits:
        return [(v, broadcast_index(v.type.shape, loop_variables(space))) for v in node.operands]
    return [(v, operand_index(node, v, index)) for v in node.operands]


def value_layouts(graph: Graph) -> dict[Value, str]:
    """The layout class of all that is in memory: of arguments and of regions' results as attributes say, else C."""
    given, wanted = graph.attrs.get("layouts"), graph.attrs.get("out_layouts")
    found = dict.fromkeys((*graph.inputs, *(r for n in graph for r in n.results)), "C")
    if isinstance(given, tuple):
        found.update(zip(graph.inputs, map(str, given), strict=True))
    if isinstance(wanted, tuple):
        outputs = zip(graph.outputs, wanted, strict=True)
        found.update({v: str(w) for v, w in outputs if v.node is not None and v.node.op is REGION})
    return found
