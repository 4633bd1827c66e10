"""Call a Python function as a kernel, and check the array it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.dtypes import from_numpy
from ...ir.errors import KernelFailure, ShapeProblem, TypeProblem, WeftError, type_of
from ...ir.facts import Facts
from ...ir.records import record
from ...ir.support.interruptions import is_interruption
from .signature import Signature

Array = np.ndarray[Any, Any]


@record(eq=False)
class PythonKernel:
    """Call a function on read-only views; it must return an array of the declared dtype and shape.

    `what` is the kind of function: a Python one, or one of a library.
    """

    op: str
    name: str
    function: Callable[..., Any]
    signature: Signature
    alignment: int = 1
    what: str = "Python"
    shape: Callable[[list[tuple[int, ...]]], tuple[Any, ...]] | None = None  # of the result, if the op determines it

    def __str__(self) -> str:
        return f"the {self.what} kernel '{self.name}' of '{self.op}'"

    def run(self, *operands: Any) -> tuple[Array, ...]:
        given = [_handed(np.asarray(x), self.alignment) for x in operands]
        try:
            found = self.function(*given)
        except KernelFailure:
            raise  # it already names the kernel
        except Exception as error:
            if is_interruption(error):
                raise
            reason = f"{type(error).__name__}: {error}"
            raise KernelFailure(f"{self} raised {reason}", hint=f"it was registered for {self.signature}") from error
        return (self._checked(found, given),)

    def _checked(self, found: Any, operands: list[Array]) -> Array:
        if not isinstance(found, (np.ndarray, np.generic, bool, int, float, complex)):
            raise TypeProblem(f"{self} must return one array, not {type_of(found)}")
        if isinstance(found, np.ndarray) and type(found) not in (np.ndarray, np.memmap):
            hint = "return np.asarray(x), or x.filled(...) for a masked array"
            raise TypeProblem(f"{self} must return a plain array, not {type_of(found)}", hint=hint)
        array = np.asarray(found)
        wanted = self.signature.result_dtype([from_numpy(x.dtype) for x in operands])
        if wanted is not None and array.dtype != wanted.numpy:
            hint = f"convert it: .astype(np.{wanted.numpy})"
            raise TypeProblem(f"{self} must return {wanted}, as in {self.signature}, not {array.dtype}", hint=hint)
        try:
            given = [x.shape for x in operands]
            shape = self.shape(given) if self.shape else self.signature.result_shape(Facts(), given)
        except WeftError as error:
            raise ShapeProblem(f"{self}: {error.message}", hint=error.hint) from error
        if array.shape != shape:
            shapes = " ".join(str(x.shape) for x in operands)
            raise ShapeProblem(f"{self} must return shape {shape} for {shapes}, not {array.shape}")
        return array


def _handed(x: Array, alignment: int) -> Array:
    """Return the operand as a read-only view, copied to aligned memory if needed."""
    if x.ctypes.data % alignment:
        memory = np.empty(x.nbytes + alignment, np.uint8)
        start = -memory.ctypes.data % alignment
        copy: Array = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
        copy[...] = x
        x = copy
    view = x.view()
    view.flags.writeable = False
    return view
