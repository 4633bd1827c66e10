"""Order the loops of a region by the layout classes of its operands, and choose the vector axis."""

from __future__ import annotations

from collections.abc import Mapping, Set

from ...ir import dims
from ...ir.accesses import Access, coefficient, region_accesses, region_positions
from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.ops import GATHER
from ...ir.records import record
from ...ir.types import AxisGroups, ints, sizes
from ...ir.windows import window_axes

SAMPLE = 97  # the sample value of every unknown size, for comparing strides


@record
class Loops:
    """Loops from the outside in. Each is a group of collapsed axes, the innermost axis last.

    `vector` is the axis that vectors run along, always the last axis of the last group of rows or of columns. `windows`
    are the reduced axes that move along kept ones: the last of the columns, each in a separate group.
    """

    rows: AxisGroups
    columns: AxisGroups
    vector: int
    windows: tuple[int, ...] = ()


def plan_loops(region: Node, layouts: Mapping[Value, str], is_along_rows: bool = False) -> Loops:
    """Orders loops by the strides of all accesses, and collapses neighbours that are contiguous in every access.

    `is_along_rows` makes vectors run along a kept axis, if there is one.
    """
    space, scanned = tuple(sizes(region.attrs, "space")), scanned_axes(region)
    inside = frozenset((*ints(region.attrs, "reduced"), *scanned))
    accesses = region_accesses(region, layouts)
    axes = [axis for axis, size in enumerate(space) if size != 1]
    if not axes:
        return Loops(AxisGroups(), AxisGroups(), -1)
    weights = {axis: _weight(axis, accesses) for axis in axes}
    # Accesses that happen once per row do not decide the vector axis of the many columns; lookups happen for each
    # column.
    sought = _sought(region)
    inner = [a for a in accesses if a.slot in sought or any(coefficient(a.address, axis) != 0 for axis in inside)]
    units = {axis: _unit_accesses(axis, inner or accesses, sought) for axis in axes}
    windows = [a for a in window_axes(region) if a in axes]
    kept = [a for a in axes if a not in inside and _unit_accesses(a, accesses)]
    windows = windows if kept and not scanned else []
    # Vectors along a scan are combined lane by lane, so among equals that axis comes last.
    along = [a for a in axes if a not in inside] if is_along_rows else []
    # What does not vary along a vector is one number; what lies apart is gathered, as b along p in a[i, p] + b[p, j].
    apart = {axis: _apart(axis, inner or accesses) for axis in axes}
    vector = max(along or axes, key=lambda a: (units[a], -apart[a], a not in scanned, a))
    if windows:  # a window is short, and vectors along it share nothing with the next ones
        vector = max(kept, key=lambda a: (_unit_accesses(a, accesses), a))
    order = sorted(axes, key=lambda a: (a == vector, a in windows, -weights[a], a))
    rows = [a for a in order if a not in inside]
    columns = [a for a in order if a in inside]
    walked = [*(a.address for a in accesses), *region_positions(region)]
    if not windows:
        return Loops(_join(rows, space, walked), _join(columns, space, walked), vector)
    others = _join([a for a in columns if a not in windows], space, walked)
    alone = tuple((a,) for a in columns if a in windows)
    walks = AxisGroups((*others, *alone))
    return Loops(_join(rows, space, walked), walks, vector, tuple(a for a in columns if a in windows))


def scanned_axes(region: Node) -> tuple[int, ...]:
    """The axis that the scans of a region run along, if it has some."""
    return ints(region.attrs, "scanned") if "scanned" in region.attrs else ()


def _sought(region: Node) -> set[int]:
    """Return the operands that gathers read."""
    assert region.body is not None
    slots = {value: slot for slot, value in enumerate(region.body.inputs)}
    found = set()
    for node in region.body:
        source = node.operands[0] if node.op is GATHER else None
        while source is not None and source.node is not None and source.node.operands:  # through the views of it
            source = source.node.operands[0]
        found |= {slots[source]} if source in slots else set()
    return found


def _unit_accesses(axis: int, accesses: list[Access], sought: Set[int] = frozenset()) -> int:
    """Count the accesses that are contiguous along an axis.

    A scattered store counts twice, because it costs twice as much as a gather.

    Along an axis on which gathers are contiguous, their indices are scalars.
    """
    contiguous = [a for a in accesses if coefficient(a.address, axis) == a.itemsize]
    return sum(4 if a.slot in sought else 1 + a.is_store for a in contiguous)


def _apart(axis: int, accesses: list[Access]) -> int:
    """Count the accesses whose elements along an axis are not neighbours."""
    return sum(coefficient(a.address, axis) not in (0, a.itemsize) for a in accesses)


def _weight(axis: int, accesses: list[Access]) -> int:
    return sum(abs(_sample(coefficient(a.address, axis))) for a in accesses)


def _sample(size: Size) -> int:
    """A sample number for a stride: all sizes are the same, and unknown strides are in C order."""
    env = {}
    for name in dims.symbols(size):
        _, _, axis = name.partition(".s")
        env[name] = SAMPLE ** (8 - int(axis)) if axis else SAMPLE
    return dims.evaluate(size, env)


def _join(axes: list[int], space: tuple[Size, ...], walked: list[Size]) -> AxisGroups:
    """Groups neighbouring axes that can be collapsed: their strides match in every expression."""
    groups: list[tuple[int, ...]] = []
    for axis in axes:
        outer = groups[-1][-1] if groups else None
        joined = outer is not None and all(coefficient(w, outer) == coefficient(w, axis) * space[axis] for w in walked)
        if joined:
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return AxisGroups(groups)
