"""Test jitted functions over many calls: captures, caches, and results."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import TraceProblem
from weft.function import MAX_KERNELS
from weft.ir.records import fields

X = np.arange(3.0)


@dataclass(slots=True)
class Slotted:
    factor: float


def test_changes_of_captured_objects_are_seen() -> None:
    slotted, counts, default = Slotted(2.0), defaultdict(float, a=2.0), [2.0]

    def by_default(x: Any, factor: tuple[list[float]] = (default,)) -> Any:
        return x * factor[0][0]

    functions = [weft.jit(f) for f in (lambda x: x * slotted.factor, lambda x: x * counts["a"], by_default)]
    for function in functions:
        assert function(X).tolist() == [0.0, 2.0, 4.0]
    slotted.factor = counts["a"] = default[0] = 3.0
    for function in functions:
        assert function(X).tolist() == [0.0, 3.0, 6.0]


def test_out_of_an_inlined_function_is_refused() -> None:
    inner, space = weft.jit(lambda x: x + 1), np.zeros(3)
    with pytest.raises(TraceProblem, match="can't write a traced value into out"):
        weft.jit(lambda x: inner(x, out=space) * 2).lower(X)
    assert weft.jit(lambda x: inner(x, out=space) * 2)(X).tolist() == ((X + 1) * 2).tolist()
    assert space.tolist() == (X + 1).tolist()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.copy(), lambda x: np.copy(x), lambda x: x.T.copy() + 1, lambda x: np.copy(x, order="C"),
        np.zeros_like, np.ones_like, lambda x: np.full_like(x, 7), lambda x: np.zeros_like(x, dtype=np.int32),
        lambda x: np.zeros_like(x, order="C"),
    ],
)  # fmt: skip
def test_copies_lie_in_memory_as_numpy_lays_them(function: Any) -> None:
    traced = weft.jit(lambda x: function(x))
    for x in (np.ones((3, 4)), np.asfortranarray(np.ones((3, 4)))):
        got, want = traced(x), function(x)
        assert got.dtype == want.dtype and got.strides == want.strides
        assert np.array_equal(got, want)


def test_the_cache_is_live_and_bounded() -> None:
    function = weft.jit(lambda x, power: x * power, static=("power",))
    cache = function.signature_cache
    function(X, 2)
    assert (len(cache), cache.misses) == (1, 1)
    for power in range(MAX_KERNELS + 5):
        function._select((X, power), {})
    assert len(function._kernels) == MAX_KERNELS


def test_results_of_numpy_that_change_their_size_do_not_compile_for_ever() -> None:
    function = weft.jit(lambda x: np.unique(x) + 1)
    for _ in range(4):
        for x in (np.arange(8.0), np.zeros(8)):
            assert function(x).tolist() == (np.unique(x) + 1).tolist()
    assert len(function.signature_cache) <= 2


def test_a_long_chain_of_fallbacks() -> None:
    def doubled(x: Any) -> Any:
        for _ in range(60):
            x = x + x * 0
        return x

    assert weft.jit(doubled)(X.astype(np.float16)).tolist() == X.tolist()


def test_u64_is_never_compared_with_a_wrapped_number() -> None:
    assert weft.jit(lambda x, k: x > k)(X.astype(np.uint64), -1).all()


def test_arrays_in_files_and_objects_that_fail(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x.bin", dtype=np.float64, mode="w+", shape=(3,))
    mapped[:] = X
    more = weft.jit(lambda x, k: x + k)
    assert more(mapped, 1.0).tolist() == [1.0, 2.0, 3.0]
    for k in range(4):  # the first calls are served by Python, later ones by a recipe
        for out in (mapped, np.empty(3)):
            assert more(X, float(k), out=out) is out and out.tolist() == (X + k).tolist()
    mapped.flush()
    assert np.fromfile(tmp_path / "x.bin").tolist() == (X + 3).tolist()

    class Broken:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("no data")

    with pytest.raises(TypeError, match="unsupported operand"):
        weft.jit(lambda x: x + 1)(Broken())


def test_zeros_of_f16_are_chosen_alike_by_both_backends() -> None:
    x, y = np.array([0.0, -0.0], np.float16), np.array([-0.0, 0.0], np.float16)
    for backend in ("llvm", "reference"):
        low = weft.jit(lambda x, y: np.minimum(x, y), backend=backend)(x, y)
        assert np.signbit(low).tolist() == [True, True]


def test_a_lowered_graph_does_not_change() -> None:
    """What is loaded or learned of it is kept elsewhere, and copies share that."""
    function, x = weft.jit(lambda x: x * 2 + 1), np.arange(5.0)
    function(x)
    lowered = function.lower(x)
    (kernel,) = function._kernels.values()
    called, _ = kernel.sized(x)
    before = {name: id(getattr(called, name)) for name in fields(called)}
    assert lowered.loaded is called.loaded and lowered.program is called.program and dict(lowered.sizes) == {"x0": 5}
    function(np.arange(9.0)), lowered.explain(), lowered.html(), kernel.lower(x)
    assert before == {name: id(getattr(called, name)) for name in fields(called)} and not called.sizes
    for name in fields(called):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(called, name, None)


def test_what_can_pause_is_run_by_python() -> None:
    """A trace would make a coroutine that nobody waits for, which Python warns of."""

    async def doubled(x: Any) -> Any:
        return x * 2

    def halves(x: Any) -> Iterator[Any]:
        yield x / 2

    x = np.arange(3.0)
    assert asyncio.run(weft.jit(doubled)(x)).tolist() == [0, 2, 4]
    assert [y.tolist() for y in weft.jit(halves)(x)] == [[0, 0.5, 1]]
    with pytest.raises(TraceProblem, match="an async function is run by Python"):
        weft.jit(doubled, whole=True)(x)


def test_a_choice_is_named_as_it_is_written() -> None:
    with pytest.raises(TraceProblem, match="'a if c else b' has a value only on one side"):
        weft.jit(lambda x: x if x.sum() > 0 else -x, whole=True)(np.ones(3))
