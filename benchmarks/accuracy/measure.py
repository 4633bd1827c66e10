"""Measure a function: its largest error, the point where it occurs, and how many results are the nearest number.

Weft and NumPy are measured at the same points. Functions of one f16, bf16 or f32 are measured at every number. For
other functions, hard points come first, then random points.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import exact
from .emitted import code, fingerprint
from .formats import Array, Format
from .functions import Function
from .native import Library, Reference
from .plan import BLOCK, is_exhaustive, point_blocks
from .subjects import Subject, kernel, numpy_subject, wrong_specials

CHECKED = 100  # points of a block on which quad precision is checked against mpmath
NOTHING = 0.25  # no function is better than this in ULP, and errors below it are not worth judging
SAMPLED = 4096  # one point of so many checks the quick reference against quad precision
Progress = Callable[[int], None]


class WrongReference(Exception):
    """Raised when the quick reference differs from quad precision by more than the margin for judging points."""


@dataclass(slots=True)
class Tally:
    """Running totals for Weft's or NumPy's results."""

    worst: float = 0.0
    place: tuple[str, ...] = ()
    nearest: int = 0
    points: int = 0
    reference: float = 0.0  # the largest error of the quick reference that was seen, in ULP
    _errors: Array = field(default_factory=lambda: np.empty(BLOCK))

    def add(self, reference: Reference, inputs: tuple[Array, ...], got: Array) -> None:
        """Add the results at the points that `reference` has just evaluated."""
        errors = reference.errors(got, self._errors)
        certain, doubtful = reference.sift(errors, max(self.worst, NOTHING))
        self.points += got.size
        self.nearest += certain
        self._check(reference, inputs, got, errors)
        if not doubtful.size:
            return
        judged, nearest = reference.judge(tuple(x[doubtful] for x in inputs), got[doubtful])
        self.nearest += int(nearest.sum())
        top = int(judged.argmax())
        if judged[top] > self.worst:
            self.worst, self.place = float(judged[top]), tuple(repr(x[doubtful[top]].item()) for x in inputs)

    def _check(self, reference: Reference, inputs: tuple[Array, ...], got: Array, errors: Array) -> None:
        some = slice(self.points // BLOCK % SAMPLED, None, SAMPLED)
        judged, _ = reference.judge(tuple(x[some].copy() for x in inputs), got[some].copy())
        quick = errors[some]
        known = np.isfinite(judged) & np.isfinite(quick)
        apart = np.abs(judged - quick)
        if reference.format.is_complex:
            # Next to a power of two the two may take the ULP of different sides.
            apart = np.minimum.reduce([apart, np.abs(judged - 2 * quick), np.abs(2 * judged - quick)])
        self.reference = max([self.reference, *(apart / np.maximum(judged, 1))[known]])
        if self.reference > reference.margin:
            raise WrongReference(
                f"the quick reference of {reference.name} is off by {self.reference:.2g} ULP of "
                f"{reference.format.name}, more than {reference.margin:.2g}"
            )

    def result(self) -> dict[str, Any]:
        return {"error": self.worst, "at": self.place, "nearest": self.nearest / self.points}


def measure(
    library: Library, function: Function, format: Format, total: int, progress: Progress
) -> dict[str, Any] | None:
    """Measure at this many points and return plain data, or nothing if Weft has no code for the function."""
    text, mine = code(function, format), kernel(function, format)
    if text is None or mine is None:
        return None
    theirs = numpy_subject(function, format)
    subjects = {"weft": mine} | ({"numpy": theirs} if theirs else {})
    tallies = {name: Tally() for name in subjects}
    reference = Reference(library, function.c_name, format, BLOCK)
    began, done = time.monotonic(), 0
    with np.errstate(all="ignore"):
        check_reference(reference, function, mine, text)
        for inputs in point_blocks(function, format, text, total):
            carried = tuple(reference.carried(x) for x in inputs)
            reference.evaluate(*carried)
            for name, tally in tallies.items():
                tally.add(reference, carried, reference.carried(subjects[name](*inputs)))
            done += inputs[0].size
            progress(done)
    return {
        "function": function.name,
        "dtype": format.name,
        "code": fingerprint(text, format),
        "planned": total,
        "points": tallies["weft"].points,
        "every": is_exhaustive(function, format) and total == format.count,
        **{name: tally.result() for name, tally in tallies.items()},
        "reference": max(tally.reference for tally in tallies.values()),
        "specials": wrong_specials(function, format, mine),
        "versions": {"numpy": np.__version__, "machine": platform.processor() or platform.machine()},
        "seconds": round(time.monotonic() - began, 1),
    }


def check_reference(reference: Reference, function: Function, mine: Subject, text: str) -> None:
    """Compare quad precision with mpmath at a few points of every kind."""
    for inputs in point_blocks(function, reference.format, text, BLOCK):
        some = np.random.default_rng(0).integers(0, inputs[0].size, CHECKED)
        chosen = tuple(x[some] for x in inputs)
        got = mine(*chosen)
        judged, _ = reference.judge(tuple(reference.carried(x) for x in chosen), reference.carried(got))
        known = exact.errors(function.true, reference.format, chosen, got)
        differ = ~np.isnan(known) & (judged != known) & ~(np.abs(judged - known) < 1e-6)
        if differ.any():
            raise WrongReference(
                f"quad precision and mpmath differ on {reference.name} of {reference.format.name} "
                f"at {[x[differ][:3].tolist() for x in chosen]}"
            )
