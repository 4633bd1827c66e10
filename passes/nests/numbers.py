"""Compute the elements that one step of a region's loops needs, as numbers in the body of a loop nest.

Views become part of indices. Everything is written into the body that needs it: the emitter computes a number in the
outermost loop that has its operands, and once.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from ...ir import dims
from ...ir.accesses import home_index
from ...ir.dims import LOOP, Size
from ...ir.dtypes import BOOL, I64
from ...ir.graph import Node, Value
from ...ir.indexing import Index, broadcast_index, gathered_index, loop_name, operand_elements, operand_index
from ...ir.layouts import F
from ...ir.nest import ops
from ...ir.ops import CONSTANT, GATHER, IMAG, IOTA, POSITIONS, REAL, SCAN, SIZE, TABLE, WHERE, Trait
from ...ir.types import Attr, AxisGroups, Sizes, TensorType, axis_groups, integer, ints, sizes
from .writing import Names, NestBlock, own_attrs

Element = tuple[Value, Index]
SCANS = {combined: name for name, combined in ops.COMBINERS.items()}
ADD, LT = TABLE["add"], TABLE["lt"]
NEUTRAL = {"sum": 0, "prod": 1}
KeptPlace = int | Value
"""Where a value is kept: in an operand or result, by its slot, or in scratch memory for the columns of one row."""


class Numbers:
    """The numbers of one body. `variables` tells what each axis is: a loop's variable, or 0 if it is collapsed.

    `given` has the results of reductions, and `kept` the memory of values that an earlier stage has computed.
    """

    def __init__(
        self,
        region: Node,
        block: NestBlock,
        buffers: Mapping[int, Value],
        variables: Mapping[str, Size],
        names: Names,
    ) -> None:
        assert region.body is not None
        self.region, self.block, self.buffers, self.variables, self.names = region, block, buffers, variables, names
        self.slots = {value: slot for slot, value in enumerate(region.body.inputs)}
        layouts = region.attrs["layouts"]
        assert isinstance(layouts, tuple)
        self.layouts = tuple(map(str, layouts))
        self.made: dict[Element, Value] = {}
        self.bound: dict[tuple[Value, Size], Size] = {}
        self.views: dict[tuple[int, AxisGroups], Value] = {}
        self.given: dict[Value, Value] = {}
        self.kept: Mapping[Value, KeptPlace] = {}
        groups = (*axis_groups(region.attrs, "rows"), *axis_groups(region.attrs, "columns"))
        self.collapsed = [frozenset(map(loop_name, group)) for group in groups if len(group) > 1]

    def inside(self, block: NestBlock, kept: Mapping[Value, KeptPlace]) -> Numbers:
        """The numbers of an inner body, in which some values are in memory."""
        found = copy(self)
        found.block, found.made, found.bound, found.kept = block, {}, {}, kept
        return found

    def get(self, value: Value, index: Index) -> Value:
        """Return an element as a number, operands first; it does not recurse, because chains can be long."""
        pending = [(value, index)]
        while pending:
            element = pending[-1]
            if element not in self.made:
                needs = self._needs(*element)
                missing = [n for n in needs if n not in self.made]
                if missing:
                    pending += reversed(missing)
                    continue
                self._make(*element, [self.made[n] for n in needs])
            pending.pop()
        return self.made[value, index]

    def _needs(self, value: Value, index: Index) -> list[Element]:
        node = value.node
        if value in self.slots or node is None or value in self.given or value in self.kept:
            return []
        if node.op is GATHER:
            return operand_elements(node, index)[1:]
        if Trait.REDUCTION in node.op.traits:  # of axes of size 1
            return [(v, broadcast_index(v.type.shape, self._home())) for v in node.operands]
        return operand_elements(node, index)

    def _home(self) -> Index:
        space = sizes(self.region.attrs, "space")
        return tuple(0 if size == 1 else dims.symbol(loop_name(axis)) for axis, size in enumerate(space))

    def _make(self, value: Value, index: Index, operands: list[Value]) -> None:
        node, block = value.node, self.block
        if value in self.slots:
            self.made[value, index] = self._load(self.slots[value], index)
            return
        assert node is not None
        if value in self.given:
            self.made[value, index] = self.given[value]
        elif value in self.kept:
            self.made[value, index] = self.block.load(*self.kept_at(self.kept[value], index))
        elif Trait.VIEW in node.op.traits:
            self.made[value, index] = operands[0]
        elif node.op is SCAN:
            self.made[value, index] = self._scanned(node, operands[0])
        elif node.op in (CONSTANT, SIZE):
            self.made[value, index] = block.number(node.op, (), own_attrs(node), value.type.dtype.strong)
        elif node.op is IOTA:
            along = self._placed(index[integer(node.attrs, "axis")])
            self.made[value, index] = block.number(SIZE, (), {"size": Sizes((along,))}, I64)
        elif node.op is GATHER:
            self.made[value, index] = self._gathered(node, index, operands)
        elif Trait.REDUCTION in node.op.traits:
            self.made[value, index] = self._single(node, operands[0])
        else:
            types = [TensorType(v.type.dtype.strong) for v in node.results]
            made = block.add(node.op, operands, own_attrs(node), types, node.body, node.span)
            self.made.update({(v, index): number for v, number in zip(node.results, made.results, strict=True)})

    def _scanned(self, node: Node, number: Value) -> Value:
        axis, combine = integer(node.attrs, "axis"), str(node.attrs["combine"])
        if node.result.type.shape[axis] == 1:
            return number
        (variable,) = dims.symbols(self.variables[loop_name(axis)])
        attrs: dict[str, Attr] = {"var": variable.removeprefix(LOOP), "combine": SCANS.get(combine, combine)}
        return self.block.add(ops.SCAN, (number,), attrs, (number.type,), None, node.span).result

    def _single(self, node: Node, number: Value) -> Value:
        """The reduction of one element: the element, combined with the neutral element of a sum or product."""
        dtype = node.result.type.dtype
        if node.op in POSITIONS:
            return self.block.number(CONSTANT, (), {"value": 0, "dtype": I64}, I64)
        if node.op.name not in NEUTRAL:
            return number
        value = float(NEUTRAL[node.op.name]) if dtype.kind == "float" else NEUTRAL[node.op.name]
        start = self.block.number(CONSTANT, (), {"value": value, "dtype": dtype}, dtype)
        return self.block.number(TABLE[ops.COMBINERS[node.op.name]], (start, number), {}, dtype)

    # -- memory

    def store(self, slot: int, value: Value, streamed: bool = False) -> None:
        """Stores a result of the region, by non-temporal stores if `streamed`."""
        space, reduced = tuple(sizes(self.region.attrs, "space")), ints(self.region.attrs, "reduced")
        index = home_index(space, reduced, value.type.shape)
        assert index is not None
        number = self.get(value, index)
        buffer, at = self.place(slot, index)
        self.block.add(ops.STORE, (number, buffer), {"at": Sizes(at), **({"stream": True} if streamed else {})})

    def _load(self, slot: int, index: Index) -> Value:
        buffer, at = self.place(slot, index)
        return self.block.load(buffer, at)

    def kept_at(self, place: KeptPlace, index: Index) -> tuple[Value, Index]:
        """The memory of an element that is kept between stages."""
        if isinstance(place, int):
            return self.place(place, index)
        groups = axis_groups(self.region.attrs, "columns")
        return place, tuple(self._placed(index[group[-1]]) for group in groups)

    def place(self, slot: int, index: Index) -> tuple[Value, Index]:
        """The buffer of an operand or result, or a view that collapses axes of it, and the index there."""
        buffer, groups = self.buffers[slot], list[tuple[int, ...]]()
        runs = {run[0]: run for group in self.collapsed if len(run := _run(index, group)) > 1}
        axis = 0
        while axis < len(index):
            run = runs.get(axis, (axis,))
            groups.append(run[::-1] if self.layouts[slot] == F else run)
            axis += len(run)
        if not runs:
            return buffer, tuple(map(self._placed, index))
        at = []
        for group in groups:
            total: Size = 0
            for axis in group:
                total = total * buffer.type.shape[axis] + self._placed(index[axis])
            at.append(total)
        return self._view(slot, AxisGroups(groups)), tuple(at)

    def _view(self, slot: int, groups: AxisGroups) -> Value:
        if (slot, groups) not in self.views:
            buffer = self.buffers[slot]
            shape = tuple(dims.product(buffer.type.shape[axis] for axis in group) for group in groups)
            outermost, type = self.block.chain()[-1], TensorType(buffer.type.dtype, shape, "memref")
            self.views[slot, groups] = outermost.add(ops.VIEW, (buffer,), {"collapse": groups}, (type,)).result
        return self.views[slot, groups]

    def _placed(self, size: Size) -> Size:
        return dims.substitute(size, self.variables)

    def _gathered(self, node: Node, index: Index, numbers: list[Value]) -> Value:
        """Look an element up. An index from the end is counted from the front, and one out of range is an error."""
        source = node.operands[0]
        found = []
        for axis, number in zip(ints(node.attrs, "axes"), numbers, strict=True):
            size = source.type.shape[axis]
            if "named" not in node.attrs:
                number = self._from_the_front(number, size)
            if (number, size) not in self.bound:
                name = self.names.fresh("at")
                self.block.add(ops.BIND, (number,), {"var": name, "range": Sizes((0, size))})
                self.bound[number, size] = dims.symbol(LOOP + name)
            found.append(self.bound[number, size])
        at, part = gathered_index(node, index, tuple(found)), None
        while source not in self.slots:
            view = source.node
            assert view is not None
            part = view if view.op in (REAL, IMAG) else part
            source, at = view.operands[0], operand_index(view, view.operands[0], at)
        number = self._load(self.slots[source], at)
        return number if part is None else self.block.number(part.op, (number,), {}, part.result.type.dtype)

    def _from_the_front(self, number: Value, size: Size) -> Value:
        block = self.block
        zero = block.number(CONSTANT, (), {"value": 0, "dtype": I64}, I64)
        length = block.number(SIZE, (), {"size": Sizes((size,))}, I64)
        is_negative = block.number(LT, (number, zero), {}, BOOL)
        return block.number(WHERE, (is_negative, block.number(ADD, (number, length), {}, I64), number), {}, I64)


def _run(index: Index, group: frozenset[str]) -> tuple[int, ...]:
    """The axes of an array along which a group of collapsed loops moves, first to last."""
    axes = [axis for axis, place in enumerate(index) if not group.isdisjoint(dims.symbols(place))]
    return tuple(range(axes[0], axes[-1] + 1)) if axes else ()
