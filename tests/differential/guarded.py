"""Run kernels on arrays that end right before, or begin right after, a page that must not be touched.

A read or write outside of an array kills the process, so `test_bounds.py` runs this file in a separate process:

    python guarded.py
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import sys
from typing import Any

import numpy as np
import weft
from weft.function import tracing

PAGE = mmap.PAGESIZE
Array = np.ndarray[Any, Any]
_libc = ctypes.CDLL(None, use_errno=True)
_keep: list[Any] = []


class Fence:
    """Memory between two pages that can be neither read nor written."""

    def __init__(self, pages: int = 16) -> None:
        self.size = pages * PAGE
        self.memory = mmap.mmap(-1, self.size + 2 * PAGE)
        self.bytes = np.frombuffer(self.memory, np.uint8)
        _keep.append(self)
        start = self.bytes.ctypes.data
        for page in (start, start + PAGE + self.size):
            if _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    def array(self, shape: tuple[int, ...], dtype: str, at_end: bool, offset: int = 0) -> Array:
        """Return a C-ordered array at one end, or some bytes away from it."""
        kind = np.dtype(dtype)
        count = int(np.prod(shape)) * kind.itemsize
        start = PAGE + (self.size - count - offset if at_end else offset)
        return np.ndarray(shape, kind, self.memory, start)


def put(fence: Fence, x: Array, how: str, at_end: bool) -> Array:
    """A copy of the array inside a fence, in a memory layout."""
    if how == "C":
        view = fence.array(x.shape, x.dtype.str, at_end)
    elif how == "F":
        view = fence.array(x.shape[::-1], x.dtype.str, at_end).T
    elif how == "reversed":
        view = fence.array(x.shape, x.dtype.str, at_end)[tuple(slice(None, None, -1) for _ in x.shape)]
    elif how == "strided":
        last = x.shape[-1]
        wide = fence.array((*x.shape[:-1], max(0, 3 * last - 2)), x.dtype.str, at_end) if x.ndim == 1 else None
        view = wide[::3] if wide is not None else fence.array((*x.shape[:-1], 3 * last), x.dtype.str, at_end)[..., 2::3]
    else:
        raise ValueError(how)
    view[...] = x
    return view


def check(jitted: Any, function: Any, fences: list[Fence], arrays: list[Array]) -> None:
    """Check every layout at both ends, for arguments and for `out`."""
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    for how in ("C", "F", "reversed", "strided"):
        for at_end in (False, True):
            args = [put(f, x, how, at_end) for f, x in zip(fences, arrays, strict=False)]
            outs = tuple(
                put(f, np.zeros_like(r), how if r.ndim else "C", at_end)
                for f, r in zip(fences[len(args) :], expected, strict=False)
            )
            jitted(*args, out=outs)
            for found, wanted in zip(outs, expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def chain(x: Any, y: Any) -> Any:
    return x * y + x, x > y


def rows(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True), (x * x).sum(axis=0), x[:, ::-1] + 1


def lookups(x: Any, i: Any) -> Any:
    return x[i], x.T[:, i], np.concatenate([x[i] * 2, x])


def walks(x: Any) -> Any:
    return np.cumsum(x, axis=0), np.cumsum(x, axis=1), np.arange(x.shape[1]) + x


def places(x: Any) -> Any:
    return np.argmin(x), np.argmax(x, axis=0), np.argmax(x, axis=1)


def near(x: Any) -> Any:
    return x[:-2, 1:-1] + x[1:-1, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:], x[1:] - x[:-1]


CONVOLUTION = """
kernel conv(x: f32[n, m], w: f32[p, q]) -> f32[n - p + 1, m - q + 1] {
    let y[i in 0..n - p + 1, j in 0..m - q + 1] = sum[a, b](x[i + a, j + b] * w[a, b])
    return y
}
"""


def convolution(x: Array, w: Array) -> tuple[Array]:
    return ((np.lib.stride_tricks.sliding_window_view(x, w.shape) * w).sum((2, 3)),)


def refused(jitted: Any, fences: list[Fence], x: Array) -> None:
    """Check that an index far out of range, at every position of a vector, reads nothing."""
    for at, far in [(at, far) for at in (0, 5, 16) for far in (x.shape[0], 10**9, -(10**12))]:
        i = np.zeros(17, np.int64)
        i[at] = far
        for at_end in (False, True):
            try:
                jitted(put(fences[0], x, "C", at_end), i)
            except IndexError:
                continue
            raise AssertionError(f"index {far} at {at} was taken")


def main() -> None:
    rng = np.random.default_rng(0)
    fences = [Fence() for _ in range(6)]
    if "--touch" in sys.argv:  # shows that the fence holds
        ctypes.string_at(fences[0].bytes.ctypes.data + PAGE + fences[0].size, 1)
    for dtype in ("float32", "float64", "int32", "bool"):
        jitted = tracing(chain)
        for n in range(71):
            x, y = (rng.integers(0, 2 if dtype == "bool" else 9, n).astype(dtype) for _ in range(2))
            check(jitted, chain, fences, [x, y])
    for dtype in ("float32", "float64"):
        jitted = tracing(rows)
        for n, m in [(n, m) for n in (1, 2, 3, 17) for m in (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130)]:
            check(jitted, rows, fences, [rng.normal(size=(n, m)).astype(dtype)])
    every, few = ((1, 2, 17), (1, 2, 7, 16, 17, 33, 65)), ((2, 17), (7, 17, 65))
    for dtype, sizes in (("float32", every), ("int8", every), ("float64", few), ("bool", few)):
        jitted, walked, found = tracing(lookups), tracing(walks), tracing(places)
        for n, m in itertools.product(*sizes):
            x = rng.integers(0, 2 if dtype == "bool" else 9, (n, m)).astype(dtype)
            check(jitted, lookups, fences, [x, rng.integers(-n, n, 19)])
            check(walked, walks, fences, [x])
            check(found, places, fences, [x])
            refused(jitted, fences, x)
    jitted, conv = tracing(near), weft.compile(CONVOLUTION).conv
    for n, m in [(n, m) for n in (3, 6) for m in (3, 18, 67)]:
        x = rng.normal(size=(n, m)).astype(np.float32)
        check(jitted, near, fences, [x])
        for window in ((3, 3), (2, 1), (1, m)):
            check(lambda *a, out: conv(*a, out=out[0]), convolution, fences, [x, rng.random(window, np.float32)])
    print("done")


if __name__ == "__main__":
    from tests.compiling import install  # other programs import this file from where there is no such package

    install()
    main()
