"""Test `out=`: the caller's array is checked first, then written, and may overlap arguments in any way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random
from .comparing import same
from .programs import PROGRAMS, layernorm, softmax

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("layout", ["C", "F", "strided", "rows with gaps", "negative", "axes turned", "unaligned"])
def test_layouts_of_out(layout: str) -> None:
    x, y = random("float32", (9, 35), 1), random("float32", (9, 35), 2)
    jitted = weft.jit(lambda x, y: np.sqrt(x * x) + y)
    for given in (x, np.asfortranarray(x), x[::-1]):
        out = LAYOUTS[layout](np.full((9, 35), 7, np.float32))
        assert jitted(given, y, out=out) is out
        np.testing.assert_array_equal(out, np.sqrt(given * given) + y)


def test_several_outputs() -> None:
    def both(x: Any) -> Any:
        return x + 1, x.sum(axis=0), x.max()

    jitted = weft.jit(both)
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    outs = (np.zeros((3, 4)), np.zeros(4), np.zeros(()))
    found = jitted(x, out=outs)
    assert all(a is b for a, b in zip(found, outs, strict=True))
    same(tuple(np.array(o) for o in outs), tuple(np.array(o) for o in both(np.ascontiguousarray(x))))
    first = np.zeros((3, 4))
    found = jitted(x, out=(first, None, None))
    assert found[0] is first
    same(found[1:], both(x)[1:])
    found = jitted(x, out=[None, None, outs[2]])
    same(found[:2], both(x)[:2])
    with pytest.raises(ValueError, match="one array for each result: 3, not 2"):
        jitted(x, out=(first, None))


def test_one_array_for_two_results() -> None:
    out = np.zeros(5)
    found = weft.jit(lambda x: (x + 1, x * 2))(np.arange(5.0), out=(out, out))
    assert found[0] is out and found[1] is out
    same(out, np.arange(5.0) * 2)


def test_scalar_results_and_arguments_handed_back() -> None:
    out = np.zeros((), np.float32)
    x = random("float32", 40, 1)
    assert weft.jit(lambda x: x.max())(x, out=out) is out
    assert out == x.max()
    flat = np.zeros(40, np.float32)
    weft.jit(lambda x: x.reshape(4, 10).reshape(40))(x, out=flat)
    same(flat, x)


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "shape": (np.zeros((3, 5)), ValueError, "shape"),
    "too small": (np.zeros((3, 3)), ValueError, "shape"),
    "rank": (np.zeros(12), ValueError, "shape"),
    "dtype": (np.zeros((3, 4), np.float32), TypeError, "dtype float64 of the result, not float32"),
    "byte order": (np.zeros((3, 4), ">f8"), TypeError, "dtype"),
    "read-only": (np.broadcast_to(np.zeros(4), (3, 4)), ValueError, "writable"),
    "a list": ([0.0] * 12, (TypeError, ValueError), "out"),
    "a number": (3.0, TypeError, "out must be an array"),
    "a subclass": (np.ma.zeros((3, 4)), TypeError, "out must be an array"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("function", [lambda x: x + 1, lambda x: np.sort(x, axis=0), lambda x: softmax(x, -1)])
def test_wrong_ones(function: Callable[..., Any], what: str) -> None:
    out, error, match = WRONG[what]
    before = np.array(out)
    with pytest.raises(error, match=match) as caught:
        weft.jit(function)(np.arange(12.0).reshape(3, 4), out=out)
    assert isinstance(caught.value, weft.errors.WeftError)
    np.testing.assert_array_equal(np.array(out), before)


def test_a_wrong_one_among_several_leaves_the_others() -> None:
    first, wrong = np.full(4, 7.0), np.zeros(3)
    for function in (lambda x: (x + 1, x * 2), lambda x: (x + 1, np.sort(x))):
        with pytest.raises(ValueError, match=r"out\[1\]"):
            weft.jit(function)(np.arange(4.0), out=(first, wrong))
        np.testing.assert_array_equal(first, 7)


def test_an_error_while_running_writes_nothing() -> None:
    x, outs = np.arange(1, 50), (np.full(49, 7), np.full(49, 7))
    for function, args in (
        (lambda x, y: (x + 1, x**y), (x, np.where(x == 40, -1, 2))),
        (lambda x, y: (x + 1, x + y[:0].max()), (x, x)),
        (lambda x, y: (x + 1, x + np.linalg.inv(x.reshape(7, 7) * 0.0).astype(np.int64)[0, 0]), (x, x)),
    ):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            weft.jit(function)(*args, out=outs)
        assert all((o == 7).all() for o in outs)


def overlapping() -> dict[str, Callable[[Array], tuple[Array, Array]]]:
    """Make an argument and an `out` of the same size that share memory."""
    return {
        "the same": lambda m: (m[20:56], m[20:56]),
        "reversed": lambda m: (m[20:56], m[20:56][::-1]),
        "shifted up": lambda m: (m[20:56], m[21:57]),
        "shifted down": lambda m: (m[20:56], m[19:55]),
        "every other": lambda m: (m[0:72:2], m[20:56]),
        "into every other": lambda m: (m[20:56], m[1:73:2]),
        "apart": lambda m: (m[0:36], m[36:72]),
    }


@pytest.mark.parametrize("program", ["chain", "flip", *list(PROGRAMS)[:4], "sums beside a flipped copy"])
def test_overlap(program: str) -> None:
    functions = {
        "chain": lambda x: np.sqrt(x * x) - x,
        "flip": lambda x: x[::-1] + x[:, ::-1],
        "sums beside a flipped copy": lambda x: PROGRAMS["sums beside a flipped copy"](x)[0],
    }
    function = functions.get(program) or PROGRAMS[program]
    jitted = weft.jit(function)
    for shape, (how, views) in itertools.product(((6, 6), (3, 12), (36, 1)), overlapping().items()):
        memory = random("float32", 80, 3)
        fresh = jitted(views(memory.copy())[0].reshape(shape))
        x, out = views(memory)
        x.shape, out.shape = shape, shape
        jitted(x, out=out)
        np.testing.assert_array_equal(out, fresh, err_msg=f"{how} {shape}")


def test_transposed_in_place() -> None:
    x = random("float64", (17, 17), 3)
    expected = layernorm(x.copy(), -1) + x.T
    weft.jit(lambda x: layernorm(x, -1) + x.T)(x, out=x.T)
    np.testing.assert_allclose(x.T, expected, rtol=1e-12)


def test_overlap_with_captured_arrays() -> None:
    weights = np.arange(40.0)
    jitted = weft.jit(lambda x: x + weights[::-1])
    expected = np.arange(40.0) + weights[::-1]
    jitted(np.arange(40.0), out=weights)
    same(weights, expected)


def test_keyword_arguments() -> None:
    jitted = weft.jit(lambda x, y, z=2: x * y + z)
    x, y, out = np.arange(3.0), np.arange(3.0) + 1, np.zeros(3)
    same(jitted(x, y=y), x * y + 2)
    same(jitted(y=y, x=x, z=5), x * y + 5)
    assert jitted(x, z=1.5, y=y, out=out) is out
    same(out, x * y + 1.5)
    kernel = weft.compile("kernel f(a: f64[n], b: f64[n]) -> f64[n] { return a - b }").f
    same(kernel(b=x, a=y), y - x)
    same(kernel(y, b=x, out=out), y - x)
    with pytest.raises(TypeError, match="'c'"):
        kernel(x, c=y)
    with pytest.raises(TypeError, match="'b' is missing"):
        kernel(x)
    with pytest.raises(TypeError, match="twice"):
        kernel(x, y, a=x)
