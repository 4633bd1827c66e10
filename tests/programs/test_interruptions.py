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
