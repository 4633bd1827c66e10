"""Test what many calls of a function cost: how often they are traced or tried, where values or errors change."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.frontend.tracing.functions import MOST_STEERING, MOST_VALUES, TracedKernel
from weft.programs import pieces as piece_programs
from weft.programs.rests import LONGEST, MOST_ERRORS, WORTH_A_TRY, Rest
from weft.runtime.native import dispatch

X = np.linspace(0.5, 9.5, 12)


def branch(x: Any, t: Any) -> Any:
    if t > 3:
        return x * t
    return x - t


def cut(x: Any, t: Any) -> Any:
    n = int(t)
    return x[:n].sum()


def larger(x: Any, t: Any) -> Any:
    return (x * t).sum() / max(t, 1)


@pytest.mark.parametrize("function", [branch, cut, larger])
@pytest.mark.parametrize("kind", [float, np.float64, int])
def test_numbers_that_steer_a_function_do_not_compile_it_for_every_value(function: Any, kind: Any) -> None:
    jitted = weft.jit(function)
    for k in range(30):
        t = kind(k / 3)
        wanted, found = function(X, t), jitted(X, t)
        assert type(found) is type(wanted) and np.allclose(found, wanted, rtol=1e-14)
        if np.ndim(wanted):
            assert jitted(X, t, out=(out := np.empty_like(wanted))) is out and np.allclose(out, wanted, rtol=1e-14)
    assert jitted.signature_cache.misses <= 2 * MOST_STEERING + piece_programs.MOST_SIGNATURES + 2
    assert "the values of 't' steer it" in str(jitted.explain())


def test_containers_of_many_lengths_do_not_compile_a_function_for_every_length() -> None:
    def total(xs: Any) -> Any:
        return sum(xs)

    jitted = weft.jit(total)
    for k in range(1, 2 * MOST_VALUES):
        assert np.allclose(jitted([X] * k), k * X, rtol=1e-14)
    assert jitted.signature_cache.misses <= MOST_VALUES + piece_programs.MOST_SIGNATURES + 2
    assert "the values of 'xs' steer it" in str(jitted.explain())


def test_a_function_that_left_its_traces_goes_straight_to_python() -> None:
    jitted = weft.jit(lambda n: np.outer(np.arange(n), np.ones(n)).sum())
    for k in range(30):
        assert jitted(k % 12) == (k % 12 - 1) * (k % 12) ** 2 / 2
    assert jitted.chain.forwarded >= 15


def windowed(x: Any, i: Any, j: Any) -> Any:
    return x[i:j].sum()


def stepped(x: Any, i: Any, j: Any) -> Any:
    return x[i:j:2] * 2


@pytest.mark.parametrize("function", [windowed, stepped])
def test_python_makes_slices_that_depend_on_numbers(function: Any) -> None:
    jitted = weft.jit(function)
    for k in range(20):
        assert np.allclose(jitted(X, k % 7, k % 7 + 4), function(X, k % 7, k % 7 + 4), rtol=1e-14)
    explained = jitted.explain()
    assert "its slices depend on numbers" in str(explained) and explained.pieces[0].calls >= 15


def test_static_numbers_are_traced_for_every_value() -> None:
    jitted = weft.jit(branch, static="t")
    for k in range(2 * MOST_STEERING):
        assert np.array_equal(jitted(X, k), branch(X, k))
    assert jitted.signature_cache.misses == 2 * MOST_STEERING


def fits(x: Any, m: Any) -> Any:
    try:
        return x + m
    except ValueError:
        return x[: len(m)].sum()


def halves(x: Any, m: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        try:
            out[i] = float(x[i]) / float(int(m[i % 5]))
        except ZeroDivisionError:
            out[i] = 0
    return out


def added(x: Any, m: Any) -> Any:
    k = m.astype(int)
    k += 1.5
    return k


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return np.asarray(function(*args)).tolist()
    except (IndexError, TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [fits, halves, added])
def test_errors_in_most_calls_are_tried_less_and_less(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    jitted, m, tries = weft.jit(function), np.array([0.0, 0.5, 1.0, 0.0, 0.25]), 0

    def counted(own: Any) -> Any:
        def call(*args: Any) -> Any:
            nonlocal tries
            tries += 1
            return own(*args)

        return call

    monkeypatch.setattr(piece_programs, "_run", counted(piece_programs._run))
    monkeypatch.setattr(TracedKernel, "build", counted(TracedKernel.build))
    for _ in range(100):
        assert outcome(jitted, X, m) == outcome(function, X, m)
    assert tries < 60
    assert outcome(jitted, X[:5], m[:1]) == outcome(function, X[:5], m[:1])


def test_rest_lasts_twice_as_long_after_each_error_until_calls_are_served() -> None:
    rest, lengths = Rest(), []
    for _ in range(MOST_ERRORS + 12):
        rest.lengthen(served=0)
        lengths.append(sum(1 for _ in iter(rest.takes, False)))
    assert lengths[: MOST_ERRORS + 3] == [0] * (MOST_ERRORS - 1) + [1, 2, 4, 8]
    assert max(lengths) == lengths[-1] == LONGEST
    rest.lengthen(served=WORTH_A_TRY + 1)
    assert not rest.takes()


def growing(x: Any) -> Any:
    rows: list[Any] = [x]
    for _ in range(40):
        y = np.exp(rows[0]) + rows[-1] * len(rows)
        print(end="")
        rows.append(y)
    return rows[-1]


def test_a_piece_with_too_many_signatures_is_left_out_of_the_plan() -> None:
    jitted = weft.jit(growing)
    for _ in range(8):
        assert np.allclose(jitted(X), growing(X), rtol=1e-14)
    (piece,) = jitted._program.pieces
    assert piece.off.text == "it was compiled for more than 8 signatures"
    before = piece.left
    assert np.allclose(jitted(X), growing(X), rtol=1e-14) and piece.left == before


def reachable(numbers: Any, target: int) -> Any:
    found = np.zeros(target + 1, bool)
    found[0] = True
    for x in numbers:
        for t in range(target, x - 1, -1):
            found[t] = found[t] or found[t - x]
    return found


def test_a_piece_gets_another_version_where_its_guards_do_not_hold() -> None:
    jitted = weft.jit(reachable)
    for _ in range(3):
        assert np.array_equal(jitted([3, 34, 4, 12], 9), reachable([3, 34, 4, 12], 9))  # 34: a loop without steps
    loop = next(p for p in jitted._program.pieces if isinstance(p.loop.statements[0], ast.For))
    assert loop.signatures == 2 and loop.misses == 0
    before = loop.chain.calls
    jitted([3, 34, 4, 12], 9)
    assert loop.chain.calls == before + 4


def cleared(flags: Any, k: int) -> Any:
    flags[k::k] = False


def test_a_second_version_takes_any_step_of_a_slice() -> None:
    jitted = weft.jit(cleared)
    for k in (2, 3, 5, 11, 4, 40, 1, 2):
        one, two = np.ones(30, bool), np.ones(30, bool)
        jitted(one, k)
        cleared(two, k)
        assert np.array_equal(one, two)
    (piece,) = jitted._program.pieces
    assert piece.misses == 0 and piece.signatures <= 3  # k = 2, any k, k beyond the end


def test_rare_native_calls_do_not_keep_a_piece_that_mostly_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_programs, "MOST_VERSIONS", 1)
    jitted, plain = weft.jit(reachable), reachable([3, *range(34, 234)], 9)
    jitted([3], 9)
    loop = next(p for p in jitted._program.pieces if isinstance(p.loop.statements[0], ast.For))
    fits = type(next(iter(loop._made.values()))[0]).fits
    tries = 0

    def counted(self: Any, values: Any) -> bool:
        nonlocal tries
        tries += 1
        return bool(fits(self, values))

    monkeypatch.setattr(type(next(iter(loop._made.values()))[0]), "fits", counted)
    for _ in range(4):
        assert np.array_equal(jitted([3, *range(34, 234)], 9), plain)
    assert tries < 40


def doubled_first(xs: Any) -> Any:
    xs[0] *= 2
    return xs[0] + xs[1]


def scaled_weights(state: Any) -> Any:
    state["w"] -= 0.1 * state["g"]
    return state["w"].sum()


def test_arrays_in_containers_are_changed_natively() -> None:
    cases: tuple[Any, ...] = (
        (doubled_first, lambda: [X.copy(), X.copy()]),
        (scaled_weights, lambda: {"w": X.copy(), "g": X[::-1].copy()}),
    )
    for function, make in cases:
        jitted = weft.jit(function)
        for _ in range(5):
            given, other = make(), make()
            assert np.array_equal(jitted(given), function(other))
            assert str(given) == str(other)
        assert jitted.chain.calls >= 3
    jitted, shared = weft.jit(doubled_first), [X.copy()] * 2
    for _ in range(3):
        jitted([X.copy(), X.copy()])
    assert np.array_equal(jitted(shared), 4 * X) and np.array_equal(shared[0], 2 * X)


def test_a_first_native_call_that_seems_long_keeps_its_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "ASKS_AFTER", 1)
    jitted = weft.jit(lambda x: (x - x.mean()) / x.std())
    for _ in range(40):
        jitted(X)
    assert jitted.chain.calls > 30


def test_numbers_of_numpy_that_are_fixed_are_checked_natively() -> None:
    zeros = np.float32(0.0), np.float32(-0.0)
    pairs: tuple[tuple[Any, Any], ...] = (
        (np.float64(2.5), np.float64(-2.5)), (np.float32(2.5), np.float32(3.5)), (np.int64(4), np.int64(5)),
        (np.int8(4), np.int16(4)), (np.bool(True), np.bool(False)), (np.float64(0.0), np.float64(-0.0)), zeros,
        (np.float64(1.0), 1.0), (np.complex64(1j), np.complex64(2j)),
    )  # fmt: skip
    for one, two in pairs:
        jitted = weft.jit(lambda x, t: x * t if t else x / t, static="t")
        for t in (one, two, one, two, one, two):
            for _ in range(3):
                with np.errstate(all="ignore"):
                    wanted = X * t if t else X / t
                    found = jitted(X, type(t)(t))
                assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes(), (one, two)
        assert type(one) in (np.complex64, np.float32) or jitted.chain.calls >= 8, one


def scaled_rows(rows: Any) -> Any:
    out = []
    for r in rows:
        z = (r - r.mean()) / 2
        out.append((z**3).sum())
    return out


def test_many_steps_of_a_loop_are_not_traced() -> None:
    few, many = [X[:3]] * 3, [X[: k % 5 + 1] for k in range(40)]
    jitted = weft.jit(scaled_rows)
    jitted(few)
    assert jitted.explain().is_whole
    assert np.allclose(jitted(many), scaled_rows(many), rtol=1e-14)
    assert any("steps of a loop" in reason.text for reason in jitted._program.reasons)
    for _ in range(3):
        jitted(many)
    assert jitted._program.pieces and sum(p.callable.signature_cache.misses for p in jitted._program.pieces) < 8
    whole = weft.jit(scaled_rows, whole=True)
    assert np.allclose(whole(many), scaled_rows(many), rtol=1e-14)


def test_an_empty_slice_of_the_array_that_is_written_is_apart_from_it() -> None:
    @weft.jit
    def scaled(to: np.ndarray, x: np.ndarray, n: int) -> None:
        for i in range(n):
            to[i] = x[i] * 2 + 1

    m, row = np.arange(10_000.0).reshape(100, 100), np.arange(100.0)
    calls = [(m[:50, 0], m[10:10, 1], 0), (m[:50, 0], m[:0, 0], 0), (row, row[5:5], 0), (row[5:5], row, 0)]
    for arguments in calls:
        scaled(*arguments)
        before = scaled.chain.calls  # type: ignore[attr-defined]
        scaled(*arguments)
        assert scaled.chain.calls == before + 1  # type: ignore[attr-defined]
