"""The registry under 32 threads that register, look up, unregister and call kernels at once."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
import weft
from weft.runtime.registry import Registry

THREADS = 32


@pytest.fixture(autouse=True)
def switching():
    """Make threads switch as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work) -> None:
    barrier, problems = threading.Barrier(THREADS), []

    def run(k: int) -> None:
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_registering_and_looking_up_at_once():
    registry = Registry()
    lookups = 0

    def work(k: int) -> None:
        nonlocal lookups
        for turn in range(20):
            name = f"op{k}"
            made = registry.register(name, "f32 -> f32", lambda x: x, variant="naive", kind="python")
            shared = registry.register("exp", "f32 -> f32", lambda x: x, kind="python", min_size=turn)
            assert registry.lookup(name, "f32").implementation is made
            assert registry.lookup("exp", "f32", size=10**6).implementation.tier == "user"
            assert registry.lookup("add", "f32", "f32").score == 40
            with registry.scope():
                registry.register(name, "f32 -> f32", lambda x: x, kind="python", hints=["vectorized"])
                assert registry.lookup(name, "f32").score == 30
            assert registry.lookup(name, "f32").implementation is made
            assert registry.unregister(made) == 1 and registry.unregister(shared) == 1

    together(work)
    assert registry.implementations() == ()
    stats = registry.stats()
    assert stats.hits + stats.misses == THREADS * 20 * 5
    assert stats.kernel_names == Registry().stats().kernel_names


def test_calls_while_implementations_change():
    """Each call sees one of the implementations, and after the last change all see the last one."""
    f = weft.jit(lambda x: np.exp(x) + 1)
    x = np.full(50, 2.0, np.float32)
    factors = {1.0, *map(float, range(2, 6))}

    def work(k: int) -> None:
        if k < 2:
            for factor in (2.0, 3.0, 4.0, 5.0):
                made = weft.registry.register("exp", "f32 -> f32", lambda x, factor=factor: x * factor)
                weft.registry.unregister(made)
            return
        for _ in range(60):
            got = set(np.unique(f(x)).tolist())
            assert len(got) == 1
            assert got <= {2 * factor + 1 for factor in factors} or got.pop() == pytest.approx(np.exp(2) + 1)

    with weft.registry.scope():
        together(work)
        weft.registry.unregister("exp")
        weft.registry.register("exp", "f32 -> f32", lambda x: x)
        for _ in range(4):
            np.testing.assert_array_equal(f(x), x + 1)
    for _ in range(4):
        np.testing.assert_allclose(f(x), np.exp(x) + 1, rtol=1e-6)


def test_a_change_between_a_call_and_its_recipe(monkeypatch):
    """The recipe for the call's graph is outdated and must not serve."""
    from weft.runtime.native import learning

    f = weft.jit(lambda x: np.exp(x) + 1)
    x = np.full(50, 2.0, np.float32)
    build_recipe = learning.build_recipe

    def late(*args):
        weft.registry.register("exp", "f32 -> f32", lambda x: x)
        return build_recipe(*args)

    with weft.registry.scope():
        with monkeypatch.context() as patched:
            patched.setattr(learning, "build_recipe", late)
            np.testing.assert_allclose(f(x), np.exp(x) + 1, rtol=1e-6)
        for _ in range(3):
            np.testing.assert_array_equal(f(x), x + 1)
