"""Test traced values in lists, in `np.array` and in Numba's functions, which do not dispatch on them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from numpy import array as renamed
from numpy.polynomial import polynomial
from weft import errors
from weft.frontend.tracing.standins import _SEQUENCES

from .arrays import whole
from .comparing import same

X = whole("float64", (2, 3), 1)
COUNTER = 0


def helper(x: Any) -> Any:
    return np.array([x[0], x[-1]]) * 2


def recursive(x: Any, n: int) -> Any:
    return np.asarray(x) if n == 0 else recursive(renamed([x[0], x[1], n]), n - 1)


def closed_over() -> Callable[..., Any]:
    scale = 3

    def inner(x: Any) -> Any:
        return np.asarray([x[0], scale])

    def again(x: Any, n: int) -> Any:
        return inner(x) if n == 0 else again(x + 1, n - 1)

    return again


def counting(x: Any) -> Any:
    global COUNTER
    COUNTER += 1
    return x + 1


def with_a_counter(x: Any) -> Any:
    count = 0

    def step(y: Any) -> Any:
        nonlocal count
        count += 1
        return np.array([y, y * count])

    return step(x) + step(x)[::-1] * count


CASES: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = [
    (lambda x: np.array([x[0], x[1]]), ((X[0],), (X,), (X[0].astype(np.int32),))),
    (lambda x: np.array([[x[0], 1], [2, x[1]]]), ((X[0],), (X[0].astype(np.int8),))),
    (lambda x: (np.array(x), np.asarray(x) + 1, np.asfortranarray(x), np.ascontiguousarray(x)), ((X,), (X.T,))),
    (lambda x, n: np.array([x[0], n], dtype=np.float32), ((X[0], 2), (X[0], 2.5))),
    (lambda a, b: (np.array((a, b)), np.sum([a, b])), ((2, 3.5), (X, X), (np.float32(2), 3))),
    (lambda x: (np.max([x[0], x[1]]), np.sort([x[1], x[0]]), np.mean((x[0], x[1]))), ((X[0],), (X[1],))),
    (lambda x: np.where([True, False], [x[0], x[1]], [0.0, 1.0]), ((X[0],),)),
    (lambda x: np.dot([x[0], 1.0], [x[1], x[2]]) + np.append([x[0]], [x[1]]), ((X[0],),)),
    (lambda x, n: np.full(3, n) + x, ((X, 2), (X, 2.5))),
    (lambda x, n: np.full((n, 3), x), ((X[0], 2), (X[0], 4))),
    (lambda x: np.array([x.shape[0], x[0, 0], len(x)]), ((X,), (X.T,))),
    (lambda x: np.concatenate([[x[0]], x, [1.0]]), ((X[0],),)),
    (lambda x: helper(x) + 1, ((X[0],), (X,))),
    (recursive, ((X[0], 0), (X[0], 2))),
    (closed_over(), ((X[0], 0), (X[0], 2))),
    (with_a_counter, ((X[0],),)),
    (lambda x: np.asarray_chkfinite(x) * 2, ((X,),)),
    (lambda a, b: (polynomial.polyadd(a, b), np.polynomial.polynomial.polymul([a[0], 1], b)), ((X[0], X[1]),)),
]


@pytest.mark.parametrize(("function", "calls"), CASES)
def test_array_likes(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> None:
    jitted = weft.jit(function)
    for args in (*calls, calls[0]):
        same(jitted(*args), function(*args))


def test_a_function_that_writes_globals_is_refused() -> None:
    with pytest.raises(errors.TraceProblem, match="COUNTER"):
        weft.jit(lambda x: counting(x))(X)


def test_jitted_functions_in_jitted_functions() -> None:
    inner = weft.jit(helper)
    same(weft.jit(lambda x: inner(x) - 1)(X[0]), helper(X[0]) - 1)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", ((2, 1), (3, 4))), ("ij,jk->ik", ((2, 3), (1, 4))), ("ij,jk->ik", ((1, 1), (1, 1))),
        ("i,i", ((3,), (1,))), ("ij,ij->ij", ((2, 3), (1, 3))), ("ij,jk,kl->il", ((1, 3), (3, 2), (1, 1))),
        ("ij,ij", ((2, 3), (2, 1))), ("ii,i->i", ((1, 1), (3,))), ("...i,i", ((2, 3), (1,))),
        ("ij,kj->ik", ((2, 3), (1, 3))),
    ],
)  # fmt: skip
def test_sizes_of_one_broadcast_in_einsum(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    operands = [whole("float64", shape, k) for k, shape in enumerate(shapes)]
    same(weft.jit(lambda *xs: np.einsum(subscripts, *xs))(*operands), np.einsum(subscripts, *operands))


def test_sequences_that_are_one_array() -> None:
    deep = whole("float64", (2, 3, 4), 1)
    for function in (np.dstack, np.column_stack, np.hstack, np.vstack, np.stack):
        for x in (X, deep, X[:1]):
            same(weft.jit(lambda a, f=function: f(a))(x), function(x))
    for function in (np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values):
        jitted = weft.jit(lambda a, f=function: f(a))
        for x in (X, np.sign(X), X[0, :0]):
            same(jitted(x), function(x))


class Dispatcher:
    """What Weft sees of a function that numba has compiled: its class's module, `py_func`, and no traced values."""

    __module__ = "numba.core.registry"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func, self.__name__ = function, function.__name__

    def __call__(self, *args: Any) -> Any:
        assert all(type(x) in (np.ndarray, np.float64, int, float) for x in args), "numba can't compile for these types"
        return self.py_func(*args)


