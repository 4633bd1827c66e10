"""Tell whether NumPy's floating-point errors only warn, so that compiled code may stand in for it.

Compiled code raises no floating-point warnings, which is documented. But under `np.errstate(divide="raise")` a call
must raise, so Python runs it. The state is an object in a context variable: comparing it takes a few nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def make_check() -> Callable[[], bool]:
    """Return a function that tells whether errors of floating-point numbers are ignored or warned of."""
    get: Callable[[], Any] | None
    try:
        get = np._core.umath._extobj_contextvar.get  # type: ignore[attr-defined]
    except AttributeError:  # another version of NumPy
        get = None
    if get is None:
        return _is_quiet
    known: list[Any] = []

    def is_usual() -> bool:
        state = get()
        if known and state is known[0]:
            return True
        if not _is_quiet():
            return False
        known[:] = [state]
        return True

    return is_usual


def _is_quiet() -> bool:
    return all(mode in ("ignore", "warn") for mode in np.geterr().values())


is_usual = make_check()
