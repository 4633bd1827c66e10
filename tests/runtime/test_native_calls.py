"""Test calls that native code serves: the same results as through Python, for every form of call, without leaks."""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import resource
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import weft
from weft.bench import histogram
from weft.function import tracing
from weft.runtime.native import learning
from weft.runtime.native.abi import is_known
from weft.runtime.native.learning import build_recipe

KERNELS = """
kernel scaled(a: f32, x: f32[n, m], k: i32) -> f32[n, m] { return a * x + f32(k) }
kernel stats(x: f64[n, m]) -> (f64[n], f64, f64[n, m]) { return sum(x, axis=1), max(x), x * 2.0 }
"""


def served(function: Any) -> int:
    """Return how many calls native code has served."""
    return int(function.chain.calls)


def natively(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call that native code serves; Python serves the first, and all where it must."""
    function(*args, **kwargs)
    before = served(function)
    result = function(*args, **kwargs)
    assert served(function) == before + is_known(), "Python served the call"
    return result


def by_a_piece(function: Any, *args: Any) -> Any:
    """The result of a call whose only piece is native: what is captured is passed to it."""
    for _ in range(12):
        function(*args)
    (piece,) = function._program.pieces
    before = served(piece.callable)
    result = function(*args)
    assert served(piece.callable) == before + 1 and not piece.misses
    return result


def check(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Check that a function called natively gives NumPy's numbers, dtypes, types and memory order."""
    expected, found = function(*args, **kwargs), natively(weft.jit(function), *args, **kwargs)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    assert type(found) is type(expected)
    for a, b in pairs:
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        if isinstance(a, np.ndarray):
            assert a.strides == b.strides and a.flags.owndata and a.flags.writeable


def test_this_machine_is_known() -> None:
    assert is_known()


X = np.arange(12.0).reshape(3, 4)
F = np.asfortranarray(X)
CUBE = np.arange(60.0).reshape(3, 4, 5)


@pytest.mark.parametrize(
    "x", [X, F, X[:, ::2], X[::-1], X[:, 1:3], X.T[::2], CUBE, CUBE.transpose(1, 0, 2), CUBE[:, ::2, ::-1],
          CUBE.transpose(2, 0, 1)[:, 1:], X[:0], X[1:2], np.float64(3.5), np.array(2.5), X[0],
          np.broadcast_to(X[0], (3, 4))],
)  # fmt: skip
def test_layouts_and_ranks(x: Any) -> None:
    check(lambda x: x + 1, x)
    check(lambda x: (x * 2, x > 3, (x + 1).astype(np.float32)), x)


def test_several_arguments() -> None:
    check(lambda x, y: x * y + x, X, X + 1)
    check(lambda x, y: x * y + x, X, F)
    check(lambda x, y: x + y, X, X[0])
    check(lambda x, y: x + y, X[:, :1], X[:1])


ASSEMBLIES: dict[str, Callable[[Any, Any], Any]] = {
    "concatenate": lambda x, y: np.concatenate([x * 2, y]),
    "along columns": lambda x, y: np.concatenate([x, y + 1, x], axis=1) * 3,
    "nested": lambda x, y: np.concatenate([np.concatenate([x, y]), x, np.concatenate([y, x])]),
    "roll": lambda x, y: x - np.roll(y, 1),
    "pad": lambda x, y: np.pad(x, ((1, 2), (0, 3))) + 1,
    "stack": lambda x, y: np.stack([x, y], axis=1),
    "flat": lambda x, y: np.concatenate([x, y], axis=1).ravel() + 1,
    "tile": lambda x, y: np.tile(x, (2, 3)),
    "repeat": lambda x, y: (np.repeat(x, 3), x.sum()),
    "used twice": lambda x, y: (lambda c: (c, c.sum(axis=0)))(np.concatenate([x, y])),
}


@pytest.mark.parametrize("name", ASSEMBLIES)
def test_pieces_written_in_place_and_other_shapes(name: str) -> None:
    check(ASSEMBLIES[name], X, X + 100)
    if name not in ("roll", "repeat"):  # they flatten their argument first, and Python copies what is not dense
        check(ASSEMBLIES[name], X[:, ::2], X[:, 1::2])


def test_results_in_other_shapes_own_their_memory() -> None:
    """Of the first call, which Python serves, and of the next."""
    shaped = tracing(
        lambda x: (np.tile(x, (2, 2)), np.repeat(x + 1, 3, axis=0), (y := x * 2).reshape(-1), y.reshape(12, 1))
    )
    for _ in range(2):
        for found, expected in zip(shaped(X), (np.tile(X, (2, 2)), np.repeat(X + 1, 3, axis=0)), strict=False):
            assert np.array_equal(found, expected)
        assert all(x.flags.owndata and x.base is None for x in shaped(X))
    out = np.zeros((6, 8, 2))[..., 0]
    assert np.array_equal(tracing(lambda x: np.tile(x, (2, 2)))(X, out=out), np.tile(X, (2, 2)))


@pytest.mark.parametrize("number", [2, 2.5, True, 1 + 2j, np.float32(1.5), np.int8(3), np.float64(2), np.complex64(1j)])
def test_numbers(number: Any) -> None:
    check(lambda x, k: x * k, X, number)
    check(lambda x, k: x.astype(np.float32) * k, X, number)


def test_reductions_to_numbers() -> None:
    check(lambda x: x.sum(), X)
    check(lambda x: (x.max(axis=1), x.sum(axis=0), x.mean(), x.any()), X)


def test_language_kernels_convert_numbers() -> None:
    module = weft.compile(KERNELS)
    x = X.astype(np.float32)
    assert np.array_equal(natively(module.scaled, 2.0, x, 3), 2 * x + 3)
    assert np.array_equal(natively(module.scaled, 2, x, 3), 2 * x + 3)
    assert np.array_equal(module.scaled(-1.5, x, -7), np.float32(-1.5) * x - 7)
    with pytest.raises(OverflowError):
        module.scaled(2.0, x, 1 << 31)
    sums, top, twice = natively(module.stats, X)
    assert np.array_equal(sums, X.sum(axis=1)) and top == 11 and np.array_equal(twice, 2 * X)


def test_names_and_defaults() -> None:
    def f(x: Any, y: Any, scale: float = 2.0) -> Any:
        return x * scale + y

    jitted = weft.jit(f)
    y = X + 1
    for args, kwargs in [
        ((X, y), {}),
        ((X,), {"y": y}),
        ((), {"y": y, "x": X}),
        ((X, y, 3.0), {}),
        ((X, y), {"scale": 4}),
    ]:
        assert np.array_equal(natively(jitted, *args, **kwargs), f(*args, **kwargs))


def test_fixed_arguments() -> None:
    jitted = weft.jit(
        lambda x, axis=None, how="sum": x.sum(axis=axis) if how == "sum" else x.max(axis=axis), static=("axis",)
    )
    assert natively(jitted, X) == X.sum()
    assert np.array_equal(natively(jitted, X, axis=1), X.sum(axis=1))
    assert np.array_equal(jitted(X, axis=0), X.sum(axis=0))
    assert np.array_equal(natively(jitted, X, 1, how="max"), X.max(axis=1))
    assert np.array_equal(jitted(X, 1, how="sum"), X.sum(axis=1))


def test_new_sizes_take_the_same_way_and_other_signatures_do_not() -> None:
    jitted = weft.jit(lambda x, y: x + y)
    natively(jitted, X, X)
    before = served(jitted)
    for n in (2, 7, 100, 0):
        x = np.ones((n, 4))
        assert np.array_equal(jitted(x, x), x + x)
    assert served(jitted) == before + 4
    assert np.array_equal(jitted(X[:1], X), X[:1] + X)
    assert np.array_equal(jitted(X.astype(np.int32), X), X + X)
    assert np.array_equal(jitted(X[0], X[0]), 2 * X[0])
    assert np.array_equal(jitted(X.astype(">f8"), X), X + X)
    with pytest.raises(ValueError, match="broadcast"):
        jitted(X, X[:2])
    with pytest.raises(TypeError):
        jitted(X)
    with pytest.raises(TypeError):
        jitted(X, "no array")
    assert served(jitted) == before + 4


def test_out() -> None:
    jitted = weft.jit(lambda x, y: x + y)
    out = np.empty_like(X)
    assert natively(jitted, X, X, out=out) is out and np.array_equal(out, X + X)
    wide = np.zeros((3, 8))
    assert np.array_equal(natively(jitted, X, X, out=wide[:, ::2]), X + X) and not wide[:, 1::2].any()
    pair = weft.jit(lambda x: (x + 1, x * 2))
    outs = (np.empty_like(X), np.empty_like(X))
    found = natively(pair, X, out=outs)
    assert found[0] is outs[0] and found[1] is outs[1] and np.array_equal(outs[1], 2 * X)
    (out,) = single = (np.empty_like(X),)
    assert natively(jitted, X, X, out=single) is out
    for wrong in ((), (out, out.copy())):
        with pytest.raises(ValueError, match=f"one array for each result: 1, not {len(wrong)}"):
            jitted(X, X, out=wrong)
    total = np.empty(())
    assert natively(weft.jit(lambda x: x.sum()), X, out=total) is total and total == X.sum()


def test_out_that_overlaps_or_does_not_fit() -> None:
    jitted = weft.jit(lambda x, y: x + y[::-1])
    natively(jitted, X, X, out=np.empty_like(X))
    for _ in range(2):
        y, before = X.copy(), jitted.chain.calls
        assert jitted(X, y, out=y) is y and np.array_equal(y, X + X[::-1])
    assert jitted.chain.calls == before + is_known()
    assert np.array_equal(natively(jitted, X, X, out=np.empty_like(X)), X + X[::-1])
    buffer = np.arange(16.0)
    a, b = buffer[:12].reshape(3, 4), buffer[4:].reshape(3, 4)
    expected = a + a[::-1]
    assert np.array_equal(jitted(a, a, out=b), expected)
    read_only = np.empty_like(X)
    read_only.flags.writeable = False
    for wrong in (read_only, np.empty((3, 5)), np.empty((3, 4), np.float32)):
        with pytest.raises((ValueError, TypeError)):
            jitted(X, X, out=wrong)


SCALE = 2.0


def test_captured_names() -> None:
    offset = np.ones(4)

    def f(x: Any) -> Any:
        return np.sqrt(abs(x)) * SCALE + offset

    global SCALE
    jitted = weft.jit(f)
    assert np.array_equal(by_a_piece(jitted, X), f(X))
    offset[:] = 5
    assert np.array_equal(jitted(X), f(X))
    offset = np.full(4, 7.0)
    assert np.array_equal(jitted(X), f(X))
    SCALE = 3.0
    assert np.array_equal(jitted(X), f(X))
    assert np.array_equal(by_a_piece(jitted, X), f(X))
    SCALE = 2.0
    assert np.array_equal(jitted(X), f(X))


def test_captured_containers_are_read_by_python() -> None:
    settings = {"scale": 2.0}
    jitted = weft.jit(lambda x: x * settings["scale"])
    for scale in (2.0, 2.0, 2.0, 5.0):
        settings["scale"] = scale
        assert np.array_equal(jitted(X), X * scale)


def test_errors_from_values() -> None:
    jitted = weft.jit(lambda x, y: x**y)
    x = np.arange(1, 5)
    assert np.array_equal(natively(jitted, x, x), x**x)
    with pytest.raises(ValueError, match="negative integer power"):
        jitted(x, -x)
    smallest = weft.jit(lambda x: x.min(axis=1))
    natively(smallest, X)
    with pytest.raises(ValueError, match="no identity"):
        smallest(X[:, :0])
    assert smallest(X[:0]).shape == (0,)


def test_memory_that_is_not_there() -> None:
    jitted = weft.jit(lambda x, y: (x[0] * 2, x + y))
    natively(jitted, X[:, 0], X[:, :1])
    with pytest.raises(MemoryError):
        jitted(np.broadcast_to(1.0, 1 << 22), np.broadcast_to(1.0, (1 << 22, 1)))


def test_nothing_is_leaked() -> None:
    """After many calls, reference counts and memory are as before.

    A leak of one call would appear once per call. A few references and bytes may come and go with other activity in
    this process: threads that compile, and the few calls that go through Python.
    """
    calls = 200_000 if is_known() else 4_000
    jitted = weft.jit(lambda x, y, k: (x + y * k, (x * y).sum()))
    x, out = np.arange(10.0), (np.empty(10), np.empty(()))
    natively(jitted, x, x, 2.0)
    natively(jitted, x, x, 2.0, out=out)
    kinds = (x, out, out[0], x.dtype, np.ndarray, np.float64, jitted)
    gc.collect()
    before = [sys.getrefcount(k) for k in kinds]
    if is_known():  # through Python this takes milliseconds for each call
        tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(calls // 2):
        jitted(x, x, 2.0)
        jitted(x, x, 2.0, out=out)
    gc.collect()  # calls through Python leave cycles
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    grown_references = [sys.getrefcount(k) - count for k, count in zip(kinds, before, strict=True)]
    assert max(map(abs, grown_references)) < max(100, calls // 100), grown_references
    assert grown < calls


def test_objects_die() -> None:
    jitted = weft.jit(lambda x: x + 1)
    natively(jitted, X)
    marker = jitted.chain._served[0].recipe
    references = sys.getrefcount(marker)
    del jitted
    gc.collect()
    assert sys.getrefcount(marker) < references


class Pair(NamedTuple):
    """What a function may return."""

    low: Any
    high: Any


TREES: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [x + 1, x * 2],
    "dict": lambda x: {"sum": x.sum(), "twice": x * 2},
    "named tuple": lambda x: Pair(x - 1, x + 1),
    "nested": lambda x: {"a": [x + 1, (x * 2, Pair(x.max(), [x - 1]))], "b": ()},
    "constants": lambda x: (x + 1, None, "text", [1, 2.5, True], {}),
    "one in a list": lambda x: [x + 1],
}


def same(a: Any, b: Any) -> bool:
    """Tell whether two results have the same types, numbers and structure."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.array_equal(a, b)) and getattr(a, "dtype", None) == getattr(b, "dtype", None)


def test_results_in_lists_dicts_and_named_tuples() -> None:
    """Native calls return what Python returns, and hold no reference to any of it."""
    made = {n: (tracing if n in ("named tuple", "nested") else weft.jit)(f) for n, f in TREES.items()}
    for name, function in TREES.items():
        assert same(natively(made[name], X), function(X)), name
    gc.collect()
    before = [sys.getrefcount(x) for x in (X.dtype, Pair, None, "text", np.ndarray)]
    for jitted in made.values():
        for _ in range(1000 if is_known() else 150):
            jitted(X)
    gc.collect()
    after = [sys.getrefcount(x) for x in (X.dtype, Pair, None, "text", np.ndarray)]
    assert all(abs(a - b) < 100 for a, b in zip(after, before, strict=True)), (before, after)


def test_a_class_that_refuses_its_items() -> None:
    class Strict(NamedTuple):
        item: Any

    jitted = tracing(lambda x: Strict(x + 1))
    natively(jitted, X)
    Strict.__new__ = lambda cls, item: 1 / 0  # type: ignore[assignment,method-assign,misc]
    with pytest.raises(ZeroDivisionError):
        jitted(X)


def test_small_results_are_made_as_numpy_makes_them() -> None:
    """Flags, strides and ownership are NumPy's, for every rank; results can be resized, referred to and pickled."""
    twice = weft.jit(lambda x: x + x)
    shapes = [
        (3,),
        (1,),
        (0,),
        (2, 3),
        (1, 5),
        (5, 1),
        (1, 1),
        (2, 0, 3),
        (2, 1, 3),
        (1, 2, 1, 4),
        (70_000,),
        (300, 70),
    ]
    for shape, dtype in itertools.product(shapes, (np.int8, np.float32, np.complex128)):
        x = np.ones(shape, dtype)
        for _ in range(3):
            found, expected = twice(x), x + x
        assert (found.flags.num, found.strides, found.base) == (expected.flags.num, expected.strides, None), shape
        assert found.dtype is expected.dtype and np.array_equal(found, expected)
        assert sys.getrefcount(found) == 2 and weakref.ref(found)() is found
        assert np.array_equal(pickle.loads(pickle.dumps(found)), expected)
        found.resize((found.size + 3,), refcheck=False)
        assert found.sum() == expected.sum()


def test_small_results_in_a_context_with_variables() -> None:
    """NumPy's allocator and its state of errors are context variables, so a result is NumPy's work there."""
    x, twice = np.ones(8, np.float32), weft.jit(lambda x: x + x)
    variable: ContextVar[int] = ContextVar("variable")
    natively(twice, x)

    def inside() -> None:
        variable.set(1)
        assert np.array_equal(natively(twice, x), x + x)
        with np.errstate(over="raise"):
            before = served(twice)
            assert np.array_equal(twice(x), x + x) and served(twice) == before
        assert np.array_equal(natively(twice, x), x + x)

    copy_context().run(inside)
    with np.errstate(over="raise"):
        before = served(twice)
        assert np.array_equal(twice(x), x + x) and served(twice) == before


def test_small_results_are_traced() -> None:
    x, twice = np.ones(1000, np.float32), weft.jit(lambda x: x + x)
    natively(twice, x)
    tracemalloc.start()
    try:
        kept = [twice(x) for _ in range(50)]
        now, _ = tracemalloc.get_traced_memory()
        assert 50 * x.nbytes <= now < 80 * x.nbytes
        del kept
        assert tracemalloc.get_traced_memory()[0] < 10 * x.nbytes
    finally:
        tracemalloc.stop()


def test_a_million_calls_leave_nothing() -> None:
    """The process does not grow, call by call."""
    jitted, x = weft.jit(lambda x: {"sum": x.sum(), "more": [x + 1]}), np.ones(16)
    calls = 1_000_000 if is_known() else 4_000
    for _ in range(calls // 100):
        jitted(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(calls):
        jitted(x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # kilobytes: two bytes a call


def test_python_is_asked_by_long_calls_only() -> None:
    """Nothing of Python runs in the short calls after the first; the first long one is told to Python."""
    kernels = {name: (weft.jit(f), args) for name, (f, args) in histogram.kernels(np.random.default_rng(0)).items()}
    assert len(kernels) == 10
    for kernel, args in kernels.values():
        kernel(*args)
    seen: list[Any] = []
    for kernel, args in kernels.values():
        sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_qualname) if event == "call" else None)
        try:
            for _ in range(2000):
                kernel(*args)
        finally:
            sys.setprofile(None)
    assert not seen or not is_known()
    kernel, _ = kernels["exp(x)"]
    before, long = served(kernel), np.zeros(10**6, np.float32)
    for _ in range(2):
        kernel(long)
    assert served(kernel) == before + is_known()


def test_many_threads_on_one_kernel() -> None:
    """Threads call in different ways at the same time, so that recipes come and go under them."""
    jitted = weft.jit(lambda x, k: x * k + 1)
    wrong: list[Any] = []

    def work(number: int) -> None:
        kinds = [np.float32, np.float64, np.int64, np.int32]
        for turn in range(60):
            x = np.arange(number + turn, dtype=kinds[(number + turn) % 4])
            if not np.array_equal(jitted(x, k=2) if turn % 2 else jitted(x, 2), x * 2 + 1):
                wrong.append((number, turn))
            if turn % 20 == 19:
                jitted.forget()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads() -> None:
    jitted = weft.jit(lambda x, y: np.exp(x) + y)
    big = np.linspace(0, 1, 200_000)
    expected = natively(jitted, big, big)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            if not np.array_equal(jitted(big, big), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_many_signatures_keep_the_chain_short() -> None:
    jitted = weft.jit(lambda x, y: x + y)
    dtypes = [np.dtype(t) for t in "bhilBHILfd"]
    for a in dtypes:
        for b in dtypes[:4]:
            x, y = np.ones(3, a), np.ones(3, b)
            for _ in range(2):
                assert np.array_equal(jitted(x, y), x + y)
    assert len(jitted.chain._served) == 32


def test_more_ways_to_call_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call in each of many ways in turn: the recipes evict one another a few times, and then no more."""
    made = 0

    def counted(*args: Any) -> Any:
        nonlocal made
        made += 1
        return build_recipe(*args)

    monkeypatch.setattr(learning, "build_recipe", counted)
    jitted = weft.jit(lambda a, b, c, d: a + b * c - d)
    ways = [dict(zip(names, (X, X, X, X), strict=True)) for names in itertools.permutations("abcd")]
    ways += [dict(zip(names, (X, 2.0, X, X), strict=True)) for names in itertools.permutations("abcd")]
    for _ in range(20):
        for way in ways:
            jitted(**way)
    before = made
    for _ in range(20):
        for way in ways:
            assert np.array_equal(jitted(**way), way["a"] + way["b"] * way["c"] - way["d"])
    assert before < 60 and made - before < 5


def test_no_page_can_be_written_and_run() -> None:
    code = """
import numpy as np, weft
weft.set_threads(2)
f = weft.jit(lambda x: np.exp(x) + 1)
for size in (3, 3_000_000):
    x = np.ones(size)
    for _ in range(4):
        f(x)
assert f.chain.calls
print(sum("rwx" in line for line in open("/proc/self/maps")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "0\n", done.stderr


def test_methods_and_attributes_are_the_python_ones() -> None:
    class Layer:
        def __init__(self, k: float) -> None:
            self.k = k

        @weft.jit
        def run(self, x: Any) -> Any:
            """Scales."""
            return x * self.k

    first, second = Layer(2.0), Layer(3.0)
    for _ in range(4):
        assert np.array_equal(first.run(X), 2 * X) and np.array_equal(second.run(X), 3 * X)
    assert Layer.run.__doc__ == "Scales." and Layer.run.__name__ == "run"
    first.k = 7.0
    assert np.array_equal(first.run(X), 7 * X)


def test_the_layout_is_read_from_living_objects() -> None:
    """Python's debugging allocator overwrites freed memory: calls are native with it, too."""
    code = (
        "import numpy as np, weft\n"
        "from weft.runtime.native.abi import obstacle\n"
        "assert obstacle() is None, obstacle()\n"
        "f, x = weft.jit(lambda x, y: (x + y, {'sum': (x * y).sum()})), np.arange(12.0).reshape(3, 4)\n"
        "for _ in range(100):\n"
        "    a, b = f(x, x)\n"
        "    assert np.array_equal(a, x + x) and b['sum'] == (x * x).sum()\n"
        "assert f.chain.calls > 90\n"
    )
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_without_native_calls() -> None:
    """The same tests of results pass through ctypes, in a process without native calls."""
    code = (
        "import numpy as np, weft\n"
        "from weft.runtime.native.abi import is_known\n"
        "assert not is_known()\n"
        "f = weft.jit(lambda x, y: (x + y, (x * y).sum()))\n"
        "x = np.arange(12.0).reshape(3, 4)\n"
        "for _ in range(4):\n"
        "    a, b = f(x, y=x)\n"
        "    assert np.array_equal(a, x + x) and b == (x * x).sum() and type(b) is np.float64\n"
        "    out = (np.empty_like(x), np.empty(()))\n"
        "    assert f(x, x, out=out)[0] is out[0]\n"
        "assert f.chain.calls == 0\n"
        "from tests.programs import test_native_pieces as pieces\n"
        "for function in (pieces.update, pieces.numbers, pieces.checked):\n"
        "    own, args = weft.jit(function), next(args for known, args in pieces.CALLS if known is function)\n"
        "    for _ in range(2):\n"
        "        plain, given = pieces.copied(args), pieces.copied(args)\n"
        "        pieces.assert_same(function(*plain), own(*given))\n"
        "        pieces.assert_same(plain, given)\n"
        "    assert own.explain().pieces[0].calls == 2 and not own.chain.calls + own.chain.forwarded\n"
    )
    environment, folder = {**os.environ, "WEFT_NATIVE_CALLS": "0"}, Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=folder)
    names = "several_arg or numbers or test_out or errors or memory_that or leaked or lists or many_threads or million"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "-k", names]
    found = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert not found.returncode, found.stdout


def test_objects_without_room_for_an_entry_get_none() -> None:
    from weft.runtime.compiler import Options
    from weft.runtime.kernel import Kernel
    from weft.runtime.registry import Registry

    kernel = Kernel(weft.compile(KERNELS).stats._source, Registry(), Options())
    for _ in range(4):
        assert kernel(X)[1] == 11
    assert kernel.__weakref__ is None and kernel.chain.calls == 0


def test_recipes_that_are_dropped_while_calls_are_inside() -> None:
    """A kernel that fails after its recipes were dropped goes to Python; the code that runs stays loaded."""
    jitted = weft.jit(lambda x, i: np.exp(x)[i] * 2)
    x, good, bad = np.linspace(0, 1, 300_000), np.arange(300_000), np.full(300_000, 300_000)
    expected, by_numpy = natively(jitted, x, good), np.exp(x)[good] * 2  # Python runs some calls after many errors
    done = threading.Event()
    wrong: list[Any] = []

    def work() -> None:
        while not done.is_set():
            result = jitted(x, good)
            if not (np.array_equal(result, expected) or np.array_equal(result, by_numpy)):
                wrong.append("result")
            try:
                jitted(x, bad)
                wrong.append("no error")
            except IndexError:
                pass

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(40):
        jitted.forget()
        jitted(x[: 1000 + k], good[:1000])
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


STENCIL = """
kernel heat(u: f64[n, m], steps: i64) -> f64[n, m] {
    var v = u
    for t in 0..steps {
        let w[i in 1..n-1, j in 1..m-1] = v[i, j] + 0.1 * (v[i-1, j] + v[i, j+1] - 2*v[i, j]) else v[i, j]
        v = w
    }
    return v
}
"""


def test_loops_that_assemble_what_they_carry() -> None:
    """The border and the inside are parts of a part of the buffer, which is another one in each step."""
    heat = weft.compile(STENCIL).heat
    expected = X.copy()
    for _ in range(5):
        inside = expected[1:-1, 1:-1] + 0.1 * (expected[:-2, 1:-1] + expected[1:-1, 2:] - 2 * expected[1:-1, 1:-1])
        expected[1:-1, 1:-1] = inside
    for _ in range(2):
        assert np.allclose(natively(heat, X, 5), expected, rtol=1e-14)
    assert np.array_equal(heat(X, 0), X)
