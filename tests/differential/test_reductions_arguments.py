"""Test every reduction with its arguments, on every dtype, against NumPy: values, dtypes, shapes and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from weft.backends import reference
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .arrays import LAYOUTS
from .reduction_cases import CORE, FULL, Case, alike, few

NATIVELY = ("bool", "int8", "int32", "uint16", "uint64", "float16", "float32", "complex128")
BATCH = 64


def check(cases: Sequence[Case], x: Any, backend: str = "llvm") -> None:
    """Compile many cases into one kernel; calls that NumPy refuses are checked one by one."""
    expected = [_numpys(case, x) for case in cases]
    refused = [(c, e) for c, e in zip(cases, expected, strict=True) if isinstance(e, Exception)]
    pairs = [(c, e) for c, e in zip(cases, expected, strict=True) if not isinstance(e, Exception)]
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        found = kernel(lambda x, batch=batch: tuple(case.call(x) for case, _ in batch), backend)(x)
        for (case, wanted), result in zip(batch, found, strict=True):
            try:
                alike(result, wanted, case.exact, x.dtype)
            except AssertionError as error:
                raise AssertionError(f"{case.label}: {error}") from error
    for case, error in refused:
        builtin = next(t for t in type(error).__mro__ if t.__module__ == "builtins")
        with pytest.raises(builtin):
            kernel(lambda x, case=case: case.call(x), backend)(x)


def kernel(function: Callable[[Any], Any], backend: str) -> Kernel:
    source = TracedFunction(lambda x: function(x), (), lambda graph, inputs: reference.run(graph, inputs))
    return Kernel(source, Registry(), Options(backend=backend))


def _numpys(case: Case, x: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return case.call(x)
        except (TypeError, ValueError) as error:
            return error


@pytest.mark.parametrize("dtype", ["float64", "int16", "complex64"])
def test_every_argument(dtype: str) -> None:
    """Arguments decide the graph. Native code is run for every third case."""
    check(FULL, few(dtype), "reference")
    if dtype == "float64":
        check(FULL[::3], few(dtype))


@pytest.mark.parametrize("dtype", NATIVELY)
def test_every_dtype(dtype: str) -> None:
    check(CORE, few(dtype))


def test_memory_order() -> None:
    for layout in ("F", "negative"):
        check([case for case in CORE if "ord" not in case.label], LAYOUTS[layout](few("float32")))


def test_memory_order_of_complex_extremes() -> None:
    """They consist of several reductions, none of which may change the order of axes."""
    x = (np.arange(60).reshape(3, 4, 5) % 7 + 1j).astype(np.complex64)
    extremes = [Case(f"{f.__name__} {a}", lambda x, f=f, a=a: f(x, axis=a), True)
                for f in (np.min, np.nanmax) for a in (0, 1, -1)]  # fmt: skip
    for layout in ("F", "axes turned"):
        check(extremes, LAYOUTS[layout](x))
