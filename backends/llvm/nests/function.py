"""Write one native function of a nest: its frame, its blocks, and the walk over bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir.graph import Graph, Node, Value
from ....ir.limits import limiter
from ....ir.nest.registers import Element
from ....ir.opdef import OpDef
from ....ir.types import texts
from ..code.control_word import head
from ..code.frame import Frame
from ..code.memory import Buffer
from ..code.scopes import Nest, Scope
from ..code.text import Val
from ..functions import FrameWord
from .points import Point

Points = Sequence[Point]
STATUS = Val("%status", "ptr", 0)
TIMED = 64  # nodes between two looks at the time
LEAVE = "leave"  # the block that returns the status


class NestModule:
    """What all functions of one nest share: the words of the frame, the nodes that can fail, and finished text."""

    def __init__(self, nest: Graph, name: str, vector_bytes: int) -> None:
        self.nest, self.name, self.vector_bytes = nest, name, vector_bytes
        self.entries: dict[FrameWord, int] = {}
        self.failures: list[Node] = []
        self.texts: list[str] = []
        self.names: list[str] = []
        self.declared: dict[str, str] = {}
        self.scopes: dict[Value, int] = {}  # memory that no other memory overlaps
        self.asks = False
        self.outlined: list[str] = []  # the names of functions that threads share
        self.emitted = 0  # nodes, each as often as it is emitted
        self.captured = 0  # words of the frame that hand values to them

    def word(self, kind: str, k: int = 0) -> int:
        """The place of a word of the frame that native code writes."""
        return self.entries.setdefault(FrameWord(kind, k), len(self.entries))


class NestFunction:
    """A function while it is written. Code for its entry goes to the entry's scope, everything else to `start`."""

    def __init__(self, module: NestModule, name: str, table: Mapping[OpDef, Callable[..., None]]) -> None:
        self.module, self.name, self.table = module, name, table
        self.nest = Nest()
        self.e = self.nest.e
        self.e.vector_bytes = module.vector_bytes
        self.e.called = texts(module.nest.attrs, "called")
        self.frame = Frame(self.nest, module.entries)
        self.nest.scope = Scope(self.nest.entry, "start")
        self.e.lines, self.e.block = self.nest.scope.lines, "start"
        self.e.place("start")
        self.buffers: dict[Value, Buffer] = {}
        self.is_worker = False
        self.registers: dict[Element, Val] = {}  # elements of memory that a loop keeps in registers
        self.paired: dict[Node, Node] = {}  # stores of imaginary parts, with those of real parts that they make too
        self.asked: set[Node] = set()  # the `ask`s of loops that ask after several steps

    def body(self, graph: Graph, points: Points) -> None:
        """Emits the nodes of a body for all points, one node after another."""
        for node in graph:
            self.module.emitted += 1
            if self.module.emitted % TIMED == 0:
                limiter.check_time(node.span)
            self.table[node.op](self, node, points)

    def finish(self) -> None:
        """Ends the function and hands its text to the module."""
        e, entry = self.e, self.nest.entry
        e.br(LEAVE)
        e.place(LEAVE)
        status = e.load(STATUS, "i32", 0, 4)
        e.lines.append(f"  ret i32 {status.text}")
        opening = ["  %status = alloca i32, align 4", "  store i32 0, ptr %status, align 4"]
        lines = [head(self.name), entry.lines[0], *opening, *entry.lines[1:], "  br label %start"]
        self.module.texts.append("\n".join([*lines, *self.nest.scope.lines, "}"]))
        self.module.names.append(self.name)
        self.module.declared |= e.declared

    # -- code in the function's entry

    def in_entry(self, text: str, elem: str) -> Val:
        """Emits an instruction in the entry."""
        with self.nest.at(self.nest.entry):
            return self.e.emit(text, elem, 0)

    def word_address(self, kind: str, k: int = 0) -> Val:
        """The address of a word that native code writes."""
        return self.in_entry(f"getelementptr i8, ptr %frame, i64 {8 * self.module.word(kind, k)}", "ptr")

    # -- small helpers

    def repeat(
        self,
        first: Val,
        end: Val,
        step: int,
        carried: Sequence[Val],
        body: Callable[[Val, list[Val]], Sequence[Val]],
        whole: bool = False,
    ) -> list[Val]:
        """Run `body` for the numbers from the first up to the end, excluded; with `whole`, only for full steps.

        Return the number after the last one, and the carried values.
        """
        e = self.e
        limit = e.op("sub nsw", end, e.const("i64", step - 1)) if whole and step > 1 else end

        def more(values: list[Val]) -> Val:
            return e.icmp("slt", values[0], limit)

        def run(values: list[Val]) -> list[Val]:
            after = body(values[0], values[1:])
            return [e.op("add nsw", values[0], e.const("i64", step)), *after]

        return e.repeat([first, *carried], more, run)

    def spread(self, x: Val, point: Point) -> Val:
        """Broadcast a value to every lane of a point's vectors; a point without vectors gets a scalar."""
        return self.e.splat(x, point.width)
