"""Test Python numbers beside arrays: weak in ufuncs, strong where NumPy makes arrays of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import weft

from .comparing import same

Call = Callable[[Any, Any], Any]

CALLS: Mapping[str, Call] = {
    "add": lambda a, n: np.add(a, n), "real": lambda a, n: np.real(n) * a, "imag": lambda a, n: np.imag(n) + a,
    "dot": lambda a, n: (np.dot(a, n), np.dot(n, a), a.dot(n)), "inner": lambda a, n: (np.inner(a, n), np.inner(n, a)),
    "outer": lambda a, n: (np.outer(a, n), np.outer(n, a)),
    "vdot": lambda a, n: (np.vdot(a[:1], n), np.vdot(n, a[:1])),
    "tensordot": lambda a, n: np.tensordot(a, n, 0), "einsum": lambda a, n: np.einsum("i,->i", a, n),
    "append": lambda a, n: np.append(a, n), "stack": lambda a, n: np.stack([a[0], n]),
    "concatenate": lambda a, n: np.concatenate([a, n], axis=None),
    "block": lambda a, n: np.block([a, n]), "where": lambda a, n: (np.where(a > 3, a, n), np.where(n, a, a)),
    "select": lambda a, n: np.select([a > 3], [a], n), "select from": lambda a, n: np.select([a > 3], [n], a),
    "insert": lambda a, n: np.insert(a, 0, n), "interp": lambda a, n: np.interp(n, a[::-1], a),
    "diff": lambda a, n: np.diff(a, prepend=n), "ediff1d": lambda a, n: np.ediff1d(a, to_end=n),
    "full_like": lambda a, n: np.full_like(a, n),
    "full": lambda a, n: np.zeros_like(a) + np.full_like(a, n, dtype="i8"),
    "clip": lambda a, n: np.clip(a, n, None), "clip of": lambda a, n: np.clip(n, a, a),
    "sum from": lambda a, n: np.sum(a, initial=n), "max from": lambda a, n: np.max(a, initial=n),
    "prod from": lambda a, n: np.prod(a, initial=n),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_numbers_in_every_place(name: str) -> None:
    """As an argument of the function, and captured by it."""
    call = CALLS[name]
    traced = weft.jit(call, backend="reference")
    for number in (2.5, 300, -1):
        captured = weft.jit(lambda a, number=number: call(a, number), static=("number",), backend="reference")
        for dtype in ("int8", "uint16", "float32"):
            a = np.array([100, 3]).astype(dtype)
            expected = _outcome(call, a, number)
            for way, found in (("traced", _outcome(traced, a, number)), ("captured", _outcome(captured, a))):
                try:
                    _agree(found, expected)
                except AssertionError as error:
                    raise AssertionError(f"{number} beside {dtype}, {way}: {error}") from error


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call, or its error."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except (TypeError, ValueError, OverflowError) as error:
        return error


def _agree(found: Any, expected: Any) -> None:
    if not isinstance(expected, Exception):
        assert not isinstance(found, Exception), found
        same(found, expected, ulps=2)
        return
    kinds = [kind for kind in (TypeError, ValueError, OverflowError) if isinstance(expected, kind)]
    assert any(isinstance(found, kind) for kind in kinds), (found, expected)


def test_numbers_that_leave_their_range_are_refused_at_later_calls_too() -> None:
    f = weft.jit(lambda a, n: np.full_like(a, n))
    a = np.zeros(2, "i1")
    assert f(a, 5).tolist() == [5, 5]
    with pytest.raises(OverflowError):
        f(a, 300)


def test_byte_orders_that_are_asked_for() -> None:
    x = np.arange(6.0).reshape(2, 3)
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda x: x.astype(">f2"), lambda x: x.astype(">f4") + 1, lambda x: np.stack([x, x], dtype=">f8"),
        lambda x: np.zeros_like(x, dtype=">i4"), lambda x: (x.astype(">f4"), np.sin(x)),
    )  # fmt: skip
    for number, call in enumerate(calls):
        for backend in ("llvm", "reference"):
            found = weft.jit(call, backend=backend)(x)
            same(found, call(x), ulps=1)
            for a, b in zip(np.atleast_1d(found), np.atleast_1d(call(x)), strict=True):
                assert a.dtype.str == b.dtype.str, number
    with pytest.raises(TypeError):
        weft.jit(lambda x: np.sum(x, dtype=">f4"))(x)


def test_bools_are_ints_for_python() -> None:
    """`True + True` is 2 where both are Python's, and so is what a comparison of Python's numbers gives."""
    binary = (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.and_, operator.or_,
        operator.xor, operator.lshift, operator.rshift, operator.eq, operator.lt,
    )  # fmt: skip
    arrays = np.array([1, 2], "i1"), np.array([1.5], "f4")

    def function(a: Any, b: Any) -> Any:
        unary = (-a, +a, abs(a), np.real(a), np.imag(a), -a * arrays[0])
        return unary, [f(a, b) for f in binary], [f(a, b) * x for f in binary for x in arrays], (a < b) + (a == b)

    traced = weft.jit(function, backend="reference")
    for a, b in ((True, True), (False, True), (True, 2), (3, True), (False, 2)):
        same(traced(a, b), function(a, b))
    same(weft.jit(lambda a, b: (a + b, np.add(a, b)))(True, True), (2, True))
    with pytest.raises(TypeError, match="'<' is not defined for Python's complex numbers"):
        weft.jit(lambda a, b: a < b)(1j, 2)


def test_numbers_beyond_i64_are_u64_in_products() -> None:
    for a in (np.array([1.0, 2.0]), np.array([True]), np.array([3], "u1")):
        function = lambda a: (np.dot(a, 2**63), np.inner(2**64 - 1, a), np.stack([a[0], 2**63]))  # noqa: E731
        same(weft.jit(function, backend="reference")(a), function(a))


def test_negative_zeros_to_start_from() -> None:
    def sums(a: Any) -> Any:
        starts = (-0.0, np.float32(-0.0), complex(-0.0, -0.0), complex(0.0, -0.0))
        return [np.sum(a, initial=zero, dtype=np.result_type("f4", zero)) for zero in starts]

    for n in (0, 1, 40):
        a = np.full(n, -0.0, "f4")
        same(weft.jit(sums)(a), sums(a))


def test_numbers_of_other_classes_are_refused() -> None:
    """Their operators may be other ones, which a trace would not call."""

    class Length(np.float64):
        pass

    with pytest.raises(TypeError, match=r"argument 'a' must be a plain number, not a .*Length"):
        weft.jit(lambda a: a + 1)(Length(2.0))
