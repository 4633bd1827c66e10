"""Read and set limits on kernel text and on compilation."""

from __future__ import annotations

import os
from functools import cache

from .ir.errors import ValueProblem
from .ir.limits import Limits, limiter
from .ir.records import replace

MOST_DEPTH = 200  # deeper text would hit the interpreter's recursion limit
_VARIABLES = {
    "text": "WEFT_MAX_TEXT", "depth": "WEFT_MAX_DEPTH", "nodes": "WEFT_MAX_NODES", "seconds": "WEFT_MAX_SECONDS",
    "result_bytes": "WEFT_MAX_RESULT_BYTES",
}  # fmt: skip


def get_limits() -> Limits:
    """Return the current limits on kernel text and compilation, as in `weft.get_limits().nodes`."""
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
    """Change limits for the whole process, and return the previous ones. Limits that are not given stay as they are.

        before = weft.set_limits(seconds=5, nodes=10_000)

    text: characters in one file.
    depth: nested brackets, blocks and operators, at most 200.
    nodes: operations of one kernel, after every call is inlined.
    seconds: thread time to build a graph and run the passes, and again to generate its code.
    result_bytes: bytes of one array that Weft allocates.
    """
    before = get_limits()
    given = {"text": text, "depth": depth, "nodes": nodes, "seconds": seconds, "result_bytes": result_bytes}
    _set({name: value for name, value in given.items() if value is not None}, "limit")
    return before


@cache
def read_environment() -> None:
    """Read the `WEFT_MAX_...` environment variables, once per process."""
    given: dict[str, float] = {}
    for name, variable in _VARIABLES.items():
        if not (text := os.environ.get(variable, "").strip()):
            continue
        try:
            given[name] = float(text) if name == "seconds" else int(text)
        except ValueError:
            raise ValueProblem(f"{variable} must be a positive number, not {text!r}") from None
    _set(given, "WEFT_MAX")


def _set(given: dict[str, float], what: str) -> None:
    for name, value in given.items():
        whole = name == "seconds" or isinstance(value, int)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not whole or not value > 0:
            raise ValueProblem(f"the {what} on {name} must be a positive number, not {value!r}")
    if given.get("depth", 1) > MOST_DEPTH:
        raise ValueProblem(f"the {what} on depth must be at most {MOST_DEPTH}, not {given['depth']}")
    if given:
        limiter.now = replace(limiter.now, **given)
    if "result_bytes" in given:
        from .runtime.memory import limit_results

        limit_results()
