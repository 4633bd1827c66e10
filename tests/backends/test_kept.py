"""Test that a value is kept in a result's row only while nothing else is written there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

KERNELS = weft.compile("""
kernel scanned(a: i64[n]) -> (i64[n], i64[n], i64) {
    let d = cumsum(a)
    let q = min(a)
    return a + q, d + q, sum(d)
}
kernel powers(x: f64[m, n]) -> (f64[m, n], f64[m, n], f64[m]) {
    let e = exp(x)
    let total = sum(e, axis=1, keepdims=true)
    let scaled = e / total
    return x + total, scaled, sum(e * e / total, axis=1)
}
""")


def scanned(a: Any) -> Any:
    d = np.cumsum(a)
    return a + a.min(), d + a.min(), d.sum()


def powers(x: Any) -> Any:
    e = np.exp(x)
    total = e.sum(axis=1, keepdims=True)
    return x + total, e / total, (e * e / total).sum(axis=1)


@pytest.mark.parametrize(("function", "shape"), [(scanned, (19,)), (powers, (3, 40))])
def test_rows_are_not_written_too_early(function: Any, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(8).integers(-9, 9, shape)
    x = x if function is scanned else x / 4
    for found, wanted in zip(KERNELS[function.__name__](x), function(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
