"""Test arrays whose elements depend on earlier ones, against a loop in Python; the nest is golden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.text.printer import print_nest
from weft.passes.nest_pipeline import nest_pipeline

GOLDEN = Path(__file__).with_name("recurrence.mlir")
KERNELS = weft.compile("""
fn mixed(a, u, v) = a * u + (1 - a) * v

kernel smooth(x: float[n], a: float) -> float[n] {
    let y[i in 1..n] = mixed(a, x[i], y[i - 1]) else x[i]
    return y
}
kernel numbered(x: int[n]) {
    let y[i] = y[i - 1] + 2 * y[i - 3] + x[i] + i
    return y
}
kernel down(x: f32[n, m], a: f32) -> f32[n, m] {
    let y[i, j] = a * y[i - 1, j] + x[i, j]
    return y
}
kernel highest(x: f64[n, m]) -> f64[n, m] {
    let y[i, j in 1..m] = maximum(y[i, j - 1], x[i, j]) else x[i, j]
    return y
}
kernel declared(x: i32[n]) -> f64[n] {
    let y[i]: f64[n] = y[i - 1] / 2 + x[i]
    return y - sum(y)
}
kernel tripled(x: f64[n, m]) = 3 * highest(x)
""")
RNG = np.random.default_rng(7)


def smooth(x: Any, a: float) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y


def numbered(x: Any) -> Any:
    y = np.zeros(len(x) + 3, np.int64)
    for i in range(len(x)):
        y[i + 3] = y[i + 2] + 2 * y[i] + x[i] + i
    return y[3:]


def down(x: Any, a: Any) -> Any:
    y = np.zeros((len(x) + 1, *x.shape[1:]), x.dtype)
    for i in range(len(x)):
        y[i + 1] = a * y[i] + x[i]
    return y[1:]


def declared(x: Any) -> Any:
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = y[i] / 2 + x[i]
    return y[1:] - np.sum(y[1:])


def test_against_python() -> None:
    for n in (0, 1, 2, 3, 4, 50):
        x, whole = RNG.standard_normal(n), RNG.integers(-9, 9, n)
        for dtype in ("f8", "f4"):
            given = x.astype(dtype)
            made = KERNELS.smooth(given, 0.25)
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, smooth(given, 0.25))
        np.testing.assert_array_equal(KERNELS.numbered(whole), numbered(whole))
        np.testing.assert_allclose(KERNELS.declared(whole.astype("i4")), declared(whole), rtol=1e-15)
        for m in (1, 5, 40):
            x = RNG.standard_normal((n, m))
            f4 = x.astype("f4")
            np.testing.assert_array_equal(KERNELS.down(f4, 0.5), down(f4, np.float32(0.5)))
            np.testing.assert_array_equal(KERNELS.down(f4.T.copy().T, 0.5), down(f4, np.float32(0.5)))
            np.testing.assert_array_equal(KERNELS.highest(x), np.maximum.accumulate(x, axis=1))
    np.testing.assert_array_equal(KERNELS.tripled(x), 3 * np.maximum.accumulate(x, axis=1))
    inside = weft.jit(lambda x: KERNELS.highest(x) + 1)
    np.testing.assert_array_equal(inside(x), np.maximum.accumulate(x, axis=1) + 1)


def test_it_is_one_vector_loop_along_the_axis(request: pytest.FixtureRequest) -> None:
    x = RNG.standard_normal((6, 7)).astype("f4")
    KERNELS.down(x, 0.5)
    (loop,) = KERNELS.down.lower(x, 0.5).built.calls
    loop(*_operands(loop, x))
    nest = next(iter(loop._pieces.values()))[0].piece.nest
    for step in nest_pipeline(weft.registry, 64):
        nest = step.run(nest)
    text = print_nest(nest)
    if request.config.getoption("--update-goldens"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def _operands(loop: Any, x: Any) -> list[Any]:
    numbers = {"a": np.float32(0.5), "x": x, "%size0": 6, "%size1": 7, "%to0": 6, "%to1": 7}
    return [numbers[name] for name, *_ in loop.loop.inputs]
