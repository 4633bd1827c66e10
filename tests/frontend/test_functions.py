"""Every function of the table against NumPy: values, dtypes, shapes, refusals."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft.frontend.numpy.functions import FUNCTIONS, call
from weft.ir import dims, dtypes, errors
from weft.ir.builder import Builder
from weft.ir.facts import Facts
from weft.ir.graph import Value
from weft.ir.ops import SPECIAL
from weft.ir.types import TensorType

from .tracing import build, check, traced

DTYPES = [np.bool_, np.int8, np.int32, np.int64, np.uint8, np.float32, np.float64]
RNG = np.random.default_rng(5)


def sample(dtype: Any, shape: tuple[int, ...] = (3, 4)) -> np.ndarray[Any, Any]:
    if np.dtype(dtype).kind == "f":
        found = RNG.normal(size=shape).astype(dtype)
        found.flat[: min(found.size, 4)] = [np.nan, np.inf, -np.inf, -0.0][: found.size]
        return found
    return RNG.integers(0, 2 if dtype is np.bool_ else 9, shape).astype(dtype)


def ufuncs(count: int) -> list[str]:
    known = {n: getattr(np, n, None) for n in FUNCTIONS}
    return sorted(n for n, f in known.items() if isinstance(f, np.ufunc) and f.nin == count and f.signature is None)


def agrees(function: Callable[..., Any], *args: Any) -> None:
    """Check that the result is NumPy's, or an error of the same kind."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        with pytest.raises(kind) as found:
            traced(function, *args)
        assert isinstance(found.value, errors.WeftError)
        return
    check(function, *args)


def test_tables_cover_numpys_names() -> None:
    homes = (np, np.linalg)
    others = {name for name in FUNCTIONS if not any(hasattr(home, name) for home in homes)}
    assert others == {op.name for op in SPECIAL}
    for alias in ("true_divide", "mod", "pow", "abs", "amin", "amax", "bitwise_not", "permute_dims"):
        assert alias in FUNCTIONS
    assert len(ufuncs(1)) > 20 and len(ufuncs(2)) > 20


@pytest.mark.parametrize("name", ufuncs(1))
def test_unary(name: str) -> None:
    for dtype in DTYPES:
        agrees(getattr(np, name), sample(dtype))


@pytest.mark.parametrize("name", ufuncs(2))
def test_binary(name: str) -> None:
    for left, right in itertools.product(DTYPES, (np.bool_, np.int32, np.uint8, np.float32)):
        agrees(getattr(np, name), sample(left), np.abs(sample(right, (4,)).astype(right)) + right(1))


@pytest.mark.parametrize("name", ufuncs(2))
def test_binary_with_a_number(name: str) -> None:
    for dtype, number in itertools.product((np.int8, np.int32, np.float32, np.bool_), (2, 2.5, True)):
        agrees(lambda x, number=number: getattr(np, name)(x, number), sample(dtype))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "ptp"])
def test_reductions(name: str, axis: Any) -> None:
    for dtype in DTYPES:
        x = np.nan_to_num(sample(dtype), posinf=3, neginf=-3)
        agrees(lambda x: getattr(np, name)(x, axis=axis), x)
        if name != "ptp":
            agrees(lambda x: getattr(x, name)(axis=axis, keepdims=True), x)


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8", int, float])
@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_reductions_in_a_dtype(name: str, dtype: Any) -> None:
    for have in (np.int32, np.float32, np.bool_):
        x = np.nan_to_num(sample(have), posinf=3, neginf=-3)
        check(lambda x: getattr(np, name)(x, axis=0, dtype=dtype), x)
        check(lambda x: getattr(np, name)(x, dtype=dtype), x)


def test_variance_arguments() -> None:
    x = RNG.normal(size=(4, 5)).astype(np.float32)
    check(lambda x: np.var(x, axis=0, ddof=1), x)
    check(lambda x: np.var(x, correction=2), x)
    check(lambda x: x.std(axis=1, dtype=np.float64, keepdims=True), x)


