"""Test when a kernel is compiled: once for all sizes, again for sizes of 1, and never more than the cache holds."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random, whole
from .comparing import same
from .programs import PROGRAMS, softmax


@pytest.mark.parametrize("name", ["softmax over the last axis", "sums of parts", "variance and deviation"])
def test_twenty_sizes_compile_once(name: str) -> None:
    jitted = weft.jit(PROGRAMS[name])
    for n in range(20):
        found, expected = (f(random("float32", (n + 4, 2 * n + 3), n)) for f in (jitted, PROGRAMS[name]))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
    assert (len(jitted.signature_cache), jitted.signature_cache.misses) == (1, 1)
    assert jitted.signature_cache.hits == 19
    jitted(random("float32", (1, 9)))
    jitted(random("float32", (1, 10)))
    assert len(jitted.signature_cache) == 2


def test_sizes_that_meet_only_sometimes() -> None:
    """A graph that was built for equal sizes is not used if they differ, and broadcasting still works."""
    jitted = weft.jit(lambda a, b: (a + b, a.sum(axis=0)))
    for left, right in (((4, 5), (5,)), ((4, 5), (4, 5)), ((5, 5), (5, 5)), ((1, 5), (4, 1)), ((4, 1), (1, 5))):
        a, b = whole("float64", left, 1), whole("float64", right, 2)
        same(jitted(a, b), (a + b, a.sum(axis=0)))
    with pytest.raises(weft.errors.ShapeProblem):
        jitted(np.zeros((4, 5)), np.zeros((4, 6)))


def test_eight_layouts_and_then_the_general_one() -> None:
    jitted = weft.jit(lambda x, y: (x * 2 + y, (x + y).sum(axis=1), y.T))
    x, y = whole("float64", (5, 6, 7), 1), whole("float64", (5, 6, 7), 2)
    names = ("C", "F", "rows with gaps", "axes turned", "strided", "negative", "repeated rows")
    for _ in range(2):
        for a in names:
            for b in names:
                left, right = LAYOUTS[a](x), LAYOUTS[b](y)
                same(jitted(left, right), (left * 2 + right, (left + right).sum(axis=1), right.T.copy("K")))
    classes = len(jitted.signature_cache)
    assert classes <= 8 + 1 + 7, "eight combinations, their results' orders, and the general one"
    misses = jitted.signature_cache.misses
    jitted(np.asfortranarray(x)[::-1], y[:, ::-1])
    assert jitted.signature_cache.misses == misses


def test_the_cache_is_bounded() -> None:
    jitted = weft.compile("kernel f(x: any[...]) -> any[...] { return x + x }").f
    assert jitted.signature_cache.limit == 256
    jitted.signature_cache.limit = 3
    dtypes = ("float32", "float64", "int32", "int64", "bool")
    for dtype in (*dtypes, *dtypes):
        same(jitted(random(dtype, 20, 1)), random(dtype, 20, 1) + random(dtype, 20, 1))
    assert len(jitted.signature_cache) == 3
    before = jitted.signature_cache.misses
    for dtype in (*dtypes, *dtypes):
        jitted.lower(random(dtype, 20, 1))  # recipes serve calls without the cache
    assert len(jitted.signature_cache) == 3 and jitted.signature_cache.misses == before + 10


def in_threads(count: int, work: Callable[[int], None]) -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_compile_a_signature_once() -> None:
    jitted = weft.jit(lambda x: softmax(x, -1))
    x = random("float64", (50, 40), 1)
    found: dict[int, Any] = {}
    in_threads(4, lambda k: found.update({k: jitted(x)}))
    assert len({r.tobytes() for r in found.values()}) == 1
    assert (len(jitted.signature_cache), jitted.signature_cache.misses) == (1, 1)


def test_threads_with_different_signatures() -> None:
    jitted = weft.jit(lambda x, y: (x + y).sum(axis=0))

    def work(number: int) -> None:
        for k in range(12):
            dtype = ("float32", "float64", "int32", "int64")[(number + k) % 4]
            x = whole(dtype, (40 + number, 30 + k), k) if dtype[0] == "f" else random(dtype, (40 + number, 30 + k), k)
            same(jitted(x, x), (x + x).sum(axis=0))

    in_threads(4, work)
    assert len(jitted.signature_cache) == 4


def test_code_that_runs_outlives_its_eviction() -> None:
    jitted = weft.compile("kernel f(x: any[...]) -> any[...] { return exp(tanh(sin(x * 1.0))) * 2.0 }").f
    jitted.signature_cache.limit = 1
    big = random("float64", 400_000, 1)
    expected = np.exp(np.tanh(np.sin(big))) * 2

    def work(number: int) -> None:
        for k in range(6):
            if number:
                jitted(random("float32" if k % 2 else "int32", 8, k))
                gc.collect()
            else:
                np.testing.assert_allclose(jitted(big), expected, rtol=1e-14)

    in_threads(2, work)


def test_two_thousand_calls_leak_nothing() -> None:
    jitted = weft.jit(lambda x, k: (softmax(x, -1), x.sum(axis=0) * k, np.sort(x)))

    def pages() -> int:
        with open("/proc/self/statm") as text:
            return int(text.read().split()[1])

    def calls(count: int) -> None:
        for n in range(count):
            x = np.ones((n % 7 + 2, 400))
            jitted(x, n)
            jitted(x, k=0.5, out=(np.empty_like(x), None, None))

    calls(100)
    gc.collect()
    before, objects = pages(), len(gc.get_objects())
    calls(1000)
    gc.collect()
    assert (pages() - before) * 4096 < 2_000_000
    assert len(gc.get_objects()) - objects < 200
