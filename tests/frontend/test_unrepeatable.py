"""What a trace can't see or repeat is right or an error at the user's line, never silent."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft import jit
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


def test_kinds_of_numbers_in_sizes_and_indices() -> None:
    """What calls itself an integer is still a traced value to the graph."""
    function = compiled(lambda x, k: x[k] + x.shape[0] + k * x.size + (x.shape[0] == k) + (k < x.size))
    for k in (0, 1, 2):
        assert function(X, k) == X[k] + 3 + k * 3 + (k == 3) + (k < 3)
    assert (compiled(lambda x, k: x[:k])(X, 2) == X[:2]).all()
    assert compiled(lambda a, b: a[b])(X, np.int64(1)) == 2.0


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
        with pytest.raises(TraceProblem) as caught:
            compiled(function)(x)
        assert caught.value.span is not None and caught.value.span.file == __file__


def test_errors_that_numpy_raises_too() -> None:
    """A graph serves only the sizes for which the error comes, or does not come."""

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
