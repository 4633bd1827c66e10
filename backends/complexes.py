"""Compute complex arithmetic on real and imaginary parts in NumPy, with the same bits as native code.

The bits of NumPy's own products depend on the code path that it takes. Weft uses fixed formulas: `a*b` is `fma(ar, br,
-(ai*bi)) + i fma(ar, bi, ai*br)`, and a quotient is Smith's, with one reciprocal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.complexes import whole
from .fused import fma


def multiply(a: Any, b: Any) -> Any:
    ar, ai, br, bi = _parts(a, b)
    return whole(fma(ar, br, -(ai * bi)), fma(ar, bi, ai * br))


def square(a: Any) -> Any:
    return multiply(a, a)


def divide(a: Any, b: Any) -> Any:
    """Divide by the longer part of the divisor; if that is the imaginary one, first turn both numbers by a quarter."""
    ar, ai, br, bi = _parts(a, b)
    flat = np.abs(br) >= np.abs(bi)
    longer, shorter = np.where(flat, br, bi), np.where(flat, bi, br)
    ratio = shorter / longer
    inverse = 1 / (longer + shorter * ratio)
    along, across = np.where(flat, ar, ai), np.where(flat, ai, -ar)
    turn = np.where(flat, ratio, -ratio)
    zero = longer == 0
    re = np.where(zero, ar / np.abs(br), (along + across * turn) * inverse)
    return whole(re, np.where(zero, ai / np.abs(br), (across - along * turn) * inverse))


def reciprocal(a: Any) -> Any:
    re, im = _parts(a)
    flat = np.abs(im) <= np.abs(re)
    longer, shorter = np.where(flat, re, im), np.where(flat, im, re)
    ratio = shorter / longer
    length = longer + shorter * ratio
    one = np.ones_like(ratio)
    return whole(np.where(flat, one, ratio) / length, -np.where(flat, ratio, one) / length)


def _parts(*operands: Any) -> list[Any]:
    dtype = np.result_type(*operands)
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype) for x in operands))
    return [part.copy() for x in arrays for part in (x.real, x.imag)]
