"""Write the native function that serves every call with the signature of an example.

The function has the interpreter's vectorcall signature. It checks that objects have the types, dtypes, ranks, layout
classes and sizes that the graph was compiled for. Then it allocates the results, runs the kernels and returns, without
the interpreter. A call that does not match goes to the next entry; the last one is Python. So does a call in which a
kernel reports failure, because Python can say what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ...backends.llvm.code.text import Val
from ...ir.graph import Node, Value
from ...ir.ops import RESHAPE
from ...ir.types import ints, sizes
from .. import threads
from .call import NativeCall
from .gemm_code import Gemm, is_gemm
from .inputs import COUNT, Inputs
from .launches import Launches
from .loop_code import Steps
from .memory_code import NO_MEMORY, CallMemory, apart
from .outputs import CallHeap, Outputs
from .pool_code import INTERRUPTED
from .table import CALLS, INSIDE, LIMIT, NEXT, WordTable
from .writer import FAIL, MISS, NULL, CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.functions import NativeFunction
    from ..compiler import Lowered
    from ..launch import NativeRegion

SELF = Val("%self", "ptr", 0)


def entry_text(lowered: Lowered, call: NativeCall, table: WordTable, name: str) -> str:
    """Return the function, as a module that reads the table."""
    w = CallWriter(table)
    w.e.place("begin")
    w.demand(w.e.icmp("slt", w.word(CALLS, 0, "i64"), w.word(LIMIT, 0, "i64")))
    memory = CallMemory(w, CallHeap(w), lowered.launcher.places)
    is_exact = None in call.outs and not lowered.has_settled_orders
    inputs = Inputs(w, call, lowered.bounds, memory, is_exact)
    inputs.read(lowered.built.graph.inputs)
    inputs.check_footprints(lowered.footprints)
    inputs.check_guards(lowered.guards)
    _demand_sizes(w, lowered)
    for old, new in zip(lowered.built.graph.inputs, lowered.graph.inputs, strict=True):
        memory.pointers[new] = memory.pointers[old]
        memory.strides[new] = memory.strides.get(old, [])
    _Run(w, lowered, call, inputs, memory).write()
    lines = [
        f"define ptr @{name}(ptr %self, ptr %args, i64 %count, ptr %names) {{\nentry:",
        *w.allocas, *w.begins, "  br label %begin", *w.e.lines, "}",
    ]  # fmt: skip
    return "\n".join(["@table = external global [0 x i64]", *lines, *w.e.declared.values(), ""])


def _demand_sizes(w: CallWriter, lowered: Lowered) -> None:
    """Check that the sizes are those at which this variant runs."""
    spans = lowered.plan.spans(lowered) if lowered.plan is not None else ()
    if lowered.plan is None or not spans:
        return
    size, is_served = w.sizes.number(lowered.plan.size), w.number(0, "i1")
    for start, end in spans:
        inside = w.e.op("and", w.e.icmp("sge", size, w.number(start)), w.e.icmp("slt", size, w.number(end)))
        is_served = w.e.op("or", is_served, inside)
    w.demand(is_served)


class _Run:
    """Generate everything after the checks."""

    def __init__(
        self, writer: CallWriter, lowered: Lowered, call: NativeCall, inputs: Inputs, memory: CallMemory
    ) -> None:
        self.w, self.lowered, self.call, self.memory = writer, lowered, call, memory
        self.outputs = Outputs(writer, inputs)
        self.kernels: Mapping[Node, NativeRegion] = lowered.launcher.kernels
        launches = Launches(writer, memory, _Pool(writer, self.kernels.values()))
        functions = {region: kernel.code for region, kernel in self.kernels.items()}
        self.steps = Steps(launches, functions, self._place, self._run_product)
        self.may_fail = any(k.may_fail or k.asks for k in self.kernels.values())
        launcher = lowered.launcher
        self.products = {n: Gemm(writer, memory, n) for n in lowered.graph if is_gemm(n, launcher.calls)}

    def write(self) -> None:
        w = self.w
        for region, kernel in self.kernels.items():
            self._demand_elements(region, kernel)
        for product in self.products.values():
            product.demand()
        made = [self._memory(k, value) for k, value in enumerate(self.lowered.graph.outputs)]
        self._demand_apart(made)
        for value in self.lowered.graph.outputs:
            while value.node is not None and value.node.op is RESHAPE:
                value, shaped = value.node.operands[0], value
                self.memory.reshaped(value, shaped)
        self.steps.prepare(self.lowered.graph)
        w.count(w.place(INSIDE, 0), 1)
        self.steps.run(self.lowered.graph)
        w.count(w.place(INSIDE, 0), -1)
        w.count(w.place(CALLS, 0), 1)
        finished = [self._finished(k, value, made[k]) for k, value in enumerate(self.lowered.graph.outputs)]
        structure = self.lowered.built.structure
        as_tuple = structure.kind == "tuple" if structure else len(finished) > 1
        result = self.outputs.packed(finished) if as_tuple else finished[0]
        self.memory.free()
        w.e.lines.append(f"  ret ptr {result.text}")
        self._ways_out()

    def _place(self, node: Node) -> None:
        for value in node.results:
            self.memory.place(value)

    def _run_product(self, node: Node) -> None:
        if node in self.products:
            self.products[node].run()

    def _demand_elements(self, region: Node, kernel: NativeRegion) -> None:
        """Leave calls to Python whose minimum or index has no elements to read; it reports the error."""
        space = list(sizes(region.attrs, "space"))
        axes = range(len(space)) if kernel.looks_up else ints(region.attrs, "reduced")
        if kernel.ordered or kernel.looks_up:
            for axis in axes:
                self.w.demand(self.w.e.icmp("ne", self.w.sizes.number(space[axis]), self.w.number(0)))

    def _memory(self, k: int, value: Value) -> Val:
        out = self.call.outs[k]
        if out is not None:
            return self.outputs.given(value, out)
        if self.lowered.scalars[k]:
            return self.outputs.number(value)
        return self.outputs.array(value, self.lowered.orders[k])

    def _demand_apart(self, made: list[Val]) -> None:
        """Check that written arrays overlap no others; Python copies if one does."""
        written = [v for v, out in zip(self.lowered.graph.outputs, self.call.outs, strict=True) if out is not None]
        arrays = [v for v in self.lowered.graph.inputs if self.memory.strides[v] or v.type.rank]
        bounds = {v: self.memory.bounds(v) for v in (*written, *(arrays if written else ()))}
        for k, value in enumerate(written):
            for other in (*arrays, *written[:k]):
                self.w.demand(apart(self.w, bounds[value], bounds[other]))

    def _finished(self, k: int, value: Value, made: Val) -> Val:
        """Return the result. The caller's own array gets one more reference."""
        if self.call.outs[k] is not None:
            self.w.count(made, 1)
            return made
        return self.outputs.scalar(value, made) if self.lowered.scalars[k] else made

    def _ways_out(self) -> None:
        w, e = self.w, self.w.e
        if self.may_fail:
            e.place("failed")
            w.count(w.place(INSIDE, 0), -1)
            self.memory.free()
            self.outputs.release_objects()
            e.br(MISS)
        if self.memory.taken:
            e.place(NO_MEMORY)
            w.invoke(w.interpreter("PyErr_NoMemory"), "ptr")
            e.br(FAIL)
        e.place("interrupted")
        w.count(w.place(INSIDE, 0), -1)
        e.br(FAIL)
        e.place(FAIL)
        self.memory.free()
        self.outputs.release_objects()
        e.lines.append("  ret ptr null")
        e.place(MISS)
        following = w.word(NEXT, 0)
        another, python = e.label("another"), e.label("python")
        e.cbr(w.same(following, NULL), python, another)
        e.place(another)
        e.lines.append(
            f"  %found = musttail call ptr {following.text}(ptr %self, ptr %args, i64 %count, ptr %names)\n"
            "  ret ptr %found"
        )
        e.place(python)
        w.count(w.place(INSIDE, 0), 1)  # Python may drop this entry, and yet it comes back here
        thread = w.invoke(w.interpreter("_PyThreadState_UncheckedGet"), "ptr")
        passed = e.op("and", COUNT, w.number((1 << 63) - 1))
        result = w.invoke(
            w.interpreter("_PyObject_MakeTpCall"), "ptr", thread, SELF, Val("%args", "ptr", 0), passed,
            Val("%names", "ptr", 0),
        )  # fmt: skip
        w.count(w.place(INSIDE, 0), -1)
        e.lines.append(f"  ret ptr {result.text}")


