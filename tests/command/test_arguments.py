"""Test the values of `--arg`: numbers, files and generators, and their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.command import generators
from weft.command.arguments import value_of
from weft.frontend.language.declared import Parameter
from weft.frontend.language.source import parse_module
from weft.ir.errors import LimitExceeded, WeftError


def parameter(declared: str) -> Parameter:
    return parse_module(f"kernel k(x: {declared}) {{ return x }}", "k.weft").kernels["k"].declared[0]


def value(text: str, declared: str = "any[...]", seed: int = 0) -> Any:
    return value_of(parameter(declared), text, seed, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", 3), ("-7", -7), ("0.5", 0.5), ("1e-3", 1e-3), ("-inf", -np.inf), ("true", True), ("False", False)],
)
def test_numbers_are_python_numbers(text: str, expected: Any) -> None:
    found = value(text, "any")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"), [("3:i64", np.int64(3)), ("3:f32", np.float32(3)), ("0.1:f32", np.float32(0.1))]
)
def test_numbers_with_a_dtype_are_numpy_numbers(text: str, expected: Any) -> None:
    found = value(text, "any")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zeros(2,3)", np.zeros((2, 3))),
        ("ones(3):i32", np.ones(3, np.int32)),
        ("ones(2):bool", np.ones(2, bool)),
        ("zeros()", np.zeros(())),
        ("full(2.5, 2)", np.full(2, 2.5)),
        ("full(7,2,1)", np.full((2, 1), 7)),
        ("full(-1,2):f32", np.full(2, -1, np.float32)),
        ("arange(4)", np.arange(4)),
        ("arange(1,4):f32", np.arange(1, 4, dtype=np.float32)),
        ("arange(4,1,-1)", np.arange(4, 1, -1)),
        ("arange(0,1,0.25)", np.arange(0, 1, 0.25)),
        ("linspace(0,1,5)", np.linspace(0, 1, 5)),
        ("linspace(0,1,0)", np.zeros(0)),
        ("zeros(0,3):i64", np.zeros((0, 3), np.int64)),
    ],
)
def test_generators_give_what_numpy_gives(text: str, expected: np.ndarray[Any, Any]) -> None:
    found = value(text)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, strict=True)


def test_random_data_has_the_right_spread() -> None:
    normal, flat, whole = value("randn(100,100)"), value("rand(10000):f32"), value("randint(-2,3,1000)")
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    assert flat.dtype == np.float32 and 0 <= flat.min() < 0.01 and 0.99 < flat.max() <= 1
    assert whole.dtype == np.int64 and set(whole.tolist()) == {-2, -1, 0, 1, 2}


def test_random_data_depends_on_seed_and_position() -> None:
    p = parameter("f64[n]")
    one, same = value_of(p, "randn(4)", 5, 1), value_of(p, "randn(4)", 5, 1)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, value_of(p, "randn(4)", 5, 2))
    assert not np.array_equal(one, value_of(p, "randn(4)", 6, 1))


@pytest.mark.parametrize(
    ("text", "declared", "dtype"),
    [
        ("randn(3)", "f32[n]", "f4"),
        ("arange(3)", "f32[n]", "f4"),
        ("randn(3)", "float[n]", "f8"),
        ("arange(3)", "float[n]", "f4"),
        ("arange(3)", "int[n]", "i8"),
        ("ones(3)", "int[n]", "i4"),
        ("ones(3)", "any[n]", "f8"),
        ("randn(3):f16", "f32[n]", "f2"),
    ],
)
def test_without_a_dtype_the_declared_one_counts(text: str, declared: str, dtype: str) -> None:
    assert value(text, declared).dtype == np.dtype(dtype)


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    x = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
    np.save(tmp_path / "x.npy", x)
    found = value(str(tmp_path / "x.npy"), "f32[n]")
    np.testing.assert_array_equal(found, x, strict=True)
    assert found.flags.f_contiguous


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("randm(3)", "unknown generator 'randm'"),
        ("nosuch(3)", "there are zeros, ones, full"),
        ('__import__("os")', "unknown generator '__import__'"),
        ("", "'' is not a number"),
        ("1+1", "'1+1' is not a number"),
        ("x", "'x' is not a number"),
        ("3:f99", "unknown dtype 'f99'"),
        ("randn(3):float", "unknown dtype 'float'"),
        ("2.5:i32", "2.5 is not a whole number, but the dtype is i32"),
        ("300:u8", "values from 300 to 300 do not fit in u8, which holds 0 to 255"),
        ("1e300:f32", "a number is too large for f32"),
        ("9" * 30, "does not fit in 64 bits"),
        ("9" * 5000, "does not fit in 64 bits"),
        ("-1e400", "does not fit in 64 bits"),
        ("randn(3):i32", "randn makes fractions here, but the dtype is i32"),
        ("arange(300):u8", "0 to 299 do not fit in u8"),
        ("arange(-3,2):u8", "-3 to 1 do not fit in u8"),
        ("randint(0,3,9):bool", "0 to 2 do not fit in bool"),
        ("full(nan,3):i32", "full makes fractions here"),
        ("zeros(-1)", "a size must be a whole number of 0 or more"),
        ("zeros(2.5)", "a size must be a whole number of 0 or more"),
        ("zeros(true)", "a size must be a whole number of 0 or more"),
        ("zeros(3,)", "'' is not a number"),
        (f"zeros({','.join('1' * 33)})", "at most 32 dimensions, not 33"),
        (f"zeros({','.join(['9' * 18] * 30)})", "the array is too large for the"),
        ("arange(1e308)", "the array is too large for the"),
        ("linspace(0,1,1000000000000000)", "the array is too large for the"),
        ("arange()", "it takes 1 or 2 or 3 finite numbers, not none"),
        ("arange(nan)", "it takes 1 or 2 or 3 finite numbers, not nan"),
        ("arange(0,1,0)", "the step must not be 0"),
        ("linspace(0,1)", "it takes 3 finite numbers, not 0, 1"),
        ("full()", "the value is missing"),
        ("randint(5)", "it takes two whole numbers"),
        ("randint(5,5,3)", "two whole numbers in ascending order"),
        ("a.npz", "an argument must be one array"),
    ],
)
def test_what_can_not_be_meant_is_refused(text: str, message: str) -> None:
    with pytest.raises(WeftError) as caught:
        value(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"--arg x={text}: ")


def test_room_for_the_dtype_and_a_result_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check counts the dtype and a result: an array that just fits would end the process in the call."""
    monkeypatch.setattr(generators, "free_memory", lambda: 3 << 13)
    assert value("randn(1024):f32").nbytes == 4096
    with pytest.raises(LimitExceeded, match="too large for the 0 GB that are free"):
        value("randn(1025):f32")


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "cut", "objects", "header", "archive", "folder"])
def test_files_without_an_array_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.npy"
    if kind == "folder":
        path.mkdir()
    elif kind == "objects":
        np.save(path, np.array([{}, []], dtype=object), allow_pickle=True)
    elif kind == "archive":
        with path.open("wb") as file:
            np.savez(file, a=np.ones(2))
    elif kind == "cut":
        np.save(path, np.ones(100))
        path.write_bytes(path.read_bytes()[:300])
    elif kind != "missing":
        header = b"\x93NUMPY\x01\x00\x10\x00((((((((((((((((("
        path.write_bytes({"empty": b"", "text": b"1 2 3\n", "header": header}[kind])
    with pytest.raises(WeftError, match=r"x\.npy"):
        value(str(path))


def test_bf16() -> None:
    found = value("ones(2):bf16")
    assert found.dtype.name == "bfloat16" and found.tolist() == [1.0, 1.0]
