"""Write the checks of a call's arguments, and the registers for their addresses, strides and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from types import FunctionType
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.dtypes import DType
from ...ir.footprints import Footprint
from ...ir.graph import Value
from ...ir.layouts import UNIT, C, F
from ...ir.source import ABSENT
from ..bounds import Bound
from . import abi
from .call import Input, NativeCall
from .recipe import RecipeWriter, Register, SizeRegisters

Array = np.ndarray[Any, Any]


class Arguments:
    """Writes the checks of arguments; afterwards their addresses, strides and sizes are in registers."""

    def __init__(self, writer: RecipeWriter, call: NativeCall, bounds: Sequence[Bound], is_exact: bool) -> None:
        """`is_exact` demands the sizes and strides of the example, not only its layout classes."""
        self.w, self.call, self.bounds, self._is_exact = writer, call, bounds, is_exact
        self.sizes = SizeRegisters(writer)
        self.pointers: dict[Value, Register] = {}
        self.strides: dict[Value, list[Register]] = {}
        self.rows: dict[tuple[Size, ...], Register] = {}  # sizes of a shape that lie in a row
        self.seen: dict[tuple[Size, ...], int] = {}  # the largest elements that arrays in memory have with a shape
        self._late: list[tuple[Size, Register]] = []
        self._equal: dict[str, str] = {}

    def read(self, values: Sequence[Value], guards: Sequence[tuple[Size, Size]]) -> None:
        """Check the arguments, and the equalities of sizes that the graph relies on."""
        self._check_names()
        others = []
        for left, right in guards:
            if is_symbol(left) and is_symbol(right) and str(right) not in self._equal:
                self._equal[str(right)] = str(left)
            else:
                others.append((left, right))
        for index, (value, given) in enumerate(zip(values, self.call.inputs, strict=True)):
            place = self._constant(given.given) if given.place is None else 8 * given.place
            if type(given.given) is np.ndarray:
                self.array(place, value, given.array, given.layout)
            else:
                self.pointers[value] = self._number(index, value.type.dtype, given, place)
        for size, register in self._late:
            self.w.check("equal", self.sizes.number(size), register)
        for one, same in self._equal.items():
            if {one, same} <= self.sizes.known.keys():
                self.w.check("equal", self.sizes.known[one], self.sizes.known[same])
        self._check_guards(others)

    def _constant(self, x: Any) -> Register:
        """Return the place of an object that is not an argument: a captured array, or a default."""
        return self.w.constant(self.w.object(x))._replace(sign=-1)

    def _check_names(self) -> None:
        w = self.w
        for place, expected in self.call.fixed:
            w.check("same_object", 8 * place, w.object(expected))
        for guard in self.call.guards:
            expected = 0 if guard.expected is ABSENT else w.object(guard.expected)
            if type(guard.holder) is ContextVar:
                w.check("context", w.object(guard.holder), w.register(), expected)
            elif guard.key is None:
                w.check("field", w.object(guard.holder) + abi.CELL, expected)
            elif type(guard.holder) is FunctionType:
                absent = guard.expected is None  # then the field is a null pointer
                w.check("field", w.object(guard.holder) + abi.FIELDS[guard.key], 0 if absent else expected)
            else:
                w.check("name", w.object(guard.holder), w.object(guard.key), hash(guard.key), expected)

    # -- numbers

    def _number(self, index: int, dtype: DType, given: Input, place: int | Register) -> Register:
        """Return the register with the address of a number that has the dtype that the graph needs."""
        w, kind, pointer = self.w, type(given.given), self.w.register()
        type_ = w.object(kind)
        if kind is bool:
            w.check("truth", place, type_, w.object(True), w.register(), pointer)
        elif kind is int:
            lowest, highest = -(1 << 63), (1 << 63) - 1
            bounds = [b.range for b in self.bounds if b.index == index]
            if dtype.is_integer and not dtype.weak:
                bounds.append(Bound(index, "", dtype, None).range)
            for low, high in bounds:
                lowest, highest = max(lowest, low), min(highest, high)
            converted = 0 if dtype.kind != "float" else 1 if dtype.size == 4 else 2
            w.check("whole", place, type_, lowest, highest, converted, w.register(), pointer)
        elif kind is float and dtype.size == 4:
            w.check("single", place, type_, w.register(), pointer)
        else:
            w.check("scalar", place, type_, pointer)
        return pointer

    # -- arrays

    def array(self, place: int | Register, value: Value, example: Array, layout: str, writeable: bool = False) -> None:
        """Check that dtype, rank, layout class and sizes match the example."""
        w, rank, shape = self.w, example.ndim, value.type.shape
        mask, flags = _flags(layout) if rank else (0, 0)
        if writeable:
            mask, flags = mask | abi.WRITEABLE, flags | abi.WRITEABLE
        data, row = w.register(), w.register(rank)
        is_dense = (layout in (C, F) and not (self._is_exact and not writeable)) or not rank
        strides = 0 if is_dense else w.register(rank)
        self.pointers[value] = data
        wanted: list[int | Register] = []
        for axis, (size, seen) in enumerate(zip(shape, example.shape, strict=True)):
            own = row.after(axis)
            symbol = str(size) if is_symbol(size) else None
            if symbol is not None and symbol not in self.sizes.known:
                self.sizes.known[symbol] = own
                same = own
                if self._equal.get(symbol) in self.sizes.known and seen != 1:
                    same = self.sizes.known[self._equal.pop(symbol)]
                wanted.append(-1 if seen == 1 else same)
            elif seen == 1:
                wanted.append(-1)
                if size != 1:
                    self._late.append((size, own))
            elif dims.symbols(size) <= self.sizes.known.keys():
                wanted.append(self.sizes.number(size))
            else:
                wanted.append(own)
                self._late.append((size, own))
        dtype = w.object(example.dtype)
        if rank == 1 and is_dense and wanted[0] != -1:
            w.check("row", place, dtype, mask, flags, data, row, wanted[0])
        else:
            w.check("array", place, dtype, rank, mask, flags, data, row, strides, more=wanted)
        if isinstance(strides, Register):
            self.strides[value] = [strides.after(axis) for axis in range(rank)]
            if layout not in (C, F):
                self._check_layout(layout, example, row, strides)
            if self._is_exact and not writeable:
                for axis, (size, stride) in enumerate(zip(example.shape, example.strides, strict=True)):
                    w.check("equal", row.after(axis), w.constant(size))
                    w.check("equal", strides.after(axis), w.constant(stride))
        self.rows.setdefault(shape, row)
        if is_dense:
            self.seen[shape] = max(self.seen.get(shape, 0), example.itemsize)
            if layout == F:
                self.strides[value] = self.dense(shape, tuple(range(rank))[::-1], example.itemsize)

    def _check_layout(self, layout: str, example: Array, row: Register, strides: Register) -> None:
        w = self.w
        axes = [k for k, n in enumerate(example.shape) if n != 1]
        w.check("unit_layout", len(axes), strides, row, example.itemsize, int(layout == UNIT), more=axes)
        if layout == UNIT or len(axes) < 2:
            return
        steps = [(strides.after(k), abs(example.strides[k])) for k in axes]
        zero = w.constant(0)
        for k, (a, left) in enumerate(steps):
            w.check("stride_order", a, zero, int(left != 0))
            for b, right in steps[k + 1 :]:
                w.check("stride_order", a, b, (left > right) - (left < right))

    def dense(self, shape: Sequence[Size], order: Sequence[int], itemsize: int) -> list[Register]:
        """Return the strides of a dense array whose axes lie in this order."""
        found, step = [self.w.constant(0)] * len(shape), self.w.constant(itemsize)
        for axis in reversed(order):
            found[axis] = step
            if axis != order[0]:
                step = self.w.combined("product", step, self.sizes.number(shape[axis]))
        return found

    def row(self, shape: tuple[Size, ...]) -> Register:
        """Return the first of registers in a row that hold the sizes of a shape."""
        found = self.rows.get(shape)
        if found is None:
            numbers = [self.sizes.number(s) for s in shape]
            found = self.rows[shape] = self.w.register(len(shape))
            moved = [r for k, n in enumerate(numbers) for r in (n, found.after(k))]
            self.w.check("moves", len(shape), more=moved)
        return found

    # -- sizes

    def check_footprints(self, footprints: Sequence[Footprint]) -> None:
        """Check that no number of bytes overflows. An array in memory has shown that for what is no larger."""
        for footprint in footprints:
            shape = tuple(footprint.shape)
            if not all(dims.symbols(s) <= self.sizes.known.keys() for s in shape):
                continue
            if footprint.itemsize <= self.seen.get(shape, 0) or all(isinstance(s, int) for s in shape):
                continue
            self.w.check("fits", footprint.itemsize, len(shape), more=[self.sizes.number(s) for s in shape])

    def _check_guards(self, guards: Sequence[tuple[Size, Size]]) -> None:
        for left, right in guards:
            if not dims.symbols(left) | dims.symbols(right) <= self.sizes.known.keys():
                continue
            limits = limits_of(left, right)
            if limits is None:
                self.w.check("equal", self.sizes.number(left), self.sizes.number(right))
            else:
                size, lowest, highest = limits
                self.w.check("between", self.sizes.number(size), lowest, highest)


def is_symbol(size: Size) -> bool:
    """Tell whether a size is one symbol."""
    return isinstance(size, Dim) and size.symbols == {str(size)}


def limits_of(left: Size, right: Size) -> tuple[Size, int, int] | None:
    """Read `min(number, k*size) == k*size` as the range of a size, and the same with `max`."""
    if not isinstance(left, Dim) or not isinstance(right, Dim) or len(right.terms) != 1:
        return None
    ((monomial, factor),) = left.terms if len(left.terms) == 1 else (((), 0),)
    if len(monomial) != 1 or factor != 1 or monomial[0].name not in ("min", "max") or len(monomial[0].args) != 2:
        return None
    numbers = [a for a in monomial[0].args if isinstance(a, int)]
    ((product, times),) = right.terms
    if len(numbers) != 1 or right not in monomial[0].args or times < 1:
        return None
    size = Dim(((product, 1),))
    if monomial[0].name == "min":
        return size, -(1 << 63), numbers[0] // times
    return size, -(-numbers[0] // times), (1 << 63) - 1


def _flags(layout: str) -> tuple[int, int]:
    """Return which of an array's flags tell its layout class, and what they must be."""
    if layout == C:
        return abi.C_CONTIGUOUS, abi.C_CONTIGUOUS
    return abi.C_CONTIGUOUS | abi.F_CONTIGUOUS, abi.F_CONTIGUOUS if layout == F else 0