class _Pool:
    """Run the functions of kernels on the pool's threads; the table holds their addresses."""

    shared_from: ClassVar[int] = threads.SHORT

    def __init__(self, writer: CallWriter, kernels: Iterable[NativeRegion]) -> None:
        self.w = writer
        self.addresses = {name: address for kernel in kernels for name, address in kernel.addresses.items()}

    def threads(self) -> Val:
        return self.w.e.load(self.w.word("threads", threads.pool().place("threads")), "i64", 0, 8)

    def function(self, part: NativeFunction) -> Val:
        return self.w.word(("kernel", part.name), self.addresses[part.name])

    def question(self) -> Val:
        return self.w.word("question", threads.pool().question_address)

    def share(self, part: NativeFunction, frame: Val, extents: Sequence[Val], unit: Val, workers: Val) -> Val:
        w = self.w
        run = w.word("launch", threads.pool().launch_address)
        shape = [*extents, unit, *(w.number(n) for n in (*part.grains, part.tile))]
        found = w.invoke(run, "i32", self.function(part), frame, *shape, workers)
        w.demand(w.e.icmp("slt", found, w.number(INTERRUPTED, "i32")), "interrupted")
        return found

    def pause(self) -> None:
        w = self.w
        raised = w.invoke(w.word("turn", threads.pool().turn_address), "i32")
        w.demand(w.same(raised, w.number(0, "i32")), "interrupted")
