"""Leave calls of a piece that no recipe fits to Python, if NumPy is faster than Weft without a recipe.

A recipe serves most calls of a signature, but not all: an index that selects nothing is such a case. Weft's own way in
Python takes about a millisecond, which pays for large arrays only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .reasons import Reason

MOST_ALIKE = 4  # calls with arguments of the same types and similar sizes that Weft serves without a recipe
WORTH_IT = 1 << 21  # operations on elements, from which on it takes less time than NumPy
MOST_KINDS = 256  # of calls to remember
UNFIT = Reason("native code can't serve calls with such sizes, and Python is faster")


class UnfitCalls:
    """How many calls Weft has served without a recipe since the newest recipe was made, by what they were given."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._recipes = 0

    def takes(self, args: Sequence[Any], work: int) -> bool:
        """Tell whether a call with this many operations is left to Python."""
        if self._counts.get(_likeness(args), 0) < MOST_ALIKE:
            return False
        return work * max((x.size for x in args if type(x) is np.ndarray), default=1) < WORTH_IT

    def count(self, args: Sequence[Any], before: int, recipes: int) -> None:
        """Note a call, and how many recipes there were before and after it.

        A call that made a recipe does not count.
        """
        if recipes != self._recipes:
            self._counts.clear()
            self._recipes = recipes
        likeness = _likeness(args)
        if before == recipes and (likeness in self._counts or len(self._counts) < MOST_KINDS):
            self._counts[likeness] = self._counts.get(likeness, 0) + 1


def _likeness(args: Sequence[Any]) -> Any:
    """Describe what decides whether a recipe fits. For sizes, that is whether they are 0, 1 or more."""
    return tuple(
        (x.dtype, *(min(n, 2) for n in x.shape)) if type(x) is np.ndarray else type(x)
        for x in args
    )  # fmt: skip
