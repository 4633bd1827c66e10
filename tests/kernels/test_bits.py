"""Test library kernels with sums, products and loops: the same bits on every CPU and at any thread count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from tests.kernels.cases import CASES, Data
from tests.kernels.test_library import flat

LARGE = {
    "attention": {"n": 300, "m": 150, "k": 32},
    "conv2d": {"n": 700, "m": 500},
    "heat2d": {"n": 700, "m": 500},
    "jacobi": {"n": 700},
    "nrm2": {"n": 1000, "m": 700},
    "nbody": {"n": 400},
}


@pytest.fixture
def threads() -> Iterator[None]:
    before = weft.get_threads()
    yield
    weft.set_threads(before)


@pytest.mark.parametrize("name", LARGE)
def test_any_number_of_threads(name: str, threads: None) -> None:
    args = CASES[name].make(Data(np.random.default_rng(1), "f8", **LARGE[name]))
    results = []
    for count in (1, 2, 3):
        weft.set_threads(count)
        results.append(flat(getattr(weft.kernels, name)(*args)))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("name", ["attention", "conv2d", "nrm2"])
def test_avx2_and_avx512(name: str) -> None:
    args = CASES[name].make(Data(np.random.default_rng(2), "f4"))
    source = getattr(weft.kernels, name)._source
    wide, narrow = (Kernel(source, Registry(), Options(target=target.x86(level)))(*args) for level in (4, 3))
    assert all(np.array_equal(a, b) for a, b in zip(flat(wide), flat(narrow), strict=True))


@pytest.mark.parametrize("function", [np.power, lambda x, y: np.log(x) * np.arctan(y)])
def test_programs_in_double_beside_complex64(function: Callable[..., Any]) -> None:
    """Powers and angles of `complex64` are computed in twice the width of its parts, on two registers."""
    rng = np.random.default_rng(3)
    x, y = ((rng.normal(size=99) + 1j * rng.normal(size=99)).astype("c8") for _ in range(2))
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    wide, narrow = (Kernel(source, Registry(), Options(target=target.x86(level)))(x, y) for level in (4, 3))
    assert np.array_equal(wide, narrow)
