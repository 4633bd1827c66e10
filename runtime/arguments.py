"""Turn a caller's arguments into arrays that native code can read, and into their part of the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.dtypes import BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType, from_numpy
from ..ir.errors import OverflowProblem, TypeProblem, ValueProblem, WeftError, nearest, quantity, type_of
from ..ir.layouts import SCALAR, C, classify
from ..ir.source import ArgType
from ..ir.tuples import NamedTuple

_WEAK: dict[type, tuple[DType, np.dtype[Any]]] = {
    int: (WEAK_INT, np.dtype(np.int64)),
    float: (WEAK_FLOAT, np.dtype(np.float64)),
    complex: (WEAK_COMPLEX, np.dtype(np.complex128)),
}

MAX_SIZE = 1 << 62
_NOTHING = np.zeros((), bool)  # the one element of an array that only has a size


class CallArgument(NamedTuple):
    """One argument: the array, its dtype (weak for a Python number), its layout class, and the original object."""

    array: np.ndarray[Any, Any]
    dtype: DType
    layout: str
    given: Any

    @property
    def type(self) -> ArgType:
        number = self.dtype.weak or isinstance(self.given, (bool, np.generic))
        value = self.given if number else self.array
        return ArgType(self.dtype, self.array.shape, value)


def prepare(name: str, value: Any) -> CallArgument:
    """Prepare the argument called `name`."""
    kind = type(value)
    if kind is np.ndarray:
        return _from_array(name, value, value)
    if kind is bool:
        return CallArgument(np.asarray(value), BOOL, SCALAR, value)
    if kind in _WEAK:
        dtype, numpy_dtype = _WEAK[kind]
        if kind is int and not -(2**63) <= value < 2**63:
            numpy_dtype = np.dtype(np.uint64 if 0 < value < 2**64 else np.float64)
        try:
            return CallArgument(np.asarray(value, numpy_dtype), dtype, SCALAR, value)
        except OverflowError as error:
            raise OverflowProblem(
                f"argument '{name}': the Python integer has {value.bit_length()} bits, too many for f64"
            ) from error
    if isinstance(value, np.generic) and kind is not value.dtype.type:  # its operators may be other ones
        raise TypeProblem(
            f"argument '{name}' must be a plain number, not a {kind.__module__}.{kind.__qualname__}",
            hint=f"convert it with np.{value.dtype.type.__name__}(x)",
        )
    if isinstance(value, (np.generic, np.memmap)):
        return _from_array(name, np.asarray(value), value)
    if isinstance(value, np.ndarray):
        raise TypeProblem(
            f"argument '{name}' must be a plain array, not a {kind.__module__}.{kind.__qualname__}",
            hint="pass np.asarray(x), or x.filled(...) for a masked array",
        )
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        try:
            array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
        except WeftError:
            raise
        except Exception as error:
            from ..ir.support.interruptions import is_interruption

            if is_interruption(error):
                raise
            raise TypeProblem(f"argument '{name}' can't be read as an array: {error}") from error
        return _from_array(name, array, value)
    raise TypeProblem(
        f"argument '{name}' must be an array of NumPy or a number, not {type_of(value)}",
        hint="convert it with np.asarray(...)",
    )


def prepare_size(name: str, value: Any) -> CallArgument:
    """Prepare the argument of a parameter that is a size."""
    if isinstance(value, (bool, np.bool)) or not isinstance(value, (int, np.integer)):
        raise TypeProblem(f"argument '{name}' is a size: expected an int, got {type_of(value)}")
    if not 0 <= value < MAX_SIZE:
        raise ValueProblem(f"argument '{name}' is a size: it can't be {value}", hint="pass a positive number or 0")
    array = np.broadcast_to(_NOTHING, (int(value),))
    return CallArgument(array, BOOL, C, int(value))


def in_order(
    kernel: str,
    names: Sequence[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    defaults: Mapping[str, Any] = {},
) -> list[Any]:
    """Put the arguments of a call into the order of the kernel's parameters."""
    if len(args) > len(names):
        raise TypeProblem(f"{_takes(kernel, names, defaults)}, not {len(args)}")
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeProblem(f"{kernel} has no argument '{name}'", hint=nearest(name, list(names)))
        if name in given:
            raise TypeProblem(f"{kernel} got the argument '{name}' twice")
        given[name] = value
    missing = [n for n in names if n not in given and n not in defaults]
    if missing:
        raise TypeProblem(f"{_takes(kernel, names, defaults)}; '{missing[0]}' is missing")
    return [given[n] if n in given else defaults[n] for n in names]


def _takes(kernel: str, names: Sequence[str], defaults: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}={defaults[name]!r}" if name in defaults else name for name in names)
    least = f"{len(names) - len(defaults)} to " if defaults else ""
    return f"{kernel} takes {least}{quantity(len(names), 'argument')} ({shown})"


def _from_array(name: str, array: np.ndarray[Any, Any], given: Any) -> CallArgument:
    try:
        dtype = from_numpy(array.dtype)
    except TypeProblem as error:
        raise TypeProblem(f"argument '{name}': {error.message}", hint=error.hint) from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return CallArgument(array, dtype, classify(array.shape, array.strides, array.itemsize), given)
