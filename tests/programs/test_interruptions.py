"""Test that what a signal handler raises while a piece compiles or runs reaches the caller."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
import weft


class LateError(Exception):
    """A time limit has passed."""


def too_late(*_: Any) -> None:
    raise LateError


def in_pieces(x: Any, lines: list[str]) -> Any:
    y = np.exp(x) * 2
    lines.append("between")
    return y.sum() + 1


@pytest.mark.parametrize("function", [lambda x, lines: np.exp(x) * 2, in_pieces])
def test_a_time_limit_is_not_a_failure_of_the_piece(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGUSR1, too_late)
    try:
        jitted, x, lines = weft.jit(function), np.ones(3), list[str]()
        expected = function(x, [])
        with monkeypatch.context() as patched:
            patched.setattr("weft.runtime.kernel.Kernel.arguments", too_late)
            with pytest.raises(LateError):
                jitted(x, lines)
        assert lines == []
        assert np.array_equal(jitted(x, lines), expected)
    finally:
        signal.signal(signal.SIGUSR1, before)


def largest(a: Any) -> Any:
    best = a[0]
    for v in a:
        if v > best:
            best = v
    return best


def test_every_interrupt_of_a_native_loop_is_raised() -> None:
    """A function that is one piece has two recipes, and the second one ran the loop again to its end."""
    own, numbers = weft.jit(largest), np.zeros(10**8)  # memory that is only read takes none
    for _ in range(4):
        assert own(np.ones(3)) == 1
    before = signal.signal(signal.SIGALRM, too_late)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(LateError):
                own(numbers)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
