"""Test what a trace can't see or repeat: the result is right or an error at the user's line."""

from __future__ import annotations

import datetime
import itertools
import numbers
import random
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest
from weft import jit
from weft.function import JitFunction
from weft.ir.errors import TraceProblem

X = np.array([1.0, 2.0, 3.0])


def compiled(function: Callable[..., Any]) -> Any:
    return jit(function, backend="reference")


KINDS = (np.ndarray, np.generic, np.floating, np.float32, np.float64, np.bool_, int, float, complex, bool,
         numbers.Number, numbers.Real, numbers.Integral, tuple, list, str)  # fmt: skip


def kinds_of(*values: Any) -> Any:
    answers = [isinstance(v, kind) for v in values for kind in KINDS] + [np.isscalar(v) for v in values]
    return np.array([1.0 if answer else 0.0 for answer in answers])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s, z: kinds_of(x, x + 1, x[0], x.sum(), x.shape[0], x.size + 1, len(x), x > 0, x.any(), x.max()),
        lambda x, s, z: kinds_of(s, s + 1, s * 1.5, s == 0, s + x, np.sqrt(s), -s),
        lambda x, s, z: kinds_of(z, z + 1, z[()], z * x, x.mean(keepdims=True)),
        lambda x, s, z: kinds_of(x.astype(np.float32)[0], x.reshape(()) if x.ndim == 0 else x, np.float32(2), 1.5),
        lambda x, s, z: 1.0 if x is x.ravel() else 2.0,
    ],
)
def test_kinds(function: Callable[..., Any]) -> None:
    for s in (2, 2.5, 2j, np.float32(2), np.int64(3)):
        args = X, s, np.array(4.0)
        assert np.array_equal(compiled(function)(*args), function(*args)), s


SELVES: list[Callable[[Any], Any]] = [
    lambda a: a.real, np.real, lambda a: a.conj(), np.conj, np.atleast_1d, np.atleast_2d, np.squeeze, np.copy,
    lambda a: a.astype(a.dtype), lambda a: a.T, lambda a: a[...], lambda a: +a, np.ravel, lambda a: a.squeeze(),
    lambda a: a.reshape(a.shape),
]  # fmt: skip


@pytest.mark.parametrize("x", [X, np.ones((2, 3)), np.ones((1, 3)), np.array(2.0), X * 1j])
def test_the_array_itself(x: Any) -> None:
    for k, function in enumerate(SELVES):
        test = partial(lambda a, f: 1.0 if f(a) is a else 2.0, f=function)
        assert compiled(lambda a, test=test: test(a))(x) == test(x), k


def test_the_real_array_itself() -> None:
    def function(a: Any) -> Any:
        others = np.real_if_close(a), np.broadcast_arrays(a, a)[1], np.asfortranarray(a)
        return a + sum(10**k for k, other in enumerate(others) if other is a)

    assert (compiled(function)(X) == function(X)).all()


def test_kinds_of_numbers_in_sizes_and_indices() -> None:
    """An object that claims to be an integer is still a traced value to the graph."""
    function = compiled(lambda x, k: x[k] + x.shape[0] + k * x.size + (x.shape[0] == k) + (k < x.size))
    for k in (0, 1, 2):
        assert function(X, k) == X[k] + 3 + k * 3 + (k == 3) + (k < 3)
    assert (compiled(lambda x, k: x[:k])(X, 2) == X[:2]).all()
    assert compiled(lambda a, b: a[b])(X, np.int64(1)) == 2.0


def test_sizes_in_text_and_rounded() -> None:
    """A size that becomes text is read as a number."""
    names = {"w2": 10.0, "w3": 20.0, "(3,)": 30.0}
    function = compiled(lambda x: x + names[f"w{x.shape[0]}"] + len(f"{x.size:04d}") + int(str(len(x))))
    for n in (3, 2, 3):
        assert function(X[:n])[0] == 1 + names[f"w{n}"] + 4 + n
    assert compiled(lambda x: x + round(x.shape[0] / 2) + round(x.size / 7, 1))(X)[0] == 1 + 2 + 0.4


def caught_number(x: Any) -> Any:
    try:
        return x * float(x[0])
    except TypeError:
        return x


def caught_branch(x: Any) -> Any:
    try:
        return x if x.sum() > 0 else -x
    except Exception:
        return x * 2


def caught_value(x: Any) -> Any:
    try:
        return np.linalg.inv(np.outer(x, x))
    except np.linalg.LinAlgError:
        return x


@pytest.mark.parametrize("function", [caught_number, caught_branch, caught_value])
def test_problems_that_are_caught(function: Callable[..., Any]) -> None:
    x = np.ones(2) if function is caught_value else X
    for _ in range(2):
        assert np.array_equal(compiled(function)(x), function(x))
    with pytest.raises(TraceProblem) as caught:
        jit(function, whole=True)(x)
    assert caught.value.span is not None and caught.value.span.file == __file__


def test_errors_that_numpy_raises_too() -> None:
    """A graph serves only the sizes for which the error occurs, or does not occur."""

    def last(x: Any, y: Any) -> Any:
        try:
            return (x + y)[2]
        except IndexError:
            return x[-1]
        except ValueError:
            return y.sum()

    function = compiled(last)
    for n, m in ((3, 3), (2, 2), (4, 3), (2, 3), (5, 5), (2, 2), (1, 4), (3, 3)):
        x, y = np.arange(1.0, n + 1), np.arange(m) * 10.0
        assert function(x, y) == last(x, y), (n, m)


