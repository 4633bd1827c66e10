"""The table of NumPy's reductions by name, put together from the files of their families."""

from __future__ import annotations

from collections.abc import Mapping

from .argminmax import POSITIONS
from .averages import AVERAGES
from .cumulative import CUMULATIVE
from .elementwise import Make
from .nan_aware import NAN_AWARE
from .norms import NORMS
from .reduce import ALIASES, REDUCING
from .statistics import STATISTICS

__all__ = ["ALIASES", "REDUCTIONS"]

REDUCTIONS: Mapping[str, Make] = {
    **REDUCING, **STATISTICS, **AVERAGES, **NAN_AWARE, **NORMS, **POSITIONS, **CUMULATIVE,
}  # fmt: skip
