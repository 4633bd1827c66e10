"""List the real functions that are measured: their names here, in NumPy and in the language, true values, and points.

The names are C's, as in `reference.c`. `sources` tells where random points come from. `hard.py` adds points that are
hard for every function (thresholds in its code, all powers of two), and `plan.py` adds random bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from . import pairs
from .formats import Format
from .points import Array, Source, interval, near, nearest_to_quarter_turns, patterns, quarter_turns, sizes

LN_2 = 0.6931471805599453


def _none(format: Format) -> Array:
    return np.empty(0)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one or two real numbers."""

    name: str
    language: str
    true: Callable[..., Any]
    sources: Callable[[Format], list[Source]]
    extra: Callable[[Format], Array] = _none
    pairs: Callable[[Format], list[pairs.PairSource]] | None = None
    kept: Callable[..., Array] | None = None  # which points are measured, where not all are
    is_complex: bool = False

    @property
    def numpy(self) -> Callable[..., Array] | None:
        return getattr(np, self.language, None)

    @property
    def arity(self) -> int:
        return 2 if self.pairs else 1

    @property
    def c_name(self) -> str:
        return f"c{self.name}" if self.is_complex else self.name

    @property
    def has_real_result(self) -> bool:
        return self.name == "abs"

    def most_points(self, format: Format) -> int:
        """Limit the points of complex powers in c128, which only the slowest reference can compute."""
        return 10_000_000 if self.name == "pow" and format.name == "c128" else sys.maxsize


def _exponents(format: Format) -> tuple[float, float]:
    """Return exponents of two just below and just above all numbers of the format."""
    return format.least - format.bits - 1.0, format.most + 1.0


def _exponential(scale: float, low: float | None = None) -> Callable[[Format], list[Source]]:
    """Draw arguments of a function that overflows and underflows; they are `scale` times the exponent of the result."""

    def sources(format: Format) -> list[Source]:
        bottom, top = (scale * exponent for exponent in _exponents(format))
        bottom = bottom if low is None else low
        edges = [interval(bottom, bottom + 60 * scale), interval(top - 3, top)]
        return [interval(bottom, top), interval(-2, 2), sizes(2.0**-60, 2), *edges]

    return sources


def _ranges(*sources: Source) -> Callable[[Format], list[Source]]:
    return lambda format: list(sources)


def _around(centre: float, *sources: Source) -> Callable[[Format], list[Source]]:
    return lambda format: [near(centre, format), *sources]


def _turns(format: Format) -> list[Source]:
    return [interval(-7, 7), interval(-1e5, 1e5), sizes(2.0**-40, 2.0**40), patterns(format)]


def _hard_turns(format: Format) -> Array:
    return np.concatenate([quarter_turns(format, 2000), nearest_to_quarter_turns(format)])


def _true_power(x: Any, y: Any) -> Any:
    if x == 0 and y < 0:
        return mpmath.inf
    if x >= 0:
        return mpmath.power(x, y)
    if not mpmath.isint(y):
        return mpmath.nan
    return (1 if int(y) % 2 == 0 else -1) * mpmath.power(-x, y)


def _true_complement(x: Any) -> Any:
    """Compute erfc; mpmath fails far below the smallest number, where the result is 0."""
    return mpmath.erfc(x) if x < 1000 else mpmath.mpf(0)


def _true_logit(x: Any) -> Any:
    return mpmath.log(x / (1 - x)) if x < 1 else mpmath.inf if x == 1 else mpmath.nan


def _true_cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _log_of_sum(name: str, base: Any) -> Function:
    """Describe `log(b**x + b**y)`, a sum that may cancel, in NumPy too; points that lose over half are left out."""

    def true(x: Any, y: Any) -> Any:
        added = mpmath.log1p(base ** -abs(x - y)) / mpmath.log(base) if abs(x - y) < 5000 else 0
        return max(x, y) + added

    def kept(x: Array, y: Array) -> Array:
        larger = np.maximum(x, y).astype(np.float64)
        added = getattr(np, name)(x.astype(np.float64), y.astype(np.float64)) - larger
        return np.asarray(~((larger < 0) & (added > -larger / 2)))

    return Function(name, name, true, _ranges(), pairs=pairs.logarithms, kept=kept)


