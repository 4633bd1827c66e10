"""Generate code that allocates the results of a native call and makes objects of them.

The call's stack frame notes every object that is made (0 before that). So the same code releases all of them if a
kernel reports failure or memory runs out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.graph import Value
from ...ir.layouts import classify
from ..memory import blocks
from . import abi
from .block_code import FIELDS, HUGE
from .call import Out
from .inputs import Inputs
from .writer import FAIL, NULL, CallWriter

LEADS = 48  # of a line of 64 bytes: the places where the C library would begin an array


class CallHeap:
    """Memory for one call; large requests come from the free list of blocks."""

    def __init__(self, writer: CallWriter) -> None:
        self.w = writer

    def take(self, bytes: Val) -> Val:
        if abi.has_handlers():
            return self.w.invoke(of_blocks(self.w, "malloc"), "ptr", NULL, bytes)
        return self.w.invoke(self.w.interpreter("PyMem_RawMalloc"), "ptr", bytes)

    def free(self, taken: Val) -> None:
        if abi.has_handlers():
            self.w.invoke(of_blocks(self.w, "free"), "void", NULL, taken, self.w.number(0))
        else:
            self.w.invoke(self.w.interpreter("PyMem_RawFree"), "void", taken)


def of_blocks(w: CallWriter, name: str) -> Val:
    """Return a word of the free list's state."""
    return w.field(w.word("blocks", blocks().base), FIELDS[name])


class Outputs:
    """Allocate results and make their objects."""

    def __init__(self, writer: CallWriter, inputs: Inputs) -> None:
        self.w, self.inputs = writer, inputs
        self.objects: list[Val] = []  # places of objects that were made

    def array(self, value: Value, order: tuple[int, ...]) -> Val:
        """Make a new array whose axes have this order in memory."""
        w, rank = self.w, value.type.rank
        shape = [w.sizes.number(s) for s in value.type.shape]
        sizes = self._list(shape)
        strides = NULL
        self.inputs.strides[value] = self._dense(shape, order, value.type.dtype.size)
        if order not in (tuple(range(rank)), tuple(range(rank))[::-1]):
            strides = self._list(self.inputs.strides[value])
        fortran = rank > 1 and order == tuple(range(rank))[::-1]
        dtype = w.object(value.type.dtype.numpy)
        w.count(dtype, 1)
        make, data, lead = self._maker(value)
        made = w.invoke(
            make, "ptr", w.object(np.ndarray), dtype, w.number(rank, "i32"), sizes, strides, data,
            w.number(int(fortran), "i32"), lead,
        )  # fmt: skip
        self._note(made, self.objects)
        self.inputs.pointers[value] = w.field(made, abi.DATA)
        return made

    def _maker(self, value: Value) -> tuple[Val, Val, Val]:
        """Return NumPy's function that makes arrays, and nulls; for large arrays that of `array_code`, the size and the
        lead."""
        w, e = self.w, self.w.e
        usual = w.numpy(abi.NEW_ARRAY)
        if not abi.has_handlers():
            return usual, NULL, NULL
        bytes = w.sizes.number(dims.product((value.type.dtype.size, *value.type.shape)))
        least = e.cast("ptrtoint", of_blocks(w, "least"), "i64")
        large = e.icmp("uge", bytes, least)
        make = e.select(large, of_blocks(w, "new_array"), usual)
        lead = e.select(e.icmp("ult", bytes, w.number(HUGE)), self._lead(value), w.number(0))
        size, lead = (e.cast("inttoptr", e.select(large, x, w.number(0)), "ptr") for x in (bytes, lead))
        return make, size, lead

    def _lead(self, value: Value) -> Val:
        """Compute how far after a cache line a result begins: as far as an input with elements of the same size does.

        Then loads and stores are aligned together, which is faster as long as both fit the second-level cache.
        """
        w, e, type = self.w, self.w.e, value.type
        alike = [
            v for v in self.inputs.pointers if v.node is None and v.type.rank and v.type.dtype.size == type.dtype.size
        ]
        if not alike:
            return w.number(0)
        first = next((v for v in alike if v.type.shape == type.shape), alike[0])
        return e.op("and", e.cast("ptrtoint", self.inputs.pointers[first], "i64"), w.number(LEADS))

    def _dense(self, shape: list[Val], order: tuple[int, ...], itemsize: int) -> list[Val]:
        strides, step = [self.w.number(0)] * len(shape), self.w.number(itemsize)
        for axis in reversed(order):
            strides[axis] = step
            step = self.w.e.op("mul", step, shape[axis])
        return strides

    def _list(self, numbers: Sequence[Val]) -> Val:
        memory = self.w.reserve(8 * len(numbers))
        for k, number in enumerate(numbers):
            self.w.put(number, memory, 8 * k)
        return memory

    def _note(self, made: Val, where: list[Val]) -> None:
        place = self.w.reserve(8, cleared=True)
        self.w.put(made, place, 0)
        where.append(place)
        self.w.demand(self.w.e.icmp("ne", made, NULL), FAIL)

    def number(self, value: Value) -> Val:
        """Allocate a result that is a number."""
        memory = self.w.reserve(value.type.dtype.size)
        self.inputs.pointers[value], self.inputs.strides[value] = memory, []
        return memory

    def scalar(self, value: Value, memory: Val) -> Val:
        """Make a NumPy scalar from the number in memory."""
        made = self.w.invoke(self.w.numpy(abi.MAKE_SCALAR), "ptr", memory, self.w.object(value.type.dtype.numpy), NULL)
        self._note(made, self.objects)
        return made

    def given(self, value: Value, out: Out) -> Val:
        """Return the caller's array after checking that it is writeable and has the dtype and shape of the result."""
        w, e = self.w, self.w.e
        obj = self.inputs.argument(out.place)
        if out.item is not None:
            w.demand(w.same(w.field(obj, abi.TYPE), w.object(tuple)))
            w.demand(w.same(w.field(obj, abi.LENGTH, "i64"), w.number(len(self.inputs.call.outs))))
            obj = w.field(obj, abi.ITEMS + 8 * out.item)
        w.demand(w.same(w.field(obj, abi.TYPE), w.object(np.ndarray)))
        layout = classify(out.array.shape, out.array.strides, out.array.itemsize)
        shape = self.inputs.check_array(obj, value, out.array, layout)
        writeable = e.op("and", w.field(obj, abi.FLAGS, "i32"), w.number(abi.WRITEABLE, "i32"))
        w.demand(e.icmp("ne", writeable, w.number(0, "i32")))
        for size, number in zip(value.type.shape, shape, strict=True):
            w.demand(w.same(w.sizes.number(size), number))
        return obj

    def release_objects(self) -> None:
        w = self.w
        for place in self.objects:
            obj = w.field(place, 0)
            w.e.when(w.e.icmp("ne", obj, NULL), lambda obj=obj: w.release(obj))  # type: ignore[misc]

    def packed(self, objects: Sequence[Val]) -> Val:
        """Make a tuple of the results."""
        w = self.w
        pack = w.invoke(w.interpreter("PyTuple_New"), "ptr", w.number(len(objects)))
        w.demand(w.e.icmp("ne", pack, NULL), FAIL)
        for k, obj in enumerate(objects):
            w.put(obj, pack, abi.ITEMS + 8 * k)
        return pack
