"""Generate the C entry points: they check arguments and call the code for this CPU.

`name` takes dense arrays in C order as plain pointers, and each size once. `name_strided` takes a `weft_array` for each
array. Both dispatch through a table of functions, indexed by CPU level and by which sizes are 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...backends.llvm.code.text import Val
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.layouts import C, byte_strides
from ..bounds import Bound
from .forms import CForm, CParameter
from .memory_code import apart, span
from .status import Status
from .writer import NULL, CallWriter

LEVEL = "@weft.level"
DATA, SHAPE, STRIDES = 0, 8, 16  # offsets in a `weft_array`
_LLVM = {"bool": "i8", "f32": "float", "f64": "double", "c64": "float", "c128": "double"}


class Gate:
    """Generate one C function."""

    def __init__(self, form: CForm, kinds: Sequence[str], bounds: Sequence[Bound], strided: bool) -> None:
        self.form, self.kinds, self.bounds, self.strided = form, kinds, bounds, strided
        self.w = CallWriter()
        self.words = self.w.reserve(8 * form.stride_word(len(form.items)))
        self.pointers: dict[int, Val] = {}  # by item; numbers have none
        self.strides: dict[int, list[Val]] = {}

    def text(self) -> str:
        w, name = self.w, self.form.name + ("_strided" if self.strided else "")
        w.e.place("begin")
        if self.strided:
            self._read_arrays()
        else:
            self._read_pointers()
        self._check_numbers()
        self._check_arrays()
        self._call()
        parameters = ", ".join(f"{elem} %{name}" for elem, name in self._parameters())
        for label in sorted(w.exits):
            w.e.place(label)
            w.e.lines.append(f"  ret i32 {Status[label.upper()]}")
        lines = [f"define i32 @{name}({parameters}) {{\nentry:", *w.allocas, *w.begins, "  br label %begin"]
        return "\n".join([*lines, *w.e.lines, "}", *w.e.declared.values(), ""])

    def _parameters(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for item in self.form.arguments:
            if item.is_size:
                found += [("i64", item.name)] if self.strided else []
            else:
                found += [("ptr", item.name)] if item.rank else scalar_parameters(item)
        found += [] if self.strided else [("i64", name) for name in self.form.sizes.values()]
        return found + [("ptr", item.name) for item in self.form.results]

    # -- what came

    def _place(self, k: int) -> int:
        """Return the word that holds an item's address."""
        arguments = len(self.form.arguments)
        return self.form.argument_word(k) if k < arguments else self.form.result_word(k - arguments)

    def _put_number(self, k: int, item: CParameter) -> None:
        memory = self.w.reserve(16)
        for part, (elem, name) in enumerate(scalar_parameters(item)):
            self.w.put(Val(f"%{name}", elem, 0), memory, part * item.dtype.size // 2)
        self.w.put(memory, self.words, 8 * self._place(k))

    def _put_sizes(self, numbers: Mapping[str, Val]) -> None:
        for k, symbol in enumerate(self.form.sizes):
            self.w.demand(self.w.e.icmp("sge", numbers[symbol], self.w.number(0)), Status.BAD_SIZE.label)
            self.w.put(numbers[symbol], self.words, 8 * self.form.size_word(k))
        self.w.sizes.bind(numbers)
        self.w.sizes.bind({symbol: self.w.number(n) for symbol, n in self.form.fixed.items()})

    def _read_pointers(self) -> None:
        w = self.w
        self._put_sizes({symbol: Val(f"%{name}", "i64", 0) for symbol, name in self.form.sizes.items()})
        for k, item in enumerate(self.form.items):
            if item.is_size:
                w.put(NULL, self.words, 8 * self._place(k))
                continue
            if not item.rank and k < len(self.form.arguments):
                self._put_number(k, item)
                continue
            pointer = Val(f"%{item.name}", "ptr", 0)
            w.put(pointer, self.words, 8 * self._place(k))
            steps = byte_strides(C, item.shape, item.dtype.size, "")
            self.pointers[k], self.strides[k] = pointer, [w.sizes.number(s) for s in steps]

    def _read_arrays(self) -> None:
        w, found = self.w, dict[str, Val]()
        shapes: list[tuple[Size, Val]] = []
        for k, item in enumerate(self.form.items):
            given = Val(f"%{item.name}", "ptr", 0)
            if item.is_size:
                number = Val(f"%{item.name}", "i64", 0)
                w.put(NULL, self.words, 8 * self._place(k))
                w.put(w.number(1), self.words, 8 * self.form.stride_word(k))
                shapes.append((item.shape[0], number))
                found.setdefault(str(item.shape[0]), number)
                continue
            if not item.rank:
                if k < len(self.form.arguments):
                    self._put_number(k, item)
                else:
                    w.put(given, self.words, 8 * self._place(k))
                    self.pointers[k], self.strides[k] = given, []
                continue
            w.demand(w.e.icmp("ne", given, NULL), Status.NULL_POINTER.label)
            data, shape, strides = (w.field(given, offset) for offset in (DATA, SHAPE, STRIDES))
            for pointer in (shape, strides):
                w.demand(w.e.icmp("ne", pointer, NULL), Status.NULL_POINTER.label)
            w.put(data, self.words, 8 * self._place(k))
            steps = [w.field(strides, 8 * axis, "i64") for axis in range(item.rank)]
            for axis, size in enumerate(item.shape):
                number = w.field(shape, 8 * axis, "i64")
                w.put(steps[axis], self.words, 8 * (self.form.stride_word(k) + axis))
                shapes.append((size, number))
                if k < len(self.form.arguments) and str(size) in self.form.sizes:
                    found.setdefault(str(size), number)
            self.pointers[k], self.strides[k] = data, steps
        self._put_sizes(found)
        for size, number in shapes:
            expected = w.sizes.number(size)
            if expected.text != number.text:
                w.demand(w.same(number, expected), Status.MISMATCH.label)

    # -- checks

    def _check_numbers(self) -> None:
        """Check that integers fit the dtype of the array they are combined with, as Python integers must."""
        w = self.w
        for bound in self.bounds:
            number = Val(f"%{self.form.arguments[bound.index].name}", "i64", 0)
            lowest, highest = bound.range
            for test, limit in (("sge", max(lowest, -(1 << 63))), ("sle", min(highest, (1 << 63) - 1))):
                w.demand(w.e.icmp(test, number, w.number(limit)), Status.BAD_NUMBER.label)

    def _check_arrays(self) -> None:
        w, e = self.w, self.w.e
        for k, pointer in self.pointers.items():
            item = self.form.items[k]
            w.demand(w.sizes.fits(item.shape, item.dtype.size), Status.BAD_SIZE.label)
            some = w.number(1, "i1")
            for size in item.shape:
                some = e.op("and", some, e.icmp("ne", w.sizes.number(size), w.number(0)))
            w.demand(e.not_(e.op("and", some, w.same(pointer, NULL))), Status.NULL_POINTER.label)
        spans = {
            k: span(w, pointer, self.form.items[k].shape, self.strides[k], self.form.items[k].dtype.size)
            for k, pointer in self.pointers.items()
        }
        for k in range(len(self.form.arguments), len(self.form.items)):
            for other in (j for j in spans if j < k):
                w.demand(apart(w, spans[k], spans[other]), Status.OVERLAP.label)

    def _has_kind(self, kind: str) -> Val:
        """Tell whether all arrays have a kind of layout; the stride of an axis with one element does not count."""
        w, e = self.w, self.w.e
        all_have = w.number(1, "i1")
        for k, item in enumerate(self.form.items):
            if not item.rank or item.is_size:
                continue
            axes = list(range(item.rank)) if kind == "fortran" else list(range(item.rank))[::-1]
            step, fits, done = w.number(item.dtype.size), w.number(1, "i1"), w.number(0, "i1")
            for axis in axes:
                number = w.sizes.number(item.shape[axis])
                is_one = w.same(number, w.number(1))
                follows = e.op("or", w.same(self.strides[k][axis], step), is_one)
                fits = e.op("and", fits, e.op("or", follows, done))
                if kind == "unit":  # only the innermost axis with several elements counts
                    done = e.op("or", done, e.not_(is_one))
                else:
                    step = e.op("mul", step, number)
            all_have = e.op("and", all_have, fits)
        return all_have

    # -- the way on

    def _call(self) -> None:
        w, e, count = self.w, self.w.e, 1 << len(self.form.sizes)
        level = w.invoke(Val(LEVEL, "ptr", 0), "i32")
        w.demand(e.icmp("sge", level, w.number(0, "i32")), Status.BAD_CPU.label)
        place = e.op("mul", e.cast("zext", level, "i64"), w.number(8 * count))
        for k, symbol in enumerate(self.form.sizes):
            is_one = e.cast("zext", w.same(w.sizes.known[symbol], w.number(1)), "i64")
            place = e.op("add", place, e.op("mul", is_one, w.number(8 << k)))
        *others, last = self.kinds if self.strided else self.kinds[:1]
        table = Val(f"@{self.form.name}.{last}", "ptr", 0)
        for kind in reversed(others):
            table = e.select(self._has_kind(kind), Val(f"@{self.form.name}.{kind}", "ptr", 0), table)
        function = e.load(e.offset(table, place), "ptr", 0, 8)
        e.lines.append(f"  ret i32 {w.invoke(function, 'i32', self.words).text}")


def scalar_parameters(item: CParameter) -> list[tuple[str, str]]:
    """Return the LLVM type and name of each parameter that passes a number; a complex number takes two."""
    elem = _llvm(item.dtype)
    if item.dtype.kind == "complex":
        return [(elem, f"{item.name}_re"), (elem, f"{item.name}_im")]
    return [(elem, item.name)]


def _llvm(dtype: DType) -> str:
    return _LLVM.get(dtype.name, f"i{dtype.bits}")


def table_text(name: str, kind: str, names: Sequence[str]) -> str:
    """Generate the table of functions for a kind of layout: by level, then one bit for each size that is 1."""
    items = ", ".join(f"ptr @{function}" for function in names)
    return f"@{name}.{kind} = internal constant [{len(names)} x ptr] [{items}]\n"
