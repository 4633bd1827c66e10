"""Time stencils and convolutions against NumPy and, if they are installed, Numba and JAX.

    python benchmarks/stencils.py [--threads 1] [--only heat2d conv2d_f32] [--seconds 2]

The libraries take turns, and the best time of each counts. Every result is compared with NumPy's first. A ratio is the
other library's time over Weft's: above 1, Weft is faster. Numba runs `njit(parallel=True)` without fastmath. The last
column is Weft's compile time.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import weft

Array = np.ndarray[Any, Any]
WEFT = """
kernel heat2d(v: float[n, m], r: float) -> float[n, m] {
    let w[i in 1..n - 1, j in 1..m - 1] = v[i, j] + r * (
        v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * v[i, j]
    ) else v[i, j]
    return w
}
kernel heat3d(v: float[n, m, k], r: float) -> float[n, m, k] {
    let w[i in 1..n - 1, j in 1..m - 1, l in 1..k - 1] = v[i, j, l] + r * (
        v[i - 1, j, l] + v[i + 1, j, l] + v[i, j - 1, l] + v[i, j + 1, l] + v[i, j, l - 1] + v[i, j, l + 1]
        - 6 * v[i, j, l]
    ) else v[i, j, l]
    return w
}
kernel conv2d(x: float[h, w], k: float[p, q]) -> float[h - p + 1, w - q + 1] {
    let y[i in 0..h - p + 1, j in 0..w - q + 1] = sum[a, b](x[i + a, j + b] * k[a, b])
    return y
}
kernel channels(x: float[c, h, w], k: float[o, c, p, q]) -> float[o, h - p + 1, w - q + 1] {
    let y[t, i in 0..h - p + 1, j in 0..w - q + 1] = sum[u, a, b](x[u, i + a, j + b] * k[t, u, a, b])
    return y
}
kernel life_u8(c: u8[n, m]) -> u8[n, m] {
    let s[i in 1..n - 1, j in 1..m - 1] = (
        c[i - 1, j - 1] + c[i - 1, j] + c[i - 1, j + 1] + c[i, j - 1] + c[i, j + 1]
        + c[i + 1, j - 1] + c[i + 1, j] + c[i + 1, j + 1]
    ) else 0
    return u8(s == 3 or s == 2 and c == 1)
}
kernel life_i32(c: i32[n, m]) -> i32[n, m] {
    let s[i in 1..n - 1, j in 1..m - 1] = (
        c[i - 1, j - 1] + c[i - 1, j] + c[i - 1, j + 1] + c[i, j - 1] + c[i, j + 1]
        + c[i + 1, j - 1] + c[i + 1, j] + c[i + 1, j + 1]
    ) else 0
    return i32(s == 3 or s == 2 and c == 1)
}
"""


@dataclass
class Case:
    """A kernel, its arguments, NumPy's function for it, and the functions of other libraries."""

    name: str
    args: tuple[Any, ...]
    weft: Callable[..., Any]
    numpy: Callable[..., Any]
    loops: Callable[..., Any]  # plain loops for Numba
    jax: Callable[[Any], Callable[..., Any]] = field(default=lambda jax: lambda *args: None)


def heat2d(v: Array, r: Any) -> Array:
    w = v.copy()
    w[1:-1, 1:-1] += r * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
    return w


def heat3d(v: Array, r: Any) -> Array:
    w, inside = v.copy(), v[1:-1, 1:-1, 1:-1]
    near = v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1]
    w[1:-1, 1:-1, 1:-1] += r * (near + v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:] - 6 * inside)
    return w


def conv2d(x: Array, k: Array) -> Array:
    (h, w), (p, q) = x.shape, k.shape
    y = np.zeros((h - p + 1, w - q + 1), x.dtype)
    for a in range(p):
        for b in range(q):
            y += x[a : a + h - p + 1, b : b + w - q + 1] * k[a, b]
    return y


def channels(x: Array, k: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, k.shape[2:], (1, 2))
    return np.tensordot(k, windows, ((1, 2, 3), (0, 3, 4)))


