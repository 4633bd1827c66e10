"""Print a digest of the results of many kernels, so that two machines can be compared bit by bit.

`python -m tests.arm.kernels [WORD ...]` runs the library's kernels and some NumPy functions on fixed random arrays, and
prints a line for each: its name and the SHA-256 of its results. Words choose the kernels whose name has one of them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import weft

from tests.kernels.cases import CASES, Data

Array = np.ndarray[Any, Any]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arithmetic": lambda x, y: (x * y + 1) / (y * y + 2) - abs(x),
    "axis_sums": lambda x, y: (x.sum(axis=0), x.sum(axis=1), (x * y).sum(), x.mean(axis=0), y.var(axis=1)),
    "extremes": lambda x, y: (x.max(axis=1), y.min(axis=0), x.argmax(axis=1), y.argmin(), np.ptp(x)),
    "exponentials": lambda x, y: (np.exp(x), np.expm1(y), np.exp2(x), np.log(abs(y) + 1), np.log1p(abs(x))),
    "powers": lambda x, y: (abs(x) ** y, np.sqrt(abs(x)), np.cbrt(y), np.hypot(x, y)),
    "circles": lambda x, y: (np.sin(x * 40), np.cos(y), np.tan(x), np.arctan2(x, y)),
    "inverses": lambda x, y: (np.arcsin(x / 4), np.arccos(y / 4), np.arctan(x), np.arcsinh(y)),
    "hyperbolic": lambda x, y: (np.sinh(x), np.cosh(y), np.tanh(x)),
    "rounding": lambda x, y: (np.floor(x), np.rint(y), np.trunc(x), np.round(y, 1), x % 2, y // 3),
    "conversions": lambda x, y: (x.astype("i4"), y.astype("f2"), x > y, (x * 9).astype("i1").astype("f8")),
    "integers": lambda x, y: ((x * 1000).astype("i4") // 7, (y * 999).astype("i8") % 13, (x * 99).astype("i2") << 2),
    "scans": lambda x, y: (x.cumsum(axis=1), np.cumprod(y * 0.5, axis=0), np.maximum.accumulate(x, axis=1)),
    "products": lambda x, y: (x @ y.T, x.T @ y, x @ y[0], np.einsum("ij,kj->ik", x, y)),
    "complex": lambda x, y: (np.exp(x + 1j * y), np.abs(x - 1j * y), (x + 2j * y) / (y - 1j), np.sqrt(x + 1j * y)),
    "layouts": lambda x, y: (x.T * 2, y[::-1, ::2] + x[:, ::2], np.roll(x, 3, axis=1), np.pad(y, 2)),
    "masks": lambda x, y: (np.where(x > y, x, -y), np.clip(x, -1, 1), x[0][x[0] > 0]),
}


def kernels() -> Iterator[tuple[str, Callable[..., Any], Callable[[Data], Any]]]:
    for name, case in CASES.items():
        yield name, getattr(weft.kernels, name), case.make
    for name, function in FUNCTIONS.items():
        yield name, weft.jit(function), lambda d: (d.uniform(d.n, d.m), d.uniform(d.n, d.m))


def digest(result: Any) -> str:
    """Return a hash of the kinds, shapes and bytes of a result; every NaN counts as the same."""
    hashed = hashlib.sha256()
    for part in result if isinstance(result, tuple) else (result,):
        array = np.array(part)
        if array.dtype.kind in "fc":
            array[np.isnan(array)] = np.nan
        hashed.update(f"{type(part).__name__} {array.dtype} {array.shape} ".encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()[:16]


def main(words: list[str]) -> None:
    for name, kernel, make in kernels():
        if words and not any(word in name for word in words):
            continue
        for dtype in ("f4", "f8"):
            arguments = make(Data(np.random.default_rng(11), dtype))
            print(f"{name} {dtype} {digest(kernel(*arguments))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
