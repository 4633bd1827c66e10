"""Emit the ops of one step, each in the outermost scope that has its operands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from ....ir.flow import has_loop
from ....ir.graph import Node, Value
from ....ir.limits import limiter
from ....ir.ops import CONSTANT
from ..code.casts import constant
from ..code.memory import Memory
from ..code.scopes import Scope
from ..code.text import Val
from ..functions import FrameWord
from .flow import PATIENCE, Clock, emit_each
from .joint import Joint, joint_of
from .numbers import emit_alone, emit_joint

Known = tuple[Val, Scope]
Element = TypeVar("Element", bound=tuple[Value, object])
IN_FLIGHT = 4  # vectors that run through an elementwise program together
TIMED = 64  # elements between two checks of the time limit


class Operations:
    """Emits ops on values that are known, for one function."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.nest, self.frame = memory, memory.nest, memory.frame
        self._made = 0

    def demand(
        self,
        wanted: Element,
        needs_of: Callable[[Element], list[Element]],
        make: Callable[[Element, list[Known]], Known | None],
    ) -> Val:
        """Compute an element after its operands. This does not recurse, because chains can be long.

        `make` emits an element whose operands are known, and returns it with its scope, or remembers it by itself.
        """
        pending, needs = [wanted], dict[Element, list[Element]]()
        while pending:
            element = pending[-1]
            if self.nest.find(element) is not None:
                pending.pop()
                continue
            if element not in needs:
                needs[element] = needs_of(element)
                missing = [n for n in needs[element] if self.nest.find(n) is None]
                pending += reversed(missing)
                if missing:
                    continue
            pending.pop()
            self._made += 1
            if self._made % TIMED == 0:
                node = element[0].node
                limiter.check_time(node.span if node is not None else None)
            made = make(element, [self.known(n) for n in needs[element]])
            if made is not None:
                made[1].memo[element] = made[0]
        return self.known(wanted)[0]

    def known(self, element: Hashable) -> Known:
        found = self.nest.find(element)
        assert found is not None
        return found

    def compute(self, node: Node, operands: Sequence[Known]) -> Known:
        """Emits an op of the main table."""
        if node.op is CONSTANT:
            value = node.attrs["value"]
            assert isinstance(value, (bool, int, float))
            return constant(self.nest.e, node.result.type.dtype, value), self.nest.entry
        scope = max((s for _, s in operands), key=lambda s: s.depth)
        lanes = max(v.lanes for v, _ in operands)
        values = [self.memory.splat(v, s, lanes) for v, s in operands]
        with self.nest.at(scope):
            self.nest.e.active = self.memory.mask
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

    # -- elementwise programs

    def each(self, node: Node, found: Sequence[Sequence[Known]]) -> tuple[list[list[Val]], Scope]:
        """Emit all results of an elementwise program for several sets of operands, which run through it together."""
        assert node.body is not None
        scope = max((s for operands in found for _, s in operands), key=lambda s: s.depth)
        columns = [[operands[k][0] for operands in found] for k in range(len(node.operands))]
        clock = self._clock() if has_loop(node.body) else None
        with self.nest.at(scope):
            return emit_each(self.nest.e, node, columns, self.memory.mask, self._emit_alone, clock), scope

    def _clock(self) -> Clock:
        question = self.frame.word(FrameWord("question"), "ptr")
        if "clock" not in self.nest.entry.memo:
            with self.nest.at(self.nest.entry):
                ticks = self.nest.e.emit("alloca i32, align 4", "ptr", 0)
                self.nest.e.store(self.nest.e.const("i32", PATIENCE), ticks, 4)
            self.nest.entry.memo["clock"] = ticks
        return Clock(self.nest.entry.memo["clock"], question)

    def _emit_alone(self, node: Node, values: Sequence[Val], made: dict[Hashable, Sequence[Val]]) -> Val:
        """Emit one op of an elementwise program. `made` holds results that several ops of straight-line code share."""
        joint = joint_of(node)
        if joint is None:
            return self._emit(node, list(values))
        dtype = node.operands[0].type.dtype
        key = (joint.function, dtype, *values)
        if key not in made:
            made[key] = emit_joint(self.nest.e, node, joint, dtype, values)
        return made[key][joint.place(node.attrs)]
