"""Emit the code of one element of a value at an index: the body of every loop.

The index is a tuple of polynomials over loop variables. An element that does not depend on the vector axis is a
scalar; any other is a vector of `width` elements along that axis, starting at the index. Each element is
computed in the outermost scope that has what it needs, and once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....ir import dims
from ....ir.accesses import slot_strides
from ....ir.graph import Node, Value
from ....ir.indexing import Index, gathered_index, loop_name, operand_elements, operand_index
from ....ir.ops import COMPLEX, EACH, GATHER, IMAG, IOTA, REAL, SCAN, SIZE, Trait
from ....ir.types import integer, ints, sizes
from ..code.frame import Frame
from ..code.memory import Buffer, Memory, part_buffer
from ..code.scopes import Nest
from ..code.text import Val
from .gather import Looked, checked_index, look_up
from .operations import Known, Operations

Element = tuple[Value, Index]
PART_OF = {REAL: 0, IMAG: 1}


class Elements:
    """Computes elements of the values of one region's body."""

    def __init__(self, region: Node, nest: Nest, frame: Frame, width: int, vector: int) -> None:
        assert region.body is not None
        self.region, self.body, self.nest, self.frame = region, region.body, nest, frame
        self.memory = Memory(nest, frame, width, loop_name(vector))
        self.operations = Operations(self.memory)
        layouts = region.attrs["layouts"]
        assert isinstance(layouts, tuple)
        self.layouts = [str(layout) for layout in layouts]
        self.slots = {value: slot for slot, value in enumerate(self.body.inputs)}
        self.vector = vector
        self.ahead: Sequence[int] = ()  # offsets along the vectors at which this step needs the same element again
        self.kept: Mapping[Value, tuple[Buffer, int]] = {}
        self.stage = 0

    # -- elements

    def get(self, value: Value, index: Index) -> Val:
        """Emits the element in the current scope, operands first."""
        return self.operations.demand((value, index), self._needs, self._make)

    def put(self, value: Value, index: Index, element: Val) -> None:
        """Set an element from here on, such as the result of a reduction."""
        self.nest.scope.memo[value, index] = element

    def _keep(self, value: Value, index: Index, element: Val) -> None:
        if value in self.kept and self.kept[value][1] == self.stage:
            self.memory.store(self.kept[value][0], index, element)

    def known(self, element: Element) -> Known:
        return self.operations.known(element)

    def _needs(self, element: Element) -> list[Element]:
        """Return the elements that an element is computed from; none if it is in memory."""
        value, index = element
        if value in self.slots or (value in self.kept and self.kept[value][1] < self.stage):
            return []
        node = value.node
        assert node is not None
        if node.op in PART_OF:
            return []  # read from memory
        found = operand_elements(node, index)
        return found[1:] if node.op is GATHER else found  # a gather reads memory

    def _make(self, element: Element, operands: list[Known]) -> None:
        """Emits an element whose operands are known."""
        with self.nest.e.writing(element[0]):
            self._make_element(*element, operands)

    def _make_element(self, value: Value, index: Index, operands: list[Known]) -> None:
        node = value.node
        if value in self.kept and self.kept[value][1] < self.stage:
            found = self.memory.load(self.kept[value][0], index)
        elif value in self.slots:
            found = self.memory.load(self.operand(self.slots[value]), index)
        elif node is not None and node.op is EACH:
            self._run_each(node, index)
            return
        else:
            assert node is not None
            found = self._compute(node, index, operands)
        found[1].memo[value, index] = found[0]
        self._keep(value, index, found[0])

    def _compute(self, node: Node, index: Index, operands: list[Known]) -> Known:
        if node.op in PART_OF:
            (operand,) = node.operands
            buffer = self.operand(self.slots[operand])
            return self.memory.load_part(buffer, operand_index(node, operand, index), PART_OF[node.op])
        if node.op is IOTA:
            return self.memory.number(index[integer(node.attrs, "axis")])
        if node.op is GATHER:
            return self._look_up(node, index, operands)
        if node.op is SIZE:
            return self.frame.size(sizes(node.attrs, "size")[0]), self.nest.entry
        if Trait.VIEW in node.op.traits:
            return operands[0]
        if node.op is SCAN:
            assert node.result.type.shape[integer(node.attrs, "axis")] == 1, "the walk along a scan makes it known"
            return operands[0]
        return self.operations.compute(node, operands)

    def _run_each(self, node: Node, index: Index) -> None:
        """Emit all results of an elementwise program, at this index and at the other indices that the same step needs
        next.
        """
        variable = loop_name(self.vector)
        moved = [{variable: dims.symbol(variable) + k} for k in self.ahead]
        indices = dict.fromkeys([index, *(tuple(dims.substitute(i, m) for i in index) for m in moved)])
        found = []
        for at in indices:
            needs = operand_elements(node, at)
            for need in needs:
                self.get(*need)
            found.append([self.known(n) for n in needs])
        results, scope = self.operations.each(node, found)
        for value, several in zip(node.results, results, strict=True):
            for at, result in zip(indices, several, strict=True):
                scope.memo[value, at] = result
                self._keep(value, at, result)

    def _look_up(self, node: Node, index: Index, given: list[Known]) -> Known:
        """Emit the element that a gather reads, through views and parts of complex numbers."""
        axes, source = ints(node.attrs, "axes"), node.operands[0]
        wraps, shape, looked = "named" not in node.attrs, source.type.shape, dict[str, Looked]()
        for k, ((x, scope), axis) in enumerate(zip(given, axes, strict=True)):
            looked[f"{dims.LOOP}lookup{k}"] = checked_index(self.memory, x, scope, shape[axis], wraps)
        at, part = gathered_index(node, index, tuple(map(dims.symbol, looked))), None
        while source not in self.slots:
            view = source.node
            assert view is not None
            part = PART_OF.get(view.op) if part is None else part
            source, at = view.operands[0], operand_index(view, view.operands[0], at)
        buffer = self.operand(self.slots[source])
        return look_up(self.memory, buffer if part is None else part_buffer(buffer, part), at, looked)

    # -- memory

    def operand(self, slot: int) -> Buffer:
        """Return the memory of an operand or a result of the region; operands are counted first."""
        value = (*self.region.operands, *self.region.results)[slot]
        strides = slot_strides(self.region, slot, self.layouts[slot])
        # Arrays may have any address, so no alignment is assumed.
        return Buffer(self.frame.pointer(slot), strides, value.type.dtype)

    def write(self, slot: int, value: Value, index: Index) -> None:
        """Stores the element as a result of the region."""
        with self.nest.e.writing(value):
            self._store(slot, value, index)

    def _store(self, slot: int, value: Value, index: Index) -> None:
        buffer = self.operand(slot)
        if buffer.dtype.kind != "complex":
            self.memory.store_result(buffer, index, self.get(value, index))
            return
        assert value.node is not None and value.node.op is COMPLEX
        re, im = (self.get(v, operand_index(value.node, v, index)) for v in value.node.operands)
        self.memory.store_parts(buffer, index, re, im)
