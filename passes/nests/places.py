"""Describe where arrays of a graph are in memory: a buffer, the order of its axes, and an offset."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import dims
from ...ir.accesses import coefficient_of
from ...ir.dims import LOOP, Atom, Size
from ...ir.graph import Value
from ...ir.indexing import Index
from ...ir.layouts import GENERAL, SCALAR, UNIT, C, F, byte_strides
from ...ir.nest.ops import VIEW
from ...ir.nest.scopes import LoopVariable, MemoryAccess, base
from ...ir.records import record
from ...ir.types import sizes


@record(eq=False)
class MemoryPlace:
    """Where an array is: its axis `axes[k]` is axis k of the buffer, from `starts[k]` on."""

    buffer: Value
    axes: tuple[int, ...]
    starts: tuple[Size, ...]

    def at(self, index: Index) -> tuple[Size, ...]:
        """The buffer's index of the array's element at an index."""
        return tuple(start + index[axis] for axis, start in zip(self.axes, self.starts, strict=True))

    @property
    def base(self) -> Value:
        return base(self.buffer, (0,) * self.buffer.type.rank)[0]


def whole(buffer: Value) -> MemoryPlace:
    """The place of an array that is all of a buffer."""
    rank = buffer.type.rank
    return MemoryPlace(buffer, tuple(range(rank)), (0,) * rank)


def are_apart(a: MemoryPlace, b: MemoryPlace) -> bool:
    """Tell whether two places in one buffer never meet, because they have different numbers at some index.

    The parts of a complex array are such places.
    """
    found = []
    for place, name in ((a, "a"), (b, "b")):
        index = tuple(dims.symbol(f"{LOOP}{name}.{k}") for k in range(place.buffer.type.rank))
        found.append(base(place.buffer, index))
    (ours, first), (theirs, second) = found
    return ours is theirs and any(isinstance(x - y, int) and x != y for x, y in zip(first, second, strict=True))


def strides_of(buffer: Value, layouts: Mapping[Value, str]) -> tuple[Size, ...]:
    """The byte strides of a buffer or a view; those that a layout class leaves open are symbols."""
    if buffer.node is None or buffer.node.op is not VIEW:
        layout = layouts.get(buffer, C)
        return byte_strides(
            layout if layout in (C, F, UNIT, SCALAR) else GENERAL,
            buffer.type.shape,
            buffer.type.dtype.size,
            str(buffer.name),
        )
    outer, names = strides_of(buffer.node.operands[0], layouts), buffer.node.attrs["vars"]
    assert isinstance(names, tuple)
    found = []
    for name in names:
        steps = (coefficient_of(part, LOOP + str(name)) for part in sizes(buffer.node.attrs, "at"))
        total: Size = 0
        for step, stride in zip(steps, outer, strict=True):
            total = total + step * stride
        found.append(total)
    return tuple(found)


def step_of(access: MemoryAccess, name: str, layouts: Mapping[Value, str]) -> Size:
    """By how many bytes an access moves with a variable."""
    total: Size = 0
    for index, stride in zip(access.at, strides_of(access.buffer, layouts), strict=True):
        total = total + coefficient_of(index, LOOP + name) * stride
    return total


def axis_order(buffer: Value, layouts: Mapping[Value, str]) -> tuple[int, ...]:
    """Order the axes of a view so that the contiguous one is last, if that makes its layout known."""
    rank, strides, size = buffer.type.rank, strides_of(buffer, layouts), buffer.type.dtype.size
    order = tuple(range(rank))
    if layout_class(buffer, order, layouts) != GENERAL:
        return order
    unit = [k for k in order if strides[k] == size and buffer.type.shape[k] != 1]
    return (*(k for k in order if k != unit[0]), unit[0]) if unit else order


def layout_class(buffer: Value, order: tuple[int, ...], layouts: Mapping[Value, str]) -> str:
    """The layout class of a view with its axes in another order."""
    if not order:
        return SCALAR
    strides, size = strides_of(buffer, layouts), buffer.type.dtype.size
    shape, own = tuple(buffer.type.shape[k] for k in order), tuple(strides[k] for k in order)
    wide = [k for k, n in enumerate(shape) if n != 1]
    for layout in (C, F):
        expected = byte_strides(layout, shape, size, "")
        if all(own[k] == expected[k] for k in wide):
            return layout
    return UNIT if own[wide[-1]] == size else GENERAL


def most(size: Size, ranges: Mapping[str, LoopVariable]) -> Size | None:
    """Return a size without loop variables that is at least as large as this one, or None."""
    return _extreme(size, ranges, 1)


def _extreme(size: Size, ranges: Mapping[str, LoopVariable], sign: int) -> Size | None:
    """Return the largest (1) or smallest (-1) value of a size over the ranges of its variables."""
    total: Size = 0
    for monomial, factor in dims.terms_of(size):
        term: Size = factor
        for atom in monomial:
            bound = _atom_extreme(atom, ranges, sign if factor > 0 else -sign)
            if bound is None or (len(monomial) > 1 and bound != dims.of_atom(atom) and not dims.never_negative(bound)):
                return None
            term = term * bound
        total = total + term
    return total


def _atom_extreme(atom: Atom, ranges: Mapping[str, LoopVariable], sign: int) -> Size | None:
    if not atom.args:
        if not atom.name.startswith(LOOP):
            return dims.of_atom(atom)
        variable = ranges.get(atom.name[len(LOOP) :])
        if variable is None:
            return None
        return _extreme(variable.end - 1 if sign > 0 else variable.first, ranges, sign)
    bounds = [_extreme(arg, ranges, sign) for arg in atom.args]
    if any(b is None for b in bounds):
        return None
    return dims.applied(atom.name, [b for b in bounds if b is not None])
