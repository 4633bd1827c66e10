"""Write the checks of a call's arguments, and the registers for their addresses, strides and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.dtypes import DType
from ...ir.footprints import Footprint
from ...ir.graph import Value
from ...ir.layouts import UNIT, C, F
from ...ir.source import ABSENT, Guard, Leaf, Packed
from ..bounds import Bound
from . import abi
from .call import Input, NativeCall, comparison
from .recipe import LEAST, MOST, RecipeWriter, Register, SizeRegisters, field_words
from .steps import MOST_BYTES

Array = np.ndarray[Any, Any]
LONG = 1 << 63


class Arguments:
    """Writes the checks of arguments; afterwards their addresses, strides and sizes are in registers."""

    def __init__(self, writer: RecipeWriter, is_exact: bool = False) -> None:
        """`is_exact` demands the sizes and strides of the example, not only its layout classes."""
        self.w, self._is_exact = writer, is_exact
        self.sizes = SizeRegisters(writer)
        self.pointers: dict[Value, Register] = {}
        self.strides: dict[Value, list[Register]] = {}
        self.orders: dict[Value, tuple[int, ...]] = {}  # how the axes of dense arrays lie, if not in C order
        self.rows: dict[tuple[Size, ...], Register] = {}  # sizes of a shape that lie in a row
        self.seen: dict[tuple[Size, ...], int] = {}  # the largest elements that arrays in memory have with a shape
        self.leaves: dict[str, int | Register] = {}  # the places of inputs that lie in containers
        self._late: list[tuple[Size, Register]] = []
        self._equal: dict[str, str] = {}
        self._guards: list[tuple[Size, Size]] = []

    def read(
        self, values: Sequence[Value], call: NativeCall, bounds: Sequence[Bound], guards: Sequence[tuple[Size, Size]]
    ) -> None:
        """Check the arguments, and the equalities of sizes that the graph relies on."""
        for number, expected in call.fixed:
            self._fixed(8 * number, expected)
        check_names(self.w, call.guards)
        self.expect(guards)
        for index, (value, given) in enumerate(zip(values, call.inputs, strict=True)):
            place = self.place(given)
            if type(given.given) is np.ndarray:
                self.array(place, value, value.type.shape, given.array, given.layout)
                continue
            if given.is_size:
                self.size(place, value, len(given.array))
                continue
            dtype, ranges = value.type.dtype, [b.range for b in bounds if b.index == index]
            if type(given.given) is int and dtype.is_integer and not dtype.weak:
                ranges.append(Bound(index, "", dtype, None).range)
            lowest = max([-LONG, *(low for low, _ in ranges)])
            highest = min([LONG - 1, *(high for _, high in ranges)])
            self.pointers[value] = self.number(place, type(given.given), dtype, lowest, highest)
        self._is_exact = False
        self.settle()

    def expect(self, guards: Sequence[tuple[Size, Size]]) -> None:
        """Assume the equalities of sizes before arrays are read; `settle` checks them at the end."""
        for left, right in guards:
            if is_symbol(left) and is_symbol(right) and str(right) not in self._equal:
                self._equal[str(right)] = str(left)
            else:
                self._guards.append((left, right))

    def settle(self) -> None:
        """Check what could not be checked before all sizes were known."""
        self.settle_late(())
        for one, same in self._equal.items():
            if {one, same} <= self.sizes.known.keys():
                self.w.check("equal", self.sizes.known[one], self.sizes.known[same])
        self._check_guards(self._guards)

    def settle_late(self, guards: Sequence[tuple[Size, Size]]) -> None:
        """Check the sizes of arrays that were read since, and the guards on them."""
        for size, register in self._late:
            self.w.check("equal", self.sizes.number(size), register)
        self._late.clear()
        self._check_guards(guards)

    def place(self, given: Input) -> int | Register:
        """Return where an input is found: an argument, a leaf of one, or an object of the recipe."""
        if isinstance(given.place, str):
            return self.leaves[given.place]
        return self.constant(given.given) if given.place is None else 8 * given.place

    def constant(self, x: Any) -> Register:
        """Return the place of an object that is not an argument: a captured array, or a default."""
        return self.w.constant(self.w.object(x))._replace(sign=-1)

    def _fixed(self, place: int | Register, fixed: Any) -> None:
        """Check what was fixed when the graph was traced: a value, or the structure of a container.

        Types, lengths and keys with their order must be those of the example. The places of its leaves are recorded.
        """
        w, tree = self.w, fixed.tree if isinstance(fixed, Packed) else fixed
        kind = type(tree)
        if isinstance(tree, Leaf):
            self.leaves[tree.name] = place
            return
        if kind is not dict and not isinstance(tree, (list, tuple)):
            w.check("same_value", place, w.object(tree), comparison(tree))
            return
        items = w.register(len(tree))
        if kind is dict:
            keys = [word for key in tree for word in (w.object(key), comparison(key))]
            w.check("dict_items", place, w.object(dict), len(tree), w.register(3), items, more=keys)
        else:
            w.check("list_items" if kind is list else "pair", place, w.object(kind), len(tree), items)
        for k, item in enumerate(tree.values() if kind is dict else tree):
            self._fixed(items.after(k)._replace(sign=-1), item)

    # -- numbers

    def number(
        self,
        place: int | Register,
        kind: type,
        dtype: DType,
        lowest: int = -LONG,
        highest: int = LONG - 1,
        to: Register | None = None,
    ) -> Register:
        """Return the register with the address of a number in the dtype that the graph needs.

        An int has its value in the register `to`.
        """
        w, pointer = self.w, self.w.register()
        type_ = w.object(kind)
        if kind is bool:
            w.check("truth", place, type_, w.object(True), w.register(), pointer)
        elif kind is int:
            converted = 0 if dtype.kind != "float" else 1 if dtype.size == 4 else 2
            w.check("whole", place, type_, lowest, highest, converted, to or w.register(), pointer)
        elif kind is float and dtype.size == 4:
            w.check("single", place, type_, w.register(), pointer)
        else:
            w.check("scalar", place, type_, pointer)
        return pointer

    def size(self, place: int | Register, value: Value, seen: int) -> None:
        """Check an int that is a size: like the example, it must be 0, 1 or more."""
        w, to = self.w, self.w.register()
        lowest, highest = (seen, seen) if seen < 2 else (2, LONG - 1)
        self.pointers[value] = w.register()
        w.check("whole", place, w.object(int), lowest, highest, 0, to, self.pointers[value])
        (size,) = value.type.shape
        if is_symbol(size) and str(size) not in self.sizes.known:
            self.sizes.known[str(size)] = to
        else:
            self._late.append((size, to))

    # -- arrays

    def array(
        self,
        place: int | Register,
        value: Value,
        shape: tuple[Size, ...],
        example: Array,
        layout: str,
        writeable: bool = False,
        mask: int = 0,
        is_sorted: bool = True,
    ) -> Register:
        """Check that dtype, rank, layout class and sizes match the example, and the flags in `mask`.

        If `is_sorted`, strides of a general layout must be sorted like those of the example. Return the first of the
        registers with the sizes.
        """
        w, rank = self.w, example.ndim
        flags = mask & example.flags.num
        if rank:
            mask, flags = (a | b for a, b in zip((mask, flags), _flags(layout), strict=True))
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
        if rank in (1, 2) and is_dense and -1 not in wanted and isinstance(place, int):
            w.check("row" if rank == 1 else "plane", place, dtype, mask, flags, data, row, *wanted)
        else:
            w.check("array", place, dtype, rank, mask, flags, data, row, strides, more=wanted)
        if isinstance(strides, Register):
            self.strides[value] = [strides.after(axis) for axis in range(rank)]
            if layout not in (C, F):
                self._check_layout(layout, example, row, strides, is_sorted)
            if self._is_exact and not writeable:
                for axis, (size, stride) in enumerate(zip(example.shape, example.strides, strict=True)):
                    w.check("equal", row.after(axis), w.constant(size))
                    w.check("equal", strides.after(axis), w.constant(stride))
        self.rows.setdefault(shape, row)
        if is_dense:
            self.seen[shape] = max(self.seen.get(shape, 0), example.itemsize)
            if layout == F:
                self.orders[value] = tuple(range(rank))[::-1]
        return row

    def _check_layout(self, layout: str, example: Array, row: Register, strides: Register, is_sorted: bool) -> None:
        w = self.w
        axes = [k for k, n in enumerate(example.shape) if n != 1]
        w.check("unit_layout", len(axes), strides, row, example.itemsize, int(layout == UNIT), more=axes)
        if layout == UNIT or len(axes) < 2 or not is_sorted:
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
        """Put the sizes of a shape into adjacent registers, and return the first."""
        found = self.rows.get(shape)
        if found is None:
            found = self.rows[shape] = self.in_row([self.sizes.number(s) for s in shape])
        return found

    def in_row(self, numbers: Sequence[Register]) -> Register:
        """Put these numbers into adjacent registers, and return the first."""
        if len(numbers) == 1:
            return numbers[0]
        found = self.w.register(max(1, len(numbers)))
        if numbers:
            self.w.check("moves", len(numbers), more=[r for k, n in enumerate(numbers) for r in (n, found.after(k))])
        return found

    # -- sizes

    def check_footprints(self, footprints: Sequence[Footprint]) -> None:
        """Check that no number of bytes overflows.

        Anything that is no larger than an array in memory need not be checked.
        """
        for footprint in footprints:
            shape = tuple(footprint.shape)
            if not all(dims.symbols(s) <= self.sizes.known.keys() for s in shape):
                continue
            if footprint.itemsize <= self.seen.get(shape, 0) or all(isinstance(s, int) for s in shape):
                continue
            if len(shape) == 1:
                self.w.check_between(self.sizes.number(shape[0]), 0, (MOST_BYTES - 1) // max(footprint.itemsize, 1))
            else:
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
                self.w.check_between(self.sizes.number(size), lowest, highest)


def can_check(guards: Sequence[Guard]) -> bool:
    """Tell whether a recipe can check these guards. NumPy's error state must lie in memory as we expect."""
    return all(type(guard.holder) is not ContextVar for guard in guards) or abi.has_states()


