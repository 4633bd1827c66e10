"""Write the loops of a graph as steps of a recipe.

A loop has two buffers for each value that it makes in a step, and one more for each variable that the value is handed
on to, as `x` in `x = y`: they are written in turn. Registers hold the address of each value and of its next version,
and kernels get both before they run. Memory for everything that a step needs is allocated once, before the first step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.graph import Graph, Node, Value
from ...ir.ops import REGION
from ...ir.types import integer, sizes
from ...ir.walking import body_of, carried
from .recipe import Register

if TYPE_CHECKING:
    from .serving import Serving

PATIENCE = 1_000_000_000  # picoseconds of steps, as estimated, until others get a turn
STEP = 200_000  # picoseconds that a kernel takes beside its elements


class Loop:
    """A loop of a graph. Its memory is allocated when it is made.

    Nobody else reads the memory of the values in `own`.
    """

    def __init__(self, serving: Serving, node: Node, own: set[Value]) -> None:
        self.serving, self.w, self.node = serving, serving.w, node
        self.body, count = body_of(node), carried(node)
        self.state = [_CarriedRegisters(serving, node.operands[1 + k]) for k in range(count)]
        for k, each in enumerate(self.state):
            each.holds(node.results[k], each.here)
            each.holds(self.body.inputs[k], each.here)
        for k, value in enumerate(self.body.outputs[1:]):
            if value in self.body.inputs:
                self.state[k].source = self.state[self.body.inputs.index(value)]
                continue
            self.state[k].reserve(node.results[k], heirs(self.body, k), node.operands[1 + k] in own)
            self.state[k].holds(value, self.state[k].there)
        for inner, outer in zip(self.body.inputs[count:], node.operands[1 + count :], strict=True):
            serving.share(inner, outer)
            serving.arguments.strides[inner] = serving.strides(outer)
        serving.pointers[self.body.outputs[0]] = again = self.w.register()
        self.w.make("here", self.w.register(), again)
        serving.place_all(self.body, self.body.nodes)
        self.time = serving.sizes.number(_time(self.body))

    def run(self) -> None:
        w, left = self.w, self.w.register()
        moved = [w.constant(PATIENCE), left]
        for each in self.state:
            moved += each.started()
        w.run("moves", len(moved) // 2, more=moved)
        again = self.serving.pointers[self.body.outputs[0]]
        body = self.serving.steps_of(lambda: self._step(left))
        repeat = 3  # words of the step that goes back
        w.run("go_on_if", self.serving.pointers[self.node.operands[0]], 8 * 2)
        w.run("skip", 8 * (len(body) + repeat))
        w.runs += body
        w.run("go_on_if", again, -8 * (len(body) + repeat))

    def _step(self, left: Register) -> None:
        w = self.w
        w.run("patience", left, self.time, PATIENCE)
        self.serving.run_all(self.body.nodes)
        taken = [(each.made, w.register(), each.here) for each in self.state]
        w.run("moves", len(taken), more=[r for made, kept, _ in taken for r in (made, kept)])
        w.run("moves", len(taken), more=[r for _, kept, here in taken for r in (kept, here)])
        for each in self.state:
            each.turn_on()


def _time(body: Graph) -> dims.Size:
    """Return what one step takes at least."""
    total: dims.Size = 0
    for region in body:
        if region.op is REGION:
            total = total + dims.product(sizes(region.attrs, "space")) * integer(region.attrs, "cost") + STEP
    return total + STEP


def heirs(body: Graph, place: int) -> int:
    """Count the variables that a value of the state is passed on to, one after another."""
    found, value = 0, body.inputs[place]
    while value in body.outputs[1:]:
        found, value = found + 1, body.inputs[body.outputs.index(value, 1) - 1]
    return found


class _CarriedRegisters:
    """One variable: registers with its address and that of its next value, and the buffers that it alternates
    between.
    """

    def __init__(self, serving: Serving, start: Value) -> None:
        self.serving, self.w, self.start = serving, serving.w, start
        self.here, self.there, self.turn = (self.w.register() for _ in range(3))
        self.source: _CarriedRegisters | None = None  # the variable that hands its value on to this one
        self.count = 0
        self.buffers = self.here

    def holds(self, value: Value, register: Register) -> None:
        self.serving.pointers[value] = register
        self.serving.moving[value] = None

    def reserve(self, value: Value, heirs: int, is_own: bool) -> None:
        """Allocate buffers for what a step computes.

        The last one may be the loop's initial value, if nobody else needs it.
        """
        self.count = 2 + heirs
        self.buffers = self.w.register(self.count)
        start, serving = self.start, self.serving
        made = start.node is not None and start.node.op is REGION and start not in serving.pieces
        is_last = is_own and made and start in serving.pointers and start not in serving.moving
        moved = []
        for k in range(self.count):
            last = is_last and k == self.count - 1
            moved += [serving.pointers[start] if last else self._buffer(value), self.buffers.after(k)]
        self.w.make("moves", self.count, more=moved)

    def _buffer(self, value: Value) -> Register:
        if not value.type.shape:
            pointer = self.w.register()
            self.w.make("here", self.w.register(-(-value.type.dtype.size // 8)), pointer)
            return pointer
        size = dims.product((value.type.dtype.size, *value.type.shape))
        return self.serving.scratch(self.serving.sizes.number(size))

    def started(self) -> list[Register]:
        """Return what is copied before the first step."""
        found = [self.serving.pointers[self.start], self.here]
        if self.count:
            found += [self.buffers, self.there, self.w.constant(0), self.turn]
        return found

    @property
    def made(self) -> Register:
        """Where the value of the next step is."""
        return self.there if self.source is None else self.source.here

    def turn_on(self) -> None:
        """Begin the next step: its result goes to the buffer that was written longest ago."""
        if self.count:
            self.w.run("turn", self.turn, self.count, self.buffers, self.there)
