"""Leave calls to Python that no recipe fits, where NumPy takes less time than Weft without a recipe.

A recipe serves most calls of a signature, but not all: an index that selects nothing is such a case. Weft's own way in
Python takes about a millisecond, which pays for large arrays only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .frontend.programs.source import FunctionSource, NoSource
from .reasons import Reason

MOST_ALIKE = 4  # calls with arguments of the same types and similar sizes that Weft serves without a recipe
WORTH_IT = 1 << 21  # operations on elements, from which on it takes less time than NumPy
MOST_KINDS = 256  # of calls to remember
UNFIT = Reason("native code can't serve calls with such sizes, and Python is faster")


class UnfitCalls:
    """How many calls Weft has served without a recipe, by what they got."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._work = 0

    def takes(self, args: Iterable[Any], work: Callable[[], int]) -> bool:
        """Tell whether a call is left to Python; `work` counts the operations."""
        if not self._counts:
            return False
        args = tuple(args)
        if self._counts.get(_likeness(args), 0) < MOST_ALIKE:
            return False
        self._work = self._work or work()
        return self._work * max((x.size for x in args if type(x) is np.ndarray), default=1) < WORTH_IT

    def count(self, args: Iterable[Any]) -> None:
        """Note a call that was served though no recipe fits it."""
        likeness = _likeness(args)
        if likeness in self._counts or len(self._counts) < MOST_KINDS:
            self._counts[likeness] = self._counts.get(likeness, 0) + 1


def operations(source: FunctionSource | NoSource) -> int:
    """Count the operations in the source of a function, which may be over arrays."""
    if isinstance(source, NoSource):
        return 1
    return sum(isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)) for n in ast.walk(source.tree))


def _likeness(args: Iterable[Any]) -> Any:
    """Describe what decides whether a recipe fits; of sizes it is whether there are none, one or more elements."""
    return tuple(
        (x.dtype, *(min(n, 2) for n in x.shape)) if type(x) is np.ndarray else type(x)
        for x in args
    )  # fmt: skip
