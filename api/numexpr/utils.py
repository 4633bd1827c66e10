"""Set and report how many threads expressions use; the setting is Weft's own."""

from __future__ import annotations

import os

use_vml = False
"""Weft has its own vector mathematics; Intel's VML is never used."""


def _environment(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.strip() else None


MAX_THREADS: int = _environment("NUMEXPR_MAX_THREADS") or 64


def detect_number_of_cores() -> int:
    """Return the number of cores of this machine."""
    return os.cpu_count() or 1


def detect_number_of_threads() -> int:
    """Return the number of threads that the environment asks for, or the number of cores."""
    asked = _environment("NUMEXPR_NUM_THREADS") or _environment("OMP_NUM_THREADS")
    return min(asked or detect_number_of_cores(), MAX_THREADS)


def set_num_threads(nthreads: int) -> int:
    """Set how many threads expressions use, and return how many it was."""
    import weft

    if not 1 <= nthreads <= MAX_THREADS:
        raise ValueError(f"the number of threads must be between 1 and {MAX_THREADS}, not {nthreads}")
    before = weft.get_threads()
    weft.set_threads(nthreads)
    return before


def get_num_threads() -> int:
    """Return how many threads expressions use."""
    import weft

    return weft.get_threads()


def _init_num_threads() -> int:
    """Set the threads that NUMEXPR_NUM_THREADS or OMP_NUM_THREADS ask for, and return how many are used.

    Without either variable Weft's own setting stays.
    """
    asked = _environment("NUMEXPR_NUM_THREADS") or _environment("OMP_NUM_THREADS")
    if asked is None:
        return min(detect_number_of_cores(), 16, MAX_THREADS)
    set_num_threads(min(asked, MAX_THREADS))
    return min(asked, MAX_THREADS)


def get_vml_version() -> None:
    """Return None: there is no VML."""


def set_vml_accuracy_mode(mode: str | None) -> None:
    """Do nothing: there is no VML, and functions are within one ULP."""
    if mode not in (None, "high", "low", "fast"):
        raise ValueError(f"mode must be None, 'high', 'low' or 'fast', not {mode!r}")


def set_vml_num_threads(nthreads: int) -> None:
    """Do nothing: there is no VML."""


def get_vml_num_threads() -> None:
    """Return None: there is no VML."""
