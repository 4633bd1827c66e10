"""Generate the function that runs a lowered graph on words in memory: `i32 name(ptr words)`.

The words are those of `CForm`. Arrays are dense and in C order, or (`strided`) have strides in the words. The caller
has checked that sizes are not negative and that no array with elements is null; all other checks are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.accesses import value_layouts
from ...ir.footprints import footprints_of
from ...ir.graph import Node, Value
from ...ir.layouts import C
from ...ir.loops import graphs, regions, walk
from ...ir.ops import CONCATENATE, POSITIONS, REGION, RESHAPE
from ...ir.types import ints, sizes
from ..launch import ORDERED
from .forms import CForm
from .launches import Launches
from .loop_code import LoopSteps
from .memory_code import NO_MEMORY, CallMemory
from .status import Status
from .threads import CCrew
from .writer import CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.compile import NativeProgram
    from ..compiler import Lowered

WORDS = Val("%words", "ptr", 0)
NEXT = "next"
OTHER_SIZES = -1  # an internal status: the graph does not fit these sizes, and nothing was done


class LibcHeap:
    """Allocate memory with `malloc`."""

    def __init__(self, w: CallWriter) -> None:
        self.w = w

    def take(self, bytes: Val) -> Val:
        self.w.e.declared["malloc"] = "declare ptr @malloc(i64)"
        at_least = self.w.e.call("umax", bytes, self.w.number(1))  # malloc(0) may return null
        return self.w.invoke(Val("@malloc", "ptr", 0), "ptr", at_least)

    def free(self, taken: Val) -> None:
        self.w.e.declared["free"] = "declare void @free(ptr)"
        self.w.invoke(Val("@free", "ptr", 0), "void", taken)


class Body:
    """Generate the function of one lowered graph."""

    def __init__(self, lowered: Lowered, program: NativeProgram, form: CForm, strided: bool) -> None:
        self.lowered, self.form, self.strided = lowered, form, strided
        self.graph = lowered.graph
        self.layouts = {v: layout for graph in graphs(self.graph) for v, layout in value_layouts(graph).items()}
        self.w = CallWriter()
        pieces = {v: (n, k) for n in walk(self.graph) if n.op is CONCATENATE for k, v in enumerate(n.operands)}
        self.memory = CallMemory(self.w, LibcHeap(self.w), pieces)
        functions = dict(zip(program.regions, program.functions, strict=True))
        launches = Launches(self.w, self.memory, CCrew(self.w))
        self.steps = LoopSteps(launches, functions, self._place, self._copy_reshaped)

    def text(self, name: str) -> str:
        w = self.w
        w.e.place("begin")
        w.sizes.bind({s: self._word(self.form.size_word(k), "i64") for k, s in enumerate(self.form.sizes)})
        w.sizes.bind({s: w.number(n) for s, n in self.form.fixed.items()})
        for k, value in enumerate(self.graph.inputs):
            self.memory.pointers[value] = self._word(self.form.argument_word(k))
            self.memory.strides[value] = self._strides(value, k)
        self._refuse_empty()
        self._check_guards()
        copies = self._results()
        self.steps.prepare(self.graph)
        self.steps.run(self.graph)
        for value, pointer, strides in copies:
            self._copy(value, pointer, strides)
        self._ways_out()
        lines = [f"define i32 @{name}(ptr %words) {{\nentry:", *w.allocas, *w.begins, "  br label %begin"]
        return "\n".join([*lines, *w.e.lines, "}", *w.e.declared.values(), ""])

    def _word(self, k: int, elem: str = "ptr") -> Val:
        return self.w.field(WORDS, 8 * k, elem)

    def _strides(self, value: Value, item: int) -> list[Val]:
        if self.strided:
            first = self.form.stride_word(item)
            return [self._word(first + axis, "i64") for axis in range(value.type.rank)]
        self.memory.put_dense_strides(value)
        return self.memory.strides[value]

    # -- sizes

    def _refuse_empty(self) -> None:
        """Refuse the minimum of an empty array, even if the result is empty too."""
        w = self.w
        for footprint in footprints_of((self.lowered.built.graph, self.graph)):
            w.demand(w.sizes.fits(footprint.shape, footprint.itemsize), Status.BAD_SIZE.label)
        for region in regions(self.graph):
            space = list(sizes(region.attrs, "space"))
            if any(n.op in POSITIONS or n.op.name in ORDERED for n in region.body or ()):
                for axis in ints(region.attrs, "reduced"):
                    w.demand(w.e.icmp("ne", w.sizes.number(space[axis]), w.number(0)), Status.EMPTY.label)

    def _check_guards(self) -> None:
        """Check the graph's guards; if one fails, the next graph is tried."""
        w = self.w
        for left, right in self.lowered.guards:
            w.demand(w.same(w.sizes.number(left), w.sizes.number(right)), NEXT)

    # -- memory

    def _results(self) -> list[tuple[Value, Val, list[Val]]]:
        """Let kernels write results directly; return the results that must be copied at the end."""
        copies, arguments = [], len(self.form.arguments)
        for k, value in enumerate(self.graph.outputs):
            pointer, strides = self._word(self.form.result_word(k)), self._strides(value, arguments + k)
            if self._is_made_by_kernel(value):
                self.memory.pointers[value], self.memory.strides[value] = pointer, strides
                continue
            source = value
            while not self.strided and source.node is not None and source.node.op is RESHAPE:
                source = source.node.operands[0]
            if source is not value and self._is_made_by_kernel(source) and self.layouts[source] == C:
                self.memory.pointers[source] = pointer
                self.memory.put_dense_strides(source)
                continue
            copies.append((value, pointer, strides))
        return copies

    def _is_made_by_kernel(self, value: Value) -> bool:
        """Tell whether a kernel can write a value to any address."""
        made = value.node is not None and value.node.op in (REGION, CONCATENATE)
        return made and value not in self.memory.pointers and value not in self.memory.pieces

    def _place(self, node: Node) -> None:
        if node.op is RESHAPE and not self._is_view(node):
            size = dims.product((node.result.type.dtype.size, *node.result.type.shape))
            self.memory.pointers[node.result] = self.memory.scratch(self.w.sizes.number(size))
            self.memory.put_dense_strides(node.result)
        for value in node.results:
            self.memory.place(value)

    def _is_view(self, reshape: Node) -> bool:
        """Tell whether a reshape shares memory with its operand."""
        return self.layouts[reshape.operands[0]] == C

    # -- running

    def _copy_reshaped(self, node: Node) -> None:
        if node.op is RESHAPE and not self._is_view(node):
            self._copy(node.operands[0], self.memory.pointers[node.result], None)

    def _copy(self, value: Value, pointer: Val, strides: Sequence[Val] | None) -> None:
        """Copy a value, densely if no strides are given."""
        w, e = self.w, self.w.e
        shape = [w.sizes.number(s) for s in value.type.shape]
        if strides is None:
            strides, step = [w.number(0)] * len(shape), w.number(value.type.dtype.size)
            for axis in reversed(range(len(shape))):
                strides[axis] = step
                step = e.op("mul", step, shape[axis])
        source, given = self.memory.pointer(value), self.memory.strides[value]
        elem = f"i{8 * value.type.dtype.size}"

        def along(axis: int, here: Val, there: Val) -> None:
            if axis == len(shape):
                e.store(e.load(here, elem, 0, 1), there, 1)
                return

            def step(carried: list[Val]) -> list[Val]:
                k, a, b = carried
                along(axis + 1, a, b)
                return [e.op("add", k, w.number(1)), e.offset(a, given[axis]), e.offset(b, strides[axis])]

            e.repeat([w.number(0), here, there], lambda c: e.icmp("slt", c[0], shape[axis]), step)

        along(0, source, pointer)

    def _ways_out(self) -> None:
        """Free the memory and return the status."""
        w, e = self.w, self.w.e
        status = w.reserve(8, cleared=True)
        e.br("finish")
        ways = {
            NEXT: OTHER_SIZES,
            Status.EMPTY.label: Status.EMPTY,
            Status.BAD_SIZE.label: Status.BAD_SIZE,
            NO_MEMORY: Status.NO_MEMORY,
            "failed": Status.BAD_INDEX,
        }
        for label in sorted(w.exits):
            e.place(label)
            e.store(w.number(ways[label], "i32"), status, 8)
            e.br("finish")
        e.place("finish")
        self.memory.free()
        e.lines.append(f"  ret i32 {e.load(status, 'i32', 0, 8).text}")


def chooser_text(name: str, bodies: Sequence[str]) -> str:
    """Generate a function that runs the first of several graphs that fits the sizes."""
    lines = [f"define i32 @{name}(ptr %words) {{"]
    for k, body in enumerate(bodies):
        lines += [
            f"  %found{k} = call i32 @{body}(ptr %words)",
            f"  %other{k} = icmp eq i32 %found{k}, {OTHER_SIZES}",
            f"  br i1 %other{k}, label %after{k}, label %done{k}",
            f"done{k}:\n  ret i32 %found{k}\nafter{k}:",
        ]
    return "\n".join([*lines, f"  ret i32 {Status.BAD_SIZE}", "}", ""])
