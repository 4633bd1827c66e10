"""Call a function of a shared library on arrays, and turn its failures into typed errors.

The call releases Python's lock, so other threads can run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.errors import KernelFailure, LibraryProblem, ShapeProblem, TypeProblem
from ...ir.externs import ExternArray, ExternKernel
from ...ir.support import float_environment
from ..memory import empty
from .probe import what_kills_a_call

MESSAGE = 512  # bytes for a kernel's error message
Array = np.ndarray[Any, Any]


class Operand(ctypes.Structure):
    """The header's `weft_operand`."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class ExternCall(ctypes.Structure):
    """The header's `weft_kernel_call`."""

    _fields_ = [
        ("input_count", ctypes.c_int64), ("inputs", ctypes.POINTER(Operand)), ("output_count", ctypes.c_int64),
        ("outputs", ctypes.POINTER(Operand)), ("message", ctypes.c_char_p), ("message_size", ctypes.c_int64),
    ]  # fmt: skip


FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ExternCall))


def library_call(function: Any) -> LibraryCall | None:
    """Return the kernel of a library whose `run` a function is."""
    owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, LibraryCall) else None


class LibraryCall:
    """A kernel in a library; keeps the library loaded."""

    def __init__(self, extern: ExternKernel, library: ctypes.CDLL, path: str, is_strided: bool) -> None:
        self.extern, self.path, self._library, self._is_strided = extern, path, library, is_strided
        self._function = FUNCTION((extern.symbol, library))
        self._is_tried = False

    def __str__(self) -> str:
        return f"the extern kernel '{self.extern.name}' ({self.extern.symbol} of {self.path})"

    def run(self, *operands: Any) -> tuple[Array, ...]:
        inputs = [self._handed(p, x) for p, x in zip(self.extern.parameters, operands, strict=True)]
        outputs = [
            empty(shape, r.dtype.numpy) for r, shape in zip(self.extern.results, self._shapes(inputs), strict=True)
        ]
        message = ctypes.create_string_buffer(MESSAGE)
        given, made = _operands(inputs), _operands(outputs)
        call = ExternCall(len(inputs), given, len(outputs), made, ctypes.cast(message, ctypes.c_char_p), MESSAGE)
        if not self._is_tried:
            self._try(call)
        with float_environment.kept():
            status = self._function(ctypes.byref(call))
        if status:
            said = message.value.decode("utf-8", "replace").strip()
            raise KernelFailure(f"{self} failed with status {status}{f': {said}' if said else ''}", self.extern.span)
        return tuple(outputs)

    def _try(self, call: ExternCall) -> None:
        """Run the first call in a child process first: no check of the file finds damage in machine code."""
        address = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        if how := what_kills_a_call(address, ctypes.addressof(call)):
            raise LibraryProblem(f"{self} kills the process that calls it ({how})", self.extern.span, "build it again")
        self._is_tried = True

    def _handed(self, declared: ExternArray, given: Any) -> Array:
        """Return the operand as C reads it: aligned, and for most kernels dense and in C order."""
        x = np.asarray(given)
        if x.dtype != declared.dtype.numpy:
            raise TypeProblem(f"{self} takes {self.extern.signature}, not {x.dtype}", self.extern.span)
        return np.require(x, requirements=["ALIGNED"] if self._is_strided else ["ALIGNED", "C_CONTIGUOUS"])

    def _shapes(self, inputs: Sequence[Array]) -> list[tuple[int, ...]]:
        """Check the operands' shapes and return the results' shapes."""
        sizes: dict[str, int] = {}
        free: list[tuple[int, ...]] = []
        for declared, x in zip(self.extern.parameters, inputs, strict=True):
            before = declared.dims.index(...) if ... in declared.dims else len(declared.dims)
            after = len(declared.dims) - before - 1 if ... in declared.dims else 0
            if x.ndim < before + after or (... not in declared.dims and x.ndim != before):
                raise ShapeProblem(f"{self}: expected {declared}, got shape {x.shape}", self.extern.span)
            if ... in declared.dims:
                free.append(x.shape[before : x.ndim - after])
            named = [*zip(declared.dims[:before], x.shape, strict=False)]
            named += zip(declared.dims[before + 1 :], x.shape[x.ndim - after :], strict=True)
            for dim, size in named:
                if (sizes.setdefault(str(dim), size) if not isinstance(dim, int) else dim) != size:
                    raise ShapeProblem(f"{self}: size {size} does not match '{dim}' in {declared}", self.extern.span)
        leading = np.broadcast_shapes(*free)
        return [_shape(result, sizes, leading) for result in self.extern.results]


def _shape(result: ExternArray, sizes: dict[str, int], leading: tuple[int, ...]) -> tuple[int, ...]:
    shape: list[int] = []
    for dim in result.dims:
        shape += leading if isinstance(dim, EllipsisType) else [max(0, dims.evaluate(dim, sizes))]
    return tuple(shape)


def _operands(arrays: Sequence[Array]) -> Any:
    """Describe the arrays for C; the memory they point to lives as long as the description."""
    made = (Operand * len(arrays))()
    for place, x in zip(made, arrays, strict=True):
        numbers = ctypes.c_int64 * x.ndim
        place.data, place.rank = x.ctypes.data, x.ndim
        place.shape, place.strides = numbers(*x.shape), numbers(*x.strides)
    return made
