"""Generate the function that runs a lowered graph on words in memory: `i32 name(ptr words)`.

The words are those of `CForm`. Arrays are dense and in C order, or (`strided`) have strides in the words. The caller
has checked that sizes are not negative and that no array with elements is null; all other checks are made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...backends.llvm.code.casts import constant
from ...backends.llvm.code.text import Val
from ...frontend.programs.complexes import part_dtype
from ...ir import dims
from ...ir.accesses import value_layouts
from ...ir.dtypes import BOOL
from ...ir.footprints import footprints_of
from ...ir.graph import Node, Value
from ...ir.layouts import C
from ...ir.loops import graphs, regions, walk
from ...ir.ops import CONCATENATE, NUMPY, POSITIONS, REGION, RESHAPE, SIZE
from ...ir.types import ints, sizes
from ..launch import ORDERED
from .ends import NEXT, LibcHeap, copy_elements, return_if_failed, write_ends
from .forms import CForm
from .launches import Launches
from .loop_code import LoopSteps
from .memory_code import CallMemory
from .status import Status
from .threads import CCrew
from .writer import CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.compile import NativeProgram
    from ..compiler import Lowered

WORDS = Val("%words", "ptr", 0)


class Body:
    """Generate the function of one lowered graph."""

    def __init__(
        self, lowered: Lowered, program: NativeProgram, form: CForm, strided: bool, written: Mapping[Node, str]
    ) -> None:
        """`written` has the functions of loops that change elements, by the node that calls them."""
        self.lowered, self.form, self.strided, self.written = lowered, form, strided, written
        self._dense: dict[Value, Val] = {}  # copies for loops that change elements
        self._frames: dict[Node, Val] = {}  # their words
        self.graph = lowered.graph
        self.layouts = {v: layout for graph in graphs(self.graph) for v, layout in value_layouts(graph).items()}
        self.w = CallWriter()
        pieces = {v: (n, k) for n in walk(self.graph) if n.op is CONCATENATE for k, v in enumerate(n.operands)}
        self.memory = CallMemory(self.w, LibcHeap(self.w), pieces)
        functions = dict(zip(program.regions, program.functions, strict=True))
        launches = Launches(self.w, self.memory, CCrew(self.w))
        self.steps = LoopSteps(launches, functions, self._place, self._run)

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
        write_ends(w, self.memory)
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
        """Tell whether a kernel can write a value to its address as a result."""
        ops = (REGION, CONCATENATE) if self.strided else (REGION, CONCATENATE, NUMPY)
        made = value.node is not None and value.node.op in ops
        return made and value not in self.memory.pointers and value not in self.memory.pieces

    def _place(self, node: Node) -> None:
        if node.op is RESHAPE and not self._is_view(node):
            size = dims.product((node.result.type.dtype.size, *node.result.type.shape))
            self.memory.pointers[node.result] = self.memory.scratch(self.w.sizes.number(size))
            self.memory.put_dense_strides(node.result)
        for value in node.results:
            self.memory.place(value)
        if node in self.written:
            self._place_written(node)
        elif node.op is NUMPY:
            self._store_number(node)

    def _store_number(self, node: Node) -> None:
        """Store a constant, or a size of an array."""
        w, pointer, dtype = self.w, self.memory.pointers[node.result], node.result.type.dtype.strong
        if node.attrs["op"] == SIZE.name:
            w.put(w.sizes.number(sizes(node.attrs, "size")[0]), pointer, 0)
            return
        value = node.attrs["value"]
        assert isinstance(value, (bool, int, float, complex))
        part = part_dtype(dtype) if dtype.kind == "complex" else dtype
        parts = [value.real, value.imag] if isinstance(value, complex) else [value, 0][: dtype.size // part.size]
        for k, number in enumerate(parts):
            stored = constant(w.e, part, number)
            stored = w.e.cast("zext", stored, "i8") if dtype == BOOL else stored
            w.e.store(stored, w.at(pointer, k * part.size), part.size)

    def _place_written(self, node: Node) -> None:
        """Allocate what a loop that changes elements needs: dense copies of its arrays, and its words."""
        w = self.w
        for value in (*node.operands, *node.results):
            size = w.sizes.number(dims.product((value.type.dtype.size, *value.type.shape)))
            if not self._is_dense(value) and value not in self._dense:
                self._dense[value] = self.memory.scratch(size)
        first = len(node.operands) + len(node.results)
        symbols = (*self.form.sizes, *self.form.fixed)
        self._frames[node] = w.reserve(8 * (first + len(symbols)))
        for k, symbol in enumerate(symbols):
            w.put(w.sizes.known[symbol], self._frames[node], 8 * (first + k))

    def _is_dense(self, value: Value) -> bool:
        """Tell whether a value lies in C order without gaps."""
        return not value.type.rank or (self.layouts[value] == C and value not in self.memory.pieces)

    def _is_view(self, reshape: Node) -> bool:
        """Tell whether a reshape shares memory with its operand."""
        return self.layouts[reshape.operands[0]] == C

    # -- running

    def _run(self, node: Node) -> None:
        if node.op is RESHAPE and not self._is_view(node):
            self._copy(node.operands[0], self.memory.pointers[node.result], None)
        elif node in self.written:
            self._run_written(node)

    def _run_written(self, node: Node) -> None:
        w, memory, frame = self.w, self.memory, self._frames[node]
        for k, value in enumerate((*node.operands, *node.results)):
            if k < len(node.operands) and value in self._dense:
                self._copy(value, self._dense[value], None)
            w.put(self._dense.get(value) or memory.pointer(value), frame, 8 * k)
        return_if_failed(w, w.invoke(Val(f"@{self.written[node]}", "ptr", 0), "i32", frame))
        for value in (v for v in node.results if v in self._dense):
            shape = [w.sizes.number(s) for s in value.type.shape]
            source = self._dense[value], self._dense_strides(value)
            copy_elements(w, value.type.dtype.size, shape, source, (memory.pointer(value), memory.strides[value]))

    def _copy(self, value: Value, pointer: Val, strides: Sequence[Val] | None) -> None:
        """Copy a value, densely if no strides are given."""
        shape = [self.w.sizes.number(s) for s in value.type.shape]
        source = self.memory.pointer(value), self.memory.strides[value]
        target = pointer, self._dense_strides(value) if strides is None else strides
        copy_elements(self.w, value.type.dtype.size, shape, source, target)

    def _dense_strides(self, value: Value) -> list[Val]:
        """Compute the strides of C order without gaps."""
        w, step = self.w, self.w.number(value.type.dtype.size)
        strides = [step] * value.type.rank
        for axis in reversed(range(value.type.rank)):
            strides[axis] = step
            step = w.e.op("mul", step, w.sizes.number(value.type.shape[axis]))
        return strides
