"""A kernel in, code that fills its frame and runs its functions out: on the calling thread, or shared in the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...backends.llvm.text import Val
from ...ir import dims
from ...ir.graph import Node
from ...ir.types import integer, sizes
from .. import threads
from .inputs import Inputs
from .outputs import Outputs
from .pool_code import INTERRUPTED
from .writer import Writer

if TYPE_CHECKING:
    from ...backends.llvm.region import Part
    from ..launch import Kernel


@dataclass(frozen=True)
class Launch:
    """A kernel with its frame, for how many threads there is scratch memory, and whether it runs in chunks."""

    kernel: Kernel
    frame: Val
    workers: Val
    is_cut: Val


class Launches:
    """Launches of one native call."""

    def __init__(self, writer: Writer, inputs: Inputs, outputs: Outputs) -> None:
        self.w, self.inputs, self.outputs = writer, inputs, outputs

    def prepare(self, region: Node, kernel: Kernel) -> Launch:
        """The words that a kernel reads."""
        w, slots, code = self.w, (*region.operands, *region.results), kernel.code
        is_cut = w.e.icmp("sge", w.sizes.number(code.columns), w.number(code.cut_from if code.chunks else 1 << 62))
        space = w.sizes.number(dims.product(sizes(region.attrs, "space")))
        time = w.e.op("mul", space, w.number(integer(region.attrs, "cost")))
        is_long = w.e.icmp("sge", time, w.number(threads.SHARED))
        workers = w.e.select(is_long, self._threads(), w.number(1))
        frame = w.reserve(8 * len(kernel.entries))
        for k, entry in enumerate(kernel.entries):
            if entry.kind == "pointer":
                word = self.inputs.pointers[slots[entry.slot]]
            elif entry.kind == "size":
                word = w.sizes.known[entry.symbol]
            elif entry.kind == "stride":
                word = self.inputs.strides[slots[entry.slot]][entry.axis]
            else:
                times = workers if entry.kind == "scratch" else w.e.cast("zext", is_cut, "i64")
                word = self.outputs.scratch(w.e.op("mul", w.sizes.number(entry.bytes), times))
            w.put(word, frame, 8 * k)
        return Launch(kernel, frame, workers, is_cut)

    def _threads(self) -> Val:
        return self.w.e.load(self.w.word("threads", threads.pool().place("threads")), "i64", 0, 8)

    def run(self, launch: Launch) -> None:
        """Runs a kernel's functions, all of them or those that walk chunks."""
        w, code = self.w, launch.kernel.code
        status = w.reserve(8, cleared=True)

        def run_all(parts: Sequence[Part]) -> None:
            for part in parts:
                self._run(launch, part, status)

        for part in code.parts:
            for size in (*part.extents, part.unit):
                w.sizes.number(size)  # here, where both ways start
        if not code.chunks or not code.whole:
            run_all(code.parts)
        else:
            w.e.when(launch.is_cut, lambda: run_all(code.chunks), lambda: run_all(code.whole))
        if code.may_fail:
            w.demand(w.same(w.field(status, 0, "i32"), w.number(0, "i32")), "failed")

    def _run(self, launch: Launch, part: Part, status: Val) -> None:
        """One function, on this thread or on several."""
        w, e = self.w, self.w.e
        function = w.word(("kernel", id(launch.kernel), part.name), launch.kernel.addresses[part.name])
        extents, unit, zero = [w.sizes.number(s) for s in part.extents], w.sizes.number(part.unit), w.number(0)
        time = e.op("mul", unit, e.op("mul", *extents))

        def note(found: Val) -> None:
            if launch.kernel.may_fail:
                e.store(e.op("or", e.load(status, "i32", 0, 4), found), status, 4)

        def share() -> None:
            run = w.word("launch", threads.pool().launch_address)
            shape = [*extents, unit, *(w.number(n) for n in (*part.grains, part.tile))]
            found = w.invoke(run, "i32", function, launch.frame, *shape, launch.workers)
            w.demand(e.icmp("slt", found, w.number(INTERRUPTED, "i32")), "interrupted")
            note(found)

        def run() -> None:
            note(w.invoke(function, "i32", launch.frame, zero, extents[0], zero, extents[1], zero))

        e.when(e.icmp("sge", time, w.number(threads.SHARED)), share, run)
