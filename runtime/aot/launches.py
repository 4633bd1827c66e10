"""Generate code that fills a kernel's frame and runs its functions, on the calling thread or on several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.graph import Node, Value
from ...ir.records import record
from ...ir.types import integer, sizes
from .memory_code import CallMemory
from .writer import CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.functions import NativeFunction, RegionCode


class Crew(Protocol):
    """Generate code that runs the functions of kernels on threads."""

    shared_from: ClassVar[int]  # picoseconds, as estimated, of work that it is asked to share

    def threads(self) -> Val:
        """Return how many threads may take part."""

    def function(self, part: NativeFunction) -> Val:
        """Return the address of a function."""

    def question(self) -> Val:
        """Return the address of the function that says whether a long loop should stop, or null."""

    def share(self, part: NativeFunction, frame: Val, extents: Sequence[Val], unit: Val, workers: Val) -> Val:
        """Run a function on several threads and return its status."""


@record
class Launch:
    """A kernel with its frame, the number of threads with scratch memory, and whether it runs in chunks.

    `moving` holds the words of the frame that are written before each run.
    """

    code: RegionCode
    frame: Val
    workers: Val
    is_cut: Val
    moving: tuple[tuple[int, Value], ...] = ()


class Launches:
    """The launches of one native call."""

    def __init__(self, writer: CallWriter, memory: CallMemory, crew: Crew) -> None:
        self.w, self.memory, self.crew = writer, memory, crew

    def prepare(self, region: Node, code: RegionCode) -> Launch:
        """Write the words that a kernel reads."""
        w, slots = self.w, (*region.operands, *region.results)
        is_cut = w.e.icmp("sge", w.sizes.number(code.columns), w.number(code.cut_from if code.chunks else 1 << 62))
        space = w.sizes.number(dims.product(sizes(region.attrs, "space")))
        time = w.e.op("mul", space, w.number(integer(region.attrs, "cost")))
        is_long = w.e.icmp("sge", time, w.number(self.crew.shared_from))
        workers = w.e.select(is_long, self.crew.threads(), w.number(1))
        frame, moving = w.reserve(8 * len(code.entries)), []
        for part in code.parts:
            for size in (*part.extents, part.unit):
                w.sizes.number(size)  # here, where all ways to their uses start
        for k, entry in enumerate(code.entries):
            if entry.kind == "pointer" and slots[entry.slot] in self.memory.moving:
                moving.append((k, slots[entry.slot]))
                continue
            if entry.kind == "pointer":
                word = self.memory.pointers[slots[entry.slot]]
            elif entry.kind == "size":
                word = w.sizes.known[entry.symbol]
            elif entry.kind == "stride":
                word = self.memory.strides[slots[entry.slot]][entry.axis]
            elif entry.kind == "question":
                word = self.crew.question()
            else:
                bytes = w.sizes.number(entry.bytes)
                bytes = bytes if entry.kind == "shared" else w.e.op("mul", bytes, workers)
                word = self.memory.scratch(bytes, None if entry.kind == "scratch" else is_cut)
            w.put(word, frame, 8 * k)
        return Launch(code, frame, workers, is_cut, tuple(moving))

    def run(self, launch: Launch) -> None:
        """Run a kernel's functions: all of them, or those that walk chunks."""
        w, code = self.w, launch.code
        status = w.reserve(8, cleared=True)

        def run_all(parts: Sequence[NativeFunction]) -> None:
            for part in parts:
                self._run(launch, part, status)

        for k, value in launch.moving:
            w.put(self.memory.pointer(value), launch.frame, 8 * k)
        if not code.chunks or not code.whole:
            run_all(code.parts)
        else:
            w.e.when(launch.is_cut, lambda: run_all(code.chunks), lambda: run_all(code.whole))
        if code.may_fail or code.asks:
            w.demand(w.same(w.field(status, 0, "i32"), w.number(0, "i32")), "failed")

    def _run(self, launch: Launch, part: NativeFunction, status: Val) -> None:
        """Run one function, on this thread or on several."""
        w, e = self.w, self.w.e
        function = self.crew.function(part)
        extents, unit, zero = [w.sizes.number(s) for s in part.extents], w.sizes.number(part.unit), w.number(0)
        time = e.op("mul", unit, e.op("mul", *extents))

        def note(found: Val) -> None:
            if launch.code.may_fail or launch.code.asks:
                e.store(e.op("or", e.load(status, "i32", 0, 4), found), status, 4)

        def share() -> None:
            note(self.crew.share(part, launch.frame, extents, unit, launch.workers))

        def run() -> None:
            note(w.invoke(function, "i32", launch.frame, zero, extents[0], zero, extents[1], zero))

        e.when(e.icmp("sge", time, w.number(self.crew.shared_from)), share, run)
