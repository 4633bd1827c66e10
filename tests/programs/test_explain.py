"""Test what `explain()`, `whole=True` and `WEFT_EXPLAIN` say about a function."""

from __future__ import annotations

import io
import re
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import CompileWarning, TraceProblem
from weft.ir.support import progress
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


def factored(m: Any) -> None:
    m[:] = np.linalg.cholesky(m) + np.triu(m, k=1)


def test_statements_that_fail_as_a_nest_stay_compiled_as_values() -> None:
    """LAPACK factors large matrices; what is added to its result is still one kernel."""
    f, m = weft.jit(factored), np.eye(70) * 3 + 0.01
    for _ in range(8):
        found, wanted = m.copy(), m.copy()
        f(found), factored(wanted)
        assert np.array_equal(found, wanted)
    report = f.explain()
    assert report.python_calls == 0 and [p.calls for p in report.pieces if p.kind == "values"] >= [3]
    assert "Python raises here" in str(report)


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


def test_shares_of_time_are_shown() -> None:
    f = weft.jit(noisy)
    for _ in range(5):
        f(np.ones(4))
    report = f.explain()
    assert report.shares is not None and report.shares.calls >= 1 and 0 < report.shares.native < 1
    assert re.search(r"\d+% of the time native, \d+% in Python \(\d calls? timed\)", str(report))
    assert report.pieces[1].seconds > 0 and report.pieces[0].share is not None


def test_errors_inside_weft_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs what could not be compiled, with a warning; with `whole=True` it is an error."""

    def broken(*args: Any, **options: Any) -> Any:
        raise KeyError("no such thing")

    for name in ("weft.programs.pieces.lower_piece", "weft.runtime.nests.pieces.compile_nest"):
        with monkeypatch.context() as patch:
            patch.setattr(name, broken)
            f = weft.jit(relaxed)
            with pytest.warns(CompileWarning, match=r"relaxed \(.*lines \d+-\d+\) is run by Python.*no such thing"):
                assert f(np.arange(4.0)).tolist() == [0, 1, 2, 3]
            assert f(np.arange(4.0)).tolist() == [0, 1, 2, 3]  # once is enough
            assert "no such thing" in str(f.explain())
            with pytest.warns(CompileWarning), pytest.raises(KeyError, match="no such thing"):
                weft.jit(doubled_in_place, whole=True)(np.ones(3))
            with pytest.raises(CompileWarning), warnings.catch_warnings():
                warnings.simplefilter("error")
                weft.jit(relaxed)(np.ones(4))


def doubled_in_place(x: Any) -> None:
    for i in range(len(x)):
        x[i] *= 2


class Terminal(io.StringIO):
    """Standard error that looks like a terminal, and tells when something was written to it."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        finally:
            self.written.set()


def test_long_compiles_say_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(True)
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.compiling("softmax", patience=0.0), progress.compiling("inner"):
        progress.part("the pass 'fuse'")
        terminal.written.clear()
        assert terminal.written.wait(20)
    shown = terminal.getvalue()
    assert "compiling softmax for 0." in shown and "the pass 'fuse'" in shown and "inner" not in shown
    assert re.search(r"\rweft: compiled softmax in \d+\.\d s.*\n$", shown)
    for quiet in (Terminal(False), None):
        monkeypatch.setattr("sys.stderr", quiet)
        with progress.compiling("softmax", patience=0.0):
            progress.part("LLVM")
            assert "weft-progress" not in {thread.name for thread in threading.enumerate()}
        assert quiet is None or not quiet.getvalue()
    parts: list[str] = []
    monkeypatch.setattr("weft.passes.manager.part", parts.append)
    monkeypatch.setattr("weft.runtime.nests.pieces.part", parts.append)
    weft.jit(relaxed)(np.ones(4))
    weft.jit(lambda x: x * 3 - 1, whole=True)(np.ones(3))
    assert "LLVM" in parts and "the pass 'fuse'" in parts


def test_integers_beyond_64_bits_leave_a_piece_to_python() -> None:
    def hashed(start: int, data: Any) -> int:
        total = 0
        for k in range(len(data)):
            total = total * 31 + k
        for _ in range(3):
            start = start * 3 + total
        return start

    jitted = weft.jit(hashed)
    for k in range(12):
        assert jitted(2**80 + k, [1, 2, 3]) == hashed(2**80 + k, [1, 2, 3])
    text = str(jitted.explain())
    assert "Python ran it 4 times: it gets an integer of more than 64 bits" in text, text
