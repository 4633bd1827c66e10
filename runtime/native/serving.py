"""Build the recipe that serves all calls with the signature of an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ir.graph import Graph, Node, Value
from ...ir.layouts import SCALAR, C, F, classify
from ...ir.ops import CONSTANT, LOOP, MATMUL, NUMPY, RESHAPE, SIZE
from ...ir.source import Structure
from ...ir.types import integer, ints, sizes
from ...ir.walking import body_of, walk
from .. import threads
from ..launch import unshaped
from .arguments import Arguments
from .call import NativeCall
from .recipe import MEMORY, OBJECTS, Operand, Recipe, RecipeWriter, Register, Steps, Unserved
from .steps import SPARE

if TYPE_CHECKING:
    from ...backends.llvm.functions import FrameWord, NativeFunction
    from ..compiler import Lowered
    from ..launch import NativeRegion
    from .loops import Loop
    from .outside_calls import OutsideCalls
    from .products import BlasProduct

Array = np.ndarray[Any, Any]
MOST_SPARES = 8  # values that lie in the call's own memory where they are short


class _Launch:
    """A kernel with its frame, and the register that tells for how many threads it has memory."""

    def __init__(self, kernel: NativeRegion, frame: Register) -> None:
        self.kernel, self.frame = kernel, frame
        self.workers: Register | None = None


class Serving:
    """Writes the recipe of one graph."""

    def __init__(self, lowered: Lowered, call: NativeCall) -> None:
        self.lowered, self.call, self.graph = lowered, call, lowered.graph
        self.w = RecipeWriter(call.form.positional, call.form.names)
        self.arguments = Arguments(self.w, call.is_exact(lowered))
        self.sizes, self.pointers = self.arguments.sizes, self.arguments.pointers
        self.kernels = lowered.launcher.kernels
        self.pieces = lowered.launcher.places
        self.orders = self.arguments.orders
        self.spares = 0
        self.loops: dict[Node, Loop] = {}
        self.products: dict[Node, BlasProduct] = {}
        # What a loop moves; a part of it has the register of the whole, how far behind it starts, and its own register.
        self.moving: dict[Value, tuple[Register, Register, Register] | None] = {}
        self.objects = [self.w.register(part=OBJECTS) for _ in self.graph.outputs]
        self.outside: OutsideCalls | None = None
        # What may fail, or reads what it changes, writes to memory of its own, copied to the caller's in the end.
        self.buffers_outputs = lowered.launcher.may_fail or bool(lowered.built.updates) or call.overlaps(lowered)
        self.copies: list[tuple[Value, Register]] = []
        self.begun: set[Node] = set()  # concatenations that have memory already

    def write(self) -> Recipe:
        lowered, graph = self.lowered, self.graph
        self.arguments.read(lowered.built.graph.inputs, self.call, lowered.bounds, lowered.guards)
        self.arguments.check_footprints(lowered.footprints)
        self._check_plan()
        for old, new in zip(lowered.built.graph.inputs, graph.inputs, strict=True):
            self.pointers[new] = self.pointers[old]
            if old in self.arguments.strides:
                self.arguments.strides[new] = self.arguments.strides[old]
            if old in self.orders:
                self.orders[new] = self.orders[old]
        self.given = self._given_outputs()
        self.held = self._hold()
        if lowered.launcher.calls:
            self._write_calls()
        else:
            self._write_nodes(graph.nodes)
        self._hand_back(self.objects)
        return self.w.finish()

    def _write_nodes(self, nodes: Sequence[Node], begun: Sequence[Node] = ()) -> None:
        """Allocate the results of nodes, and memory for everything else that they compute; then run them.

        Concatenations in `begun` get their memory, because some of their parts are computed here.
        """
        inside = {*nodes, *begun}
        for whole in begun:
            self._check_known(*whole.result.type.shape)
        inner = inside.union(*(walk(body_of(n)) for n in nodes if n.op is LOOP))
        for region, kernel in self.kernels.items():
            if region in inner:
                self._check_elements(region, kernel)
        made = [(k, v) for k, v in enumerate(self.graph.outputs) if unshaped(v).node in inside - self.begun]
        for k, value in made:
            self._make_output(k, value)
        for _, value in made:
            while value.node is not None and value.node.op is RESHAPE:
                value, shaped = value.node.operands[0], value
                self.pointers[value] = self.pointers[shaped]
        self.begun.update(begun)
        self.place_all(self.graph, nodes)
        self.run_all(nodes)

    def _write_calls(self) -> None:
        """Write a graph with Python functions between its kernels: the kernels before each function, then its call."""
        from .outside_calls import OutsideCalls, first_parts, segments
        from .products import is_gemm

        calls = self.lowered.launcher.calls
        functions = [n for n in self.graph if n.op is NUMPY and "call" in n.attrs and not is_gemm(n, calls)]
        self.outside = OutsideCalls(self, functions)
        parts = segments(self.graph.nodes, functions)
        first = first_parts(self.pieces, {n: k for k, (nodes, _) in enumerate(parts) for n in nodes})
        for k, (nodes, function) in enumerate(parts):
            self._write_nodes(nodes, [whole for whole, part in first.items() if part == k and whole not in nodes])
            if function is not None:
                self.outside.write(function)

    def _hold(self) -> list[Register]:
        """Keep values inside containers alive, because other threads may change the containers while kernels run."""
        held = [(place, self.w.register(part=OBJECTS)) for place in self.arguments.leaves.values()]
        for place, register in held:
            self.w.make("given", place, register)
        return [register for _, register in held]

    def _check_plan(self) -> None:
        """Check that the sizes are those at which this variant runs."""
        plan = self.lowered.loaded.plan
        spans = plan.spans(self.lowered) if plan is not None else ()
        if plan is not None and spans:
            more = [end for span in spans for end in span]
            self.w.check("ranges", self.sizes.number(plan.size), len(spans), more=more)

    def _check_elements(self, region: Node, kernel: NativeRegion) -> None:
        """Refuse the minimum of an empty array, and an index into an empty axis; Python then reports the error."""
        space = list(sizes(region.attrs, "space"))
        reduced = ints(region.attrs, "reduced") if kernel.ordered else ()
        for axis in sorted({*reduced, *kernel.unlooked}):
            self.w.check_between(self.sizes.number(space[axis]), 1)

    # -- memory of results

    def _given_outputs(self) -> dict[int, int | Register]:
        """Check the arrays that the caller passes for results; return their places."""
        w, outs = self.w, self.call.outs
        places: dict[int, int | Register] = {}
        for k, (value, out) in enumerate(zip(self.graph.outputs, outs, strict=True)):
            if out is None:
                continue
            place = self.arguments.leaves[out.place] if isinstance(out.place, str) else 8 * out.place
            if out.item is not None:
                if out.item == 0:
                    items = w.register(len(outs))
                    w.check("pair", place, w.object(tuple), len(outs), items)
                place = items.after(out.item)._replace(sign=-1)
            layout = classify(out.array.shape, out.array.strides, out.array.itemsize)
            self.arguments.array(place, value, value.type.shape, out.array, layout, writeable=True)
            places[k] = place
        if places and (not self.buffers_outputs or self.lowered.built.updates):
            from .overlaps import check_apart

            check_apart(self)
        return places

    def _make_output(self, k: int, value: Value) -> None:
        """Allocate a result, unless the caller has passed memory for it."""
        out = self.call.outs[k]
        if out is not None and self.buffers_outputs:
            self._buffer(k, value, out.array)
        elif k not in self.given and self.lowered.scalars[k]:
            self._number(value)
        elif k not in self.given and value in self.graph.outputs[:k]:
            self._copy_of_output(k, value)
        elif k not in self.given:
            self._new_array(value, self.lowered.orders[k], self.objects[k])
            if self.outside is not None:
                self.outside.made(value, self.objects[k])

    def _copy_of_output(self, k: int, value: Value) -> None:
        """Allocate another array for a value that is returned before, as equal expressions are; it is copied."""
        first = self.pointers[value]
        if self.orders[value] != self.lowered.orders[k]:
            raise Unserved
        self._new_array(value, self.lowered.orders[k], self.objects[k])
        self.copies.append((value, self.pointers[value]))
        self.pointers[value] = first

    def bytes(self, value: Value) -> Register:
        return self.number(dims.product((value.type.dtype.size, *value.type.shape)))

    def number(self, size: Size) -> Register:
        """Return the register that holds a size."""
        self._check_known(size)
        return self.sizes.number(size)

    def _check_known(self, *sizes: Size) -> None:
        """Refuse sizes that are determined by a function which is called later."""
        if not all(dims.symbols(size) <= self.sizes.known.keys() for size in sizes):
            raise Unserved

    def _buffer(self, k: int, value: Value, out: Array) -> None:
        """Allocate memory for a result that is copied to the caller's array, in the same order."""
        layout, axes = classify(out.shape, out.strides, out.itemsize), tuple(range(out.ndim))
        order = axes[::-1] if layout == F else axes
        changed = {output for _, output in self.lowered.built.updates}  # written in the order of a new array
        if layout not in (C, F, SCALAR) or (k in changed and self.lowered.orders[k] != order):
            raise Unserved
        self.copy_to_out(value)
        self.pointers[value] = self.scratch(self.bytes(value))
        self.orders[value] = order
        self.arguments.strides.pop(value, None)

    def copy_to_out(self, value: Value) -> None:
        """Copy a result to the caller's array at the end."""
        self.copies.append((value, self.pointers.pop(value)))

    def _number(self, value: Value) -> None:
        """Memory for a result that is a number."""
        self.pointers[value] = pointer = self.w.register()
        self.w.make("here", self.w.register(-(-value.type.dtype.size // 8)), pointer)

    def _new_array(self, value: Value, order: tuple[int, ...], to: Register) -> None:
        w, type, rank = self.w, value.type, value.type.rank
        self._check_known(*type.shape)
        usual = tuple(range(rank))
        self.orders[value] = order
        strides: int | Register = 0 if order in (usual, usual[::-1]) else self.arguments.in_row(self.strides(value))
        like = 0 if _is_product(value) else self._start_of_operand(value)
        self.pointers[value] = data = w.register()
        row = self.arguments.row(type.shape) if rank else 8  # any register will do
        is_fortran = rank > 1 and order == usual[::-1]
        w.new_array(type.dtype.numpy, rank, row, to, data, like, strides, is_fortran)

    def _start_of_operand(self, value: Value) -> int | Register:
        """Return the register with the address of the array that a result is most likely computed from, or 0."""
        alike = [v for v in self.graph.inputs if v.type.rank and v.type.dtype.size == value.type.dtype.size]
        first = next((v for v in alike if v.type.shape == value.type.shape), alike[0] if alike else None)
        return self.pointers[first] if first is not None else 0

    # -- graphs, and the bodies of loops

    def place_all(self, graph: Graph, nodes: Sequence[Node]) -> None:
        """Allocate memory for the values that some nodes of a graph compute."""
        uses = Counter(v for n in graph for v in n.operands)
        for node in nodes:
            if node.op is LOOP:
                own = {v for v in node.operands if uses[v] == 1 and v not in graph.outputs}
                self._loop(node, own)
                continue
            if self.outside is not None:
                self._product(node)
                if is_known(node):
                    self.outside.known(node)
            for value in node.results:
                self.place(value)

    # The first call of most graphs needs neither of these modules.

    def _loop(self, node: Node, own: set[Value]) -> None:
        from .loops import Loop

        self.loops[node] = Loop(self, node, own)

    def _product(self, node: Node) -> None:
        from .products import BlasProduct, is_gemm

        if is_gemm(node, self.lowered.launcher.calls):
            self.products[node] = BlasProduct(self.w, self.sizes, node, *map(self.strides, node.operands))

    def run_all(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if node in self.kernels:
                self._launch(node, self.kernels[node])
            elif node in self.loops:
                self.loops[node].run()
            elif node in self.products:
                self.products[node].run(self.pointers)

    def steps_of(self, write: Callable[[], None]) -> Steps:
        """Return the steps that something writes, instead of adding them."""
        before, self.w.runs = self.w.runs, []
        write()
        found, self.w.runs = self.w.runs, before
        return found

    # -- memory of other values

    def strides(self, value: Value) -> list[Register]:
        """Return the strides of a value; without other knowledge it lies in C order."""
        found = self.arguments.strides.get(value)
        if found is None:
            order = self.orders.get(value, tuple(range(value.type.rank)))
            found = self.arguments.dense(value.type.shape, order, value.type.dtype.size)
            self.arguments.strides[value] = found
        return found

    def place(self, value: Value) -> None:
        """Memory for a value, unless it has some."""
        if value in self.pointers:
            return
        if value in self.pieces:
            node, place = self.pieces[value]
            self.place(node.result)
            axis = integer(node.attrs, "axis")
            before: Size = 0
            for other in node.operands[:place]:
                before = before + other.type.shape[axis]
            whole = self.strides(node.result)
            skipped = self.w.combined("product", self.number(before), whole[axis])
            self.pointers[value] = pointer = self.w.register()
            if node.result in self.moving:
                base = self.pointers[node.result]
                if (around := self.moving[node.result]) is not None:  # the whole is a part itself
                    base, skipped = around[0], self.w.combined("sum", around[1], skipped)
                self.moving[value] = (base, skipped, pointer)
            else:
                self.w.make("sum", self.pointers[node.result], skipped, pointer)
            self.arguments.strides[value] = whole
        elif value.node is not None and value.node.op is RESHAPE:
            self.place(value.node.operands[0])
            self.share(value, value.node.operands[0])
        elif self.outside is not None and value in self.outside.arrays:
            self._new_array(value, tuple(range(value.type.rank)), to := self.outside.new_object())
            self.outside.made(value, to)
        else:
            self.pointers[value] = self.scratch(self.bytes(value))

    def share(self, value: Value, other: Value) -> None:
        """The value is where another is."""
        self.pointers[value] = self.pointers[other]
        if other in self.moving:
            self.moving[value] = self.moving[other]

    def scratch(self, bytes: Register) -> Register:
        """Return the register with the address of memory for this call."""
        pointer, spare = self.w.register(), None
        if self.spares < MOST_SPARES:
            self.spares, spare = self.spares + 1, self.w.register(SPARE // 8 + 2)
        self.w.register(part=MEMORY)
        self.w.make("scratch", bytes, pointer, spare or 0)
        return pointer

    # -- kernels

    def _launch(self, region: Node, kernel: NativeRegion) -> None:
        """Fill a kernel's frame and run its functions: all of them, or those that walk chunks."""
        w, code, slots = self.w, kernel.code, (*region.operands, *region.results)
        frame = w.register(len(code.entries))
        space = dims.product(sizes(region.attrs, "space"))
        time, launch = space * integer(region.attrs, "cost"), _Launch(kernel, frame)
        moved = []
        for k, entry in enumerate(code.entries):
            to = frame.after(k)
            if entry.kind == "pointer":
                pointer = self.pointers[slots[entry.slot]]
                if slots[entry.slot] in self.moving or not w.put(pointer, to):
                    moved += [pointer, to]
            elif entry.kind == "size":
                size = self.sizes.known[entry.symbol]
                if not w.put(size, to):
                    moved += [size, to]
            elif entry.kind == "stride":
                moved += [self.strides(slots[entry.slot])[entry.axis], to]
            elif entry.kind == "question":
                moved += [w.constant(threads.pool().question_address), to]
            elif entry.kind == "scratch":
                self._scratch_word(launch, entry, to, time)
        for value in {slots[e.slot] for e in code.entries if e.kind == "pointer"} & self.moving.keys():
            if (parts := self.moving[value]) is not None:
                w.run("sum", *parts)
        if moved:
            w.run("moves", len(moved) // 2, more=moved)
        if not code.chunks:
            self._run_parts(launch, code.whole)
            return
        if code.cut_from <= 0:
            w.runs += self._chunk_steps(launch, time)
            return
        columns = self.sizes.number(code.columns)
        whole = self.steps_of(lambda: self._run_parts(launch, code.whole))
        chunks = self._run_chunks(launch, time, columns)
        w.run("skip_below", columns, code.cut_from, 8 * (len(chunks) + 2))
        w.runs += chunks
        w.run("skip", 8 * len(whole))
        w.runs += whole

    def _run_chunks(self, launch: _Launch, time: Size, columns: Register) -> Steps:
        """Return the steps that walk chunks. Their memory and their sizes are needed only for long columns."""
        w, chunks = self.w, list[Operand]()
        with self.sizes.inner():
            prepared = w.aside(lambda: chunks.extend(self._chunk_steps(launch, time)))
        if prepared:
            w.make("skip_below", columns, launch.kernel.code.cut_from, 8 * len(prepared))
            w.makes += prepared
        return chunks

    def _chunk_steps(self, launch: _Launch, time: Size) -> Steps:
        """Allocate memory for chunks, and return the steps that walk them."""
        code = launch.kernel.code
        for k, entry in enumerate(code.entries):
            if entry.kind in ("chunked", "shared"):
                self._scratch_word(launch, entry, launch.frame.after(k), time)
        return self.steps_of(lambda: self._run_parts(launch, code.chunks))

    def _scratch_word(self, launch: _Launch, entry: FrameWord, to: Register, time: Size) -> None:
        """Allocate memory for a word of a frame: for all threads together, or for each."""
        bytes = self.sizes.number(entry.bytes)
        if entry.kind != "shared":
            if launch.workers is None:
                launch.workers = self.w.register()
                self.w.check("workers", self.sizes.number(time), launch.workers)
            bytes = self.w.combined("product", bytes, launch.workers)
        self.w.put(self.scratch(bytes), to)

    def _run_parts(self, launch: _Launch, parts: Sequence[NativeFunction]) -> None:
        for part in parts:
            extent, function = self.sizes.number(part.extents[0]), launch.kernel.addresses[part.name]
            how = (*part.grains, part.tile, launch.workers or 0)
            if (short := _short_row(part)) is not None:  # these registers are written only where a row is long
                across, unit = self.w.register(), self.w.register()
                self.w.run("run_row", function, launch.frame, extent, across, unit, *how, *short)
            else:
                across, (unit, times) = self.sizes.number(part.extents[1]), self.sizes.scaled(part.unit)
                self.w.run("run", function, launch.frame, extent, across, unit, *how, 0, 0, times)

    # -- results

    def _hand_back(self, objects: list[Register]) -> None:
        """Make objects of numbers, and return the results in the structure that the user's function returns."""
        w = self.w
        for register in self.held:
            w.run("drop", register)
        structure = self.lowered.built.structure or Structure("single" if len(objects) == 1 else "tuple")
        for value, to in self.copies:
            w.run("copy_bytes", self.pointers[value], to, self.bytes(value))
        if structure.kind == "single" and 0 in self.given:
            self._drop_objects()
            w.run("result_given", self.given[0])
            return
        unreturned = self._unreturned(structure)
        for k, (value, to) in enumerate(zip(self.graph.outputs, objects, strict=True)):
            if k in self.given and k not in unreturned:
                w.run("given", self.given[k], to)
            elif k not in self.given and self.lowered.scalars[k]:
                w.new_scalar(value.type.dtype.numpy, self.pointers[value], to)
                if self.lowered.scalars[k] == 2:
                    w.run("python_number", to, w.object("item"))
        if structure.kind == "single":
            found = objects[0]
        elif structure.kind == "tuple":
            w.run("pack_tuple", len(objects), found := w.register(part=OBJECTS), more=objects)
        else:
            from .trees import packed

            found = packed(w, structure.tree, objects)
        self._drop_objects()
        w.run("result", found)

    def _unreturned(self, structure: Structure) -> set[int]:
        """List the outputs that are written to arguments but not returned."""
        if not self.lowered.built.updates:
            return set()
        from .trees import places_of

        return set(self.given) - set(places_of(structure.tree))

    def _drop_objects(self) -> None:
        """Release the objects that Python functions were called with, and those that they returned."""
        for register in self.outside.owned if self.outside is not None else ():
            self.w.run("drop", register)


def _short_row(part: NativeFunction) -> tuple[int, int, int] | None:
    """Return the first extent from which work is shared, the other extent, and the time of a step, if none varies."""
    (_, across), unit = part.extents, part.unit
    if part.extents == (1, 1):  # one piece of work is never shared, however long it takes
        return 2, 1, 1
    if not isinstance(across, int) or not isinstance(unit, int) or across * unit < 1:
        return None
    return -(-threads.SHORT // (across * unit)), across, unit


def is_known(node: Node) -> bool:
    """Tell whether a node passes a constant or a size to a Python function."""
    return node.op is NUMPY and node.attrs.get("op") in (CONSTANT.name, SIZE.name) and not node.operands


def _is_product(value: Value) -> bool:
    """Tell whether a matrix product makes a result. Its rows are best aligned, however its factors are."""
    region = value.node
    return region is not None and region.body is not None and any(n.op is MATMUL for n in region.body)
