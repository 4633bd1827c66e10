"""Test native calls of graphs with functions of Python between their kernels: results, errors, references, threads."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.function import tracing
from weft.runtime.native.abi import is_known

RNG = np.random.default_rng(5)
V = RNG.random(30)
M = RNG.random((6, 6)) + 6 * np.eye(6)
F = np.asfortranarray(M)
S = RNG.random((12, 12))[::2, ::2] + 0
I = RNG.integers(0, 9, 30)  # noqa: E741


def served(function: Any) -> int:
    return int(function.chain.calls)


def natively(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call that a recipe serves, on interpreters that have recipes."""
    function(*args, **kwargs)
    before = served(function)
    found = function(*args, **kwargs)
    assert served(function) == before + is_known(), "Python served the call"
    return found


def same(found: Any, expected: Any) -> bool:
    """Compare results and their types; kernels may round a product and a sum differently from NumPy."""
    if isinstance(expected, (tuple, list)):
        return type(found) is type(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in expected)
    if isinstance(expected, np.ndarray):
        assert found.strides == expected.strides and found.flags.writeable
        assert found.dtype == expected.dtype and found.shape == expected.shape
    return type(found) is type(expected) and np.allclose(found, expected, rtol=1e-12)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda m: np.linalg.inv(m * 2) + 1, (M,)),  # kernels on both sides
    (lambda m: np.linalg.inv(m * 2) + 1, (F,)),  # NumPy reads a copy in Fortran's order
    (lambda m: np.linalg.inv(m.transpose(0, 2, 1) * 2), (np.stack([M, M + 1]),)),
    (lambda m: np.linalg.inv(m), (S,)),  # no kernel at all
    (lambda m, b: np.linalg.solve(m, b + 1) * 2, (M, V[:6])),
    (lambda m: np.linalg.eigh(m + m.T), (M,)),  # a named tuple
    (lambda m: np.linalg.det(m * 2) * m, (M,)),  # a number
    (lambda m: {"a": np.linalg.inv(m * 2), "b": [m + 1, np.linalg.det(m)]}, (M,)),
    (lambda m: np.linalg.inv(np.linalg.inv(m * 2) + 1) * 2, (M,)),  # two calls
    (lambda x: np.unique(x * 2, return_counts=True), (I,)),  # sizes that depend on values
    (lambda x: np.lexsort((x * 2, x)) + 1, (V,)),  # a tuple of operands
    (lambda x: np.sort(x.reshape(5, 6) * 2, axis=0, kind="heapsort").reshape(-1) + 1, (V,)),
    (lambda x, k: np.quantile(x * 2, k) * x, (V, 0.3)),  # a Python number
    (lambda x, y: np.histogram2d(x * 2, y, bins=4), (V, V**2)),  # a view of new memory
    (lambda x, y: np.histogram2d(x * 2, y, bins=4)[0] + 1, (V, V**2)),
    (lambda x: np.nonzero(x > 0.5), (V,)),
    (lambda x, i: np.array([x[i == k].sum() for k in range(4)]), (V, I)),  # parts of one array, around calls
    (lambda x, i: np.stack([x + 1, np.sort(x * 2), x[i < 99]]) * 2, (V, I)),
    (lambda x: np.concatenate([x[:1] + 1, np.concatenate([x[:2] * 2, np.sort(x + 1)])]).reshape(1, -1), (V,)),
]


def test_results_are_numpys() -> None:
    for number, (function, args) in enumerate(FUNCTIONS):
        assert same(natively(tracing(function), *args), function(*args)), number


def test_other_sizes_take_the_same_way() -> None:
    inverse, distinct = tracing(FUNCTIONS[0][0]), tracing(lambda x: np.unique(x * 2) + 1)
    natively(inverse, M), natively(distinct, I)
    before = served(inverse), served(distinct)
    for n in (2, 3, 17):
        m = RNG.random((n, n)) + n * np.eye(n)
        assert same(inverse(m), np.linalg.inv(m * 2) + 1)
        x = np.arange(n) // 2
        if n > 3:
            assert same(distinct(x), np.unique(x * 2) + 1)
    if is_known():
        assert (served(inverse), served(distinct)) == (before[0] + 3, before[1] + 1)
    for x in (np.zeros(5, int), np.zeros(0, int), np.arange(4), np.zeros(3, int), np.arange(9)):
        assert same(distinct(x), np.unique(x * 2) + 1)  # one number, and none, have graphs of their own


