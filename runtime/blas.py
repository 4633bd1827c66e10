"""Multiply stacks of matrices with BLAS: the second implementation of `matmul`, used only on request.

It calls SciPy's BLAS (`weft[blas]`) through the pointers that SciPy exports. BLAS chooses its own order of summation,
so the bits change with threads, CPU and shape. A matrix with contiguous rows or columns is read without a copy.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..ir.errors import ImportProblem
from .memory import empty

Array = np.ndarray[Any, Any]
GEMM = {"f32": "sgemm", "f64": "dgemm", "c64": "cgemm", "c128": "zgemm"}
_PARTS = {np.dtype(code): GEMM[name] for code, name in (("f4", "f32"), ("f8", "f64"), ("c8", "c64"), ("c16", "c128"))}


@cache
def gemm(name: str) -> Callable[..., None]:
    """Return a BLAS function by name; all its arguments are pointers."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(gemm_address(name))


@cache
def gemm_address(name: str) -> int:
    """Return the function's address."""
    try:
        cython_blas: Any = importlib.import_module("scipy.linalg.cython_blas")
    except ImportError as error:
        raise ImportProblem("blas=True needs SciPy", hint="pip install 'weft[blas]'") from error
    capsule, interpreter = cython_blas.__pyx_capi__[name], ctypes.pythonapi
    interpreter.PyCapsule_GetName.restype, interpreter.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    interpreter.PyCapsule_GetPointer.restype = ctypes.c_void_p
    interpreter.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(interpreter.PyCapsule_GetPointer(capsule, interpreter.PyCapsule_GetName(capsule)))


def matmul(a: Any, b: Any) -> tuple[Array]:
    """Broadcast the stacks and multiply matrix by matrix."""
    left, right = np.asarray(a), np.asarray(b)
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    result = empty((*stack, left.shape[-2], right.shape[-1]), left.dtype)
    if not result.size or not left.shape[-1]:
        result.fill(0)
        return (result,)
    lefts = np.broadcast_to(left, (*stack, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*stack, *right.shape[-2:]))
    for place in np.ndindex(stack):
        _multiply(lefts[place], rights[place], result[place])
    return (result,)


def _multiply(a: Array, b: Array, out: Array) -> None:
    """Multiply two matrices. Fortran sees every matrix transposed, so it computes the right operand times the left."""
    (b, b_turned, b_step), (a, a_turned, a_step) = _readable(b), _readable(a)
    (m, k), n = a.shape, b.shape[1]
    numbers = (ctypes.c_int * 6)(n, m, k, b_step, a_step, n)
    sizes = [ctypes.addressof(numbers) + ctypes.sizeof(ctypes.c_int) * place for place in range(6)]
    one, zero = np.ones((), out.dtype), np.zeros((), out.dtype)
    turned = [ctypes.c_char_p(b"T" if flag else b"N") for flag in (b_turned, a_turned)]
    gemm(_PARTS[out.dtype])(
        *turned, *sizes[:3], one.ctypes.data, b.ctypes.data, sizes[3], a.ctypes.data, sizes[4], zero.ctypes.data,
        out.ctypes.data, sizes[5],
    )  # fmt: skip


def _readable(x: Array) -> tuple[Array, bool, int]:
    """Return a readable matrix, whether its columns rather than its rows are contiguous, and its leading dimension."""
    for is_turned in (False, True):
        outer, inner = x.strides[::-1] if is_turned else x.strides
        length = x.shape[0] if is_turned else x.shape[1]
        step = outer // x.itemsize
        if inner == x.itemsize and outer == step * x.itemsize and step >= length:
            return x, is_turned, step
    return np.ascontiguousarray(x), False, x.shape[1]
