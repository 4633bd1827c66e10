"""Generate native calls of BLAS for matrix products, if the user asked for BLAS.

BLAS reads a matrix with contiguous rows or columns, and takes 32-bit sizes. All other calls, and those with an empty
sum, go to Python (`runtime/blas.py`), which copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.ops import NUMPY
from .. import blas
from .memory_code import CallMemory
from .writer import CallWriter, void

MOST = (1 << 31) - 1
PARTS = {"f32": ("float", 1), "f64": ("double", 1), "c64": ("float", 2), "c128": ("double", 2)}


def is_gemm(node: Node, calls: Sequence[Callable[..., Any]]) -> bool:
    """Tell whether a step of a graph is a BLAS product."""
    number = node.attrs.get("call")
    return node.op is NUMPY and isinstance(number, int) and calls[number] is blas.matmul


class Matrix(NamedTuple):
    """How BLAS reads matrices: whether they are transposed, and their leading dimension in elements."""

    is_turned: Val
    step: Val


class Gemm:
    """One product, or a stack of them."""

    def __init__(self, writer: CallWriter, memory: CallMemory, node: Node) -> None:
        self.w, self.memory, self.node = writer, memory, node
        self.left, self.right = node.operands
        self.dtype = node.result.type.dtype

    def demand(self) -> None:
        """Check the arguments; products and results of kernels are dense."""
        w, e = self.w, self.w.e
        for size in {*self.left.type.shape, *self.right.type.shape}:
            number = w.sizes.number(size)
            w.demand(e.op("and", e.icmp("sgt", number, w.number(0)), e.icmp("sle", number, w.number(MOST))))
        for value in {self.left, self.right} & self.memory.strides.keys():
            is_straight, is_turned = self._readable(value)
            w.demand(e.op("or", is_straight, is_turned))
            w.demand(e.icmp("sle", self._matrix(value).step, w.number(MOST)))

    def run(self) -> None:
        """Multiply. Fortran sees every matrix transposed, so it computes the right operand times the left."""
        w, e = self.w, self.w.e
        (*_, m, k), n = self.left.type.shape, self.right.type.shape[-1]
        turned, numbers = w.reserve(8), w.reserve(32)
        one, zero = self._constant(1.0), self._constant(0.0)
        right, left = self._matrix(self.right), self._matrix(self.left)
        for place, matrix in enumerate((right, left)):
            letter = e.select(matrix.is_turned, w.number(ord("T"), "i8"), w.number(ord("N"), "i8"))
            e.store(letter, w.at(turned, place), 1)
        steps = (right.step, left.step, w.sizes.number(n))
        for place, number in enumerate((*(w.sizes.number(s) for s in (n, m, k)), *steps)):
            e.store(e.cast("trunc", number, "i32"), w.at(numbers, 4 * place), 4)
        function = w.word(("blas", self.dtype.name), blas.gemm_address(blas.GEMM[self.dtype.name]))
        sizes = [w.at(numbers, 4 * place) for place in range(6)]

        def product(values: list[Val]) -> list[Val]:
            (at,) = values
            a, b, c = (self._place(v, at) for v in (self.left, self.right, self.node.result))
            void(
                w.invoke(
                    function, "void", turned, w.at(turned, 1), *sizes[:3], one, b, sizes[3], a, sizes[4], zero, c,
                    sizes[5],
                )
            )  # fmt: skip
            return [e.op("add", at, w.number(1))]

        count = w.sizes.number(dims.product(self.node.result.type.shape[:-2]))
        thread = w.invoke(w.interpreter("PyEval_SaveThread"), "ptr")
        e.repeat([w.number(0)], lambda values: e.icmp("slt", values[0], count), product)
        void(w.invoke(w.interpreter("PyEval_RestoreThread"), "void", thread))

    def _constant(self, number: float) -> Val:
        elem, parts = PARTS[self.dtype.name]
        memory = self.w.reserve(16)
        for part in range(parts):
            value = self.w.e.const(elem, 0.0 if part else number)
            self.w.e.store(value, self.w.at(memory, part * self.dtype.size // parts), 8 // parts)
        return memory

    def _readable(self, value: Value) -> tuple[Val, Val]:
        """Tell whether the rows are contiguous and do not overlap, and the same for the columns."""
        (row, column), (rows, columns) = self.memory.strides[value][-2:], value.type.shape[-2:]
        return self._is_dense(row, column, columns), self._is_dense(column, row, rows)

    def _is_dense(self, outer: Val, inner: Val, length: Size) -> Val:
        """Tell whether lines of this many elements are contiguous, and start a whole number of elements apart."""
        w, e, size = self.w, self.w.e, self.w.number(self.dtype.size)
        is_apart = e.icmp("sge", outer, e.op("mul", w.sizes.number(length), size))
        is_whole = e.icmp("eq", e.op("srem", outer, size), w.number(0))
        return e.op("and", e.icmp("eq", inner, size), e.op("and", is_apart, is_whole))

    def _matrix(self, value: Value) -> Matrix:
        w, e = self.w, self.w.e
        is_straight, _ = self._readable(value)
        outer, inner = self.memory.strides[value][-2:]
        step = e.op("sdiv", e.select(is_straight, outer, inner), w.number(self.dtype.size))
        return Matrix(e.not_(is_straight), step)

    def _place(self, value: Value, number: Val) -> Val:
        """Return the address of the operand's matrix for the result's matrix of this number."""
        w, e, place = self.w, self.w.e, self.memory.pointers[value]
        stack, own = self.node.result.type.shape[:-2], value.type.shape[:-2]
        strides = self.memory.strides[value]
        for axis in reversed(range(len(stack))):
            size = w.sizes.number(stack[axis])
            at, number = e.op("srem", number, size), e.op("sdiv", number, size)
            mine = axis - (len(stack) - len(own))
            if mine >= 0 and own[mine] != 1:
                place = e.offset(place, e.op("mul", at, strides[mine]))
        return place
