"""The second and third level of BLAS, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def _plus(product: Any, beta: Any, c: Any) -> Any:
    return product if beta == 0 else product + beta * c


def gemm(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> Any:
    return _plus(alpha * (a @ b), beta, c)


def gemv(alpha: Any, a: Any, x: Any, beta: Any, y: Any) -> Any:
    return _plus(alpha * (a @ x), beta, y)


def ger(alpha: Any, x: Any, y: Any, a: Any) -> Any:
    return alpha * np.outer(x, y) + a


def trmm(lower: bool, alpha: Any, a: Any, b: Any) -> Any:
    return alpha * ((np.tril(a) if lower else np.triu(a)) @ b)


def symm(lower: bool, alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> Any:
    half = np.tril(a) if lower else np.triu(a)
    return _plus(alpha * ((half + half.T - np.diag(np.diag(a))) @ b), beta, c)


def syrk(lower: bool, alpha: Any, a: Any, beta: Any, c: Any) -> Any:
    inside = np.tri(len(a), dtype=bool)
    return np.where(inside if lower else inside.T, _plus(alpha * (a @ a.T), beta, c), c)
