"""Compare Weft's fresh results with NumPy's views and copies, and the refusals of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import WeftError

from .arrays import LAYOUTS, random
from .comparing import same

Array = np.ndarray[Any, Any]

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


def fresh(result: Any) -> Any:
    """Return NumPy's result as an own array in native byte order: a view is copied with its memory order."""
    if isinstance(result, (tuple, list)):
        return type(result)(fresh(part) for part in result)
    if not isinstance(result, np.ndarray) or (result.base is None and result.dtype.isnative):
        return result
    return result.astype(result.dtype.newbyteorder("="), order="K")


def arranged(
    function: Callable[..., Any], *args: Any, jitted: Any = None, native: bool = True, ulps: float = 0
) -> None:
    """Check that a function gives the same compiled and in NumPy and, if `native`, without fallbacks."""
    jitted = jitted or weft.jit(function)
    found = jitted(*args)
    with np.errstate(all="ignore"):
        expected = function(*args)
    same(found, fresh(expected), ulps)
    if native:
        assert jitted.lower(*args).fallbacks == ()


def sample(dtype: str) -> tuple[Array, Array, Array]:
    """Make arrays of two, three and one dimension."""
    return random(dtype, (4, 6), 1), random(dtype, (4, 5, 6), 2), random(dtype, (7,), 3)


def in_layouts(function: Callable[..., Any], names: Iterable[str]) -> None:
    """Check that a function gives the same compiled and in NumPy, for samples in each of these layouts."""
    jitted = weft.jit(function)
    for name in names:
        try:
            arranged(function, *map(LAYOUTS[name], sample("float64")), jitted=jitted, native=name == "C")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def refused(function: Callable[..., Any], *args: Any) -> None:
    """Check that NumPy refuses a call and that Weft raises the same kind of error."""
    with pytest.raises((TypeError, ValueError, IndexError, ZeroDivisionError)) as theirs:
        function(*args)
    with pytest.raises(WeftError) as ours:
        weft.jit(function)(*args)
    kinds = [k for k in (TypeError, IndexError, ValueError, ZeroDivisionError) if isinstance(theirs.value, k)]
    assert any(isinstance(ours.value, kind) for kind in kinds), (repr(theirs.value), repr(ours.value))
    assert ours.value.message