def test_out_is_written_in_the_end() -> None:
    function = tracing(lambda m: (np.linalg.inv(m * 2) + 1, np.linalg.inv(m)))
    out = np.zeros((6, 6)), np.zeros((6, 6))
    found = natively(function, M, out=out)
    assert found[0] is out[0] and found[1] is out[1]
    assert np.allclose(out[0], np.linalg.inv(M * 2) + 1) and np.allclose(out[1], np.linalg.inv(M))
    with pytest.raises(np.linalg.LinAlgError):
        function(np.zeros((6, 6)), out=(out[0], out[1]))
    assert np.allclose(out[0], np.linalg.inv(M * 2) + 1)
    picked, x = tracing(lambda x, i: x[i] * 2), np.arange(9.0)
    natively(picked, x, np.array([1, 2, 5]), out=np.zeros(3))
    before = served(picked)
    picked(x, np.array([1, 2, 3]), out=x[2:5])  # the memory that it reads
    assert x.tolist() == [0, 1, 2, 4, 6, 5, 6, 7, 8] and served(picked) == before + is_known()


def test_views_of_arguments_are_copied() -> None:
    doubled = tracing(lambda x: (y := x * 2, np.lib.stride_tricks.sliding_window_view(y, 3, writeable=True)))
    first, second = natively(doubled, V)
    assert not np.shares_memory(first, second) and np.array_equal(second[1], first[1:4])
    window = tracing(lambda x: np.lib.stride_tricks.sliding_window_view(x, 3))
    found = natively(window, V)
    assert found.flags.writeable and not np.shares_memory(found, V)
    assert np.array_equal(found, np.lib.stride_tricks.sliding_window_view(V, 3))


def test_an_error_leads_to_the_users_line() -> None:
    @weft.jit
    def inverse(m: Any) -> Any:
        doubled = m * 2.0
        return np.linalg.inv(doubled) + 1  # this line

    inverse(M), inverse(M)
    references = sys.getrefcount(zeros := np.zeros((6, 6)))
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            inverse(zeros)
        lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert any("# this line" in (line or "") for line in lines)
        del caught
    gc.collect()
    assert sys.getrefcount(zeros) == references
    assert same(inverse(M), np.linalg.inv(M * 2.0) + 1)


def test_warnings_and_the_state_of_errors() -> None:
    function = tracing(lambda x: np.emath.log(x * 2) + 1)
    natively(function, V)
    state = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isneginf(function(np.zeros(30))).all()
        with np.errstate(divide="warn", over="ignore"):
            before = served(function)
            assert np.isneginf(function(np.zeros(30))).all() and served(function) == before + is_known()
            assert np.geterr()["over"] == "ignore"
    assert np.geterr() == state


def test_types_that_depend_on_values() -> None:
    """Each type has a graph and a recipe; a call that the first does not fit is served by the second."""
    values = tracing(lambda m: np.linalg.eigvals(m * 2) + 1)
    turning = np.array([[0.0, -1.0], [1.0, 0.0]])
    for m in (np.eye(2) * 2, turning, np.eye(2), turning, turning, np.eye(2)):
        assert same(values(m), np.linalg.eigvals(m * 2) + 1)
    assert served(values) >= 3 * is_known()


def test_lookups_that_select_nothing_one_or_many() -> None:
    """Results of one element have a recipe of their own; calls that it refuses and the next one serves are no reason
    to drop it. Where nothing is selected, there is no index to check, unless the empty axis is another one.
    """

    def looked_up(x: Any, m: Any) -> Any:
        return x[np.where(m)[0]] * 2

    f, masks = weft.jit(looked_up), [np.arange(30) % 7 == 0, V < 0, np.arange(30) == 3]
    for mask in masks:
        f(V, mask)
    before = served(f)
    for _ in range(40):
        for mask in masks:
            assert same(f(V, mask), looked_up(V, mask))
    assert served(f) >= before + 110 * is_known()  # Python is asked now and then which variant is faster
    with pytest.raises(IndexError):
        f(V[:20], np.arange(30) > 25)
    rows = weft.jit(lambda x, k: x[k] * 2)
    natively(rows, np.ones((5, 3)), np.array([1, 2]))
    with pytest.raises(IndexError):
        rows(np.ones((5, 0)), np.array([7, 8]))