RNG, SEEDED = np.random.default_rng(1), random.Random(1)
NUMBERS = itertools.count()
STATE: dict[str, Any] = {"calls": 0}
LOG: list[int] = []
COUNT = 0


class Counter:
    def __init__(self) -> None:
        self.calls, self.rng = 0, np.random.default_rng(2)

    @jit
    def count(self, x: Any) -> Any:
        self.calls += 1
        return x

    @jit
    def keep(self, x: Any) -> Any:
        self.last = x * 2
        return x

    @jit
    def noisy(self, x: Any) -> Any:
        return x + self.rng.random()

    @cached_property
    def twice(self) -> Any:
        return np.full(3, 2.0)

    @jit
    def memory(self, x: Any) -> Any:
        return x * self.twice


def draws() -> float:
    return random.random()


def imports(x: Any) -> Any:
    import time

    return x + time.perf_counter()


IMPURE: list[Callable[..., Any]] = [
    lambda x: x + np.random.rand(),
    lambda x: x + np.random.normal(size=3),
    lambda x: x + np.random.default_rng().random(),
    lambda x: x + RNG.standard_normal(3),
    lambda x: x + random.random(),
    lambda x: x + SEEDED.randint(1, 6),
    lambda x: x + draws(),
    lambda x: x + time.time(),
    lambda x: x + perf_counter_ns(),
    lambda x: x + datetime.datetime.now().microsecond,
    imports,
    Counter().noisy,
    lambda x: x + next(NUMBERS),
]


def test_random_numbers_and_clocks() -> None:
    """Python draws them anew at each call."""
    for function in IMPURE:
        jitted = function if isinstance(function, JitFunction) else compiled(function)
        assert len({float(jitted(X)[0]) for _ in range(8)}) > 1 or function is IMPURE[9]
        if not isinstance(function, JitFunction):
            with pytest.raises(TraceProblem) as caught:
                jit(function, whole=True)(X)
            assert caught.value.span is not None and caught.value.span.file == __file__


def test_random_numbers_that_are_not_drawn() -> None:
    """Generators have their own seeds, or the branch is not taken."""

    def seeded(x: Any, noise: bool) -> Any:
        if noise:
            return x + np.random.rand() + time.time()
        return x + np.random.default_rng(3).random(3)

    for _ in range(2):
        assert (compiled(seeded)(X, False) == seeded(X, False)).all()
    assert sys.gettrace() is None or "weft" not in repr(sys.gettrace())


def counts(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return x


def stores(x: Any) -> Any:
    global COUNT
    COUNT = 7
    return x


def logs(x: Any) -> Any:
    LOG.append(1)
    return x


def counts_in_a_dict(x: Any) -> Any:
    STATE["calls"] += 1
    return x


def keeps(x: Any) -> Any:
    STATE["last"] = x
    return x


def test_changes_of_what_is_outside() -> None:
    """They happen at each call, and nothing is compiled again."""
    STATE.pop("last", None)
    before = COUNT, len(LOG), STATE["calls"]
    for function in (counts, logs, counts_in_a_dict, keeps, stores):
        jitted = compiled(function)
        for _ in range(3):
            assert jitted(X) is X
    assert (COUNT, len(LOG), STATE["calls"]) == (7, before[1] + 3, before[2] + 3) and STATE["last"] is X
    counter = Counter()
    for k in range(1, 4):
        assert counter.count(X) is X and counter.calls == k
        assert counter.keep(X) is X and counter.last.tolist() == [2, 4, 6]


def test_a_memory_of_results_is_no_change() -> None:
    assert Counter().memory(X).tolist() == [2, 4, 6]


class Lazy:
    def __init__(self) -> None:
        self.table: Any = None

    @jit
    def use(self, x: Any) -> Any:
        if self.table is None:
            self.table = np.full(3, 5.0)
        return x * self.table


def test_what_is_made_once_is_no_change() -> None:
    lazy = Lazy()
    for _ in range(3):
        assert lazy.use(X).tolist() == [5, 10, 15]


W, V, SCALE = np.ones(3), np.ones((3, 3)), np.float32(2.0)
PARAMETERS = {"w": np.ones(3)}

DERIVED: list[Callable[..., Any]] = [
    lambda x: x * (W**2).sum(),
    lambda x: x + W * 2,
    lambda x: x * W[0],
    lambda x: x * float(W.sum()),
    lambda x: np.zeros(int(W[1])) + x[0],
    lambda x: x + np.sqrt(PARAMETERS["w"]) * np.arange(3),
    lambda x: (x, W.max()),
    lambda x: np.unique(x * W.sum()),
    lambda x: x if W.max() > 2 else -x,
]
DIRECT: list[Callable[..., Any]] = [
    lambda x: x * W + V.T[0, ::-1] - x,
    lambda x: x @ V * 2.5 + np.float32(2) * x + SCALE * x,
    lambda x: x * PARAMETERS["w"] + np.add(x, [1.5, 2.5, 7.0]),
]


@pytest.mark.parametrize("function", DERIVED + DIRECT)
def test_captured_arrays_that_change_in_place(function: Callable[..., Any]) -> None:
    kernel = compiled(function)
    for number in (1.0, 4.0, 2.0, 3.0):
        W[:] = V[:] = PARAMETERS["w"][:] = number
        for _ in range(2):
            have, want = kernel(X), function(X)
            for a, b in zip(*((t if isinstance(t, tuple) else (t,)) for t in (have, want)), strict=True):
                assert np.array_equal(a, b), number
    assert kernel.signature_cache.misses <= 2
