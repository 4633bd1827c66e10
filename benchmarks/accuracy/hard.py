"""List the points where a function is likely to have large errors, from its thresholds."""

from __future__ import annotations

import numpy as np

from .formats import Array, Format, specials
from .functions import Function
from .points import binades, steps

FAMOUS = [0.5, 1.0, 1.5, 2.0, 3.0, 10.0, np.pi / 4, np.pi / 2, np.pi, np.e, np.log(2), np.sqrt(2), np.sqrt(0.5)]
LONGEST_LINE = 600  # more numbers would make too many pairs


def hard_points(function: Function, format: Format, thresholds: Array) -> tuple[Array, ...]:
    """Return special values, neighbours of thresholds and of powers of two, and the function's own hard points."""
    if format.is_complex:
        return _hard_numbers(format, thresholds, function.arity)
    if function.arity == 2:
        return _pairs(_hard_line(format, thresholds))
    return (
        np.concatenate(
            [
                specials(format),
                steps(format, binades(format), 8),
                steps(format, [*thresholds, *FAMOUS], 300),
                steps(format, np.arange(1.0, 2049.0), 2),
                steps(format, np.arange(0.5, 1100.0), 2),
                steps(format, [format.largest, format.smallest_normal, format.smallest], 2000),
                steps(format, function.extra(format), 3),
            ]
        ),
    )


def _hard_line(format: Format, thresholds: Array) -> Array:
    """Return special values, and some neighbours of thresholds and of powers of two."""
    some = binades(format)[:: max(1, (format.most - format.least) // 60)]
    line = np.concatenate(
        [
            specials(format),
            steps(format, [*thresholds, *FAMOUS], 1),
            steps(format, some, 0),
            steps(format, [format.largest, format.smallest_normal], 2),
        ]
    )
    return np.concatenate([np.unique(line.astype(np.float64)), [-0.0]]).astype(format.dtype)


def _pairs(line: Array) -> tuple[Array, Array]:
    first, second = np.meshgrid(line, line)
    return first.ravel(), second.ravel()


def _hard_numbers(format: Format, thresholds: Array, arity: int) -> tuple[Array, ...]:
    """Return complex numbers, or pairs of them, with hard parts."""
    line = _hard_line(format.part, thresholds) if arity == 1 else specials(format.part)
    if line.size > LONGEST_LINE:
        line = np.random.default_rng(0).choice(line, LONGEST_LINE, replace=False)
    re, im = _pairs(line)
    numbers = np.empty(re.size, format.dtype)
    numbers.real, numbers.imag = re, im
    return (numbers,) if arity == 1 else _pairs(numbers)
