"""Write matrix products out in NumPy, with the bits that native code gives.

An element is one chain of FMAs in the order of k, from 0 on. 16-bit floats are added up in f32 and rounded at the end;
a complex product is four real ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.complexes import whole
from .fused import fma


def matmul(a: Any, b: Any) -> Any:
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
