"""Build recipes for calls of nests: pieces of programs, functions that are one piece, and the kernels of nests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CellType
from typing import TYPE_CHECKING, Any

from ...frontend.programs.kinds import Array, FixedSlice, Kind, Known, NumpyScalar, PythonNumber, Tuple, kind_of
from ...frontend.programs.planning.pieces import (
    ArrayInput,
    ComplexResult,
    EitherResult,
    FreshInput,
    FreshResult,
    Input,
    KnownResult,
    NumberInput,
    NumberResult,
    Path,
    ReshapedResult,
    Result,
    SameResult,
    ShortenedResult,
    TupleResult,
    ViewOf,
    ViewResult,
)
from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import BOOL, C128, F64, I64, DType, from_numpy
from ...ir.footprints import Footprint
from ...ir.graph import Value
from ...ir.layouts import GENERAL, SCALAR, C, F
from ...ir.tuples import NamedTuple
from ...ir.types import TensorType
from .. import threads
from . import abi
from .arguments import Arguments, can_check, check_names
from .nest_calls import NestCallForm, NestSource
from .recipe import MEMORY, OBJECTS, Recipe, RecipeWriter, Register, Unserved
from .steps import SPARE

if TYPE_CHECKING:
    from ..nests.compiling import NativeNest

DENSE = (C, F, SCALAR)
PYTHON_NUMBERS = {"int": (int, I64), "float": (float, F64), "bool": (bool, BOOL), "complex": (complex, C128)}


class ServedNest(NamedTuple):
    """What a recipe needs to know about a nest.

    `inputs` describe its buffers, and `sizes` the ints that are ends of loops.
    """

    native: NativeNest
    types: Sequence[TensorType]
    inputs: Sequence[Input]
    sizes: Mapping[str, Path]
    highest: Mapping[str, int]  # of sizes; also of those that arrays have
    guards: Sequence[tuple[Size, Size]]
    apart: Sequence[tuple[int, int]]
    kept: Sequence[int]
    written: Sequence[int]
    result: Result
    copied: frozenset[str] = frozenset()  # variables whose arrays are not changed, but copies of them


def build_nest_recipe(nest: ServedNest, call: NestCallForm) -> Recipe | None:
    """Return the recipe for an example of a call, if it can have one."""
    if not can_check(call.meant):
        return None
    try:
        return NestServing(nest, call).write()
    except Unserved:
        return None


class NestServing:
    """Writes the recipe of one nest."""

    def __init__(self, nest: ServedNest, call: NestCallForm) -> None:
        self.nest, self.call = nest, call
        self.w = RecipeWriter(call.form.positional, call.form.names)
        self.arguments = Arguments(self.w)
        self.sizes = self.arguments.sizes
        self.places: dict[Path, int | Register] = {}
        self.buffers = [Value(type) for type in nest.types]
        self.made: dict[int, Register] = {}  # objects of arrays that the nest fills, by buffer
        self.borrowed: list[Register] = []  # from outside; nothing else keeps them alive while other threads run
        outside = sum(source.holder is not None for source in call.sources.values())
        self.held = self.w.register(outside, part=OBJECTS)
        self._slots: dict[Path, list[int]] = {}
        for k, given in enumerate(nest.inputs):
            if isinstance(given, (ArrayInput, NumberInput)):
                self._slots.setdefault(given.path, []).append(k)
        self._steering = {path: symbol for symbol, path in nest.sizes.items()}
        self._views: dict[int, Register] = {}  # objects of results that are views, by identity
        self._spans: dict[int, Register] = {}
        self._layouts: dict[int, tuple[str, Any]] = {}
        self._viewed: dict[Path, int] = {}  # where arrays are that results are views of: the buffer
        self._copied = {k for k, x in enumerate(nest.inputs) if isinstance(x, ArrayInput) and x.path[0] in nest.copied}
        self.arguments.expect(nest.guards)

    def write(self) -> Recipe:
        w, nest = self.w, self.nest
        check_names(w, self.call.meant)
        for name, value in self.call.values.items():
            self._read((name,), self._place(self.call.sources[name]), value, kind_of(value))
        self.arguments.settle()
        for symbol, highest in nest.highest.items():
            if symbol not in nest.sizes:
                w.check("between", self.sizes.known[symbol], 0, highest)
        self._check_memory()
        for k, place in enumerate(self.borrowed):
            w.make("given", place._replace(sign=-1), self.held.after(k))
        for k, given in enumerate(nest.inputs):
            self._make(k, given)
        self._make_views(nest.result)
        self._run()
        self._hand_back()
        return w.finish()

    # -- arguments

    def _place(self, source: NestSource) -> int | Register:
        w = self.w
        if source.place is not None:
            return 8 * source.place
        if source.holder is None:
            return self.arguments.constant(source.constant)
        to = w.register()
        if isinstance(source.holder, CellType):
            w.check("in_cell", w.object(source.holder), to)
        else:
            w.check("in_dict", w.object(source.holder), w.object(source.key), hash(source.key), to)
        self.borrowed.append(to)
        return to._replace(sign=-1)

    def _read(self, path: Path, place: int | Register, value: Any, kind: Kind) -> None:
        """Check that a value is of the same kind, and record where the nest finds it."""
        w, self.places[path] = self.w, place
        if isinstance(kind, Array):
            self._read_array(path, place, value, kind)
        elif isinstance(kind, NumpyScalar):
            self._read_number(path, place, type(value), kind.dtype)
        elif isinstance(kind, PythonNumber) and kind.name in PYTHON_NUMBERS:
            self._read_number(path, place, *PYTHON_NUMBERS[kind.name], kind.is_negative)
        elif isinstance(kind, Tuple):
            items = w.register(len(value))
            w.check("pair", place, w.object(tuple), len(value), items)
            for k, (item, inner) in enumerate(zip(value, kind.items, strict=True)):
                self._read((*path, str(k)), items.after(k)._replace(sign=-1), item, inner)
        elif isinstance(kind, (Known, FixedSlice)):
            w.check("same_object", place, w.object(value))
        else:
            raise Unserved

    def _read_number(
        self, path: Path, place: int | Register, kind: type, dtype: DType, is_negative: bool = False
    ) -> None:
        if kind is float and dtype != F64:
            raise Unserved
        symbol, to = self._steering.get(path), self.w.register()
        if symbol is not None and kind is not int:
            raise Unserved
        highest = self.nest.highest[symbol] if symbol is not None else (1 << 63) - 1
        lowest, highest = (-highest, -1) if is_negative else (0 if kind is int else -(1 << 63), highest)
        pointer = self.arguments.number(place, kind, dtype, lowest, highest, to)
        if symbol is not None and is_negative:
            self.sizes.known[symbol] = size = self.w.register()
            self.w.check("linear", to, -1, 0, 0, size)
        elif symbol is not None:
            self.sizes.known[symbol] = to
        for k in self._slots.get(path, ()):
            given, own = self.nest.inputs[k], self.nest.types[k].dtype
            part = given.part if isinstance(given, NumberInput) else None
            if own != (dtype if part is None else from_numpy(dtype.numpy.type().real.dtype)):
                raise Unserved
            at = self.w.combined("sum", pointer, self.w.constant(own.size)) if part else pointer
            self.arguments.pointers[self.buffers[k]] = at

    def _read_array(self, path: Path, place: int | Register, value: Any, kind: Array) -> None:
        slot, *others = self._slots.get(path, [-1])
        given = self.nest.inputs[slot] if slot >= 0 else None
        parts = isinstance(given, ArrayInput) and given.parts
        buffer = self.buffers[slot] if given is not None else Value(TensorType(kind.dtype, ()))
        shape = buffer.type.shape if given is not None else tuple(dims.symbol(f"?{path}{k}") for k in range(kind.rank))
        mask = abi.WRITEABLE | abi.ALIGNED
        is_sorted = kind.order is not None  # else the layout class tells how the axes lie
        row = self.arguments.array(
            place, buffer, shape[: kind.rank], value, kind.layout, mask=mask, is_sorted=is_sorted
        )
        if others:
            raise Unserved
        if given is None:
            return
        self._viewed[path] = slot
        self._layouts[slot] = kind.layout, value
        if kind.layout == GENERAL and slot in self.nest.written:
            axes = sorted((k for k, n in enumerate(value.shape) if n != 1), key=lambda k: abs(value.strides[k]))
            strides = self.arguments.strides[buffer]
            self.w.check("spread", len(axes), strides[0], row, value.itemsize, more=axes)
        if parts and kind.layout == F:
            order = tuple(range(kind.rank))[::-1]
            self.arguments.strides[buffer] = self.arguments.dense(shape[: kind.rank], order, value.itemsize)
        if parts and buffer in self.arguments.strides:
            half = self.w.constant(value.itemsize // 2)
            self.arguments.strides[buffer] = [*self.arguments.strides[buffer], half]

    # -- memory

    def _bytes(self, slot: int) -> Register:
        type = self.nest.types[slot]
        return self.sizes.number(dims.product((type.dtype.size, *type.shape)))

    def _check_memory(self) -> None:
        """Check that written arrays overlap no others. If their ranges do, Python looks closer."""
        w, pointers = self.w, self.arguments.pointers
        pairs: dict[int, list[int]] = {}
        for a, b in self.nest.apart:
            if a not in self._copied and b not in self._copied:
                pairs.setdefault(a, []).append(b)
        for a, others in pairs.items():
            if all(self._layouts[k][0] in DENSE for k in (a, *others)):
                more = [r for k in others for r in (pointers[self.buffers[k]], self._bytes(k))]
                w.check("dense_apart", pointers[self.buffers[a]], self._bytes(a), len(others), more=more)
            else:
                w.check("apart", self._span(a), len(others), more=[self._span(k) for k in others])
        shapes = [given for given in self.nest.inputs if isinstance(given, FreshInput)]
        self.arguments.check_footprints([Footprint(g.shape, g.dtype.size, None) for g in shapes])

    def _span(self, slot: int) -> Register:
        found = self._spans.get(slot)
        if found is not None:
            return found
        w, buffer, type = self.w, self.buffers[slot], self.nest.types[slot]
        found = self._spans[slot] = w.register(2)
        numbers, data = [self.sizes.number(s) for s in type.shape], self.arguments.pointers[buffer]
        if self._layouts[slot][0] in DENSE:
            w.check("dense_bounds", data, len(numbers), type.dtype.size, found, more=numbers)
        else:
            strides = self.arguments.strides[buffer]
            w.check("bounds", data, len(numbers), type.dtype.size, found, more=[*numbers, *strides])
        return found

    def _make(self, k: int, given: Input) -> None:
        """Make the memory of a result."""
        w, pointers = self.w, self.arguments.pointers
        if k in self._copied:
            self._copy(k)
        if isinstance(given, (ArrayInput, NumberInput)):
            return
        pointers[self.buffers[k]] = pointer = w.register()
        if not isinstance(given, FreshInput):
            w.make("here", number := w.register(), pointer)
            w.make("moves", 1, more=[w.constant(0), number])
            return
        self.made[k] = to = w.register(part=OBJECTS)
        rank = len(given.shape)
        row = self.arguments.row(given.shape) if rank else 8  # any register will do
        is_fortran = rank > 1 and given.order == tuple(range(rank))[::-1]
        strides: int | Register = 0
        if given.order != tuple(range(rank)) and not is_fortran:
            strides = self.arguments.in_row(self.arguments.dense(given.shape, given.order, given.dtype.size))
        w.new_array(given.dtype.numpy, rank, row, to, pointer, 0, strides, is_fortran)

    def _copy(self, k: int) -> None:
        """Pass the nest a copy of an array, in C order."""
        w, given, buffer = self.w, self.nest.inputs[k], self.buffers[k]
        layout, value = self._layouts[k]
        if layout != C or not isinstance(given, ArrayInput) or len(given.path) != 1:
            raise Unserved
        self.made[k] = to = w.register(part=OBJECTS)
        before, copy = self.arguments.pointers[buffer], w.register()
        w.new_array(value.dtype, value.ndim, self.arguments.row(buffer.type.shape[: value.ndim]), to, copy, before)
        w.run("copy_bytes", before, copy, self._bytes(k))
        self.arguments.pointers[buffer], self.places[given.path] = copy, to._replace(sign=-1)

    def _scratch(self, bytes: Register) -> Register:
        pointer = self.w.register()
        self.w.register(part=MEMORY)
        self.w.make("scratch", bytes, pointer, self.w.register(SPARE // 8 + 2))
        return pointer

    # -- views

    def _make_views(self, result: Result) -> None:
        """Make the objects of results that are views. That can fail, so it comes before the nest runs."""
        if isinstance(result, TupleResult):
            for item in result.items:
                self._make_views(item)
        elif isinstance(result, ViewResult):
            if result.path not in self._viewed:
                raise Unserved
            self._make_view(result, self._viewed[result.path], self.places[result.path], result.view)
        elif isinstance(result, ReshapedResult):
            if result.path not in self._viewed:
                raise Unserved
            slot = self._viewed[result.path]
            array = self._layouts[slot][1]
            strides = self.arguments.dense(result.shape, tuple(range(len(result.shape))), array.itemsize)
            data, base = self.arguments.pointers[self.buffers[slot]], self.places[result.path]
            self._new_view(result, base, array.dtype, result.shape, strides, data)
        elif isinstance(result, FreshResult) and result.view is not None:
            made = self.made[result.buffer]._replace(sign=-1)
            self._make_view(result, result.buffer, made, result.view)

    def _make_view(self, result: Result, slot: int, base: int | Register, view: ViewOf) -> None:
        w, given = self.w, self.nest.inputs[slot]
        if id(result) in self._views:
            return
        is_complex = isinstance(given, (ArrayInput, FreshInput)) and given.parts
        if is_complex and view.part is not None:
            raise Unserved
        dtype = given.dtype.numpy if isinstance(given, FreshInput) else self._layouts[slot][1].dtype
        strides = self._strides(slot)
        if isinstance(given, FreshInput):
            strides = [strides[given.order.index(axis)] for axis in range(len(given.order))]
        own = [self._total(row, strides) for row in zip(*view.steps, strict=True)] if view.shape else []
        parts = [
            w.combined("product", self.sizes.number(start), step)
            for start, step in zip(view.starts, strides, strict=False)
            if start != 0
        ]
        offset = w.constant(0)
        for part in parts:
            offset = w.combined("sum", offset, part)
        data = w.register()
        w.make("sum", self.arguments.pointers[self.buffers[slot]], offset, data)
        self._new_view(result, base, dtype, view.shape, own, data)

    def _new_view(
        self, result: Result, base: int | Register, dtype: Any, shape: tuple[Size, ...], strides: Sequence[Register],
        data: Register,
    ) -> None:  # fmt: skip
        w, to = self.w, self.w.register(part=OBJECTS)
        sizes = self.arguments.row(shape) if shape else w.constant(0)
        w.make("new_view", base, w.object(dtype), len(shape), data, sizes, self.arguments.in_row(strides), to)
        self._views[id(result)] = to

    def _total(self, row: Sequence[int], strides: Sequence[Register]) -> Register:
        """Return the stride of an axis of a view, which takes `row[k]` steps along each axis of its base."""
        total = self.w.constant(0)
        for step, stride in zip(row, strides, strict=False):
            if step:
                own = stride if step == 1 else self.w.combined("product", stride, self.w.constant(step))
                total = own if total == self.w.constant(0) else self.w.combined("sum", total, own)
        return total

    # -- the nest

    def _run(self) -> None:
        w, code = self.w, self.nest.native.code
        frame, workers, moved = w.register(len(code.entries)), w.constant(1), []
        if self.nest.native.shares:
            at = {entry.kind: frame.after(k) for k, entry in enumerate(code.entries)}
            workers = at["workers"]
            w.check("crew", self.sizes.number(code.time), at["launch"], workers)
        for k, entry in enumerate(code.entries):
            to = frame.after(k)
            if entry.kind == "pointer":
                pointer = self.arguments.pointers[self.buffers[entry.slot]]
                if not w.put(pointer, to):
                    moved += [pointer, to]
            elif entry.kind == "size":
                moved += [self.sizes.known[entry.symbol], to]
            elif entry.kind == "stride":
                moved += [self._strides(entry.slot)[entry.axis], to]
            elif entry.kind == "question":
                moved += [w.constant(threads.pool().question_address), to]
            elif entry.kind == "scratch":
                bytes = w.combined("product", self.sizes.number(entry.bytes), workers)
                w.put(self._scratch(bytes), to)
            elif entry.kind == "failure" and entry.slot == 0:
                moved += [w.constant(0), to]
        if moved:
            w.run("moves", len(moved) // 2, more=moved)
        saved: list[Register] = []
        kept = [k for k in self.nest.kept if k not in self._copied]
        for k in kept:
            if self._layouts[k][0] not in DENSE:
                raise Unserved
            data, bytes = self.arguments.pointers[self.buffers[k]], self._bytes(k)
            saved += [data, self._scratch(bytes), bytes]
            w.run("copy_bytes", *saved[-3:])
        w.run("nest", self.nest.native.address, frame, len(kept), more=saved)

    def _strides(self, slot: int) -> list[Register]:
        buffer, type = self.buffers[slot], self.nest.types[slot]
        found = self.arguments.strides.get(buffer)
        if found is None:
            axes = tuple(range(type.rank))
            order = axes[::-1] if self._layouts.get(slot, (C,))[0] == F else axes
            found = self.arguments.strides[buffer] = self.arguments.dense(type.shape, order, type.dtype.size)
        return found

    # -- results

    def _hand_back(self) -> None:
        w = self.w
        found = self._object(self.nest.result)
        for register in (*self.made.values(), *(self.held.after(k) for k in range(len(self.borrowed)))):
            w.run("drop", register)
        w.run("result", found)

    def _object(self, result: Result) -> Register:
        """Return the register with the object of a result, which belongs to the caller."""
        w, to = self.w, self.w.register(part=OBJECTS)
        if isinstance(result, NumberResult):
            self._number(result, to)
        elif isinstance(result, ComplexResult):
            self._complex(result, to)
        elif isinstance(result, EitherResult):
            first, second = self._object(result.first), self._object(result.second)
            w.run("chosen", self.arguments.pointers[self.buffers[result.is_first]], first, second, to)
        elif isinstance(result, FreshResult) and result.view is None:
            w.run("another", self.made[result.buffer], to)
        elif isinstance(result, ShortenedResult):
            self._first_part(result, to)
        elif isinstance(result, SameResult) and result.path in self.places:
            w.run("given", self.places[result.path], to)
        elif id(result) in self._views:
            return self._views[id(result)]
        elif isinstance(result, TupleResult):
            items = [self._object(item) for item in result.items]
            w.run("pack_list" if result.is_list else "pack_tuple", len(items), to, more=items)
        elif isinstance(result, KnownResult):
            w.run("constant", w.object(result.value), to)
        else:
            raise Unserved
        return to

    def _number(self, result: NumberResult, to: Register) -> None:
        w, dtype = self.w, self.nest.types[result.buffer].dtype
        pointer = self.arguments.pointers[self.buffers[result.buffer]]
        if isinstance(result.kind, NumpyScalar):
            w.new_scalar(dtype.numpy, pointer, to)
        elif isinstance(result.kind, PythonNumber) and PYTHON_NUMBERS.get(result.kind.name, ("", None))[1] == dtype:
            if dtype == BOOL:
                w.run("truth_object", pointer, w.object(True), w.object(False), to)
            else:
                w.run("float_object" if dtype == F64 else "int_object", pointer, to)
        else:
            raise Unserved

    def _first_part(self, result: ShortenedResult, to: Register) -> None:
        """Copy the first rows of an array that the nest has made."""
        w, given, (count, *whole) = self.w, self.nest.inputs[result.buffer], result.sizes
        assert isinstance(given, FreshInput)
        rank, itemsize = len(given.shape), given.dtype.size
        if given.order != tuple(range(rank)) or count is None or any(k is not None for k in whole):
            raise Unserved
        row, at, data, to_data = w.register(rank), w.register(), w.register(), w.register()
        w.make("here", row, at)
        moved = [word for k in range(1, rank) for word in (self.sizes.number(given.shape[k]), row.after(k))]
        if moved:
            w.make("moves", rank - 1, more=moved)
        bytes_of_row = self.sizes.number(dims.product((itemsize, *given.shape[1:])))
        w.run("copy_bytes", self.arguments.pointers[self.buffers[count]], at, w.constant(8))
        kind = w.object(given.dtype.numpy)
        w.run("new_array", kind, rank, itemsize, row, 0, 0, 0, to, to_data, w.plain_register)
        w.run("product", row, bytes_of_row, data)
        w.run("copy_bytes", self.arguments.pointers[self.buffers[result.buffer]], to_data, data)

    def _complex(self, result: ComplexResult, to: Register) -> None:
        """Make a complex number from two parts that the nest has left in two places."""
        w, kind = self.w, result.kind
        w.make("here", w.register(2), first := w.register())
        size = w.constant(self.nest.types[result.real].dtype.size)
        w.make("sum", first, size, second := w.register())
        for buffer, at in ((result.real, first), (result.imag, second)):
            w.run("copy_bytes", self.arguments.pointers[self.buffers[buffer]], at, size)
        w.run("scalar_object", first, w.object((kind.dtype if isinstance(kind, NumpyScalar) else C128).numpy), to)
        if not isinstance(kind, NumpyScalar):
            w.run("python_number", to, w.object("item"))