def life(c: Array) -> Array:
    s = np.zeros_like(c)
    for a in (0, 1, 2):
        for b in (0, 1, 2):
            if (a, b) != (1, 1):
                s[1:-1, 1:-1] += c[a : c.shape[0] - 2 + a, b : c.shape[1] - 2 + b]
    return ((s == 3) | ((s == 2) & (c == 1))).astype(c.dtype)


# The same as loops, in the words of Numba: `prange` is its parallel range.
prange = range


def heat2d_loops(v: Array, r: Any) -> Array:
    n, m = v.shape
    w = np.empty_like(v)
    w[0], w[-1] = v[0], v[-1]
    for i in prange(1, n - 1):
        w[i, 0], w[i, m - 1] = v[i, 0], v[i, m - 1]
        for j in range(1, m - 1):
            w[i, j] = v[i, j] + r * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * v[i, j])
    return w


def heat3d_loops(v: Array, r: Any) -> Array:
    n, m, d = v.shape
    w = np.empty_like(v)
    w[0], w[-1] = v[0], v[-1]
    for i in prange(1, n - 1):
        w[i, 0], w[i, m - 1] = v[i, 0], v[i, m - 1]
        for j in range(1, m - 1):
            w[i, j, 0], w[i, j, d - 1] = v[i, j, 0], v[i, j, d - 1]
            for k in range(1, d - 1):
                near = v[i - 1, j, k] + v[i + 1, j, k] + v[i, j - 1, k] + v[i, j + 1, k]
                w[i, j, k] = v[i, j, k] + r * (near + v[i, j, k - 1] + v[i, j, k + 1] - 6 * v[i, j, k])
    return w


def conv2d_loops(x: Array, k: Array) -> Array:
    (h, w), (p, q) = x.shape, k.shape
    y = np.zeros((h - p + 1, w - q + 1), x.dtype)
    for i in prange(h - p + 1):
        for a in range(p):
            for b in range(q):
                for j in range(w - q + 1):  # innermost, so that it is vectorised
                    y[i, j] += x[i + a, j + b] * k[a, b]
    return y


def channels_loops(x: Array, k: Array) -> Array:
    (c, h, w), (o, _, p, q) = x.shape, k.shape
    y = np.zeros((o, h - p + 1, w - q + 1), x.dtype)
    for t in prange(o):
        for u in range(c):
            for i in range(h - p + 1):
                for a in range(p):
                    for b in range(q):
                        for j in range(w - q + 1):
                            y[t, i, j] += x[u, i + a, j + b] * k[t, u, a, b]
    return y


def life_loops(c: Array) -> Array:
    n, m = c.shape
    y = np.zeros_like(c)
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            s = c[i - 1, j - 1] + c[i - 1, j] + c[i - 1, j + 1] + c[i, j - 1] + c[i, j + 1]
            s = s + c[i + 1, j - 1] + c[i + 1, j] + c[i + 1, j + 1]
            y[i, j] = 1 if s == 3 or (s == 2 and c[i, j] == 1) else 0
    return y


def jax_conv(jax: Any) -> Callable[..., Any]:
    def conv(x: Any, k: Any) -> Any:
        return jax.lax.conv(x[None, None], k[None, None], (1, 1), "VALID")[0, 0]

    return conv


def jax_channels(jax: Any) -> Callable[..., Any]:
    return lambda x, k: jax.lax.conv(x[None], k, (1, 1), "VALID")[0]


def jax_slices(function: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    """Write a function of slices for JAX, in which an assignment is `.at[...].set`."""

    def made(jax: Any) -> Callable[..., Any]:
        if function is life:

            def step(c: Any) -> Any:
                views = [(a, b) for a in (0, 1, 2) for b in (0, 1, 2) if (a, b) != (1, 1)]
                s = sum(c[a : c.shape[0] - 2 + a, b : c.shape[1] - 2 + b] for a, b in views)
                whole = jax.numpy.pad(s, 1)
                return ((whole == 3) | ((whole == 2) & (c == 1))).astype(c.dtype)

            return step
        if function is heat2d:
            return lambda v, r: v.at[1:-1, 1:-1].add(
                r * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
            )

        def step3(v: Any, r: Any) -> Any:
            near = v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1]
            near = near + v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:]
            return v.at[1:-1, 1:-1, 1:-1].add(r * (near - 6 * v[1:-1, 1:-1, 1:-1]))

        return step3

    return made


