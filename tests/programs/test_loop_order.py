"""Test that joined and interchanged loops of programs give NumPy's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import weft

rng = np.random.default_rng(18)


def sweep(a: Any, b: Any, w: Any) -> None:
    """A vertical solver: each level needs the one below, and levels lie along memory."""
    for k in range(1, a.shape[2]):
        upper = w[1:, :, k] + w[:-1, :, k]
        factor = upper * 0.5
        b[:, :, k] = factor - a[:, :, k]
        a[:, :, k] = a[:, :, k] - a[:, :, k - 1] * b[:, :, k] / (1.0 + factor)


def columns(a: Any, b: Any) -> Any:
    """A filter along rows, and a step that depends on another row, which must keep its order."""
    for j in range(2, a.shape[1]):
        a[:, j] = 0.5 * a[:, j] + b[:, j] * a[:, j - 1] + a[:, j - 2]
    for j in range(1, a.shape[1]):
        b[1:, j] = b[:-1, j - 1] + a[1:, j]
    return a + b


def shifted(a: Any, b: Any) -> Any:
    """Neighbouring statements, some of which need what the one before stored for other elements."""
    t = a * 2
    u = t + a
    b[1:] = t[:-1] + u[1:]
    b *= u
    a[:-1] = b[1:] + t[1:]
    return u, t[::-1] + b


def products(a: Any, b: Any, c: Any) -> Any:
    """Sums across memory in loops along it, in a rectangle and in triangles; a last one needs the sum before."""
    weights = np.zeros(a.shape[0]) + 3
    for j in range(a.shape[1]):
        c[0, j] = np.dot(a[:, 0], a[:, j])
    for j in range(1, a.shape[1]):
        c[0, j] -= weights @ a[:, j]
    for i in range(1, c.shape[0]):
        c[i, :] = b[:, i] @ a
    n = a.shape[1]
    found = np.zeros((n, n))
    for i in range(n):
        found[i:n, i] = found[i, i:n] = a[:, i] @ a[:, i:n] / 2.0
    for i in range(n - 1):
        found[i + 1 : n, i] = a[:, i] @ a[:, i + 1 : n]
    for i in range(1, b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += 0.01 * np.dot(a[:i, 0], b[:i, j])
    for j in range(1, b.shape[1]):
        b[0, j] = b[1:, j - 1].sum()
        b[1:, j] += b[0, j]
    return found


def test_sums() -> None:
    """Steps that run together give what each gives alone; integers show that no term is lost or added twice."""
    jitted = weft.jit(products)
    for rows, width in ((9, 7), (40, 150), (70, 34), (1, 5)):
        arrays = [rng.integers(-9, 10, shape).astype(float) for shape in ((rows, width), (rows, 6), (6, width))]
        ours, theirs = ([a.copy() for a in arrays] for _ in range(2))
        found, wanted = jitted(*ours), products(*theirs)
        for a, b in zip((*ours, found), (*theirs, wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-9 * np.abs(b).max(initial=1.0))
    assert jitted.explain().is_whole


def stacks(a: Any, b: Any, out: Any) -> None:
    for k in range(a.shape[0]):
        out[k] = a[k] @ b[k] - 1


def test_small_products() -> None:
    """Small matrices are multiplied where they are, others in panels: the same sums, as integers show."""
    jitted = weft.jit(stacks)
    for m, k, n in ((3, 3, 3), (5, 16, 8), (2, 17, 8), (7, 4, 9), (13, 2, 2), (4, 5, 4), (250, 3, 2)):
        a, b = (rng.integers(-9, 10, shape).astype(float) for shape in ((3, m, k), (3, k, n)))
        ours, theirs = np.zeros((2, 3, m, n))
        jitted(a, b, ours)
        stacks(a, b, theirs)
        np.testing.assert_array_equal(ours, theirs)
    assert jitted.explain().is_whole


def test_bits() -> None:
    jitted = {f: weft.jit(f) for f in (sweep, columns, shifted)}
    for rows, width, levels in ((5, 9, 7), (1, 20, 3), (3, 1, 1)):
        solid = [rng.random((rows + k, width, levels)) for k in (0, 0, 1)]
        flat = [rng.random((width + 2, levels + 2)) for _ in range(2)]
        lines = [rng.random(width + 2) for _ in range(2)]
        for function, arrays in ((sweep, solid), (columns, flat), (shifted, lines)):
            ours, theirs = ([a.copy() for a in arrays] for _ in range(2))
            found, wanted = jitted[function](*ours), function(*theirs)
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b, function.__name__)
            np.testing.assert_equal(found, wanted)
            assert rows != 5 or jitted[function].explain().is_whole
