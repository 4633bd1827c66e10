"""Measure a case in several libraries; each result is compared with NumPy's before it is timed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from . import check
from .check import Answer
from .library import BenchLibrary, TimedCall, Unable
from .memory import MemoryLoop, applies
from .results import Outcome
from .row import Case
from .timing import WARM_SECONDS, best_times

_PLAIN = "memory"
PAUSES = {"products": 0.12}  # seconds: threads of NumPy's BLAS wait for work in a loop that long
OPENMP = 3e-2  # and those of OpenMP, which Numba uses: 300,000 turns, each of 140 cycles on Intel since Skylake


def measure(suite: str, case: Case, libraries: Sequence[BenchLibrary], memory: MemoryLoop, seconds: float) -> Outcome:
    """Time every library that computes the case correctly, and give the reason for every other."""
    right = check.answer(case)
    calls: dict[str, list[TimedCall]] = {}
    notes: dict[str, str] = {}
    for library in libraries:
        found, note = _right_calls(library, case, right)
        if found:
            calls[library.name] = found
        else:
            notes[library.name] = note
    if applies(case, right.values):
        calls[_PLAIN] = [memory.call(case, right.values)]
    times = best_times(calls, seconds, PAUSES.get(suite, OPENMP if memory.threads > 1 else WARM_SECONDS))
    plain = times.pop(_PLAIN, None)
    return Outcome(suite, case.row.name, case.size, case.dtype, times, notes, memory=plain)


def _right_calls(library: BenchLibrary, case: Case, right: Answer) -> tuple[list[TimedCall], str]:
    """Return a library's calls that give the right result, and what is wrong with the last of the others."""
    kept, note = [], ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of a peer are not part of the table
            for call in library.calls(case):
                problem = check.problem(call.result(), right)
                if not problem:
                    kept.append(call)
                note = problem or note
    except Unable as error:
        return [], str(error)
    except Exception as error:
        return [], f"fails: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
    return kept, note
