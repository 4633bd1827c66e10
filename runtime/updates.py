"""Find the caller's arrays that a function modifies, and refuse those that can't be modified as NumPy would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.errors import TraceProblem, TypeProblem, ValueProblem
from ..ir.source import Built
from .arguments import CallArgument

Array = np.ndarray[Any, Any]
MAX_WORK = 10_000  # the effort to find out whether two arrays share memory; beyond it they count as sharing


def changed_arrays(
    built: Built, names: Sequence[str], arguments: Sequence[CallArgument], out: Any
) -> list[Array | None]:
    """Return, for each output, the argument that it is written to after the call, or None."""
    if out is not None:
        raise TypeProblem(
            f"out= can't be used with a function that changes its argument '{names[built.updates[0][0]]}'"
        )
    found: list[Array | None] = [None] * len(built.graph.outputs)
    for index, output in built.updates:
        found[output] = _changed(names, arguments, built.hidden, index)
    return found


def _changed(names: Sequence[str], arguments: Sequence[CallArgument], hidden: Sequence[Array], index: int) -> Array:
    name, given = names[index], arguments[index].given
    if not isinstance(given, np.ndarray):
        raise TypeProblem(
            f"the function changes argument '{name}', which must be an array, not a {type(given).__name__}"
        )
    if not given.flags.writeable:
        raise ValueProblem(f"argument '{name}' must be writable, because the function changes it")
    others = [(n, a.array) for k, (n, a) in enumerate(zip(names, arguments, strict=True)) if k != index]
    for other, array in (*others, *(("an array from outside", x) for x in hidden)):
        if _overlap(given, array):
            raise TraceProblem(
                f"argument '{name}' must not share memory with {other!r}, because the function changes it",
                hint="pass a copy of one of them",
            )
    return given


def _overlap(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