def cases() -> list[Case]:
    module, rng, found = weft.compile(WEFT), np.random.default_rng(0), list[Case]()
    for dtype in (np.float32, np.float64):
        bits = np.dtype(dtype).itemsize * 8
        for n in (256, 1000, 2048, 4096):
            args = (rng.random((n, n), dtype), dtype(0.1))
            found.append(Case(f"heat2d_f{bits}_{n}", args, module.heat2d, heat2d, heat2d_loops, jax_slices(heat2d)))
        for n in (64, 256):
            args = (rng.random((n, n, n), dtype), dtype(0.1))
            found.append(Case(f"heat3d_f{bits}_{n}", args, module.heat3d, heat3d, heat3d_loops, jax_slices(heat3d)))
        for n in (256, 1000, 2048):
            for k in (3, 5):
                pair = rng.random((n, n), dtype), rng.random((k, k), dtype)
                found.append(Case(f"conv2d_f{bits}_{k}x{k}_{n}", pair, module.conv2d, conv2d, conv2d_loops, jax_conv))
    for c, o, n in ((3, 16, 128), (32, 32, 64), (64, 64, 56)):
        pair = rng.random((c, n, n), np.float32), rng.random((o, c, 3, 3), np.float32)
        found.append(Case(f"channels_{c}_{o}_{n}", pair, module.channels, channels, channels_loops, jax_channels))
    for kind, kernel in (("u8", module.life_u8), ("i32", module.life_i32)):
        for n in (1000, 4096):
            cells = (rng.random((n, n)) < 0.3).astype({"u8": np.uint8, "i32": np.int32}[kind])
            found.append(Case(f"life_{kind}_{n}", (cells,), kernel, life, life_loops, jax_slices(life)))
    return found


def peers(case: Case, threads: int) -> dict[str, Callable[[], Any]]:
    """Return the functions to measure, by name."""
    found: dict[str, Callable[[], Any]] = {
        "weft": lambda: case.weft(*case.args),
        "numpy": lambda: case.numpy(*case.args),
    }
    if (numba := _installed("numba")) is not None:
        numba.set_num_threads(threads)
        globals()["prange"] = numba.prange
        compiled = numba.njit(parallel=True)(case.loops)
        found["numba"] = lambda: compiled(*case.args)
    if (jax := _installed("jax")) is not None:
        jax.config.update("jax_enable_x64", True)
        function, given = jax.jit(case.jax(jax)), [jax.numpy.asarray(x) for x in case.args]
        found["jax"] = lambda: function(*given).block_until_ready()
    return found


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def best(functions: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Return the shortest time of each, in seconds, measured in turns for this long.

    A turn is three calls. The later ones find their own memory in the caches, not that of the library before.
    """
    times = [float("inf")] * len(functions)
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or time.perf_counter() < end:
        rounds += 1
        for k, function in enumerate(functions):
            for _ in range(3):
                start = time.perf_counter()
                function()
                times[k] = min(times[k], time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=weft.get_threads())
    parser.add_argument("--only", nargs="*", default=[""], help="what names begin with")
    parser.add_argument("--seconds", type=float, default=2, help="for all libraries of a case together")
    given = parser.parse_args()
    weft.set_threads(given.threads)
    print(f"{'case':22} {'weft':>9}  peers: time over Weft's")
    for case in cases():
        if not case.name.startswith(tuple(given.only)):
            continue
        functions = peers(case, given.threads)
        wanted = case.numpy(*case.args)
        for name, function in functions.items():
            np.testing.assert_allclose(np.asarray(function()), wanted, rtol=1e-4, err_msg=f"{case.name}: {name}")
        times = dict(zip(functions, best(list(functions.values()), given.seconds), strict=True))
        own = times.pop("weft")
        shown = "  ".join(f"{name} {t / own:5.2f}" for name, t in times.items())
        seconds = case.weft.lower(*case.args).explain().seconds
        compiling = sum(s for what, s in seconds.items() if not what.startswith("pass ") and what != "first run")
        print(f"{case.name:22} {1e6 * own:7.0f}us  {shown}  compiled in {1000 * compiling:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
