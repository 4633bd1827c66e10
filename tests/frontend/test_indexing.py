"""Basic indexing against NumPy on random sizes and slices, and its symbolic forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.backends.reference import run
from weft.frontend.numpy.functions import index
from weft.ir import dims, dtypes, errors
from weft.ir.builder import Builder, is_scalar_result
from weft.ir.facts import Facts
from weft.ir.graph import Value
from weft.ir.types import TensorType

bounds = st.one_of(st.none(), st.integers(-9, 9))
slices = st.builds(slice, bounds, bounds, st.one_of(st.none(), st.integers(-4, 4).filter(bool)))
items = st.lists(st.one_of(slices, slices, st.integers(-8, 8), st.none()), max_size=4)


def value(shape: tuple[int, ...]) -> tuple[Builder, Value, np.ndarray[Any, Any]]:
    names = [f"n{i}" for i in range(len(shape))]
    builder = Builder("k", Facts(dict(zip(names, shape, strict=True))))
    types = tuple(1 if s == 1 else dims.symbol(n) for n, s in zip(names, shape, strict=True))
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)
    return builder, builder.input("x", TensorType(dtypes.F64, types)), array


@settings(max_examples=600, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=3), items, st.booleans(), st.integers(0, 4))
def test_as_numpy(shape: list[int], key: list[Any], dotted: bool, at: int) -> None:
    full = tuple(key[:at]) + ((Ellipsis,) if dotted else ()) + tuple(key[at:])
    builder, x, array = value(tuple(shape))
    try:
        expected = array[full]
    except IndexError:
        with pytest.raises(errors.IndexProblem):
            index(builder, x, full, None)
        return
    found = index(builder, x, full, None)
    (result,) = run(builder.finish([found]), [array])
    np.testing.assert_array_equal(result, expected)
    assert result.shape == expected.shape
    assert is_scalar_result(found) == isinstance(expected, np.generic)


@settings(max_examples=300, deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), slices)
def test_one_graph_serves_all_sizes(first: int, second: int, part: slice) -> None:
    builder, x, _ = value((first,))
    found = index(builder, x, (part,), None)
    assert builder.facts.guards == []
    array = np.arange(second)
    np.testing.assert_array_equal(run(builder.finish([found]), [array])[0], array[part])


@settings(max_examples=300, deadline=None)
@given(st.integers(2, 9), st.integers(-12, 12), st.integers(-12, 12))
def test_symbolic_bounds(size: int, low: int, high: int) -> None:
    builder, x, array = value((size,))
    n = dims.symbol("n0")
    found = index(builder, x, (slice(n + low, n - high),), None)
    np.testing.assert_array_equal(run(builder.finish([found]), [array])[0], array[slice(size + low, size - high)])


def test_equal_slices_have_equal_sizes() -> None:
    builder = Builder("k", Facts(strict=True))
    x = builder.input("x", TensorType(dtypes.F64, (dims.symbol("n"),)))
    middle, last, first = (
        index(builder, x, (s,), None).type.shape for s in (slice(1, -1), slice(2, None), slice(None, -2))
    )
    assert middle == last == first
    assert str(middle[0]) == "max(0, n - 2)"
    assert index(builder, x, (slice(None, None, -1),), None).type.shape == x.type.shape
    assert index(builder, x, (slice(None),), None) is x


def test_an_index_is_guarded() -> None:
    builder, x, _ = value((5,))
    index(builder, x, (3,), None)
    index(builder, x, (-2,), None)
    assert [f"{a} == {b}" for a, b in builder.facts.guards] == ["max(4, n0) == n0", "max(2, n0) == n0"]


def test_refusals() -> None:
    builder, x, _ = value((3, 4))
    with pytest.raises(errors.IndexProblem, match="index 3 is out of bounds for axis 0 with size 3"):
        index(builder, x, (3,), None)
    with pytest.raises(errors.IndexProblem, match="index -5 is out of bounds for axis 1 with size 4"):
        index(builder, x, (0, -5), None)
    with pytest.raises(errors.IndexProblem, match="too many indices"):
        index(builder, x, (0, 0, 0), None)
    with pytest.raises(errors.IndexProblem, match="single ellipsis"):
        index(builder, x, (..., ...), None)
    with pytest.raises(errors.ValueProblem, match="step cannot be zero"):
        index(builder, x, (slice(None, None, 0),), None)
    with pytest.raises(errors.TypeProblem, match="must be a whole number, not a float"):
        index(builder, x, (1.5,), None)
    with pytest.raises(errors.IndexProblem, match="must be of integer"):
        index(builder, x, (x,), None)
    with pytest.raises(errors.TypeProblem, match="known at compile time"):
        index(builder, x, (slice(x),), None)
