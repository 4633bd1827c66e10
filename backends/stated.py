"""Define results that NumPy leaves open, by fixed rules.

In NumPy, which of two zeros is smaller, and what a float too large for an integer becomes, depend on the code path (by
length, stride and CPU). Here -0.0 is below 0.0, and a float that does not fit becomes what scalar code on x86 gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ir import assembly
from ..ir.complexes import function_part, whole
from ..ir.dtypes import from_numpy
from ..ir.ops import TABLE
from . import complexes
from .fused import fma


def _smaller(ufunc: np.ufunc) -> Callable[..., Any]:
    def meaning(a: Any, b: Any) -> Any:
        """The smaller number; of two zeros, the negative one."""
        found = ufunc(a, b)
        return _with_zeros(found, _is_negative_zero(a) | _is_negative_zero(b)) if _is_float(found) else found

    return meaning


def _larger(ufunc: np.ufunc) -> Callable[..., Any]:
    def meaning(a: Any, b: Any) -> Any:
        """The larger number; of two zeros, the positive one."""
        found = ufunc(a, b)
        return _with_zeros(found, ~(_is_positive_zero(a) | _is_positive_zero(b))) if _is_float(found) else found

    return meaning


def _is_negative_zero(x: Any) -> Any:
    return (np.asarray(x) == 0) & np.signbit(x)


def _is_positive_zero(x: Any) -> Any:
    return (np.asarray(x) == 0) & ~np.signbit(x)


def _smallest(ufunc: np.ufunc) -> Callable[..., Any]:
    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        """The smallest number over axes; of zeros, a negative one."""
        found = ufunc.reduce(x, axis=axes, keepdims=keepdims)
        if not _is_float(x):
            return found
        return _with_zeros(found, np.any(_is_negative_zero(x), axis=axes, keepdims=keepdims))

    return meaning


def _largest(ufunc: np.ufunc) -> Callable[..., Any]:
    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        """The largest number over axes; of zeros, a positive one."""
        found = ufunc.reduce(x, axis=axes, keepdims=keepdims)
        if not _is_float(x):
            return found
        return _with_zeros(found, ~np.any(_is_positive_zero(x), axis=axes, keepdims=keepdims))

    return meaning


def scan(x: Any, combine: str, axis: int) -> Any:
    """Combines each element with the result for the one before it, by the rules stated here."""
    function = MEANINGS.get(combine, TABLE[combine].numpy)
    assert function is not None, combine
    return assembly.scan(x, function, axis)


def cast(x: Any, to: np.dtype[Any]) -> Any:
    """Convert like NumPy's `astype`; a float that does not fit an integer becomes what C code on x86 gives.

    That is the smallest i32 or i64. Narrower integers take the low bits of that i32, u32 those of the i64. For a u64
    from 2**63 on, 2**63 is subtracted before and added after.
    """
    x = np.asarray(x)
    if x.dtype.kind == "c" and to.kind not in "cb":
        x = x.real  # `astype` would warn
    if not _is_float(x) or to.kind not in "iu":
        return x.astype(to)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)  # which holds the limits of integers
    if to == np.uint64:
        above = x >= 2.0**63
        low = _signed(np.where(above, x - x.dtype.type(2.0**63), x), np.dtype(np.int64)).astype(to)
        return low ^ np.where(above, to.type(1 << 63), to.type(0))
    wide = np.int32 if to.itemsize < 4 else np.int64 if to.kind == "u" else to
    return _signed(x, np.dtype(wide)).astype(to)


def _signed(x: Any, to: np.dtype[Any]) -> Any:
    limit = 2.0 ** (8 * to.itemsize - 1)
    fits = (x >= -limit) & (x < limit)
    return np.where(fits, np.where(fits, x, x.dtype.type(0)).astype(to), np.iinfo(to).min).astype(to)


def _is_float(*operands: Any) -> bool:
    return all(from_numpy(np.asarray(x).dtype).kind == "float" for x in operands)


def _with_zeros(found: Any, negative: Any) -> Any:
    """Give zeros the right signs; other numbers stay."""
    found = np.asarray(found)
    return np.where(found == 0, np.where(negative, -found.dtype.type(0), found.dtype.type(0)), found)


def _arithmetic(name: str, formula: Callable[..., Any]) -> Callable[..., Any]:
    """Apply NumPy's function, or Weft's formula for complex numbers."""
    plain = TABLE[name].numpy
    assert plain is not None

    def compute(*operands: Any) -> Any:
        return (formula if np.result_type(*operands).kind == "c" else plain)(*operands)

    return compute


def reciprocal(x: Any) -> Any:
    """The reciprocal; an integer 0 gives the smallest i32 or i64, or 0 for other integers."""
    x = np.asarray(x)
    if x.dtype.kind not in "iu":
        return _RECIPROCAL(x)
    lowest = np.iinfo(x.dtype).min if x.dtype.itemsize >= 4 else 0
    return np.where(x == 0, x.dtype.type(lowest), np.reciprocal(np.where(x == 0, x.dtype.type(1), x)))


def matmul(a: Any, b: Any) -> Any:
    """Computes each element as one chain of FMAs in the order of k, starting from 0.

    16-bit floats are added up in f32 and rounded at the end; a complex product is four real ones.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "c":
        re, im, to_re, to_im = (part.copy() for x in (a, b) for part in (x.real, x.imag))
        return whole(matmul(re, to_re) - matmul(im, to_im), matmul(re, to_im) + matmul(im, to_re))
    if a.dtype.kind in "biu":
        return np.matmul(a, b)
    if a.dtype.itemsize == 2:
        return matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*stack, a.shape[-2], b.shape[-1]), a.dtype)
    for k in range(a.shape[-1]):
        total = fma(a[..., :, k, None], b[..., None, k, :], total)
    return total


_RECIPROCAL = _arithmetic("reciprocal", complexes.reciprocal)
MEANINGS: Mapping[str, Callable[..., Any]] = {
    "mul": _arithmetic("mul", complexes.multiply),
    "div": _arithmetic("div", complexes.divide),
    "square": _arithmetic("square", complexes.square),
    "reciprocal": reciprocal,
    "complex_function": function_part(lambda name: MEANINGS.get(name, TABLE[name].numpy)),
    "minimum": _smaller(np.minimum),
    "maximum": _larger(np.maximum),
    "fmin": _smaller(np.fmin),
    "fmax": _larger(np.fmax),
    "min": _smallest(np.minimum),
    "max": _largest(np.maximum),
    "reduce_fmin": _smallest(np.fmin),
    "reduce_fmax": _largest(np.fmax),
    "scan": scan,
    "matmul": matmul,
    "cast": cast,
}
