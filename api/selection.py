"""Choose between variants of a kernel that give the same bits, and report the choices.

weft.selection.calibrate(kernel, x, y)   # time all variants on these arguments
print(weft.selection.report())
weft.selection.configure(selector="score", explore=0)
"""

from __future__ import annotations

from typing import Any

from .ir.errors import TypeProblem, nearest, type_of
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
    """Change settings and return all of them. Without arguments, only return them.

        weft.selection.configure(selector="score", explore=0)

    changes: fields of `weft.selection.Settings`, by name.
    """
    known = list(fields(Settings))
    for name in changes:
        if name not in known:
            raise TypeProblem(f"selection has no setting '{name}'", hint=nearest(name, known) or ", ".join(known))
    if changes:
        tuner.configure(replace(tuner.settings, **changes))
    return tuner.settings


def calibrate(kernel: Any, *args: Any, progress: Progress | None = None, **kwargs: Any) -> list[Timing]:
    """Time every variant of a kernel on these arguments, and use the fastest one from now on.

        for timing in weft.selection.calibrate(kernel, x, y):
            print(timing)

    kernel: a kernel or a jitted function.
    args, kwargs: the arguments to time it with.
    progress: called as `progress(name, done, total)` after each variant.

    Return the timings, the fastest variant first. They are stored for later processes.
    """
    if not hasattr(kernel, "in_variant"):
        raise TypeProblem(f"calibrate takes a kernel or a jitted function, not {type_of(kernel)}")
    shown = progress or (lambda name, done, total: None)
    return calibrating.calibrate(tuner, registry, kernel, args, kwargs, shown)


def report() -> Report:
    """Report each choice made in this process, with its alternatives and how good it turned out to be."""
    return _report(tuner)


def clear() -> None:
    """Delete all stored timings, including those of other processes.

    Choices already made last until the process ends.
    """
    tuner.history.clear()
