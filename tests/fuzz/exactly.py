"""Compute the true value of a function at one element, to a hundred digits.

It is used only if NumPy's wider function says that a result is wrong, because that may itself be wrong, as for `exp2`
of a large complex number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

DIGITS = 100
# By NumPy's name, where mpmath's is another.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.power(2, x), "expm1": mpmath.expm1, "log2": lambda x: mpmath.log(x, 2),
    "log10": lambda x: mpmath.log(x, 10), "log1p": lambda x: mpmath.log(1 + x), "power": mpmath.power,
    "float_power": mpmath.power, "divide": lambda x, y: x / y, "multiply": lambda x, y: x * y,
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "absolute": abs, "hypot": mpmath.hypot,
    "arctan2": mpmath.atan2, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "logaddexp2": lambda x, y: mpmath.log(mpmath.power(2, x) + mpmath.power(2, y), 2),
    **{name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": getattr(mpmath, f"a{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}  # fmt: skip


def exact(name: str, operands: list[Any], wide: Any) -> Any:
    """The true value in the dtype `wide`, or None where there is no function for it, or it has no finite value."""
    function = _FUNCTIONS.get(name)
    if function is None or not all(np.isfinite(x) for x in operands):
        return None
    with mpmath.workdps(DIGITS):
        try:
            found = function(*(_number(x) for x in operands))
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            return None
        if np.dtype(wide).kind != "c":
            return (
                None if isinstance(found, mpmath.mpc) and found.imag != 0 else _wide(mpmath.re(found), np.dtype(wide))
            )
        part = np.zeros(0, wide).real.dtype
        result = np.zeros((), wide)
        result.real, result.imag = _wide(mpmath.re(found), part), _wide(mpmath.im(found), part)
        return result[()]


def _number(x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return mpmath.mpc(float(x.real), float(x.imag))
    return mpmath.mpf(float(x))


def _wide(x: Any, dtype: np.dtype[Any]) -> Any:
    """Round to the dtype, in two parts if it has more digits than a double."""
    high = float(x)
    low = float(x - high) if np.isfinite(high) else 0.0
    return dtype.type(high) + dtype.type(low)