def test_half_precision_means() -> None:
    x = np.array([1, 2, 4], np.float16)
    check(np.mean, x)


def test_reductions_without_dimensions() -> None:
    check(np.sum, np.array(5, np.int32))
    check(lambda x: np.sum(x, axis=0), np.array(5, np.int32))
    check(np.any, np.array(2.5))
    check(np.max, np.array(2.5))


def test_count_nonzero() -> None:
    check(np.count_nonzero, sample(np.float64))
    check(lambda x: np.count_nonzero(x, axis=1, keepdims=True), sample(np.int32))


def test_extremes_of_nothing() -> None:
    with pytest.raises(errors.ValueProblem, match="zero-size array to reduction operation maximum"):
        traced(np.max, np.zeros((0, 3)))
    with pytest.raises(errors.ValueProblem, match="minimum"):
        traced(lambda x: x.min(axis=1), np.zeros((0, 0)))
    check(lambda x: np.max(x, axis=0), np.zeros((3, 0)))
    assert build(np.max, np.ones(4)).graph.attrs["guards"].texts == ("max(1, a0) == a0",)


@pytest.mark.parametrize("axis", [2, -3, (0, 2)])
def test_axis_out_of_range(axis: Any) -> None:
    with pytest.raises(errors.IndexProblem, match="is out of bounds for array of dimension 2"):
        traced(lambda x: x.sum(axis=axis), np.ones((2, 3)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(4, 3),
        lambda x: x.reshape((2, -1)),
        lambda x: np.reshape(x, (3, 2, 2), order="F"),
        lambda x: x.ravel(),
        lambda x: x.flatten(),
        lambda x: np.transpose(x),
        lambda x: x.T,
        lambda x: np.swapaxes(x[None], 0, 2),
        lambda x: np.moveaxis(x[None], 0, -1),
        lambda x: np.expand_dims(x, (0, -1)),
        lambda x: np.squeeze(x[None, :, None]),
        lambda x: np.squeeze(x[:, :1], axis=1),
        lambda x: np.squeeze(x[:1]),
        lambda x: np.broadcast_to(x, (2, 3, 4)),
        lambda x: np.broadcast_arrays(x, x[0]),
        lambda x: np.flip(x),
        lambda x: np.flip(x, 1),
        lambda x: np.flipud(x),
        lambda x: np.fliplr(x),
        lambda x: np.atleast_2d(x[0]),
        lambda x: np.zeros_like(x),
        lambda x: np.ones_like(x, dtype=np.int32),
        lambda x: np.full_like(x, 7, dtype=np.float64),
        lambda x: np.matrix_transpose(x),
    ],
)
def test_shapes(function: Any) -> None:
    check(function, sample(np.float32))
    check(function, sample(np.int64))


def test_reshape_refusals() -> None:
    x = np.ones((3, 4))
    with pytest.raises(errors.ShapeProblem, match="cannot reshape array of size 12"):
        traced(lambda x: x.reshape(5, -1), x)
    with pytest.raises(errors.ShapeProblem, match="cannot reshape array of size 12"):
        traced(lambda x: x.reshape(5, 2), x)
    with pytest.raises(errors.ValueProblem, match="one unknown dimension"):
        traced(lambda x: x.reshape(-1, -1), x)
    with pytest.raises(errors.ValueProblem, match="squeeze"):
        traced(lambda x: np.squeeze(x, axis=0), x)


def test_where_and_clip() -> None:
    x, i = sample(np.float32), np.array([1, 2, 100], np.int8)
    check(lambda x: np.where(x > 0, x, 0), x)
    check(lambda x, y: np.where(x > 0, x, y), x, sample(np.float64, (4,)))
    check(lambda x: np.where(x > 0, 1, 0.5), x)
    check(lambda i: np.where(i > 1, i, 300), i)
    check(lambda x: np.clip(x, -0.5, 0.5), x)
    check(lambda x: x.clip(min=0), x)
    check(lambda i: np.clip(i, -1000, 50), i)
    check(lambda i: np.clip(i, 2, 300), i)
    check(lambda i: np.clip(i, 0.5, 3), i)
    check(lambda x, y: np.clip(x, y, 1), i, np.array([0, 5, 6], np.uint8))