def test_functions_of_numba() -> None:
    scale, change = Dispatcher(lambda x, n: x * n + 1), Dispatcher(lambda x: x.sort())
    jitted = weft.jit(lambda x, n: scale(x * 2, n) - 1)
    for n in (2, 3.5):
        same(jitted(X, n), X * 2 * n)
    assert "<lambda>" in "".join(jitted.lower(X, 2).fallbacks)
    same(weft.jit(lambda x: x + scale(2, 3))(X), X + 7)
    with pytest.raises(errors.TraceProblem, match="would change a traced value in place"):
        weft.jit(lambda x: change(x * 2))(X[0])


def test_lists_are_sequences_where_numpy_takes_them_as_such() -> None:
    """NumPy looks into the lists of these functions itself; for all others a list with traced values is one array."""

    class Probe:
        def __array_function__(self, *args: Any) -> str:
            return "asked"

    asked = set()
    for module in (np, np.linalg, np.fft):
        for name, function in vars(module).items():
            if type(function) is type(np.sum) and name not in ("save", "savez", "savez_compressed"):
                for count in range(4):
                    with contextlib.suppress(Exception), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        if function([Probe(), Probe()], *([2] * count)) == "asked":
                            asked.add(name)
    assert "multi_dot" in asked and asked <= _SEQUENCES


def test_traced_values_where_numpy_does_not_look_for_them() -> None:
    a, b = whole("float64", (3, 4), 1), whole("float64", (4, 5), 2)
    keys = np.array([1, 2, 1]), np.array([2, 1, 0])
    functions: dict[str, Any] = {
        "multi_dot": (lambda a, b: np.linalg.multi_dot([a, b, b.T]), (a, b)),
        "repeat": (lambda n: np.repeat(2, n), (np.array(3),)),
        "lexsort": (lambda x, y: (np.lexsort([x, y]), np.lexsort((x, y))), keys),
        "histogramdd": (lambda x, y: np.histogramdd((x, y), bins=3)[0], (a[0], a[1])),
        "overwrite_input": (
            lambda a: (np.median(a, overwrite_input=True), np.percentile(a, 30, overwrite_input=True)),
            (a,),
        ),
    }
    for name, (function, args) in functions.items():
        same(weft.jit(function)(*args), function(*args)), name
    for function in (lambda x: next(iter(np.nditer(x))), lambda x: next(iter(np.ndenumerate(x)))):
        with pytest.raises(errors.TraceProblem, match="of a traced value would leave the trace"):
            weft.jit(function)(a)
