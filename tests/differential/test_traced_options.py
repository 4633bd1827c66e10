"""Test options of NumPy functions that are arguments of a traced function: NumPy's result, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.function import tracing as jit
from weft.ir.builder import Builder
from weft.ir.dtypes import F32
from weft.ir.errors import Unsupported, WeftError
from weft.ir.types import TensorType

X, Z = np.array([1.0, -2.0, np.nan]), np.array([1 + 1j, -2j])
OPTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "angle": (lambda x, o: np.angle(x, o), Z),
    "meshgrid": (lambda x, o: np.meshgrid(x, x, sparse=o), X),
    "linspace": (lambda x, o: np.linspace(0.0, x, 5, endpoint=o), X),
    "indices": (lambda x, o: np.indices((2, 3), sparse=o)[0] + x[0], X),
    "average": (lambda x, o: np.average(x, returned=o), X),
    "sum": (lambda x, o: np.sum(x, keepdims=o), X),
    "std": (lambda x, o: np.std(x, ddof=o), X),
    "max": (lambda x, o: np.max(x, initial=o), X),
    "tril": (lambda x, o: np.tril(np.outer(x, x), o), X),
    "array": (lambda x, o: np.array(x, ndmin=o), X),
    "diff": (lambda x, o: np.diff(x, n=o), X),
    "round": (lambda x, o: np.round(x, o), X),
    "branch": (lambda x, o: x if o else -x, X),
    "where": (lambda x, o: np.where(o, x, -x), X),
    "unique": (lambda x, o: np.unique(x, return_counts=o), X),
    "nan_to_num": (lambda x, o: np.nan_to_num(x * 1, copy=o), X),
}
NUMBERS = {"std", "max", "tril", "array", "diff", "round"}  # options that are numbers, which True need not be
VALUES: dict[str, list[Any]] = {
    "bools": [True, False, True],
    "numbers": [np.False_, np.True_, np.False_],
    "arrays": [np.array(True), np.array(False), np.array(True)],
    "integers": [1, 0, 1, 2],
}


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("kind", VALUES)
def test_options(kind: str) -> None:
    refused = set()
    for name, (function, x) in OPTIONS.items():
        compiled = jit(function, backend="reference")
        for option in VALUES[kind] * 2:
            try:
                have = parts(compiled(x, option))
            except (WeftError, TypeError):
                refused.add(name)
                continue
            try:
                want = parts(function(x.copy(), option))
            except TypeError:  # NumPy takes no bool of its own there
                continue
            assert [np.shape(a) for a in have] == [np.shape(a) for a in want], name
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(have, want, strict=True)), name
    if kind == "bools":
        assert refused <= NUMBERS


def test_flags_are_fixed_where_they_are_asked() -> None:
    """A flag is known while tracing, by position, by name and as a default; each value has its own graph."""

    @jit
    def scaled(x: Any, flag: bool = True) -> Any:
        return x * 2 if flag else x

    for _ in range(12):
        assert scaled(X[:2])[0] == scaled(X[:2], True)[0] == scaled(X[:2], flag=np.True_)[0] == 2.0
        assert scaled(X[:2], False)[0] == scaled(X[:2], flag=np.False_)[0] == 1.0
    assert jit(lambda flag: np.where(flag, 1.0, 2.0))(False) == 2.0


def test_no_value_has_a_truth() -> None:
    with pytest.raises(Unsupported, match="the truth of a value"):
        bool(Builder("f").input("x", TensorType(F32)))
    with pytest.raises(WeftError, match="'deg' must be known at compile time"):
        weft.compile("kernel k(z: c64[n], deg: bool) = angle(z, deg)").k(Z.astype(np.complex64), True)
