"""Generate the functions of loops that change elements of arrays: `i32 name(ptr words)`.

The words are the addresses of the operands, those of the results, and the kernel's sizes. All arrays are dense and in C
order, and no result overlaps an operand. A function returns `OTHER_SIZES` if its piece does not fit the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

import numpy as np

from ...backends.llvm.code.casts import cast, constant, memory_element
from ...backends.llvm.code.text import Val
from ...backends.llvm.nests.code import INDEX, Failure, NestCode
from ...frontend.programs.planning.pieces import (
    SIZE_END,
    ArrayInput,
    ComplexResult,
    EitherResult,
    FreshInput,
    FreshResult,
    Input,
    KnownResult,
    NumberInput,
    NumberResult,
    ReshapedResult,
    Result,
    SameResult,
    ViewOf,
    ViewResult,
)
from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import BOOL, DType
from ...ir.errors import TypeProblem, Unsupported
from ...ir.layouts import byte_strides
from ...ir.types import TensorType
from .ends import NEXT, LibcHeap, copy_elements, write_ends
from .loop_variants import CompiledPiece, size_of
from .memory_code import CallMemory
from .sizes import SizeCode
from .status import Status
from .threads import LAUNCH, CCrew
from .writer import NULL, CallWriter

if TYPE_CHECKING:
    from ...frontend.lowering.element_stores import WrittenLoop

WORDS = Val("%words", "ptr", 0)
NumberKind = Union[NumberResult, EitherResult, KnownResult, ComplexResult]


class PieceFunction:
    """Write the function of one piece. `symbols` are the kernel's sizes, in the order of their words."""

    def __init__(self, loop: WrittenLoop, made: CompiledPiece, code: NestCode, symbols: Sequence[str]) -> None:
        self.loop, self.made, self.piece, self.code = loop, made, made.piece, code
        self.w = CallWriter()
        self.memory = CallMemory(self.w, LibcHeap(self.w), {})
        self.own = SizeCode(self.w.e)  # of the nest's sizes; the writer's are the kernel's
        self.symbols = symbols
        self.operands = {name: k for k, (name, _, _) in enumerate(loop.inputs)}
        self.types = {name: type for name, _, type in loop.inputs}
        self.results = {name: k for k, (name, _) in enumerate(loop.outputs)}
        self.made_by = dict(self.piece.results)
        self.homes: dict[int, str] = {}  # results that the nest makes in place, by buffer
        for name, result in reversed(self.piece.results):
            if isinstance(result, FreshResult) and result.view is None and self._fits(result.buffer, name):
                self.homes[result.buffer] = name
        self.buffers: list[Val] = []

    def text(self, name: str) -> str:
        w = self.w
        w.e.place("begin")
        first = len(self.operands) + len(self.results)
        w.sizes.bind({s: w.field(WORDS, 8 * (first + k), "i64") for k, s in enumerate(self.symbols)})
        self._bind_numbers()
        for left, right in self.made.guards:
            w.demand(w.same(w.sizes.number(left), w.sizes.number(right)), NEXT)
        self.own.bind({s: w.sizes.number(size) for s, size in self.made.meant.items()})
        self.buffers = [self._buffer(k, given) for k, given in enumerate(self.piece.inputs)]
        self._run()
        for (_, type), (own, result) in zip(self.loop.outputs, self.piece.results, strict=True):
            self._hand_back(own, type, result)
        write_ends(w, self.memory)
        lines = [f"define i32 @{name}(ptr %words) {{\nentry:", *w.allocas, *w.begins, "  br label %begin"]
        return "\n".join([*lines, *w.e.lines, "}", *w.e.declared.values(), ""])

    # -- operands

    def _operand(self, name: str) -> Val:
        return self.w.field(WORDS, 8 * self.operands[name])

    def _result(self, name: str) -> Val:
        return self.w.field(WORDS, 8 * (len(self.operands) + self.results[name]))

    def _bind_numbers(self) -> None:
        """Read the numbers that steer loops. Each has the sign of this piece, and its absolute value is a size."""
        w, e = self.w, self.w.e
        needed = {path[0] for _, path in self.piece.sizes}
        for name, is_negative in self.made.negative.items():
            number = w.field(self._operand(name), 0, "i64")
            w.demand(e.icmp("slt" if is_negative else "sge", number, w.number(0)), NEXT)
            size = e.op("sub", w.number(0), number) if is_negative else number
            if name in needed:
                w.demand(e.icmp("ult", size, w.number(SIZE_END)), Status.BAD_SIZE.label)
            w.sizes.bind({str(size_of(name)): size})
        for name, known in self.loop.sizes:
            if name in needed:
                w.demand(e.icmp("ult", w.sizes.number(known), w.number(SIZE_END)), Status.BAD_SIZE.label)

    def _buffer(self, k: int, given: Input) -> Val:
        """Return the address of a buffer of the nest: that of an operand, of a result, or new memory."""
        w, type = self.w, self.piece.nest.inputs[k].type
        if isinstance(given, NumberInput):
            return w.at(self._operand(given.path[0]), (given.part or 0) * type.dtype.size)
        if isinstance(given, ArrayInput):
            name = given.path[0]
            return self._copied(name) if name in self.results else self._operand(name)
        if not isinstance(given, FreshInput):
            return w.reserve(type.dtype.size, cleared=True)
        if k in self.homes:
            return self._result(self.homes[k])
        return self._scratch(type)

    def _copied(self, name: str) -> Val:
        """Return a copy of an array that the loop changes.

        It is in the memory of its result, if the variable is still that array.
        """
        w, type = self.w, self.types[name]
        is_own = self.made_by[name] == SameResult((name,))
        pointer = self._result(name) if is_own else self._scratch(type, w.sizes)
        bytes = w.sizes.number(dims.product((type.dtype.size, *type.shape)))
        w.e.declared["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        copy = Val("@llvm.memcpy.p0.p0.i64", "ptr", 0)
        w.invoke(copy, "void", pointer, self._operand(name), bytes, w.number(0, "i1"))
        return pointer

    def _scratch(self, type: TensorType, sizes: SizeCode | None = None) -> Val:
        sizes = sizes or self.own
        self.w.demand(sizes.fits(type.shape, type.dtype.size), Status.BAD_SIZE.label)
        return self.memory.scratch(sizes.number(dims.product((type.dtype.size, *type.shape))))

    def _type(self, name: str) -> TensorType:
        return self.loop.outputs[self.results[name]][1]

    # -- the nest

    def _run(self) -> None:
        """Fill the frame of the nest and call it; loops that it shares run on the program's threads."""
        w, e = self.w, self.w.e
        frame, crew, workers = w.reserve(8 * len(self.code.entries)), CCrew(w), w.number(1)
        shares = any(entry.kind == "launch" for entry in self.code.entries)
        if shares:
            is_long = e.icmp("sge", self.own.number(self.code.time), w.number(crew.shared_from))
            workers = e.select(is_long, crew.threads(), workers)
        for k, entry in enumerate(self.code.entries):
            word = w.number(0)
            if entry.kind == "pointer":
                word = self.buffers[entry.slot]
            elif entry.kind == "size":
                word = self.own.known[entry.symbol]
            elif entry.kind == "stride":
                word = self._strides(self.piece.nest.inputs[entry.slot].type)[entry.axis]
            elif entry.kind == "launch":
                is_alone = e.icmp("eq", workers, w.number(1))
                word = e.select(is_alone, NULL, Val(LAUNCH, "ptr", 0))
            elif entry.kind == "workers":
                word = workers
            elif entry.kind == "scratch":
                w.demand(self.own.fits((entry.bytes,), 1 << 10), Status.BAD_SIZE.label)  # for up to 1,024 threads
                word = self.memory.scratch(e.op("mul", self.own.number(entry.bytes), workers))
            w.put(word, frame, 8 * k)
        zeros = [w.number(0)] * 5
        status = w.invoke(Val(f"@{self.code.names[0]}", "ptr", 0), "i32", frame, *zeros)
        self._check(status, frame)

    def _check(self, status: Val, frame: Val) -> None:
        w = self.w
        place = next((k for k, x in enumerate(self.code.entries) if x.kind == "failure" and x.slot == 0), None)
        for k, failure in enumerate(self.code.failures):
            label = _status(failure).label
            if place is not None and label != Status.BAD_INDEX.label:
                w.demand(w.e.icmp("ne", w.field(frame, 8 * place, "i64"), w.number(k + 1)), label)
        w.demand(w.same(status, w.number(0, "i32")), Status.BAD_INDEX.label)

    def _strides(self, type: TensorType) -> list[Val]:
        return [self.own.number(s) for s in byte_strides("C", type.shape, type.dtype.size, "")]

    # -- results

    def _hand_back(self, name: str, type: TensorType, result: Result) -> None:
        """Write a result to its memory, unless it is there already."""
        if isinstance(result, (NumberResult, EitherResult, KnownResult, ComplexResult)) and not type.rank:
            self._store_number(name, type.dtype, result)
            return
        if isinstance(result, FreshResult) and self.homes.get(result.buffer) == name:
            return
        if result == SameResult((name,)) and ArrayInput((name,), type.dtype.kind == "complex") in self.piece.inputs:
            return
        source, dtype, strides = self._array(name, result)
        if dtype != type.dtype:
            raise TypeProblem(f"'{name}' must keep its dtype in a loop, but becomes {dtype}", self.loop.span)
        shape = [self.w.sizes.number(s) for s in type.shape]
        target = [self.w.sizes.number(s) for s in byte_strides("C", type.shape, dtype.size, "")]
        copy_elements(self.w, dtype.size, shape, (source, strides), (self._result(name), target))

    def _array(self, name: str, result: Result) -> tuple[Val, DType, list[Val]]:
        """Return how an array lies in memory: its address, its dtype and its strides."""
        if isinstance(result, FreshResult):
            given = self.piece.inputs[result.buffer]
            assert isinstance(given, FreshInput)
            inner = self._dense(tuple(given.shape[axis] for axis in given.order), given.dtype)
            strides = [inner[given.order.index(axis)] for axis in range(len(given.order))]
            return self._viewed(self.buffers[result.buffer], given.dtype, strides, result.view)
        if isinstance(result, (SameResult, ViewResult, ReshapedResult)) and len(result.path) == 1:
            own = self.types[result.path[0]]
            shape = result.shape if isinstance(result, ReshapedResult) else None
            strides = self._dense(shape, own.dtype) if shape else self._kernel_strides(own)
            view = result.view if isinstance(result, ViewResult) else None
            return self._viewed(self._current(result.path[0]), own.dtype, strides, view)
        raise self._unsupported(name)

    def _fits(self, buffer: int, name: str) -> bool:
        given = self.piece.inputs[buffer]
        if not isinstance(given, FreshInput) or given.dtype != self._type(name).dtype:
            return False
        return given.order == tuple(range(len(given.order)))

    def _current(self, name: str) -> Val:
        """Return the address of a variable's array, which may be a copy."""
        for k, given in enumerate(self.piece.inputs):
            if isinstance(given, ArrayInput) and given.path == (name,):
                return self.buffers[k]
        return self._operand(name)

    def _viewed(
        self, pointer: Val, dtype: DType, strides: Sequence[Val], view: ViewOf | None
    ) -> tuple[Val, DType, list[Val]]:
        """Return the address and strides of a view."""
        if view is None:
            return pointer, dtype, list(strides)
        if view.part is not None:
            raise Unsupported("a part of a complex array can't leave a loop in a C library", self.loop.span)
        e = self.w.e
        for start, stride in zip(view.starts, strides, strict=True):
            pointer = e.offset(pointer, e.op("mul", self.own.number(start), stride))
        own = []
        for axis in range(len(view.shape)):
            total = self.w.number(0)
            for row, stride in zip(view.steps, strides, strict=True):
                if row[axis]:
                    total = e.op("add", total, e.op("mul", self.w.number(row[axis]), stride))
            own.append(total)
        return pointer, dtype, own

    def _dense(self, shape: tuple[Size, ...], dtype: DType) -> list[Val]:
        return [self.own.number(s) for s in byte_strides("C", shape, dtype.size, "")]

    def _kernel_strides(self, type: TensorType) -> list[Val]:
        return [self.w.sizes.number(s) for s in byte_strides("C", type.shape, type.dtype.size, "")]

    def _store_number(self, name: str, dtype: DType, result: NumberKind) -> None:
        w, e, pointer = self.w, self.w.e, self._result(name)
        if isinstance(result, ComplexResult):
            size = self.piece.nest.inputs[result.real].type.dtype.size
            if 2 * size != dtype.size:
                raise self._unsupported(name)
            for k, buffer in enumerate((result.real, result.imag)):
                e.store(e.load(self.buffers[buffer], f"i{8 * size}", 0, size), w.at(pointer, k * size), size)
            return
        if dtype.kind == "complex":
            raise self._unsupported(name)
        if isinstance(result, EitherResult):
            is_first = e.icmp("ne", e.load(self.buffers[result.is_first], "i8", 0, 1), w.number(0, "i8"))
            first, second = (self._number(name, dtype, each) for each in (result.first, result.second))
            number = e.select(is_first, first, second)
        else:
            number = self._number(name, dtype, result)
        e.store(number, pointer, dtype.size)

    def _number(self, name: str, dtype: DType, result: NumberResult | KnownResult) -> Val:
        """Load a number and convert it to the dtype that the variable has in memory."""
        e = self.w.e
        if isinstance(result, KnownResult):
            if not isinstance(result.value, (bool, int, float)):
                raise self._unsupported(name)
            number = constant(e, dtype, result.value)
        else:
            have = self.piece.nest.inputs[result.buffer].type.dtype
            if not np.can_cast(have.numpy, dtype.numpy, "same_kind"):
                raise TypeProblem(f"'{name}' must keep its dtype in a loop, but becomes {have}", self.loop.span)
            number = e.load(self.buffers[result.buffer], memory_element(have), 0, have.size)
            if have == dtype:
                return number
            if have == BOOL:
                number = e.icmp("ne", number, self.w.number(0, "i8"))
            number = cast(e, number, have, dtype)
        return e.cast("zext", number, "i8") if dtype == BOOL else number

    def _unsupported(self, name: str) -> Unsupported:
        return Unsupported(f"the value of '{name}' after this loop can't be part of a C library", self.loop.span)


def _status(failure: Failure) -> Status:
    if failure.kind == INDEX:
        return Status.BAD_INDEX
    return Status.EMPTY if "empty" in failure.message else Status.BAD_NUMBER
