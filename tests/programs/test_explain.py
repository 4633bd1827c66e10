"""Test what `explain()`, `whole=True` and `WEFT_EXPLAIN` say about a function."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import TraceProblem
from weft.runtime import memory


def noisy(x: Any) -> Any:
    y = np.exp(x) * 2 + 1
    print("between")
    for i in range(3):
        y[i] += i
    return y


def test_pieces_and_cuts_have_lines(capsys: pytest.CaptureFixture[str]) -> None:
    f = weft.jit(noisy)
    assert "not called yet" in str(f.explain())
    for _ in range(3):
        f(np.ones(4))
    report, first = f.explain(), noisy.__code__.co_firstlineno
    assert str(f.explain(np.ones(3))) == str(report)
    values, loops = report.pieces[:2]
    assert (values.kind, values.lines, values.calls) == ("values", (first + 1, first + 1), 3)
    assert loops.lines[0] == first + 3 and loops.calls == 3
    assert not report.is_whole and report.native_pieces == 2
    assert "'print' is called by Python" in str(report) and "^" * len('print("between")') in str(report)
    assert capsys.readouterr().out.count("between") == 3


def relaxed(u: Any) -> Any:
    for _ in range(3):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    print("done")
    return u


def test_cuts_behind_a_loop_that_is_native_are_shown() -> None:
    f = weft.jit(relaxed)
    f(np.ones(4)), f(np.ones(4))
    assert "'print' is called by Python" in str(f.explain())


def test_whole_raises_before_anything_has_happened(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TraceProblem, match="'print' is called by Python") as caught:
        weft.jit(noisy, whole=True)(np.ones(4))
    assert caught.value.span is not None and caught.value.span.line == noisy.__code__.co_firstlineno + 2
    assert not capsys.readouterr().out


def test_cuts_are_printed_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WEFT_EXPLAIN", "1")
    f = weft.jit(noisy)
    f(np.ones(4)), f(np.ones(4))
    assert capsys.readouterr().err.count("'print' is called by Python") == 1


def test_tracebacks_have_the_users_lines() -> None:
    def fails(x: Any) -> Any:
        y = x * 2 + 1
        print(end="")
        return y + np.ones(3)

    def lines(function: Callable[..., Any]) -> list[Any]:
        with pytest.raises(ValueError, match="broadcast") as caught:
            function(np.ones(4))
        shown = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.name == "fails"]
        return [(f.lineno, f.filename, f.line) for f in shown]

    f = weft.jit(fails)
    assert lines(f) == lines(fails) == lines(f)


def _windows(x: Any, size: int) -> Any:
    out = np.ndarray(x.shape[0] - size + 1)
    for k in range(out.shape[0]):
        out[k] = x[k : k + size].sum()
    return out


def test_loops_of_helpers_are_pieces() -> None:
    """A function without loops of its own, whose helper has them, is one nest."""

    def smoothed(x: Any) -> Any:
        return _windows(x, 3) + 1

    jitted, x = weft.jit(smoothed), np.arange(6.0)
    np.testing.assert_allclose(jitted(x), smoothed(x))
    assert jitted.explain().is_whole


def test_memory_of_pieces_is_reused() -> None:
    """Temporaries and results of a nest come from the free list: new pages take longer than their loops."""

    def smoothed(x: Any) -> Any:
        y = x[1:] + x[:-1]
        for _ in range(2):
            y[1:-1] = y[2:] + y[:-2]
        return y * y[0]

    jitted, x = weft.jit(smoothed), np.ones(1 << 16)
    jitted(x)
    jitted(x)
    before = memory.blocks().read("reused")
    jitted(x)
    assert memory.blocks().read("reused") >= before + 2
