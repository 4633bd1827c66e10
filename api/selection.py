"""Which variant of a kernel runs where several give the same bits: what was chosen, how it is chosen, and by what.

weft.selection.calibrate(kernel, x, y)   # times all variants on these arguments
print(weft.selection.report())
weft.selection.configure(selector="score", explore=0)
"""

from __future__ import annotations

from typing import Any

from .ir.errors import TypeProblem, nearest
from .ir.records import fields, replace
from .runtime.selection import calibrating
from .runtime.selection.calibrating import Progress, Timing
from .runtime.selection.choosing import Weights
from .runtime.selection.report import Report
from .runtime.selection.report import report as _report
from .runtime.selection.settings import Settings
from .settings import registry, tuner

__all__ = ["Report", "Settings", "Timing", "Weights", "calibrate", "clear", "configure", "report"]


def configure(**changes: Any) -> Settings:
    """Changes settings by name, as in `configure(explore=0)`, and gives all of them; without changes only that."""
    known = list(fields(Settings))
    for name in changes:
        if name not in known:
            raise TypeProblem(f"selection has no setting '{name}'", hint=nearest(name, known) or ", ".join(known))
    if changes:
        tuner.configure(replace(tuner.settings, **changes))
    return tuner.settings


def calibrate(kernel: Any, *args: Any, progress: Progress | None = None, **kwargs: Any) -> list[Timing]:
    """Times every variant of a kernel or a jitted function on arguments, and chooses by it from now on.

    The times are kept for later processes. The fastest variant comes first.
    """
    if not hasattr(kernel, "in_variant"):
        raise TypeProblem(f"calibrate takes a kernel or a jitted function, not a {type(kernel).__name__}")
    shown = progress or (lambda name, done, total: None)
    return calibrating.calibrate(tuner, registry, kernel, args, kwargs, shown)


def report() -> Report:
    """What was chosen in this process, how sure and how right it was, and what the alternatives were."""
    return _report(tuner)


def clear() -> None:
    """Forgets all times, those of other processes too. Choices that were made stay until the process ends."""
    tuner.history.clear()
