"""Define kernels and calls that the tests of the disk cache repeat in a second process."""

from __future__ import annotations

from typing import Any

import numpy as np

TEXT = """
kernel softmax(x: f32[n, m]) -> f32[n, m] {
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel moments(x: float[n]) -> (mean: float, var: float) {
    let mu = mean(x)
    return mu, mean((x - mu)**2)
}
kernel joined(x: f64[n], y: f64[m]) { return concatenate((x * 2, y + 1)) }
kernel tiled(x: i32[n, m]) { return tile(x + 1, (2, 3)) }
kernel best(x: f32[n, m]) { return argmax(x, axis=1), min(x) }
kernel looked_up(x: f64[n], k: i64[m]) { return take(x, k) * 2 }
kernel scaled(x: i16[n, m], k: number) { return k * x, transpose(x) + 1 }
kernel twice(x: any[...]) { return x + x, x + x }
kernel turned(x: c64[n]) { return x * conj(x), abs(x) }
kernel half(x: f16[n]) { return sqrt(x) + 0.5 }
kernel looped(x: f64[n], y: f64[n], tol: f64) {
    var v = x
    var k = 0
    while sum(abs(v - y)) > tol { v = (v + roll(y, 1)) / 2; k += 1; if k == 5 { break } }
    return v, k
}
kernel bundled(x: float[..., m]) { return relu(x), log_softmax(gelu(x)) }
"""
RANDOM = np.random.default_rng(5)


def array(shape: Any, dtype: str) -> np.ndarray[Any, Any]:
    return (RANDOM.standard_normal(shape) * 8).astype(dtype)


MATRIX = array((5, 70), "f4")
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("softmax", (MATRIX,)),
    ("softmax", (array((300, 7), "f4").T,)),
    ("softmax", (array((3, 40), "f4")[:, ::3],)),
    ("moments", (array(1000, "f8"),)),
    ("moments", (array(33, "f4"),)),
    ("joined", (array(7, "f8"), array(5, "f8"))),
    ("tiled", (array((3, 4), "i4"),)),
    ("best", (MATRIX,)),
    ("looked_up", (array(9, "f8"), np.array([8, 0, -1]))),
    ("scaled", (array((4, 6), "i2"), 3)),
    ("scaled", (array((4, 6), "i2"), np.float32(1.5))),
    ("twice", (array((2, 3, 4), "f8").transpose(2, 0, 1),)),
    ("twice", (np.float32(3),)),
    ("turned", (array(20, "c8"),)),
    ("half", (np.abs(array(33, "f2")),)),
    ("looped", (array(40, "f8"), array(40, "f8"), 0.5)),
    ("bundled", (MATRIX,)),
    ("bundled", (array((40, 7), "f8").T,)),
]


def described(result: Any) -> Any:
    """Bits, dtype, shape, strides and kind of a result."""
    if isinstance(result, tuple):
        return tuple(map(described, result))
    found = np.asarray(result)
    return type(result), found.dtype, found.shape, found.strides, found.tobytes("A")
