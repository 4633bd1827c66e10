"""Run products on arrays that end right before, or begin right after, a page that must not be touched.

A read or write outside of an array kills the process, so `test_fences.py` runs this file in a separate process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import weft
from guarded import Fence, check

# Tiles of every kind, narrow and wide, with rows and columns left over; the last two are packed in blocks.
SHAPES = (
    (2, 2, 2), (3, 5, 4), (5, 7, 3), (8, 8, 8), (11, 16, 9), (12, 17, 5), (13, 33, 31), (25, 40, 17), (14, 18, 300),
    (5, 70, 135), (100, 97, 101),
)  # fmt: skip


def product(a: Any, b: Any) -> Any:
    return (a @ b,)


def fused(a: Any, b: Any) -> Any:
    return ((a + 1) @ (b * 2) - b[0],)


def rows(a: Any, b: Any) -> Any:
    return (np.maximum((a @ b) - b[0], 0).sum(axis=1),)


def main() -> None:
    rng = np.random.default_rng(0)
    fences = [Fence(64) for _ in range(3)]
    for function, dtype in ((product, "float32"), (product, "float64"), (fused, "float64"), (rows, "float32")):
        jitted = weft.jit(function)
        for m, n, k in SHAPES:
            a, b = rng.integers(0, 4, (m, k)).astype(dtype), rng.integers(0, 4, (k, n)).astype(dtype)
            check(jitted, function, fences, [a, b])
    print("done")


if __name__ == "__main__":
    main()
