"""Define the settings of variant selection."""

from __future__ import annotations

from ...ir.errors import TypeProblem, ValueProblem, nearest, type_of
from ...ir.records import fresh, record
from .choosing import SELECTORS, Weights
from .history import WEEK


@record
class Settings:
    """The settings that `weft.selection.configure` changes.

    `explore` is the share of long calls that may try another variant while the best one is not settled. `confidence` is
    the probability that a choice needs to replace the current one. `most_error` is the largest relative error on held-
    out times with which the hybrid selector trusts a model. `time_limit` (seconds) and `at_once` bound benchmarks and
    compilations. `half_life` (seconds) says how fast old times are forgotten.
    """

    selector: str = "hybrid"
    explore: float = 0.05
    confidence: float = 0.8
    most_error: float = 0.15
    time_limit: float = 1.0
    at_once: int = 1
    half_life: float = WEEK
    weights: Weights = fresh(default_factory=Weights)

    def __post_init__(self) -> None:
        if self.selector not in SELECTORS:
            raise ValueProblem(
                f"unknown selector {self.selector!r}",
                hint=nearest(str(self.selector), list(SELECTORS)) or f"choose one of {', '.join(SELECTORS)}",
            )
        if not isinstance(self.weights, Weights):
            raise TypeProblem(f"weights must be weft.selection.Weights(...), not {type_of(self.weights)}")
        for name in ("explore", "confidence", "most_error", "time_limit", "half_life", "at_once"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int if name == "at_once" else (int, float)):
                raise TypeProblem(f"{name} must be a number, not {given!r}")
        for name in ("explore", "confidence"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueProblem(f"{name} must be a number from 0 to 1, not {getattr(self, name)!r}")
        for name in ("most_error", "time_limit", "half_life", "at_once"):
            if not getattr(self, name) > 0:
                raise ValueProblem(f"{name} must be positive, not {getattr(self, name)!r}")
