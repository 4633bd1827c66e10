"""Test where an implementation replaces an op in graphs: fitting shapes, loops over elements, simplifications."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft.errors import ShapeProblem, Unsupported
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel

X = np.linspace(-2, 2, 1000, dtype=np.float32)


@pytest.fixture(autouse=True)
def scope():
    with weft.registry.scope():
        yield
    assert weft.registry.implementations() == ()


def test_operands_of_other_shapes_are_told_in_numbers():
    weft.registry.register("turned", "f32[n, n] f32[3] -> f32[n]", lambda x, y: x @ x[0] + y.sum(), kind="python")
    for shapes, message in (
        [(4,), (3,)], r"operand 0 must be f32\[n, n\], not of shape \(4,\)",
    ), (
        [(3, 4), (3,)], r"operand 0 must have size n = 3 in f32\[n, n\], not 4",
    ), (
        [(5, 5), (4,)], r"operand 1 must have size 3 in f32\[3\], not 4",
    ):  # fmt: skip
        with pytest.raises(ShapeProblem, match=message):
            weft.call("turned", *(np.ones(shape, np.float32) for shape in shapes))


@pytest.mark.parametrize("kind", ["inline", "python"])
def test_an_implementation_is_passed_over_where_shapes_do_not_fit(kind):
    f = weft.jit(lambda x: np.exp(x) + x)
    before = f(X)
    weft.registry.register("exp", "f32[n, m] -> f32[n, m]", lambda x: x, kind=kind, name="flat")
    weft.registry.register("add", "f32[n, n] f32[n, n] -> f32[n, n]", lambda x, y: x, kind=kind)
    square = X[:100].reshape(10, 10)
    np.testing.assert_array_equal(f(X), before)
    np.testing.assert_array_equal(f(X.reshape(10, 100)), 2 * X.reshape(10, 100))
    np.testing.assert_array_equal(f(square), 2 * square)  # that it is square is not known when it is compiled
    assert weft.registry.lookup("exp", "f32", ranks=(2,)).implementation.name == "flat"
    assert weft.registry.lookup("exp", "f32", ranks=(1,)).implementation.tier == "bundled"
    assert "refused, f32[n, m] has not 1 dimension" in str(weft.registry.explain("exp", "f32", ranks=(1,)))


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_loops_over_elements_use_implementations_of_elements(backend):
    text = """
fn steps(x: f32) -> f32 {
    var y = x
    var k = 0
    while k < 3 { if y > 0 { y = halved(exp(y)) } else { y = sigmoid(y) }; k += 1 }
    return y
}
kernel f(x: f32[n]) -> f32[n] = steps(x)
"""

    def want(x, exp):
        for _ in range(3):
            x = np.where(x > 0, exp(x) / 2, 1 / (1 + np.exp(-x)))
        return x

    weft.registry.unary("halved", lambda x: x / 2)
    source = parse_module(text, "loops.weft", ops=weft.registry).kernels["f"]
    kernel = Kernel(source, weft.registry, Options(backend=backend, verify=True))
    np.testing.assert_allclose(kernel(X), want(X.astype(float), np.exp), rtol=1e-5)
    weft.registry.register("exp", "f32 -> f32", lambda x: np.tanh(x) + 1, max_size=1000)
    np.testing.assert_allclose(kernel(X), want(X.astype(float), lambda x: np.tanh(x) + 1), rtol=1e-5)
    assert len(kernel.lower(X).kernels) == 1
    weft.registry.register("exp", "f32 -> f32", lambda x: weft.fori_loop(0, 2, lambda i, y: y * 2, x), max_size=1000)
    np.testing.assert_allclose(kernel(X), want(X.astype(float), lambda x: 4 * x), rtol=1e-5)
    more = np.concatenate([X, X])
    np.testing.assert_allclose(kernel(more), want(more.astype(float), np.exp), rtol=1e-5)
    weft.registry.register("halved", "f32 -> f32", lambda x: x / 2, kind="python", hints=["vectorized"])
    with pytest.raises(Unsupported, match="'halved' of f32 can't run inside a loop"):
        kernel(X)


def test_what_users_compute_is_not_simplified_away():
    def all_of(x):
        return np.stack([x / 2, x**3, np.negative(np.negative(x)), x * 1])

    two = np.full(4, 2, np.float32)
    f = weft.jit(all_of)
    for _ in range(2):
        np.testing.assert_array_equal(f(two), all_of(two))
    weft.registry.register("divide", "f32 f32 -> f32", lambda x, y: x / y + 10)
    weft.registry.register("power", "f32 f32 -> f32", lambda x, y: x**3 / 2)
    weft.registry.register("negative", "f32 -> f32", lambda x: x + 1)
    weft.registry.register("multiply", "f32 f32 -> f32", lambda x, y: x)
    np.testing.assert_array_equal(f(two)[:, 0], [11, 14, 4, 2])
    np.testing.assert_array_equal(f(two.astype(np.float64)), all_of(two.astype(np.float64)))
    for op in ("divide", "power", "negative", "multiply"):
        weft.registry.unregister(op)
    np.testing.assert_array_equal(f(two), all_of(two))
