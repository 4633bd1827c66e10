"""Generate code that runs a graph: its kernels one after another, and its loops.

A loop has two buffers for each value that it makes in a step, and one more for each variable that the value is passed
on to, such as `x` in `x = y`. They are written in turn. For each value, one word holds its address and another the
address of its next version. Kernels get both before they run. All memory that a step needs is allocated once, before
the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.graph import Graph, Node, Value
from ...ir.loops import body_of, carried, regions
from ...ir.ops import LOOP, REGION
from ..native.loops import heirs
from .launches import Launch, Launches

if TYPE_CHECKING:
    from ...backends.llvm.functions import RegionCode

Other = Callable[[Node], None]


class LoopSteps:
    """Run graphs in one native call. `place` and `run` handle nodes other than kernels and loops."""

    def __init__(self, launches: Launches, functions: Mapping[Node, RegionCode], place: Other, run: Other) -> None:
        self.w, self.memory, self.launches = launches.w, launches.memory, launches
        self.functions = functions
        self._place, self._run = place, run
        self._ready: dict[Node, Launch] = {}
        self._carried: dict[Node, list[_CarriedWords]] = {}

    def prepare(self, graph: Graph) -> None:
        """Allocate all values, and write the words of kernels that never change."""
        self.place(graph)
        for region in regions(graph):
            self._ready[region] = self.launches.prepare(region, self.functions[region])

    def place(self, graph: Graph) -> None:
        uses = Counter(v for n in graph for v in n.operands)
        for node in graph:
            if node.op is LOOP:
                self._place_loop(node, {v for v in node.operands if uses[v] == 1 and v not in graph.outputs})
            else:
                self._place(node)

    def _place_loop(self, node: Node, own: set[Value]) -> None:
        """Allocate a loop's buffers. The initial state is used as one of them if nothing outside of `own` needs it."""
        body, count, memory = body_of(node), carried(node), self.memory
        state = [_CarriedWords(self, node.operands[1 + k]) for k in range(count)]
        for k, each in enumerate(state):
            memory.move(node.results[k], each.here)
            memory.move(body.inputs[k], each.here)
        for k, value in enumerate(body.outputs[1:]):
            if value in body.inputs:
                state[k].source = state[body.inputs.index(value)]
                continue
            state[k].reserve(node.results[k], heirs(body, k), node.operands[1 + k] in own)
            memory.move(value, state[k].there)
        self._carried[node] = state
        for inner, outer in zip(body.inputs[count:], node.operands[1 + count :], strict=True):
            memory.share(inner, outer)
        memory.pointers[body.outputs[0]], memory.strides[body.outputs[0]] = self.w.reserve(8), []
        self.place(body)

    def run(self, graph: Graph) -> None:
        for node in graph:
            if node.op is REGION:
                self.launches.run(self._ready[node])
            elif node.op is LOOP:
                self._run_loop(node)
            else:
                self._run(node)

    def _run_loop(self, node: Node) -> None:
        w, e, body = self.w, self.w.e, body_of(node)
        for each in self._carried[node]:
            each.start()

        def step(_: list[Val]) -> list[Val]:
            self.run(body)
            made = [each.made() for each in self._carried[node]]
            for each, pointer in zip(self._carried[node], made, strict=True):
                each.take(pointer)
            return [e.load(self.memory.pointers[body.outputs[0]], "i8", 0, 1)]

        first = e.load(self.memory.pointer(node.operands[0]), "i8", 0, 1)
        e.repeat([first], lambda state: e.icmp("ne", state[0], w.number(0, "i8")), step)


class _CarriedWords:
    """One variable: words with its address and that of its next value, and the buffers that they alternate between."""

    def __init__(self, steps: LoopSteps, start: Value) -> None:
        self.w, self.memory, self._start = steps.w, steps.memory, start
        self.here, self.there, self.turn = (self.w.reserve(8) for _ in range(3))
        self.source: _CarriedWords | None = None  # the variable that hands its value on to this one
        self.count = 0

    def reserve(self, value: Value, heirs: int, is_own: bool) -> None:
        """Allocate buffers for the values of steps. The loop's initial value may be the last one, if nothing else needs
        it."""
        self.count = 2 + heirs
        self.buffers = self.w.reserve(8 * self.count)
        start = self._start
        made = start.node is not None and start.node.op is REGION and start not in self.memory.pieces
        is_last = is_own and made and start in self.memory.pointers
        for k in range(self.count):
            last = is_last and k == self.count - 1
            self.w.put(self.memory.pointers[start] if last else self._buffer(value), self.buffers, 8 * k)

    def _buffer(self, value: Value) -> Val:
        if not value.type.shape:
            return self.w.reserve(value.type.dtype.size)
        size = dims.product((value.type.dtype.size, *value.type.shape))
        return self.memory.scratch(self.w.sizes.number(size))

    def start(self) -> None:
        self.w.put(self.memory.pointer(self._start), self.here, 0)
        if self.count:
            self.w.put(self.w.field(self.buffers, 0), self.there, 0)
            self.w.put(self.w.number(0), self.turn, 0)

    def made(self) -> Val:
        """Return the address of the next step's value."""
        return self.w.field(self.there if self.source is None else self.source.here, 0)

    def take(self, pointer: Val) -> None:
        """Begin the next step: its value goes to the buffer that was written longest ago."""
        w, e = self.w, self.w.e
        w.put(pointer, self.here, 0)
        if not self.count:
            return
        after = e.op("add", w.field(self.turn, 0, "i64"), w.number(1))
        turn = e.select(e.icmp("eq", after, w.number(self.count)), w.number(0), after)
        w.put(turn, self.turn, 0)
        w.put(w.field(e.offset(self.buffers, e.op("mul", turn, w.number(8))), 0), self.there, 0)
