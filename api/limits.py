"""Read and set the limits on what kernel text and compiles may ask for."""

from __future__ import annotations

import os
from functools import cache

from .ir.errors import ValueProblem
from .ir.limits import Limits, limiter
from .ir.records import replace

MOST_DEPTH = 200  # deeper text would meet the interpreter's own limit on recursion
_VARIABLES = {
    "text": "WEFT_MAX_TEXT", "depth": "WEFT_MAX_DEPTH", "nodes": "WEFT_MAX_NODES", "seconds": "WEFT_MAX_SECONDS",
    "result_bytes": "WEFT_MAX_RESULT_BYTES",
}  # fmt: skip


def get_limits() -> Limits:
    """The limits as they are now."""
    read_environment()
    return limiter.now


def set_limits(
    *,
    text: int | None = None,
    depth: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    result_bytes: int | None = None,
) -> Limits:
    """Sets those limits that are given, for the whole process, and gives the limits as they were before."""
    before = get_limits()
    given = {"text": text, "depth": depth, "nodes": nodes, "seconds": seconds, "result_bytes": result_bytes}
    _set({name: value for name, value in given.items() if value is not None}, "limit")
    return before


@cache
def read_environment() -> None:
    """Takes the limits that `WEFT_MAX_...` variables set; once."""
    given: dict[str, float] = {}
    for name, variable in _VARIABLES.items():
        if not (text := os.environ.get(variable, "").strip()):
            continue
        try:
            given[name] = float(text) if name == "seconds" else int(text)
        except ValueError:
            raise ValueProblem(f"{variable} is {text!r}", hint="it is a positive number") from None
    _set(given, "WEFT_MAX")


def _set(given: dict[str, float], what: str) -> None:
    for name, value in given.items():
        whole = name == "seconds" or isinstance(value, int)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not whole or not value > 0:
            raise ValueProblem(f"the {what} on {name} is {value!r}", hint="it is a positive number")
    if given.get("depth", 1) > MOST_DEPTH:
        raise ValueProblem(f"the {what} on depth is {given['depth']}", hint=f"it is at most {MOST_DEPTH}")
    if given:
        limiter.now = replace(limiter.now, **given)
    if "result_bytes" in given:
        from .runtime.memory import limit_results

        limit_results()
