"""What NumPy leaves open, as plain code: operands in, the result that Weft states out.

NumPy's smaller or larger of two zeros, and what a float too large for an integer becomes, depend on the path that it
takes (by length, stride and CPU). Here -0.0 is below 0.0, and what does not fit is the smallest integer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def minimum(a: Any, b: Any) -> Any:
    """The smaller; of two zeros the negative one, if there is one."""
    return _with_zeros(np.minimum(a, b), np.signbit(a) | np.signbit(b)) if _is_float(a, b) else np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger; of two zeros the positive one, if there is one."""
    return _with_zeros(np.maximum(a, b), np.signbit(a) & np.signbit(b)) if _is_float(a, b) else np.maximum(a, b)


def smallest(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
    """The smallest over axes; of zeros a negative one, if there is one."""
    found: Any = np.min(x, axis=axes, keepdims=keepdims)
    if not _is_float(x):
        return found
    return _with_zeros(found, np.any((x == 0) & np.signbit(x), axis=axes, keepdims=keepdims))


def largest(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
    """The largest over axes; of zeros a positive one, if there is one."""
    found: Any = np.max(x, axis=axes, keepdims=keepdims)
    if not _is_float(x):
        return found
    return _with_zeros(found, ~np.any((x == 0) & ~np.signbit(x), axis=axes, keepdims=keepdims))


def cast(x: Any, to: np.dtype[Any]) -> Any:
    """NumPy's `astype`; a float that does not fit an integer becomes the smallest one."""
    x = np.asarray(x)
    if x.dtype.kind != "f" or to.kind != "i":
        return x.astype(to)
    limit = 2.0 ** (8 * to.itemsize - 1)
    fits = (x >= -limit) & (x < limit)
    return np.where(fits, np.where(fits, x, 0).astype(to), np.iinfo(to).min).astype(to)


def _is_float(*operands: Any) -> bool:
    return all(np.asarray(x).dtype.kind == "f" for x in operands)


def _with_zeros(found: Any, negative: Any) -> Any:
    """Zeros with the signs given; everything else as it was found."""
    found = np.asarray(found)
    return np.where(found == 0, np.where(negative, -found.dtype.type(0), found.dtype.type(0)), found)


MEANINGS: Mapping[str, Callable[..., Any]] = {
    "minimum": minimum,
    "maximum": maximum,
    "min": smallest,
    "max": largest,
    "cast": cast,
}
