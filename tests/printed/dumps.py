"""Define kernels whose dumps the tests here edit, and their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import weft

Array = np.ndarray[Any, Any]
TEXT = """
kernel softmax(x: f32[n, m]) -> f32[n, m] {
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel moments(x: f64[n, m]) -> (mean: f64[n], var: f64[n]) {
    let mu = mean(x, axis=1, keepdims=true)
    return mean(x, axis=1), mean((x - mu)**2, axis=1)
}
kernel stencil(u: f64[n], r: f64) -> f64[n] {
    let w[i in 1..n-1] = u[i] + r * (u[i-1] - 2*u[i] + u[i+1]) else u[i]
    return w
}
kernel blurred(x: f32[n, m], w: f32[k]) {
    let y[i, j in 0..m-k+1] = sum[p in 0..k](x[i, j + p] * w[p])
    return y
}
kernel product(a: f32[m, k], b: f32[k, n], c: f32[n]) -> f32[m, n] { return tanh(a @ b + c) }
kernel columns(x: f32[n, m]) { return sum(x, axis=0), max(x, axis=0) }
kernel looked(x: f32[n], i: i64[k]) -> f32[k] { return x[i] * 2 }
kernel best(x: f64[n, m]) { return argmax(x, axis=1), x[::-1, 1:] }
kernel running(x: f64[n, m]) { return cumsum(x, axis=1) }
kernel turned(x: f32[n, m], y: f32[m, n]) { return x + transpose(y) }
kernel flat(x: f32[n, m]) { return reshape(x * 2, n * m) }
kernel heat(u: f64[n], r: f64, steps: i64) -> f64[n] {
    var v = u
    for t in 0..steps {
        let w[i in 1..n-1] = v[i] + r * (v[i-1] - 2*v[i] + v[i+1]) else v[i]
        v = w
    }
    return v
}
fn escape(cr: f64, limit: i32) -> i32 {
    var z = 0.0; var k = 0
    while k < limit and z*z <= 4.0 { z = z*z + cr; k += 1 }
    return k
}
kernel escapes(x: f64[n], limit: i32) -> i32[n] { return escape(x, limit) }
"""


def _numbers(shape: tuple[int, ...], dtype: str) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "softmax": lambda: (_numbers((5, 37), "f4"),),
    "moments": lambda: (_numbers((5, 37), "f8"),),
    "stencil": lambda: (_numbers((23,), "f8"), 0.25),
    "blurred": lambda: (_numbers((5, 23), "f4"), _numbers((3,), "f4")),
    "product": lambda: (_numbers((7, 9), "f4"), _numbers((9, 19), "f4"), _numbers((19,), "f4")),
    "columns": lambda: (_numbers((9, 21), "f4"),),
    "looked": lambda: (_numbers((11,), "f4"), np.arange(17) % 11),
    "best": lambda: (_numbers((5, 19), "f8"),),
    "running": lambda: (_numbers((5, 19), "f8"),),
    "turned": lambda: (_numbers((6, 19), "f4"), _numbers((19, 6), "f4")),
    "flat": lambda: (np.asfortranarray(_numbers((6, 11), "f4")),),
    "heat": lambda: (_numbers((23,), "f8"), 0.25, 4),
    "escapes": lambda: (_numbers((23,), "f8"), np.int32(9)),
}


def kernels() -> Any:
    """The kernels, as a module."""
    return weft.compile(TEXT)


def bits(result: Any) -> list[bytes]:
    """What a call gave, to the bit."""
    parts = result if isinstance(result, tuple) else (result,)
    return [repr((x.shape, x.dtype)).encode() + np.asarray(x).tobytes() for x in map(np.asarray, parts)]
