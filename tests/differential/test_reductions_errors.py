"""Test that calls which NumPy refuses raise errors of the same type with the same message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

X = np.arange(6.0).reshape(2, 3)
NUMBER, BYTES = np.array(3.0), np.array([1, 2, 3], np.uint8)
MASK = np.array([True, False, True])

# Calls and how NumPy's message begins; an empty text leaves the words to us.
REFUSALS: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "axis": (lambda x: np.sum(x, axis=2), X, "axis 2 is out of bounds for array of dimension 2"),
    "negative axis": (lambda x: x.max(axis=-3), X, "axis -3 is out of bounds for array of dimension 2"),
    "axis of a number": (lambda x: np.sum(x, axis=1), NUMBER, "axis 1 is out of bounds for array of dimension 0"),
    "axes of a number": (lambda x: np.sum(x, axis=(0,)), NUMBER, "axis 0 is out of bounds for array of dimension 0"),
    "mean of a number": (lambda x: np.mean(x, axis=0), NUMBER, "axis 0 is out of bounds for array of dimension 0"),
    "std of a number": (lambda x: x.std(axis=-1), NUMBER, "axis -1 is out of bounds for array of dimension 0"),
    "argmax of a number": (lambda x: np.argmax(x, axis=1), NUMBER, "axis 1 is out of bounds for array of dimension 1"),
    "cumsum of a number": (lambda x: np.cumsum(x, axis=1), NUMBER, "axis 1 is out of bounds for array of dimension 1"),
    "norm": (lambda x: np.linalg.norm(x, axis=2), X, "axis 2 is out of bounds for array of dimension 2"),
    "matrix_norm": (lambda x: np.linalg.matrix_norm(x[0]), X, "axis -2 is out of bounds for array of dimension 1"),
    "accumulate": (lambda x: np.add.accumulate(x, axis=2), X, "axis 2 is out of bounds for array of dimension 2"),
    "twice": (lambda x: np.sum(x, axis=(0, -2)), X, "duplicate value in 'axis'"),
    "twice in a mean": (lambda x: np.mean(x, axis=(0, 0)), X, "duplicate value in 'axis'"),
    "twice in a norm": (lambda x: np.linalg.norm(x, axis=(0, 0)), X, "Duplicate axes given."),
    "fraction": (lambda x: np.sum(x, axis=1.0), X, ""),
    "truth": (lambda x: np.sum(x, axis=True), X, ""),
    "several axes of argmax": (lambda x: np.argmax(x, axis=(0, 1)), X, ""),
    "keepdims": (lambda x: np.sum(x, keepdims=None), X, ""),
    "empty min": (lambda x: np.min(x), X[:0], "zero-size array to reduction operation minimum which has no identity"),
    "empty max": (lambda x: x.max(axis=0), X[:0], "zero-size array to reduction operation maximum which has no"),
    "empty nanmax": (lambda x: np.nanmax(x), X[:0], "zero-size array to reduction operation fmax which has no"),
    "empty argmax": (lambda x: np.argmax(x), X[:0], "attempt to get argmax of an empty sequence"),
    "empty argmin": (lambda x: x.argmin(axis=0), X[:0], "attempt to get argmin of an empty sequence"),
    "empty nanargmin": (lambda x: np.nanargmin(x), X[:0], "attempt to get argmin of an empty sequence"),
    "empty sum from nothing": (
        lambda x: np.sum(x, initial=None), BYTES[:0], "zero-size array to reduction operation add which has no",
    ),
    "empty average": (lambda x: np.average(x, axis=1), X[:0], "division by zero"),
    "where without initial": (
        lambda x: np.min(x, where=MASK), X, "reduction operation 'minimum' does not have an identity, so to use a",
    ),
    "where of numbers": (
        lambda x: np.sum(x, where=x), X,
        "Cannot cast array data from dtype('float64') to dtype('bool') according to the rule 'safe'",
    ),
    "where of too many dimensions": (lambda x: np.sum(x, where=MASK[None, None]), X, ""),
    "where that does not fit": (lambda x: np.mean(x, where=MASK[:2]), X, ""),
    "where larger than the array": (lambda x: np.sum(x[:1], where=np.ones((2, 3), bool)), X, ""),
    "initial does not fit": (lambda x: np.max(x, initial=300), BYTES, "Python integer 300 out of bounds for uint8"),
    "initial below": (lambda x: np.sum(x, initial=-1), BYTES, "Python integer -1 out of bounds for uint64"),
    "complex initial": (lambda x: np.sum(x, initial=1j), X, ""),
    "array as initial": (lambda x: np.max(x, initial=np.array([3.0])), X, "setting an array element with a sequence."),
    "ptp of bool": (lambda x: np.ptp(x > 1), X, ""),
    "ddof and correction": (
        lambda x: np.var(x, ddof=1, correction=1), X, "ddof and correction can't be provided simultaneously.",
    ),
    "nanmean of a whole dtype": (
        lambda x: np.nanmean(x, dtype=int), X, "If a is inexact, then dtype must be inexact",
    ),
    "whole deviations": (lambda x: np.std(x, axis=0, dtype=int), X, "Cannot cast ufunc 'sqrt' output from"),
    "logical dtype": (
        lambda x: np.logical_and.reduce(x, dtype=int), X,
        "No loop matching the specified signature and casting was found for ufunc logical_and",
    ),
    "bits of floats": (lambda x: np.bitwise_and.reduce(x), X, ""),
    "several axes of accumulate": (
        lambda x: np.add.accumulate(x, axis=(0, 1)), X, "accumulate does not allow multiple axes",
    ),
    "no axis of accumulate": (
        lambda x: np.add.accumulate(x, axis=None), X, "accumulate does not allow multiple axes",
    ),
    "accumulate a number": (lambda x: np.add.accumulate(x), NUMBER, "cannot accumulate on a scalar"),
    "order of vectors": (lambda x: np.linalg.norm(x[0], "fro"), X, "Invalid norm order 'fro' for vectors"),
    "order of matrices": (lambda x: np.linalg.norm(x, 3), X, "Invalid norm order for matrices."),
    "rank of a norm": (lambda x: np.linalg.norm(x[None], 1), X, "Improper number of dimensions to norm."),
    "norm of a number": (lambda x: np.linalg.norm(x, 2), NUMBER, "Improper number of dimensions to norm."),
    "cumulative_sum": (
        lambda x: np.cumulative_sum(x), X, "For arrays which have more than one dimension ``axis`` argument is",
    ),
    "weights without axis": (
        lambda x: np.average(x, weights=[1, 2, 3]), X, "Axis must be specified when shapes of a and weights differ.",
    ),
    "weights do not fit": (
        lambda x: np.average(x, axis=1, weights=[1, 2]), X,
        "Shape of weights must be consistent with shape of a along specified axis.",
    ),
    "weights cancel": (
        lambda x: np.average(x, axis=1, weights=[1, -1, 0]), X, "Weights sum to zero, can't be normalized",
    ),
    "nothing but NaN": (lambda x: np.nanargmin(x * np.nan, axis=1), X, "All-NaN slice encountered"),
    "not reorderable": (lambda x: np.subtract.reduce(x, axis=(0, 1)), X, "reduction operation 'subtract' is not"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    call, x, begins = REFUSALS[case]
    with pytest.raises(Exception) as numpys, np.errstate(all="ignore"):
        call(x)
    kind = type(numpys.value)
    if kind.__module__.startswith("numpy._core"):  # NumPy's own names for a TypeError
        kind = TypeError
    with pytest.raises(kind) as ours:
        weft.jit(call)(x)
    assert str(numpys.value).startswith(begins)
    assert getattr(ours.value, "message", str(ours.value)).startswith(begins)


def test_values_are_refused_at_each_call() -> None:
    """The same compiled code accepts valid values and refuses others."""
    average = weft.jit(lambda x, w: np.average(x, axis=1, weights=w))
    weights = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(average(X, weights), np.average(X, axis=1, weights=weights))
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        average(X, weights - 2)
    found = weft.jit(lambda x: np.nanargmax(x, axis=0))
    holes = np.where(X == 4, np.nan, X)
    np.testing.assert_array_equal(found(holes), np.nanargmax(holes, axis=0))
    for rows in (2, 40):
        wide = np.full((rows, 37), 1.0)
        wide[:, 35] = np.nan
        with pytest.raises(ValueError, match="All-NaN slice"):
            found(wide)
        wide[rows - 1, 35] = 2.0
        np.testing.assert_array_equal(found(wide), np.nanargmax(wide, axis=0))


def test_a_hint_helps() -> None:
    with pytest.raises(weft.errors.AxisProblem) as error:
        weft.jit(lambda x: np.sum(x, axis=2))(X)
    assert error.value.hint == "axes of this array are -2 to 1"
    with pytest.raises(weft.errors.ValueProblem) as empty:
        weft.jit(lambda x: np.max(x))(X[:0])
    assert "initial=" in (empty.value.hint or "")