def test_nothing_is_kept() -> None:
    function = tracing(lambda m: (np.linalg.inv(m * 2) + 1, np.linalg.det(m), np.linalg.eigh(m)))
    given = M.copy()
    natively(function, given)
    references = sys.getrefcount(given), sys.getrefcount(np.dtype(np.float64)), sys.getrefcount(np.linalg.inv)
    for _ in range(200):
        function(given)
    now = sys.getrefcount(given), sys.getrefcount(np.dtype(np.float64)), sys.getrefcount(np.linalg.inv)
    assert all(abs(a - b) < 5 for a, b in zip(references, now, strict=True))
    result = function(given)[0]
    gone = weakref.ref(given)
    del given
    gc.collect()  # the trace of the first call is a cycle
    assert gone() is None and result.base is None


def test_functions_of_the_registry() -> None:
    """One that calls the kernel again or is interrupted, and one whose results have an unexpected order."""
    calls: list[int] = []

    def twice(x: Any) -> Any:
        if x[0] > 100:
            return kernel(x / 1000) * 1000
        if x[0] < 0:
            raise KeyboardInterrupt
        return x * 2

    def turned(x: Any) -> Any:
        calls.append(1)
        return np.asfortranarray(x * 2)

    with weft.registry.scope() as registry:
        registry.register("outside_twice", "f64[n] -> f64[n]", twice, kind="python")
        registry.register("outside_turned", "f64[n, m] -> f64[n, m]", turned, kind="python")
        kernel = weft.compile("kernel k(x: f64[n]) -> f64[n] { return outside_twice(x + 1) + 1 }").k
        assert np.allclose(natively(kernel, V), (V + 1) * 2 + 1)
        assert np.allclose(kernel(V + 200), ((V + 201) / 1000 + 1) * 2000 + 1001)
        with pytest.raises(KeyboardInterrupt):
            kernel(V - 9)
        assert np.allclose(natively(kernel, V), (V + 1) * 2 + 1)
        kernel = weft.compile("kernel k(x: f64[n, m]) -> f64[n, m] { return outside_turned(x + 1) + 1 }").k
        for _ in range(12):
            assert np.allclose(kernel(M), (M + 1) * 2 + 1)
        before = len(calls)
        kernel(M)
        assert len(calls) == before + 1  # there is no recipe any more that would call it in vain


def swapped(a: Any, b: Any) -> Any:
    before = a + 0
    a[:] = b
    b[:] = before @ b
    return a


def test_arguments_that_are_changed() -> None:
    """A graph computes all that it writes before the first argument is changed."""
    function = tracing(swapped)
    for a, b in ((M.copy(), M + 1), (F.copy(), F + 1), (F.copy(), M + 1)):
        c, d = a.copy(), b.copy()
        for k in range(4):
            before, references = served(function), sys.getrefcount(a)
            is_same = function(a, b) is a
            assert is_same and (k == 0 or sys.getrefcount(a) == references)
            swapped(c, d)
            assert np.allclose(a, c, rtol=1e-9) and np.allclose(b, d, rtol=1e-9)
            assert k == 0 or a.flags != b.flags or served(function) == before + is_known()
    with pytest.raises(weft.errors.TraceProblem, match="must not share memory"):
        function(a, a)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="must be writable"):
        function(a, b)


def test_a_part_of_a_result_that_is_made_later() -> None:
    """Before the call there is no array to write the part into."""

    def joined(a: Any) -> Any:
        return np.append(np.setdiff1d(a, a[1:]), a[1:][:1]) + 1

    def behind(a: Any) -> Any:
        return np.stack([np.append(np.trim_zeros(a)[1:], 1), a])

    for plain in (joined, behind):
        function = tracing(plain)
        for a in ([2.0, -2.0], [2.0, -2.0], [5.0, 7.0, 9.0], [1.0, 6.0, 7.0], [3.0]):
            assert np.array_equal(function(np.array(a)), plain(np.array(a)))


def test_threads() -> None:
    function = tracing(lambda m: np.linalg.inv(m * 2) + 1)
    matrices = [RNG.random((20, 20)) + k * np.eye(20) for k in range(20, 28)]
    expected = [np.linalg.inv(m * 2) + 1 for m in matrices]
    natively(function, matrices[0])
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(k for _ in range(100) if not np.allclose(function(matrices[k]), expected[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
