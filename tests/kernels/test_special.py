"""Test library kernels at the ends of their range, with other dtypes and ranks, and with wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft import kernels
from weft.errors import IndexProblem, ShapeProblem, TypeProblem
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel

ENDS = np.array([-np.inf, -1e300, -800, -40, -1e-300, -0.0, 0.0, 1e-300, 40, 800, 1e300, np.inf, np.nan])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_activations_do_not_overflow(dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = ENDS.astype(dtype)
    halves = [0, 0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, np.nan]
    assert np.array_equal(np.delete(kernels.sigmoid(x), 3), halves, equal_nan=True)
    assert 0 < kernels.sigmoid(x)[3] < 1e-17
    assert np.array_equal(kernels.softplus(x)[[0, 1, 2, 9, 11]], [0, 0, 0, 800, np.inf])
    assert np.isclose(kernels.softplus(x)[6], np.log(2))
    assert np.array_equal(kernels.tanh(x)[[0, 1, 2, 9, 10, 11]], [-1, -1, -1, 1, 1, 1])
    assert np.array_equal(kernels.elu(x, 2.0)[[0, 1, 2, 9, 11]], [-2, -2, -2, 800, np.inf])
    for kernel in (kernels.gelu, kernels.gelu_tanh, kernels.silu):
        assert np.array_equal(kernel(x)[[2, 6, 8, 9, 11]], [0, 0, 40, 800, np.inf])
        assert kernel(x)[10] == x[10]
        assert np.isnan(kernel(x)[12])


@pytest.mark.parametrize(("dtype", "big", "small"), [("f4", 1e38, 1e-40), ("f8", 1e308, 1e-310)])
def test_norms_beyond_the_range_of_squares(dtype: str, big: float, small: float) -> None:
    for scale in np.array([big, small], dtype):
        x = np.array([3, 0, -4, 0, 12], dtype) / 13 * scale
        assert np.isclose(kernels.nrm2(x), scale, rtol=1e-4, atol=0)
    assert kernels.nrm2(np.zeros(5, dtype)) == 0 == kernels.nrm2(np.zeros(0, dtype))
    assert kernels.nrm2(np.array([1, -np.inf], dtype)) == np.inf
    assert np.isnan(kernels.nrm2(np.array([1, np.nan, 2], dtype)))


def test_rows_with_large_and_infinite_numbers() -> None:
    x = np.array([[1e4, 1e4, 0], [-1e4, -1e4, -np.inf], [-np.inf] * 3, [np.inf, 0, 1], [0, np.nan, 0]])
    low = np.log(2)
    expected = [1e4 + low, -1e4 + low, -np.inf, np.inf, np.nan]
    assert np.array_equal(kernels.logsumexp(x), expected, equal_nan=True)
    assert np.array_equal(kernels.softmax(x[:2]), [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    assert np.array_equal(kernels.log_softmax(x[:2]), [[-low, -low, -1e4 - low], [-low, -low, -np.inf]])
    assert kernels.cross_entropy(x[:1], np.array([2])) == 1e4 + low
    assert kernels.cross_entropy(np.zeros((2, 3, 4), "f4"), np.zeros((2, 3), "i4")) == np.log(np.float32(4))
    with pytest.raises(IndexProblem):
        kernels.cross_entropy(x, np.array([0, 1, 2, 3, 0]))


def test_integers_complex_numbers_and_ranks() -> None:
    i, z = np.arange(-3, 3, dtype="i2"), np.array([1 + 2j, 3 - 1j], "c8")
    assert kernels.add(i, i).dtype == "i2" and kernels.div(i, 2).dtype == "f8"
    assert kernels.sum(i).dtype == "i8" and kernels.relu(i).dtype == "i2" and kernels.axpy(2, i, i)[0] == -9
    assert kernels.dot(z, z) == (z * z).sum() and kernels.sqrt(np.array(4)) == 2
    assert kernels.add(np.float32(1), 2.0).dtype == "f4"
    deep = np.arange(24.0).reshape(2, 3, 4)
    assert kernels.argmax(deep) == 23 and np.isclose(kernels.nrm2(deep), np.linalg.norm(deep), rtol=1e-15)
    assert np.array_equal(kernels.cumsum(deep), deep.cumsum(-1))
    assert kernels.cosine_similarity(deep, np.ones(4)).shape == (2, 3)
    assert kernels.cosine_similarity(np.zeros(3), np.ones(3)) == 0
    assert kernels.argmax(np.array([1, np.nan, 3])) == 1


def test_blas_rules() -> None:
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal((4, 4)) for _ in range(3))
    nan = np.full((4, 4), np.nan)
    assert np.isfinite(kernels.gemm(1, a, b, 0, nan)).all(), "c is not read where beta is 0"
    assert np.isfinite(kernels.gemv(1, a, b[0], 0, nan[0])).all()
    assert np.isnan(kernels.gemm(1, a, b, 1, nan)).all()
    mixed = np.where(np.tri(4, dtype=bool), a, np.nan)
    for lower, half in ((True, mixed), (False, mixed.T)):
        clean = np.nan_to_num(half)
        whole = clean + clean.T - np.diag(np.diag(clean))
        assert np.allclose(kernels.trmm(lower, 2, half, b), 2 * clean @ b)
        assert np.allclose(kernels.symm(lower, 2, half, b, 3, c), 2 * whole @ b + 3 * c)
        assert np.allclose(kernels.syrk(lower, 1, a, 0, c), np.where(np.isnan(half), c, a @ a.T))
    out = np.empty((4, 4))
    assert kernels.gemm(1, a.T, b, 1, c, out=out) is out and np.allclose(out, a.T @ b + c)
    with pytest.raises(ShapeProblem, match="argument 'b'"):
        kernels.gemm(1, a, b[:3], 0, c)
    with pytest.raises(TypeProblem):
        kernels.gemm(1, a, b)


def test_known_values() -> None:
    assert np.isclose(kernels.haversine(0.0, 0.0, 0.0, 180.0, 1.0), np.pi)
    assert np.isclose(kernels.haversine(52.52, 13.405, 48.857, 2.351, 6371.0), 877.4, atol=1)
    call, put = kernels.black_scholes(100.0, 100.0, 1.0, 0.05, 0.2)
    assert np.isclose(call, 10.4506, atol=1e-4) and np.isclose(put, 5.5735, atol=1e-4)
    call, put = kernels.black_scholes(np.array([120.0, 100.0, 70.0]), 100.0, 0.0, 0.05, 0.2)
    assert call.tolist() == [20, 0, 0] and put.tolist() == [0, 0, 30], "on the last day they are worth what they pay"
    counts = kernels.mandelbrot(np.array([0, 2.5, -1, 0.3]), np.array([0.0]), 99)
    assert counts.tolist() == [[99, 1, 99, 12]]
    assert kernels.pairwise_distance(np.array([[0, 0], [3, 4.0]]), np.zeros((1, 2))).tolist() == [[0], [5]]


def test_no_steps_change_nothing() -> None:
    place, speed = np.random.default_rng(4).random((2, 5, 3))
    for steps in (0, -1):
        assert np.array_equal(kernels.nbody(place, speed, np.ones(5), 0.1, steps), (place, speed))
        assert np.array_equal(kernels.heat2d(place, 0.1, steps), place)


def test_inside_of_a_jitted_function_they_fuse() -> None:
    f = weft.jit(lambda x: kernels.softmax(kernels.gelu(x) + 1))
    x = np.random.default_rng(0).standard_normal((5, 7))
    assert np.allclose(f(x), kernels.softmax.reference(kernels.gelu.reference(x) + 1))
    assert len(f.lower(x).kernels) == 1


def test_numbers_in_programs_of_elements_by_the_reference_backend() -> None:
    source, x = kernels.julia._source, np.linspace(-1, 1, 9, dtype="f4")
    run = Kernel(source, weft.registry, Options(backend="reference"))
    assert np.array_equal(run(x, x, -0.8, 0.156, 50), kernels.julia(x, x, -0.8, 0.156, 50))
