"""List NumPy's numeric ufuncs, found in its namespace, and the dtypes to try them with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

# Matrix products have axes of their own, and `isnat` is about dates.
NOT_OF_NUMBERS = frozenset(("matmul", "vecdot", "matvec", "vecmat", "isnat"))
UFUNCS = {
    name: ufunc
    for name, ufunc in sorted(vars(np).items())
    if isinstance(ufunc, np.ufunc) and name not in NOT_OF_NUMBERS
}
"""By every name that NumPy has for them."""

DISTINCT = tuple(dict.fromkeys(UFUNCS.values()))

# Rounded functions: `tests/math` and `make accuracy` measure them; here they are only near NumPy's.
MATHEMATICAL = frozenset(
    UFUNCS[name]
    for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
        "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "arctan2", "logaddexp",
        "logaddexp2", "power", "float_power",
    )
)  # fmt: skip
# The sign of a zero chosen between two zeros is ours.
EXTREMES = (np.minimum, np.maximum, np.fmin, np.fmax)

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
REAL = ("bool", *INTEGERS, *FLOATS)
COMPLEX = ("complex64", "complex128")


def accepted(ufuncs: Iterable[np.ufunc], *dtypes: str) -> tuple[np.ufunc, ...]:
    """The functions of so many operands that NumPy has for these dtypes."""
    return tuple(f for f in ufuncs if f.nin == len(dtypes) and _accepts(f, dtypes))


def _accepts(ufunc: np.ufunc, dtypes: tuple[str, ...]) -> bool:
    try:
        ufunc.resolve_dtypes((*map(np.dtype, dtypes), *(None,) * ufunc.nout))
    except TypeError:
        return False
    return True


def together(ufuncs: Iterable[np.ufunc]) -> Callable[..., tuple[Any, ...]]:
    """Return one function that gives the results of all of them, which compiles faster than one for each."""
    chosen = tuple(ufuncs)

    def results(*operands: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for ufunc in chosen:
            result = ufunc(*operands)
            found += result if isinstance(result, tuple) else [result]
        return tuple(found)

    if all(f.nin == 1 for f in chosen):
        return lambda x: results(x)
    return lambda x, y: results(x, y)
