"""Write the checks of a native call's arguments and the reads of their memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.dims import Dim
from ...ir.dtypes import DType
from ...ir.footprints import Footprint
from ...ir.graph import Value
from ...ir.layouts import UNIT, C, F
from ...ir.source import ABSENT
from ..bounds import Bound
from . import abi
from .call import Input, NativeCall
from .memory_code import CallMemory
from .writer import NULL, CallWriter

Array = np.ndarray[Any, Any]
ARGUMENTS, NAMES, COUNT = Val("%args", "ptr", 0), Val("%names", "ptr", 0), Val("%count", "i64", 0)


class Inputs:
    """Read the arguments; afterwards their addresses and the sizes are known."""

    def __init__(
        self, writer: CallWriter, call: NativeCall, bounds: Sequence[Bound], memory: CallMemory, is_exact: bool
    ) -> None:
        """`is_exact` demands the sizes and strides of the example, not only its layout classes."""
        self.w, self.call, self.bounds, self._is_exact = writer, call, bounds, is_exact
        self.pointers, self.strides = memory.pointers, memory.strides
        self._shapes: list[tuple[Value, list[Val]]] = []

    def read(self, values: Sequence[Value]) -> None:
        self._form()
        self._guards()
        for index, (value, given) in enumerate(zip(values, self.call.inputs, strict=True)):
            obj = self.w.object(given.given) if given.place is None else self.argument(given.place)
            self.w.demand(self.w.same(self.w.field(obj, abi.TYPE), self.w.object(type(given.given))))
            if type(given.given) is np.ndarray:
                self._array(value, given, obj)
            else:
                self.pointers[value] = self._number(index, value.type.dtype, given, obj)
        self._sizes()

    def argument(self, place: int) -> Val:
        return self.w.field(ARGUMENTS, 8 * place)

    def _form(self) -> None:
        """Check the number of positional arguments and the names of the others."""
        w, form = self.w, self.call.form
        passed = w.e.op("and", COUNT, w.number((1 << 63) - 1))
        w.demand(w.same(passed, w.number(form.positional)))
        if not form.names:
            w.demand(w.same(NAMES, NULL))
            return
        w.demand(w.e.icmp("ne", NAMES, NULL))
        w.demand(w.same(w.field(NAMES, abi.LENGTH, "i64"), w.number(len(form.names))))
        for k, name in enumerate(form.names):
            w.demand(w.same(w.field(NAMES, abi.ITEMS + 8 * k), w.object(name)))

    def _guards(self) -> None:
        w = self.w
        for place, expected in self.call.fixed:
            w.demand(w.same(self.argument(place), w.object(expected)))
        for guard in self.call.guards:
            holder = w.object(guard.holder)
            if guard.key is None:
                found = w.field(holder, abi.CELL)
            else:
                digest = w.word(("hash", guard.key), hash(guard.key), "i64")
                found = w.invoke(w.interpreter("_PyDict_GetItem_KnownHash"), "ptr", holder, w.object(guard.key), digest)
            w.demand(w.same(found, NULL if guard.expected is ABSENT else w.object(guard.expected)))

    # -- numbers

    def _number(self, index: int, dtype: DType, given: Input, obj: Val) -> Val:
        """Return the address of a number, converted to the dtype that the graph needs."""
        w, kind = self.w, type(given.given)
        if kind is bool:
            return self._kept(w.e.cast("zext", w.same(obj, w.object(True)), "i8"))
        if kind is int:
            return self._kept(self._integer(index, dtype, obj))
        if kind is float and dtype.size == 4:
            return self._kept(w.e.cast("fptrunc", w.field(obj, abi.VALUE, "double"), "float"))
        return w.at(obj, abi.VALUE)

    def _kept(self, x: Val) -> Val:
        memory = self.w.reserve(8)
        self.w.put(x, memory, 0)
        return memory

    def _integer(self, index: int, dtype: DType, obj: Val) -> Val:
        w = self.w
        overflow = w.reserve(8)
        number = w.invoke(w.interpreter("PyLong_AsLongLongAndOverflow"), "i64", obj, overflow)
        w.demand(w.same(w.e.load(overflow, "i32", 0, 4), w.number(0, "i32")))
        bounds = [b for b in self.bounds if b.index == index]
        if dtype.is_integer and not dtype.weak:
            bounds.append(Bound(index, "", dtype, None))
        for lowest, highest in (b.range for b in bounds):
            w.demand(w.e.icmp("sge", number, w.number(max(lowest, -(1 << 63)))))
            w.demand(w.e.icmp("sle", number, w.number(min(highest, (1 << 63) - 1))))
        if dtype.kind == "float":
            return w.e.cast("sitofp", number, "float" if dtype.size == 4 else "double")
        return number

    # -- arrays

    def _array(self, value: Value, given: Input, obj: Val) -> None:
        shape = self.check_array(obj, value, given.array, given.layout)
        if self._is_exact:
            self._demand_numbers((*shape, *self.strides[value]), (*given.array.shape, *given.array.strides))
        for axis, size in enumerate(value.type.shape):
            if isinstance(size, Dim) and size.symbols == {str(size)} and str(size) not in self.w.sizes.known:
                self.w.sizes.bind({str(size): shape[axis]})
        self._shapes.append((value, shape))

    def check_array(self, obj: Val, value: Value, example: Array, layout: str) -> list[Val]:
        """Check that dtype, rank, layout class and sizes of 1 match the example, and return the shape."""
        w, rank = self.w, example.ndim
        w.demand(w.same(w.field(obj, abi.DTYPE), w.object(example.dtype)))
        w.demand(w.same(w.field(obj, abi.RANK, "i32"), w.number(rank, "i32")))
        self.pointers[value] = w.field(obj, abi.DATA)
        shape, strides = self._axes(obj, abi.SIZES, rank), self._axes(obj, abi.STRIDES, rank)
        self.strides[value] = strides
        for size, seen in zip(shape, example.shape, strict=True):
            w.demand(w.e.icmp("eq" if seen == 1 else "ne", size, w.number(1)))
        if rank:
            self._layout(layout, example, w.field(obj, abi.FLAGS, "i32"), shape, strides)
        return shape

    def _demand_numbers(self, found: Sequence[Val], wanted: Sequence[int]) -> None:
        for number, expected in zip(found, wanted, strict=True):
            self.w.demand(self.w.same(number, self.w.number(expected)))

    def _axes(self, obj: Val, offset: int, rank: int) -> list[Val]:
        base = self.w.field(obj, offset) if rank else NULL
        return [self.w.field(base, 8 * axis, "i64") for axis in range(rank)]

    def _layout(self, layout: str, example: Array, flags: Val, shape: list[Val], strides: list[Val]) -> None:
        w, e = self.w, self.w.e
        if layout == C:
            w.demand(e.icmp("ne", e.op("and", flags, w.number(abi.C_CONTIGUOUS, "i32")), w.number(0, "i32")))
            return
        dense = e.op("and", flags, w.number(abi.C_CONTIGUOUS | abi.F_CONTIGUOUS, "i32"))
        if layout == F:
            w.demand(w.same(dense, w.number(abi.F_CONTIGUOUS, "i32")))
            return
        w.demand(w.same(dense, w.number(0, "i32")))
        axes = [k for k, n in enumerate(example.shape) if n != 1]
        unit = w.same(strides[axes[-1]], w.number(example.itemsize))
        for outer, inner in pairwise(axes):
            falls = e.icmp("sge", strides[outer], e.op("mul", strides[inner], shape[inner]))
            unit = e.op("and", unit, falls)
        if layout == UNIT:
            w.demand(unit)
            return
        w.demand(e.not_(unit))
        self._order(example, [strides[k] for k in axes], [example.strides[k] for k in axes])

    def _order(self, example: Array, strides: list[Val], seen: list[int]) -> None:
        """Check that strides sort as in the example, so that results get the same memory order."""
        w, e = self.w, self.w.e
        if len(seen) < 2:
            return
        steps = [e.call("abs", s, Val("false", "i1", 0), suffix=".i64") for s in strides]
        for a, step in enumerate(steps):
            w.demand(e.icmp("eq" if seen[a] == 0 else "ne", step, w.number(0)))
            for b in range(a + 1, len(steps)):
                left, right = abs(seen[a]), abs(seen[b])
                w.demand(e.icmp("eq" if left == right else "sgt" if left > right else "slt", step, steps[b]))

    def _sizes(self) -> None:
        """Check that every array has the shape of its type."""
        w = self.w
        for value, shape in self._shapes:
            for size, number in zip(value.type.shape, shape, strict=True):
                expected = w.sizes.number(size)
                if expected.text != number.text:
                    w.demand(w.same(number, expected))

    def check_footprints(self, footprints: Sequence[Footprint]) -> None:
        """Check that no size and no number of bytes overflows; Python reports what is too large."""
        for footprint in footprints:
            if all(dims.symbols(s) <= self.w.sizes.known.keys() for s in footprint.shape):
                self.w.demand(self.w.sizes.fits(footprint.shape, footprint.itemsize))

    def check_guards(self, guards: Sequence[tuple[dims.Size, dims.Size]]) -> None:
        """Check the equalities that the graph relies on."""
        w = self.w
        for left, right in guards:
            if dims.symbols(left) | dims.symbols(right) <= w.sizes.known.keys():
                w.demand(w.same(w.sizes.number(left), w.sizes.number(right)))
