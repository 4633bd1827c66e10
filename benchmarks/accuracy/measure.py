"""A function and a format in, a measurement out: the largest error, where it is, and the share of nearest results.

Weft's results and NumPy's are taken over the same points: hard places first, then every number there is for functions
of one f16, bf16 or f32, and random points for the others.
"""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import weft

from . import exact, pairs, points
from .emitted import code, fingerprint, thresholds
from .formats import F32, Array, Format, specials
from .functions import Function
from .hard import hard_points
from .native import Library, Reference

BLOCK = 1 << 17
CHECKED = 100  # points of a block on which quad precision is checked against mpmath
PAIRS_OF_HALVES = 10_000_000
SAMPLED = 4096  # one point of so many checks the quick reference against quad precision
Subject = Callable[..., Array]
Progress = Callable[[int], None]


class WrongReference(Exception):
    """The quick reference is further from quad precision than the margin that decides what is judged."""


@dataclass(slots=True)
class Tally:
    """What is known of one subject's results so far."""

    worst: float = 0.0
    place: tuple[float, ...] = ()
    nearest: int = 0
    points: int = 0
    reference: float = 0.0  # the largest error of the quick reference that was seen, in ULP
    _errors: Array = field(default_factory=lambda: np.empty(BLOCK))

    def add(self, reference: Reference, inputs: tuple[Array, ...], got: Array) -> None:
        """Takes the results for the points that `reference` has evaluated."""
        errors = reference.errors(got, self._errors)
        certain, doubtful = reference.sift(errors, self.worst)
        self.points += got.size
        self.nearest += certain
        self._check(reference, inputs, got, errors)
        if not doubtful.size:
            return
        judged, nearest = reference.judge(tuple(x[doubtful] for x in inputs), got[doubtful])
        self.nearest += int(nearest.sum())
        top = int(judged.argmax())
        if judged[top] > self.worst or not self.place:
            self.worst, self.place = float(judged[top]), tuple(float(x[doubtful[top]]) for x in inputs)

    def _check(self, reference: Reference, inputs: tuple[Array, ...], got: Array, errors: Array) -> None:
        some = slice(self.points // BLOCK % SAMPLED, None, SAMPLED)
        judged, _ = reference.judge(tuple(x[some].copy() for x in inputs), got[some].copy())
        quick = errors[some]
        known = np.isfinite(judged) & np.isfinite(quick)
        self.reference = max([self.reference, *np.abs(judged - quick)[known]])
        if self.reference > reference.margin:
            raise WrongReference(
                f"the quick reference of {reference.name} is off by {self.reference:.2g} ULP of "
                f"{reference.format.name}, more than {reference.margin:.2g}"
            )

    def result(self) -> dict[str, Any]:
        return {"error": self.worst, "at": self.place, "nearest": self.nearest / max(self.points, 1)}


def kernel(function: Function, format: Format) -> Subject | None:
    """Weft's own code for a function, or nothing where it has none and leaves the work to NumPy."""
    names = "xy"[: function.arity]
    parameters = ", ".join(f"{name}: {format.name}[n]" for name in names)
    text = f"kernel measured({parameters}) -> {format.name}[n] {{ return {function.language}({', '.join(names)}) }}"
    try:
        compiled = weft.compile(text).measured
        sample = [np.ones(8, format.dtype)] * function.arity
        return None if compiled.lower(*sample).fallbacks else compiled
    except weft.errors.WeftError:
        return None


def numpy_subject(function: Function, format: Format) -> Subject | None:
    """NumPy's function, where it has one for the format."""
    ufunc = function.numpy
    if ufunc is None:
        return None
    try:
        with np.errstate(all="ignore"):
            fits = ufunc(*[np.ones(1, format.dtype)] * function.arity).dtype == format.dtype
    except TypeError:
        return None
    return ufunc if fits else None


def is_exhaustive(function: Function, format: Format) -> bool:
    return function.arity == 1 and format.name != "f64"


def planned_points(function: Function, format: Format, count: int, quick: bool = False) -> int:
    """How many points a measurement has besides the hard places. Halves have few numbers to make pairs of."""
    if is_exhaustive(function, format) and (not quick or format.count <= count):
        return format.count
    return min(count, PAIRS_OF_HALVES) if format.bits < F32.bits else count


def point_blocks(function: Function, format: Format, text: str, count: int) -> Iterator[tuple[Array, ...]]:
    """The hard places, then every number or `count` random points, so many at a time."""
    for inputs in _all_blocks(function, format, text, count):
        if function.kept is None:
            yield inputs
            continue
        kept = function.kept(*inputs)
        yield tuple(x[kept] for x in inputs)


def _all_blocks(function: Function, format: Format, text: str, count: int) -> Iterator[tuple[Array, ...]]:
    hard = hard_points(function, format, thresholds(text, format))
    for start in range(0, hard[0].size, BLOCK):
        yield tuple(x[start : start + BLOCK] for x in hard)
    if is_exhaustive(function, format) and count == format.count:
        yield from ((x,) for x in format.every(BLOCK))
        return
    for number, start in enumerate(range(0, count, BLOCK)):
        rng = np.random.default_rng([number, *function.name.encode()])
        size = min(BLOCK, count - start)
        if function.pairs:
            yield pairs.block(format, function.pairs(format), rng, size)
        else:
            yield (points.block(format, [points.patterns(format), *function.sources(format)], rng, size),)


def measure(
    library: Library, function: Function, format: Format, total: int, progress: Progress
) -> dict[str, Any] | None:
    """The measurement over so many points as plain data, or nothing where Weft has no code of its own."""
    text, mine = code(function, format), kernel(function, format)
    if text is None or mine is None:
        return None
    subjects = {"weft": mine, "numpy": numpy_subject(function, format)}
    tallies = {name: Tally() for name, subject in subjects.items() if subject}
    reference = Reference(library, function.name, format, BLOCK)
    began, done = time.monotonic(), 0
    with np.errstate(all="ignore"):
        check_reference(reference, function, mine, text)
        for inputs in point_blocks(function, format, text, total):
            carried = tuple(reference.carried(x) for x in inputs)
            reference.evaluate(*carried)
            for name, tally in tallies.items():
                tally.add(reference, carried, reference.carried(subjects[name](*inputs)))  # type: ignore[misc]
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
    """Compares quad precision with mpmath on a few points of every kind."""
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


def wrong_specials(function: Function, format: Format, mine: Subject) -> list[str]:
    """Where results for special values, or results that are special, differ from NumPy's; signs of zeros count."""
    theirs = numpy_subject(function, format)
    if theirs is None:
        return []
    values = list(itertools.product(specials(format), repeat=function.arity))
    inputs = [np.array(side, format.dtype) for side in zip(*values, strict=True)]
    with np.errstate(all="ignore"):
        got, expected = mine(*inputs).astype(np.float64), theirs(*inputs).astype(np.float64)
    special = ~np.isfinite(expected) | (expected == 0) | (np.abs(np.frexp(expected)[0]) == 0.5)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(expected)
    wrong = np.flatnonzero(special & ~same)
    return [f"{tuple(float(x[i]) for x in inputs)}: {got[i]}, NumPy has {expected[i]}" for i in wrong]
