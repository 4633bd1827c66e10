"""Leave calls to Python without a try while most tries fail.

Code that raises an error natively runs again in Python, which raises the error itself. Then the arguments were wrong,
not the code. Code may also have been compiled for other sizes than most calls have. In both cases a failed try takes
longer than the statements take in Python.
"""

from __future__ import annotations

MOST_ERRORS = 4  # in a row, before calls are left to Python
WORTH_A_TRY = 64  # native calls, which save about as much time as one try that fails costs
LONGEST = 1024  # calls that are left to Python at once


class Rest:
    """How many of the next calls are left to Python: twice as many after each failed try."""

    def __init__(self) -> None:
        self._errors = self._left = self._served = 0

    def takes(self) -> bool:
        """Count a call, and tell whether it is left to Python."""
        if self._left == 0:
            return False
        self._left -= 1
        return True

    def lengthen(self, served: int) -> None:
        """Count a failed try; `served` is how many calls were native so far."""
        if served > self._served + WORTH_A_TRY:
            self._errors = 0
        self._errors, self._served = self._errors + 1, served
        if self._errors >= MOST_ERRORS:
            self._left = min(1 << (self._errors - MOST_ERRORS), LONGEST)
