"""A graph in, code that runs it out: its kernels one after another, and its loops with what is inside of them.

A loop has two buffers for each value that it carries. Two words say where the value is and where its next one goes,
and kernels are told before they run. Memory for all that a step needs is taken once, before the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...backends.llvm.text import Val
from ...ir import dims
from ...ir.graph import Graph, Node, Value
from ...ir.loops import body_of, carried, regions
from ...ir.ops import LOOP, REGION
from ...ir.types import integer, sizes
from .launches import Launch, Launches

if TYPE_CHECKING:
    from ...backends.llvm.functions import Function

PATIENCE = 4_000_000_000  # picoseconds of steps, as estimated, until others get a turn
STEP = 200_000  # picoseconds that a kernel takes beside its elements
Other = Callable[[Node], None]


class Steps:
    """Runs graphs in one native call. `place` and `run` say what nodes other than kernels and loops need."""

    def __init__(self, launches: Launches, functions: Mapping[Node, Function], place: Other, run: Other) -> None:
        self.w, self.memory, self.launches = launches.w, launches.memory, launches
        self.functions = functions
        self._place, self._run = place, run
        self._ready: dict[Node, Launch] = {}
        self._carried: dict[Node, list[_Carried]] = {}
        self._times: dict[Node, Val] = {}

    def prepare(self, graph: Graph) -> None:
        """Memory for all values, and what kernels read that stays as it is."""
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
        """Buffers; what the state starts from is one of them where nothing else (but in `own`) needs it."""
        body, count, memory = body_of(node), carried(node), self.memory
        self._carried[node] = [
            _Carried(self, node.operands[1 + k], node.operands[1 + k] in own, node.results[k]) for k in range(count)
        ]
        for k, each in enumerate(self._carried[node]):
            memory.move(node.results[k], each.here)
            memory.move(body.inputs[k], each.here)
            memory.move(body.outputs[1 + k], each.there)
        for inner, outer in zip(body.inputs[count:], node.operands[1 + count :], strict=True):
            memory.share(inner, outer)
        memory.pointers[body.outputs[0]], memory.strides[body.outputs[0]] = self.w.reserve(8), []
        self.place(body)
        self._times[node] = self._time(body)

    def _time(self, body: Graph) -> Val:
        """What one step takes at least."""
        total: dims.Size = 0
        for region in body:
            if region.op is REGION:
                total = total + dims.product(sizes(region.attrs, "space")) * integer(region.attrs, "cost") + STEP
        return self.w.sizes.number(total + STEP)

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
        time = self._times[node]

        def step(state: list[Val]) -> list[Val]:
            left = e.op("sub", state[1], time)
            is_over = e.icmp("slt", left, w.number(0))
            e.when(is_over, self.launches.crew.pause)
            self.run(body)
            for each in self._carried[node]:
                each.swap()
            again = e.load(self.memory.pointers[body.outputs[0]], "i8", 0, 1)
            return [again, e.select(is_over, w.number(PATIENCE), left)]

        first = e.load(self.memory.pointer(node.operands[0]), "i8", 0, 1)
        e.repeat([first, w.number(PATIENCE)], lambda state: e.icmp("ne", state[0], w.number(0, "i8")), step)


class _Carried:
    """One carried value: words for where it is and where it goes, and its buffers."""

    def __init__(self, steps: Steps, start: Value, is_own: bool, result: Value) -> None:
        self.w, self.memory, self._start = steps.w, steps.memory, start
        self.here, self.there = self.w.reserve(8), self.w.reserve(8)
        self.first = self._buffer(result)
        made = start.node is not None and start.node.op is REGION and start not in self.memory.pieces
        is_second = is_own and made and start in self.memory.pointers
        self.second = self.memory.pointers[start] if is_second else self._buffer(result)

    def _buffer(self, value: Value) -> Val:
        if not value.type.shape:
            return self.w.reserve(value.type.dtype.size)
        size = dims.product((value.type.dtype.size, *value.type.shape))
        return self.memory.scratch(self.w.sizes.number(size))

    def start(self) -> None:
        self.w.put(self.memory.pointer(self._start), self.here, 0)
        self.w.put(self.first, self.there, 0)

    def swap(self) -> None:
        """What was made is what there is; the next goes to the other buffer."""
        w, made = self.w, self.w.field(self.there, 0)
        w.put(made, self.here, 0)
        w.put(w.e.select(w.same(made, self.first), self.second, self.first), self.there, 0)
