"""Define `demand`, the op that raises an error for values that NumPy would refuse.

    %2 = "weft.demand"(%0, %1) {error = "DivisionByZero", message = "Weights sum to zero, can't be normalized"} : ...

The result is the first operand if the condition holds everywhere. If it does not, native code reports failure, and the
error that the attributes describe is raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import BOOL
from .errors import DivisionByZero, IndexProblem, OverflowProblem, ValueProblem
from .rules import Attrs, DTypes

ERRORS = {error.__name__: error for error in (DivisionByZero, IndexProblem, OverflowProblem, ValueProblem)}


def demand_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    dtype = operands[0].strong
    return (dtype, BOOL), (dtype,)


def demand(x: Any, holds: Any, error: str, message: str) -> Any:
    if not np.all(holds):
        raise ERRORS[error](message)
    return np.broadcast_arrays(x, holds)[0]