def check_names(w: RecipeWriter, guards: Sequence[Guard]) -> None:
    """Check that names outside still mean the same. Names of one dictionary are checked in one step."""
    spaces: dict[int, list[Guard]] = {}
    fields: dict[int, list[Guard]] = {}
    for guard in guards:
        if type(guard.holder) is ContextVar:
            w.check_quiet(guard.holder)
        elif isinstance(guard.holder, dict):
            spaces.setdefault(id(guard.holder), []).append(guard)
        else:
            w.kept.append(guard)
            fields.setdefault(id(guard.holder), []).append(guard)
    for held in fields.values():
        if [guard.key for guard in held] == list(abi.FIELDS):
            w.check("function", id(held[0].holder), *(field_words(guard)[1] for guard in held))
        else:
            for guard in held:
                w.check("field", *field_words(guard))
    for named in spaces.values():
        words = [part for _, key, x in named for part in (w.object(key), hash(key), 0 if x is ABSENT else w.object(x))]
        w.check("names", w.object(named[0].holder), int(abi.has_dict_versions()), 0, len(named), more=words)


def is_symbol(size: Size) -> bool:
    """Tell whether a size is one symbol."""
    return isinstance(size, Dim) and size.symbols == {str(size)}


def limits_of(left: Size, right: Size) -> tuple[Size, int, int] | None:
    """Read `min(number, k*size) == k*size` as the range of a size; the same for `max`."""
    if not isinstance(left, Dim) or not isinstance(right, Dim):
        return None
    ((monomial, factor),) = left.terms if len(left.terms) == 1 else (((), 0),)
    if len(monomial) != 1 or factor != 1 or monomial[0].name not in ("min", "max") or len(monomial[0].args) != 2:
        return None
    numbers = [a for a in monomial[0].args if isinstance(a, int)]
    if len(numbers) != 1 or right not in monomial[0].args:
        return None
    size, times = right, 1
    if len(right.terms) == 1:
        ((product, times),) = right.terms
        if times < 1:
            return None
        size = Dim(((product, 1),))
    if monomial[0].name == "min":
        return size, LEAST, numbers[0] // times
    return size, -(-numbers[0] // times), MOST


def _flags(layout: str) -> tuple[int, int]:
    """Return which of an array's flags show its layout class, and their values."""
    if layout == C:
        return abi.C_CONTIGUOUS, abi.C_CONTIGUOUS
    return abi.C_CONTIGUOUS | abi.F_CONTIGUOUS, abi.F_CONTIGUOUS if layout == F else 0