_SMALL = sizes(2.0**-60, 1)
_LARGE = sizes(2.0**-40, 2.0**80)
_UNIT = interval(-1, 1)


def _ends(format: Format) -> list[Source]:
    return [near(1.0, format), near(-1.0, format), near(0.5, format, 0.25), _UNIT, _SMALL]


def _complement(format: Format) -> list[Source]:
    zero = float(np.sqrt(-LN_2 * _exponents(format)[0]))
    return [interval(-7, zero + 1), interval(-2, 2), interval(0.5, zero), interval(zero - 2, zero + 1), _SMALL]


def _probabilities(format: Format) -> list[Source]:
    return [near(0.5, format, 0.25), near(1.0, format), interval(0, 1)]


_TABLE = (
    Function("exp", "exp", mpmath.exp, _exponential(LN_2)),
    Function("exp2", "exp2", lambda x: mpmath.mpf(2) ** x, _exponential(1.0)),
    Function("expm1", "expm1", mpmath.expm1, _exponential(LN_2, -60.0)),
    Function("log", "log", mpmath.log, _around(1.0, interval(0.25, 4), interval(0, 1000))),
    Function("log2", "log2", lambda x: mpmath.log(x, 2), _around(1.0, interval(0.25, 4), interval(0, 1000))),
    Function("log10", "log10", mpmath.log10, _around(1.0, interval(0.25, 4), interval(0, 1000))),
    Function("log1p", "log1p", mpmath.log1p, _around(-1.0, interval(-1, 3), _LARGE, _SMALL)),
    Function("sin", "sin", mpmath.sin, _turns, _hard_turns),
    Function("cos", "cos", mpmath.cos, _turns, _hard_turns),
    Function("tan", "tan", mpmath.tan, _turns, _hard_turns),
    Function("asin", "arcsin", mpmath.asin, _ends),
    Function("acos", "arccos", mpmath.acos, _ends),
    Function("atan", "arctan", mpmath.atan, _ranges(interval(-3, 3), interval(-100, 100), _LARGE, _SMALL)),
    Function("sinh", "sinh", mpmath.sinh, _exponential(LN_2)),
    Function("cosh", "cosh", mpmath.cosh, _exponential(LN_2)),
    Function("tanh", "tanh", mpmath.tanh, _ranges(interval(-3, 3), interval(-25, 25), _SMALL)),
    Function("asinh", "arcsinh", mpmath.asinh, _ranges(interval(-3, 3), interval(-1000, 1000), _LARGE, _SMALL)),
    Function("acosh", "arccosh", mpmath.acosh, _around(1.0, interval(1, 4), interval(1, 1000), sizes(1, 2.0**80))),
    Function("atanh", "arctanh", mpmath.atanh, _ends),
    Function("sqrt", "sqrt", mpmath.sqrt, _around(1.0, interval(0, 16), _LARGE)),
    Function("cbrt", "cbrt", _true_cube_root, _ranges(interval(-27, 27), _LARGE, _SMALL)),
    Function("erf", "erf", mpmath.erf, _ranges(interval(-2, 2), interval(-7, 7), _SMALL)),
    Function("erfc", "erfc", _true_complement, _complement),
    Function("expit", "expit", lambda x: 1 / (1 + mpmath.exp(-x)), _exponential(LN_2)),
    Function("logit", "logit", _true_logit, _probabilities),
    Function("pow", "power", _true_power, _ranges(), pairs=pairs.powers),
    Function("atan2", "arctan2", mpmath.atan2, _ranges(), pairs=pairs.angles),
    Function("hypot", "hypot", mpmath.hypot, _ranges(), pairs=pairs.sides),
    _log_of_sum("logaddexp", mpmath.e),
    _log_of_sum("logaddexp2", mpmath.mpf(2)),
)
FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _TABLE}
