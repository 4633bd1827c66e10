"""Define the suite `compile`: the first calls of a new kernel, dtype and shape, in a process that compiled before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .. import check
from ..check import Answer
from ..library import BenchLibrary, Unable
from ..results import Outcome
from ..row import Case, Function, Row, case, matrices, normal
from . import loops_rows
from .rowwise import softmax

SUITE = "compile"
STEPS = (
    ("new kernel", 1000, "f32"),
    ("second call", 1000, "f32"),
    ("new dtype", 1000, "f64"),
    ("new shape", 1920, "f32"),
)
REPEATS, LONG_SECONDS, SETTLED = 5, 1.0, 3

ROWS = (
    Row("a*b + c*a - b", lambda np: lambda a, b, c: a * b + c * a - b, normal(3)),
    Row("x*tanh(log1p(exp(x)))", lambda np: lambda x: x * np.tanh(np.log1p(np.exp(x))), normal()),
    Row("softmax", softmax, matrices(1, 64), loops=loops_rows.softmax),
)
_BEFORE = Row("1 - x", lambda np: lambda x: 1.0 - x, normal())


def measure(row: Row, libraries: Sequence[BenchLibrary]) -> Iterator[Outcome]:
    """Measure each step; take the best of several compiles, or one if it takes longer than a second."""
    best: list[dict[str, float]] = [{} for _ in STEPS]
    notes: dict[str, str] = {}
    cases = [case(row, size, dtype) for _, size, dtype in STEPS]
    answers = [check.answer(found) for found in cases]
    for attempt in range(REPEATS):
        for library in libraries:
            if library.name in notes or (attempt and best[0][library.name] > LONG_SECONDS):
                continue
            made, note = _steps(library, row, cases, answers)
            if note:
                notes[library.name] = note
            for seconds, times in zip(made, best, strict=False):
                times[library.name] = min(seconds, times.get(library.name, seconds))
    for (step, size, dtype), times in zip(STEPS, best, strict=True):
        kept = {name: t for name, t in times.items() if name not in notes}
        yield Outcome(SUITE, f"{row.name}: {step}", size, dtype, kept, notes)


def _steps(
    library: BenchLibrary, row: Row, cases: Sequence[Case], answers: Sequence[Answer]
) -> tuple[list[float], str]:
    """Return the seconds of each step, and what is wrong with the library's results."""
    made, note = [], ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            library.fresh(_BEFORE)(*case(_BEFORE, 100, "f64").args)
            function = library.fresh(row)
            for found, answer in zip(cases, answers, strict=True):
                result, seconds = _once(function, found.args)
                made.append(seconds)
                note = note or check.problem(np.asarray(result), answer)
                if len(made) > 1:  # extra work of a library after the first call counts as the step "second call"
                    for _ in range(SETTLED):
                        function(*found.args)
        except Unable as error:
            return [], str(error)
    return made, note


def _once(function: Function, args: tuple[Any, ...]) -> tuple[Any, float]:
    start = perf_counter()
    result = function(*args)
    return result, perf_counter() - start
