"""Write native calls of BLAS for matrix products, if the user asked for BLAS.

BLAS reads a matrix with contiguous rows or columns, and takes 32-bit sizes. All other calls, and those with an empty
sum, go to Python (`runtime/blas.py`), which copies.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import dims
from ...ir.graph import Node, Value
from ...ir.ops import NUMPY
from .. import blas
from .recipe import RecipeWriter, Register, SizeRegisters

MOST = (1 << 31) - 1


def is_gemm(node: Node, calls: Sequence[Callable[..., Any]]) -> bool:
    """Tell whether a step of a graph is a BLAS product."""
    number = node.attrs.get("call")
    return node.op is NUMPY and isinstance(number, int) and calls[number] is blas.matmul


class BlasProduct:
    """One product, or a stack of them. Its checks are written when it is made."""

    def __init__(
        self, writer: RecipeWriter, sizes: SizeRegisters, node: Node, left: list[Register], right: list[Register]
    ) -> None:
        self.w, self.sizes, self.node = writer, sizes, node
        self.strides = (left, right)
        self.dtype = node.result.type.dtype
        for size in {s for value in node.operands for s in value.type.shape}:
            writer.check("ranges", sizes.number(size), 1, more=(1, MOST + 1))
        self.readings = [self._reading(v, s) for v, s in zip(node.operands, self.strides, strict=True)]

    def _reading(self, value: Value, strides: list[Register]) -> tuple[Register, Register]:
        """Return the registers that tell whether a matrix is transposed, and its leading dimension in elements."""
        rows, columns = (self.sizes.number(s) for s in value.type.shape[-2:])
        turned, distance = self.w.register(), self.w.register()
        self.w.check("matrix", *strides[-2:], rows, columns, self.dtype.size, turned, distance)
        return turned, distance

    def run(self, pointers: Mapping[Value, Register]) -> None:
        """Multiply."""
        w, (left, right), result = self.w, self.node.operands, self.node.result
        stack = result.type.shape[:-2]
        (*_, m, k), n = left.type.shape, right.type.shape[-1]
        more: list[Register] = []
        for axis, size in enumerate(stack):
            more.append(self.sizes.number(size))
            for value, strides in zip(self.node.operands, self.strides, strict=True):
                own = value.type.shape[:-2]
                mine = axis - (len(stack) - len(own))
                more.append(strides[mine] if mine >= 0 and own[mine] != 1 else w.constant(0))
        one, zero = (_number(self.dtype.name, x) for x in (1.0, 0.0))
        w.kept += (one, zero)
        w.run(
            "gemm", blas.gemm_address(blas.GEMM[self.dtype.name]), ctypes.addressof(one), ctypes.addressof(zero),
            self.dtype.size, *(self.sizes.number(s) for s in (m, n, k)), self.sizes.number(dims.product(stack)),
            pointers[left], pointers[right], pointers[result], *(turned for turned, _ in self.readings),
            *(distance for _, distance in self.readings), len(stack), more=more,
        )  # fmt: skip


def _number(dtype: str, number: float) -> Any:
    """Return memory that holds a number, the real part first."""
    kind = ctypes.c_float if dtype in ("f32", "c64") else ctypes.c_double
    return (kind * 2)(number, 0.0)
