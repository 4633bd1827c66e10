"""Tell whether NumPy's floating-point errors are only warnings, so that compiled code may run instead of NumPy.

Compiled code raises no floating-point warnings, which is documented. But under `np.errstate(divide="raise")` a call
must raise, so Python runs it. The state is an object in a context variable: comparing it takes a few nanoseconds.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np

from ....ir.source import Guard

STATE: ContextVar[Any] | None = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)
"""Where NumPy keeps its state; None in versions that keep it elsewhere."""


def state_guards() -> list[Guard]:
    """Tell the native code that a recipe holds while errors are ignored or give warnings."""
    return [] if STATE is None else [Guard(STATE, None, None)]


def is_usual() -> bool:
    """Tell whether floating-point errors are ignored or give warnings."""
    return _is_quiet() if STATE is None else _is_quiet_now(STATE.get())


def _is_quiet() -> bool:
    return all(mode in ("ignore", "warn") for mode in np.geterr().values())


@lru_cache(maxsize=4)
def _is_quiet_now(state: Any) -> bool:
    """Look at the current state. Nobody can change its object; another object replaces it."""
    return _is_quiet()