def test_literals_that_do_not_fit() -> None:
    i = np.array([1, 2], np.int8)
    for function in (lambda i: i + 300, lambda i: np.minimum(i, 300), lambda i: 300 * i, lambda i: i & -200):
        with pytest.raises(errors.OverflowProblem, match="out of bounds for int8"):
            traced(function, i)
    with pytest.raises(OverflowError):
        traced(lambda i: np.clip(i, 200, 300), i)
    check(lambda x: x + 2**70, np.array([1.0, 2.0]))


@pytest.mark.parametrize("number", [300, -300, 2**70])
def test_comparisons_with_any_literal(number: int) -> None:
    i = np.array([1, -2, 127], np.int8)
    check(lambda i: [i < number, i == number, i != number, i >= number, number > i, number <= i], i)


def test_powers() -> None:
    x = np.array([-np.inf, -0.0, 4.0, 2.5, np.nan])
    check(lambda x: [x**0.5, x**2, x**-1, x**3, x**0, x**1, 2.0**x, x**2.5], x)
    i = np.array([1, 2, 5], np.int32)
    check(lambda i: [i**2, i**0.5, i**3, i**2.0, i**-1.0, np.float_power(i, 2)], i)
    check(lambda b: b**2, np.array([True, False]))
    with pytest.raises(errors.ValueProblem, match="negative integer powers"):
        traced(lambda i: i**-1, i)
    built = build(lambda x: x**0.5 + x**2, x)
    assert [n.op.name for n in built.graph] == ["sqrt", "square", "add"]


def test_divmod_and_round() -> None:
    check(lambda x: np.divmod(x, 3), np.array([-7, 8, 2]))
    check(lambda x: divmod(x, 3), np.array([-7.5, 8, 2]))
    check(lambda x: np.round(x), np.array([0.5, 1.5, -2.5]))
    check(lambda x: x.round(), np.array([1, 2]))


def symbolic() -> tuple[Builder, Value]:
    builder = Builder("k", Facts(strict=True))
    return builder, builder.input("x", TensorType(dtypes.F32, (dims.symbol("n"), dims.symbol("m"))))


def test_refusals_name_the_argument() -> None:
    builder, x = symbolic()
    with pytest.raises(errors.Unsupported, match="'out' of 'sum'"):
        call(builder, "sum", (x,), {"out": x}, None)
    with pytest.raises(errors.Unsupported, match="'out' of 'exp'"):
        call(builder, "exp", (x,), {"out": x}, None)
    with pytest.raises(errors.TypeProblem, match="'sum' has no argument 'axes_'"):
        call(builder, "sum", (x,), {"axes_": 1}, None)
    with pytest.raises(errors.UnknownName) as unknown:
        call(builder, "tan_h", (x,), {}, None)
    assert unknown.value.hint == "did you mean 'tanh'?"
    with pytest.raises(errors.TypeProblem, match="missing a required argument"):
        call(builder, "where", (), {}, None)
    with pytest.raises(errors.TypeProblem, match="'axis' must be known at compile time"):
        call(builder, "sum", (x,), {"axis": x}, None)
    with pytest.raises(errors.TypeProblem, match="is not a dtype"):
        call(builder, "sum", (x,), {"dtype": 3.5}, None)


def test_neutral_arguments_are_dropped() -> None:
    builder, x = symbolic()
    neutral = {"out": None, "where": True, "casting": "same_kind", "dtype": None}
    found = call(builder, "add", (x, 1), neutral, None)
    assert isinstance(found, Value) and found.type == x.type


def test_mean_divides_by_a_weak_count() -> None:
    builder, x = symbolic()
    found = call(builder, "mean", (x,), {"axis": 0}, None)
    assert isinstance(found, Value) and found.node is not None and found.type.dtype is dtypes.F32
    assert found.node.operands[1].type.dtype is dtypes.WEAK_INT
