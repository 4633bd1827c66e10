"""Emit the code of one element of a value at an index: the body of every loop.

The index is a tuple of polynomials over loop variables. An element that does not depend on the vector axis is a
scalar; any other is a vector of `width` elements along that axis, starting at the index. Each element is
computed in the outermost scope that has what it needs, and once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ....ir import dims
from ....ir.accesses import slot_strides
from ....ir.flow import has_loop
from ....ir.graph import Node, Value
from ....ir.indexing import Index, loop_name, operand_elements, operand_index
from ....ir.limits import limiter
from ....ir.ops import COMPLEX, CONSTANT, EACH, GATHER, IMAG, IOTA, REAL, SCAN, SIZE, Trait
from ....ir.types import integer, sizes
from ..code.casts import constant
from ..code.frame import Frame
from ..code.memory import Buffer, Memory
from ..code.scopes import Nest, Scope
from ..code.text import Val
from ..functions import FrameWord
from .flow import PATIENCE, Clock, emit_each
from .gather import look_up
from .joint import Joint, joint_of
from .numbers import emit_alone, emit_joint

Element = tuple[Value, Index]
PART_OF = {REAL: 0, IMAG: 1}
TIMED = 64  # elements between two checks of the time limit


class Elements:
    """Computes elements of the values of one region's body."""

    def __init__(self, region: Node, nest: Nest, frame: Frame, width: int, vector: int, walks_columns: bool) -> None:
        assert region.body is not None
        self.region, self.body, self.nest, self.frame = region, region.body, nest, frame
        self.memory = Memory(nest, frame, width, vector, walks_columns)
        layouts = region.attrs["layouts"]
        assert isinstance(layouts, tuple)
        self.layouts = [str(layout) for layout in layouts]
        self.slots = {value: slot for slot, value in enumerate(self.body.inputs)}
        self.vector = vector
        self.ahead: Sequence[int] = ()  # offsets along the vectors at which this step needs the same element again
        self.kept: Mapping[Value, tuple[Buffer, int]] = {}
        self.stage = 0
        self._made = 0

    # -- elements

    def get(self, value: Value, index: Index) -> Val:
        """Emits the element in the current scope, operands first; it does not recurse, because chains can be long."""
        wanted, needs = (value, index), dict[Element, list[Element]]()
        pending = [wanted]
        while pending:
            element = pending[-1]
            if self.nest.find(element) is not None:
                pending.pop()
                continue
            if element not in needs:
                needs[element] = self._needs(*element)
                missing = [n for n in needs[element] if self.nest.find(n) is None]
                pending += reversed(missing)
                if missing:
                    continue
            pending.pop()
            self._make(*element, needs[element])
        return self.known(wanted)[0]

    def put(self, value: Value, index: Index, element: Val) -> None:
        """Sets an element from here on, such as the result of a reduction."""
        self.nest.scope.memo[value, index] = element

    def put_full(self, value: Value, index: Index, element: Val) -> None:
        """Sets an element that a later stage may need again."""
        self.put(value, index, element)
        self._keep(value, index, element)

    def _keep(self, value: Value, index: Index, element: Val) -> None:
        if value in self.kept and self.kept[value][1] == self.stage:
            self.memory.store(self.kept[value][0], index, element)

    def known(self, element: Element) -> tuple[Val, Scope]:
        found = self.nest.find(element)
        assert found is not None
        return found

    def _needs(self, value: Value, index: Index) -> list[Element]:
        """Return the elements that an element is computed from; none if it is in memory."""
        if value in self.slots or (value in self.kept and self.kept[value][1] < self.stage):
            return []
        node = value.node
        assert node is not None
        if node.op in PART_OF:
            return []  # read from memory
        found = operand_elements(node, index)
        return found[1:] if node.op is GATHER else found  # a gather reads memory

    def _make(self, value: Value, index: Index, needs: list[Element]) -> None:
        """Emits an element whose operands are known."""
        self._made += 1
        if self._made % TIMED == 0:
            limiter.check_time(value.node.span if value.node is not None else None)
        with self.nest.e.writing(value):
            self._make_element(value, index, needs)

    def _make_element(self, value: Value, index: Index, needs: list[Element]) -> None:
        if value in self.kept and self.kept[value][1] < self.stage:
            result, scope = self.memory.load(self.kept[value][0], index)
        elif value in self.slots:
            result, scope = self.memory.load(self.operand(self.slots[value]), index)
        elif value.node is not None and value.node.op in PART_OF:
            operand = value.node.operands[0]
            buffer = self.operand(self.slots[operand])
            part = PART_OF[value.node.op]
            result, scope = self.memory.load_part(buffer, operand_index(value.node, operand, index), part)
        elif value.node is not None and value.node.op is EACH:
            self._run_each(value.node, index)
            return
        elif value.node is not None and value.node.op is IOTA:
            result, scope = self.memory.number(index[integer(value.node.attrs, "axis")])
        elif value.node is not None and value.node.op is GATHER:
            result, scope = look_up(self, value.node, index, [self.known(n) for n in needs])
        else:
            assert value.node is not None
            result, scope = self._compute(value.node, [self.known(n) for n in needs])
        scope.memo[value, index] = result
        self._keep(value, index, result)

    def _run_each(self, node: Node, index: Index) -> None:
        """Emit all results of an elementwise program, at this index and at others that the same step needs next."""
        variable = loop_name(self.vector)
        moved = [{variable: dims.symbol(variable) + k} for k in self.ahead]
        indices = dict.fromkeys([index, *(tuple(dims.substitute(i, m) for i in index) for m in moved)])
        found = []
        for at in indices:
            needs = operand_elements(node, at)
            for need in needs:
                self.get(*need)
            found.append([self.known(n) for n in needs])
        scope = max((s for operands in found for _, s in operands), key=lambda s: s.depth)
        columns = [[operands[k][0] for operands in found] for k in range(len(node.operands))]
        assert node.body is not None
        clock = self._clock() if has_loop(node.body) else None
        with self.nest.at(scope):
            results = emit_each(self.nest.e, node, columns, self.memory.mask, self._emit_alone, clock)
        for value, several in zip(node.results, results, strict=True):
            for at, result in zip(indices, several, strict=True):
                scope.memo[value, at] = result
                self._keep(value, at, result)

    def _clock(self) -> Clock:
        question = self.frame.word(FrameWord("question"), "ptr")
        if "clock" not in self.nest.entry.memo:
            with self.nest.at(self.nest.entry):
                ticks = self.nest.e.emit("alloca i32, align 4", "ptr", 0)
                self.nest.e.store(self.nest.e.const("i32", PATIENCE), ticks, 4)
            self.nest.entry.memo["clock"] = ticks
        return Clock(self.nest.entry.memo["clock"], question)

    def _emit_alone(self, node: Node, values: Sequence[Val], made: dict[Hashable, Sequence[Val]]) -> Val:
        """Emit one op of an elementwise program; `made` holds results that several ops of straight-line code share."""
        joint = joint_of(node)
        if joint is None:
            return self._emit(node, list(values))
        dtype = node.operands[0].type.dtype
        key = (joint.function, dtype, *values)
        if key not in made:
            made[key] = emit_joint(self.nest.e, node, joint, dtype, values)
        return made[key][joint.place(node.attrs)]

    @staticmethod
    def part_of(node: Node) -> int | None:
        """Return which part of a complex number in memory a node reads, if any."""
        return PART_OF.get(node.op)

    def _compute(self, node: Node, operands: list[tuple[Val, Scope]]) -> tuple[Val, Scope]:
        e, entry = self.nest.e, self.nest.entry
        dtype = node.result.type.dtype
        if node.op is CONSTANT:
            value = node.attrs["value"]
            assert isinstance(value, (bool, int, float))
            return constant(e, dtype, value), entry
        if node.op is SIZE:
            return self.frame.size(sizes(node.attrs, "size")[0]), entry
        if Trait.VIEW in node.op.traits:
            return operands[0]
        if node.op is SCAN:
            assert node.result.type.shape[integer(node.attrs, "axis")] == 1, "the walk along a scan makes it known"
            return operands[0]
        scope = max((s for _, s in operands), key=lambda s: s.depth)
        lanes = max(v.lanes for v, _ in operands)
        values = [self.memory.splat(v, s, lanes) for v, s in operands]
        with self.nest.at(scope):
            e.active = self.memory.mask
            if joint := joint_of(node):
                return self._share(joint, node, values, scope), scope
            return self._emit(node, values), scope

    def _share(self, joint: Joint, node: Node, values: list[Val], scope: Scope) -> Val:
        """Return one of several values that are computed together, once for each set of operands."""
        dtype, place = node.operands[0].type.dtype, joint.place(node.attrs)
        key = ("joint", joint.function, dtype, tuple(values))
        if (*key, place) not in scope.memo:
            for k, part in enumerate(emit_joint(self.nest.e, node, joint, dtype, values)):
                scope.memo[*key, k] = part
        return scope.memo[*key, place]

    def _emit(self, node: Node, values: list[Val]) -> Val:
        return emit_alone(self.nest.e, node, [v.type.dtype for v in node.operands], values)

    # -- memory

    def operand(self, slot: int) -> Buffer:
        """Return the memory of an operand or a result of the region; operands are counted first."""
        value = (*self.region.operands, *self.region.results)[slot]
        strides = slot_strides(self.region, slot, self.layouts[slot])
        # Arrays may have any address, so no alignment is assumed.
        return Buffer(self.frame.pointer(slot), strides, value.type.dtype, 1)

    def write(self, slot: int, value: Value, index: Index) -> None:
        """Stores the element as a result of the region."""
        with self.nest.e.writing(value):
            self._store(slot, value, index)

    def _store(self, slot: int, value: Value, index: Index) -> None:
        buffer = self.operand(slot)
        if buffer.dtype.kind != "complex":
            self.memory.store(buffer, index, self.get(value, index))
            return
        assert value.node is not None and value.node.op is COMPLEX
        re, im = (self.get(v, operand_index(value.node, v, index)) for v in value.node.operands)
        self.memory.store_parts(buffer, index, re, im)
