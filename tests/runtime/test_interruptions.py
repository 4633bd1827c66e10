"""Test that exceptions from outside end a compile anywhere, reach the caller unchanged, and leave nothing half-made."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.support.interruptions import is_fault, is_interruption

X = np.random.default_rng(8).standard_normal((6, 40))


class TimeLimit(Exception):
    """Raised by the user's signal handler."""


def handler(kind: type[BaseException], *_: object) -> None:
    raise kind("it takes too long")


def interrupt() -> None:
    signal.raise_signal(signal.SIGUSR1)


def nested(jitted: Any, found: list[Any], *_: object) -> None:
    found += (jitted(X, 3.0), weft.jit(lambda x: x - 1)(X))


def compiled() -> Any:
    """Return a function that is not compiled yet, with a reduction, a scan, a view and a fallback."""
    scale = compiled.__dict__.setdefault("count", [0])
    scale[0] += 1
    k = scale[0] + 0.25

    def f(x: Any, s: float) -> Any:
        e = np.exp(x - x.max(axis=-1, keepdims=True)) * k
        return e / e.sum(axis=-1, keepdims=True) + s, np.cumsum(x[:, ::2], axis=1), np.median(x, axis=0) + 1

    return f, weft.jit(f)


class Interrupter:
    """Raises at the n-th executed line of the compiler, and counts lines."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.left, self.act, self.lines = at, act, 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_globals.get("__name__", "").startswith("weft."):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.left:
                sys.settrace(None)
                self.act()
        return self


def traced(call: Callable[[], Any], at: int, act: Callable[[], None]) -> int:
    """Run a call with an action in the middle of it; return how many lines it ran."""
    interrupter = Interrupter(at, act)
    before = sys.gettrace()
    sys.settrace(interrupter)
    try:
        call()
    finally:
        sys.settrace(before)
    return interrupter.lines


def points(count: int) -> list[int]:
    """Return this many moments of a compile, the last of them in its last tenth."""
    compiled()[1](X, 2.0)  # imports
    lines = traced(lambda: compiled()[1](X, 2.0), 0, lambda: None)
    assert lines > 5000
    return [int(lines * 0.95 * (k + 1) / count) for k in range(count)]


def same(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.fixture
def on_signal() -> Any:
    before = signal.getsignal(signal.SIGUSR1)
    yield partial(signal.signal, signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_a_handler_may_raise_anywhere_in_a_compile(on_signal: Any) -> None:
    for point, kind in zip(points(8), [TimeLimit, ValueError, TimeoutError, KeyboardInterrupt] * 2, strict=True):
        on_signal(partial(handler, kind))
        function, jitted = compiled()
        with pytest.raises(kind, match="it takes too long"):
            traced(partial(jitted, X, 2.0), point, interrupt)
        same(jitted(X, 2.0), function(X, 2.0))


def test_a_handler_may_call_a_kernel_anywhere_in_a_compile(on_signal: Any) -> None:
    """It may even call the kernel that is being compiled: no lock is taken twice."""
    for point in points(6):
        function, jitted = compiled()
        inner: list[Any] = []
        on_signal(partial(nested, jitted, inner))
        outer: list[Any] = []
        traced(partial(nested, jitted, outer), point, interrupt)
        for found in (inner, outer):
            same(found[0], function(X, 3.0))
            assert np.array_equal(found[1], X - 1)


def test_which_exceptions_are_the_compiler_s_own(on_signal: Any) -> None:
    class Handler:
        def __call__(self, *_: object) -> None:
            raise KeyError("in an object")

        def method(self, *_: object) -> None:
            raise KeyError("in a method")

    def caught(act: Callable[[], object]) -> BaseException:
        with pytest.raises(BaseException) as info:
            act()
        return info.value

    for each in (partial(handler, KeyError), Handler(), Handler().method, lambda *_: {}["no such key"]):
        on_signal(each)
        assert is_interruption(caught(interrupt))
    assert is_fault(caught(lambda: {}["no such key"])) and is_fault(caught(lambda: weft.compile("kernel")))
    for kind in (TimeLimit, TimeoutError, MemoryError, KeyboardInterrupt):
        assert not is_fault(caught(partial(handler, kind)))


INSIDE_IMPORTS = """
import signal, sys
import numpy as np, weft

class Signals:
    def find_spec(self, name, path, target=None):
        if name in AT:  # the module that asks for it is imported halfway
            AT.discard(name)
            signal.raise_signal(signal.SIGUSR1)

def handle(*_):
    found.append(weft.compile("kernel double(x: f64[n]) = x + x").double(np.ones(3)).sum())

found, AT = [], {"weft.settings", "weft.passes.manager", "weft.backends.llvm.engine.module"}
signal.signal(signal.SIGUSR1, handle)
sys.meta_path.insert(0, Signals())
found.append(weft.jit(lambda x: x * 3.0)(np.ones(3)).sum())
print(sorted(set(map(float, found))), AT)
"""


def test_a_handler_that_interrupts_an_import() -> None:
    """A signal handler compiles while modules that it needs are being imported."""
    run = subprocess.run([sys.executable, "-c", INSIDE_IMPORTS], capture_output=True, text=True, check=False)
    assert run.stdout == "[6.0, 9.0] set()\n", run.stderr
