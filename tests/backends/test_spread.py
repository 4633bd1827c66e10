"""Test stages after reductions over outer axes: they write in the order of memory, with the bits of the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.ir.records import replace
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

Function = Callable[[Any], Any]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


KERNELS: dict[str, Function] = {
    "centred": lambda x: x - x.mean(axis=0),
    "standardised": lambda x: (x - x.mean(axis=0)) / (x.std(axis=0) + 1),
    "softmax": softmax,
    "roots": lambda x: (x + np.sqrt(abs(x).sum(axis=0)), x * np.exp(-x.max(axis=0))),
    "complex": lambda x: x * (x.mean(axis=0) * 1j + x.max(axis=0)) - x.sum(axis=0) * 2j,
    "of both": lambda x: (x / (abs(x).max(axis=0) + 1), x.sum(axis=0), x * 2),
}
SHAPES = [(3, 5), (40, 700), (300, 1037), (2, 1), (1, 600), (0, 4), (130, 16)]


def arrays(name: str, shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    x = np.random.default_rng(len(name)).standard_normal(shape)
    if not x.size:
        return []
    return [x, x.astype(np.float32), np.asfortranarray(x), x[:, ::-1], np.repeat(x, 2, axis=0)[::2]]


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", KERNELS)
def test_as_numpy(name: str) -> None:
    function = KERNELS[name]
    kernel = weft.jit(function)
    for shape in SHAPES:
        for x in arrays(name, shape):
            for _ in range(3):  # Python's calls, and native ones
                for found, expected in zip(parts(kernel(x)), parts(function(x)), strict=True):
                    assert found.dtype == expected.dtype and found.shape == expected.shape
                    tolerance = 1e-12 if x.dtype == np.float64 else 2e-5
                    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_the_middle_axis() -> None:
    x = np.random.default_rng(0).standard_normal((6, 150, 37))
    kernel = weft.jit(lambda x: x / x.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(kernel(x), x / x.sum(axis=1, keepdims=True), rtol=1e-11)


def test_the_last_stage_runs_along_memory() -> None:
    """The last stage has its own function, and no function runs all stages for some columns."""
    text = weft.jit(KERNELS["centred"]).lower(np.ones((200, 300))).llvm()
    functions = [line.split("(")[0].rsplit("_", 1)[-1] for line in text.splitlines() if line.startswith("define i32")]
    assert functions == ["walk0", "join0", "spread1"]


@pytest.mark.parametrize("name", ["centred", "softmax", "of both"])
def test_large_results_are_written_past_the_caches(name: str) -> None:
    """Non-temporal stores are used unless an earlier stage has stored something in the result."""
    x = np.random.default_rng(2).standard_normal((1300, 1103)).astype(np.float32)
    source = TracedFunction(KERNELS[name], (), lambda graph, inputs: reference.run(graph, inputs))
    kernel, large = (
        Kernel(source, Registry(), Options(target=replace(target.host(), cache_bytes=n))) for n in (0, 1 << 30)
    )
    lowered = kernel.lower(x)
    (region,) = lowered.kernels
    assert "stream" not in large.lower(x).kernels[0].attrs  # it fits the cache of such a machine
    assert ("!nontemporal" in lowered.llvm()) == ("stream" in region.attrs) == (name != "softmax")
    for found, small in zip(parts(kernel(x)), parts(kernel(x[:, :90])), strict=True):
        assert (found[..., :90] == small).all()


@pytest.mark.parametrize("columns", [400, 600])
def test_long_lines_have_long_steps_and_the_same_bits(columns: int) -> None:
    x = np.random.default_rng(1).standard_normal((333, 600))[:, :columns]
    x = np.ascontiguousarray(x)
    kernel = weft.jit(lambda x: (x * x).sum(axis=0))
    lowered = kernel.lower(x)
    assert [r.attrs["unroll"] for r in lowered.kernels] == [8 if columns * 8 >= 4096 else 4]
    narrow = weft.jit(lambda x: (x * x).sum(axis=0))(np.ascontiguousarray(x[:, :100]))
    assert (kernel(x)[:100] == narrow).all()
