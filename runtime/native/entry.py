"""A lowered graph and an example of a call in, the text of a function that serves every call like it out.

The function has the interpreter's vectorcall signature. It checks that objects have the types, dtypes, ranks, layout
classes and sizes that the graph was compiled for, makes the results' memory, runs the kernels and hands the results
back; the interpreter is not asked. Whatever does not match goes on to the next entry, the last of which is Python;
so does a call in which a kernel reports failure, because Python knows how to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...backends.llvm.text import Val
from ...ir import dims
from ...ir.graph import Node, Value
from ...ir.ops import RESHAPE
from ...ir.types import integer, ints, sizes
from .call import Call
from .inputs import COUNT, Inputs
from .launches import Launches
from .outputs import Outputs
from .table import CALLS, INSIDE, NEXT, Table
from .writer import FAIL, MISS, NULL, Writer

if TYPE_CHECKING:
    from ..compiler import Lowered
    from ..launch import Kernel

SELF = Val("%self", "ptr", 0)


def entry_text(lowered: Lowered, call: Call, table: Table, name: str) -> str:
    """The function, as a module of its own that reads the table."""
    w = Writer(table)
    w.e.place("begin")
    inputs = Inputs(w, call, lowered.bounds)
    inputs.read(lowered.built.graph.inputs)
    inputs.check_guards(lowered.guards)
    for old, new in zip(lowered.built.graph.inputs, lowered.graph.inputs, strict=True):
        inputs.pointers[new] = inputs.pointers[old]
        inputs.strides[new] = inputs.strides.get(old, [])
    _Run(w, lowered, call, inputs).write()
    lines = [
        f"define ptr @{name}(ptr %self, ptr %args, i64 %count, ptr %names) {{\nentry:",
        *w.allocas, *w.begins, "  br label %begin", *w.e.lines, "}",
    ]  # fmt: skip
    return "\n".join(["@table = external global [0 x i64]", *lines, *w.e.declared.values(), ""])


class _Run:
    """What comes after the checks."""

    def __init__(self, writer: Writer, lowered: Lowered, call: Call, inputs: Inputs) -> None:
        self.w, self.lowered, self.call, self.inputs = writer, lowered, call, inputs
        self.outputs = Outputs(writer, inputs)
        self.launches = Launches(writer, inputs, self.outputs)
        self.kernels: Mapping[Node, Kernel] = lowered.launcher.kernels
        self.may_fail = any(k.may_fail for k in self.kernels.values())

    def write(self) -> None:
        w = self.w
        for region, kernel in self.kernels.items():
            self._demand_elements(region, kernel)
        made = [self._memory(k, value) for k, value in enumerate(self.lowered.graph.outputs)]
        self._demand_apart(made)
        for value in self.lowered.graph.outputs:
            while value.node is not None and value.node.op is RESHAPE:
                value, shaped = value.node.operands[0], value
                self.outputs.reshaped(value, shaped)
        for node in self.lowered.graph:
            for value in node.results:
                self._place(value)
        launches = [self.launches.prepare(region, kernel) for region, kernel in self.kernels.items()]
        w.count(w.place(INSIDE, 0), 1)
        for launch in launches:
            self.launches.run(launch)
        w.count(w.place(INSIDE, 0), -1)
        w.count(w.place(CALLS, 0), 1)
        finished = [self._finished(k, value, made[k]) for k, value in enumerate(self.lowered.graph.outputs)]
        structure = self.lowered.built.structure
        as_tuple = structure.kind == "tuple" if structure else len(finished) > 1
        result = self.outputs.packed(finished) if as_tuple else finished[0]
        self.outputs.free_buffers()
        w.e.lines.append(f"  ret ptr {result.text}")
        self._ways_out()

    def _demand_elements(self, region: Node, kernel: Kernel) -> None:
        """The smallest of nothing is an error that Python reports; so is an index that leads nowhere to nothing."""
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

    def _place(self, value: Value) -> None:
        """Memory for a value, unless it has some: its own, a part of a concatenation's, or another's, reshaped."""
        if value in self.inputs.pointers:
            return
        if value in self.lowered.launcher.places:
            node, place = self.lowered.launcher.places[value]
            self._place(node.result)
            axis = integer(node.attrs, "axis")
            before: dims.Size = 0
            for other in node.operands[:place]:
                before = before + other.type.shape[axis]
            self.outputs.piece(value, node.result, axis, before)
        elif value.node is not None and value.node.op is RESHAPE:
            self.outputs.reshaped(value, value.node.operands[0])
        else:
            self.outputs.between(value)

    def _demand_apart(self, made: list[Val]) -> None:
        """An array that is written overlaps no other; Python copies where one does."""
        w, e = self.w, self.w.e
        written = [v for v, out in zip(self.lowered.graph.outputs, self.call.outs, strict=True) if out is not None]
        arrays = [v for v in self.lowered.graph.inputs if self.inputs.strides[v] or v.type.rank]
        bounds = {v: self._bounds(v) for v in (*written, *(arrays if written else ()))}
        for k, value in enumerate(written):
            low, high = bounds[value]
            for other in (*arrays, *written[:k]):
                begin, end = bounds[other]
                w.demand(e.op("or", e.icmp("ule", high, begin), e.icmp("uge", low, end)))

    def _bounds(self, value: Value) -> tuple[Val, Val]:
        """The addresses between which the elements of an array lie; nothing for an empty one."""
        w, e = self.w, self.w.e
        low = high = e.cast("ptrtoint", self.inputs.pointers[value], "i64")
        some = w.number(1, "i1")
        for size, stride in zip(value.type.shape, self.inputs.strides[value], strict=True):
            number = w.sizes.number(size)
            some = e.op("and", some, e.icmp("ne", number, w.number(0)))
            reach = e.op("mul", e.op("sub", number, w.number(1)), stride)
            low = e.op("add", low, e.call("smin", reach, w.number(0)))
            high = e.op("add", high, e.call("smax", reach, w.number(0)))
        end = e.op("add", high, w.number(value.type.dtype.size))
        return low, e.select(some, end, low)

    def _finished(self, k: int, value: Value, made: Val) -> Val:
        """What is handed back: the caller's array gets one more reference."""
        if self.call.outs[k] is not None:
            self.w.count(made, 1)
            return made
        return self.outputs.scalar(value, made) if self.lowered.scalars[k] else made

    def _ways_out(self) -> None:
        w, e = self.w, self.w.e
        if self.may_fail:
            e.place("failed")
            w.count(w.place(INSIDE, 0), -1)
            self.outputs.free_buffers()
            self.outputs.release_objects()
            e.br(MISS)
        if self.outputs.buffers:
            e.place("no_memory")
            w.invoke(w.interpreter("PyErr_NoMemory"), "ptr")
            e.br(FAIL)
        e.place("interrupted")
        w.count(w.place(INSIDE, 0), -1)
        e.br(FAIL)
        e.place(FAIL)
        self.outputs.free_buffers()
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


def _drop(_: Val) -> None:
    """For a call that gives nothing."""
