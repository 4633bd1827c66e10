"""Check how far a result is from the true one, and raise `OutOfBounds` if it is too far.

True values come from NumPy's own function in a wider dtype: f64 for halves and f32, the machine's long double for f64.
A real function may be 1 ULP off (design, section 1), a complex one 2 ULP of its absolute value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .exactly import exact

Array = np.ndarray[Any, Any]
REAL_ULPS, COMPLEX_ULPS = 1 + 2**-7, 2 + 2**-6  # the wider function has an error of its own
WIDER = {"float16": np.float64, "bfloat16": np.float64, "float32": np.float64, "float64": np.longdouble,
         "complex64": np.complex128, "complex128": np.clongdouble}  # fmt: skip
# What is left where a sum cancels has fewer true bits than it has places (docs/accuracy.md).
CANCELLING = frozenset(("logaddexp", "logaddexp2"))
# Significant bits, exponent of the smallest normal number, exponent above the largest.
FORMATS = {
    "float16": (11, -14, 16),
    "bfloat16": (8, -126, 128),
    "float32": (24, -126, 128),
    "float64": (53, -1022, 1024),
}


class OutOfBounds(AssertionError):
    """Raised when a result is further from the truth than its contract allows."""


def check_function(function: np.ufunc, operands: Sequence[Any], found: Array) -> None:
    """Check that a mathematical function is accurate enough, and has NumPy's special values."""
    found = np.asarray(found)
    if found.size == 0:
        return
    wide = WIDER[found.dtype.name]
    with np.errstate(all="ignore"):
        operands = [np.asarray(x, found.dtype) if type(x) in (int, float, bool, complex) else x for x in operands]
        expected = np.asarray(function(*operands))
        truth = np.asarray(function(*(np.asarray(x).astype(_wider(np.asarray(x), wide)) for x in operands)))
        wrong = _is_wrong(found, expected, truth)
        found, expected, truth, *operands = (
            np.broadcast_to(x, found.shape).ravel() for x in (found, expected, truth, *operands)
        )
        for k in np.flatnonzero(wrong):
            at = slice(k, k + 1)
            given = [x[k] for x in operands]
            # The wider function may be the one that is wrong, so the last word has one of many digits.
            last = exact(function.__name__, given, truth.dtype)
            if last is not None and not _is_wrong(found[at], expected[at], np.array([last])).any():
                continue
            if function.__name__ in CANCELLING and _cancels(given, found[k], truth[k] if last is None else last):
                continue
            shown = f"{found[k]!r}; NumPy has {expected[k]!r}, the truth is near {truth[k] if last is None else last!r}"
            raise OutOfBounds(f"{function.__name__}({', '.join(map(repr, given))}) = {shown}")


def _cancels(given: Sequence[Any], found: Any, truth: Any) -> bool:
    """Tell whether more than half of the larger operand cancels, and the result is within the last bit of that half."""
    half = np.max(np.abs(given)) / 2
    return bool(np.isfinite(found) and np.abs(truth) < half and np.abs(found - truth) <= np.spacing(half))


def _wider(operand: Array, result: Any) -> Any:
    """Return the wider dtype for an operand; for a complex number a complex one, though its absolute value is real."""
    return WIDER[operand.dtype.name] if operand.dtype.kind == "c" else result


def _is_wrong(found: Array, expected: Array, truth: Array) -> Array:
    return (_complex_wrong if found.dtype.kind == "c" else _real_wrong)(found, expected, truth)


def _real_wrong(found: Array, expected: Array, truth: Array) -> Array:
    truth = np.broadcast_to(truth, found.shape)
    wrong = ulps(found, truth) > REAL_ULPS
    zero = (truth == 0) & (expected == 0)
    wrong = np.where(zero, (found != 0) | (np.signbit(found) != np.signbit(expected)), wrong)
    wrong = np.where(np.isinf(truth), (found != expected), wrong)
    return np.where(np.isnan(expected) | np.isnan(found), np.isnan(expected) != np.isnan(found), wrong)


def ulps(found: Array, truth: Array) -> Array:
    """Return the distance in ULP of the true value in the dtype of `found`; infinity counts as 2**max."""
    bits, low, high = FORMATS[found.dtype.name]
    exponent = np.maximum(np.frexp(truth)[1] - 1, low)
    unit = np.ldexp(np.ones_like(truth), exponent - (bits - 1))
    wide = found.astype(truth.dtype)
    wide = np.where(np.isinf(wide), np.copysign(np.ldexp(truth.dtype.type(1), high), wide), wide)
    beyond = np.abs(truth) >= np.ldexp(truth.dtype.type(1), high)
    distance: Array = np.where(
        beyond, np.where(found == np.sign(truth) * np.inf, 0, np.inf), np.abs(wide - truth) / unit
    )
    return distance


def _complex_wrong(found: Array, expected: Array, truth: Array) -> Array:
    """Compare normwise, or with NumPy's own error; infinities and NaN of NumPy depend on its code path."""
    part = found.real.dtype
    size = np.abs(truth)
    unit = np.spacing(size.astype(part)).astype(size.dtype)
    ours, theirs = (np.abs(x.astype(truth.dtype) - truth) for x in (found, expected))
    wrong = ours > np.maximum(COMPLEX_ULPS * unit, 2 * theirs)
    plain = np.isfinite(found) & np.isfinite(expected) & np.isfinite(size.astype(part))
    return wrong & plain


def check_total(
    name: str, x: Array, axes: tuple[int, ...], keepdims: bool, found: Array, plan: Mapping[str, Any]
) -> None:
    """Check that a sum or product is as close to the exact one as the depth of its tree allows."""
    count = int(np.prod([x.shape[a] for a in axes], dtype=int))
    info = np.finfo(x.dtype)
    wide = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        if name == "sum":
            truth, scale = wide.sum(axis=axes, keepdims=keepdims), np.abs(wide).sum(axis=axes, keepdims=keepdims)
            depth = plan["steps"] + np.log2(max(2, count)) + 8
            sure = scale < info.max / 4
        else:
            truth = wide.prod(axis=axes, keepdims=keepdims)
            reach = np.abs(np.log2(np.abs(wide))).sum(axis=axes, keepdims=keepdims)
            depth, scale, sure = count + 2, np.abs(truth), reach < info.maxexp - 4
        wrong = sure & ~(np.abs(found.astype(np.longdouble) - truth) <= depth * info.eps * scale)
        wrong |= np.isnan(wide).any(axis=axes, keepdims=keepdims) & ~np.isnan(found)
    if np.any(wrong):
        at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))
        values = np.atleast_1d(found)[at], np.atleast_1d(truth)[at]
        raise OutOfBounds("a {} of {} elements is {!r} for {!r}".format(name, count, *values))
