"""Tell whether NumPy's floating-point errors only warn, so that compiled code may stand in for it.

Compiled code raises no floating-point warnings, which is documented. But under `np.errstate(divide="raise")` a call
must raise, so Python runs it. The state is an object in a context variable: comparing it takes a few nanoseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...ir.source import Guard

STATE: ContextVar[Any] | None = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)
"""Where NumPy keeps its state; None in versions that keep it elsewhere."""


def state_guards() -> list[Guard]:
    """Say that a recipe holds while errors are ignored or warned of."""
    return [] if STATE is None else [Guard(STATE, None, None)]


def make_check() -> Callable[[], bool]:
    """Return a function that tells whether errors of floating-point numbers are ignored or warned of."""
    if STATE is None:
        return _is_quiet
    get, known = STATE.get, [None]

    def is_usual() -> bool:
        state = get()
        if state is known[0]:
            return True
        if not _is_quiet():
            return False
        known[0] = state
        return True

    return is_usual


def _is_quiet() -> bool:
    return all(mode in ("ignore", "warn") for mode in np.geterr().values())


is_usual = make_check()
