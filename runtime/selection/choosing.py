"""Choose which variant of a kernel runs a workload, with confidence, reason and alternatives.

There are three selectors, all pure functions of what is known: by score, learned, and hybrid. The hybrid one trusts
the learned one if its error on held-out records is low.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...ir.errors import ValueProblem
from ...ir.records import fields, record
from .knowledge import Estimate, Knowledge
from .workload import Workload

MEGABYTE = 1 << 20
SELECTORS = ("score", "learned", "hybrid")


@record
class Weights:
    """The weights of the parts of a score."""

    time: float = 0.4
    memory: float = 0.2
    cache: float = 0.2
    history: float = 0.15
    switching: float = 0.05

    def __post_init__(self) -> None:
        for name in fields(self):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                raise ValueProblem(f"the weight {name} must be a number that is not negative, not {value!r}")


@record
class Candidate:
    """A variant by name.

    It has the expected time before anything is measured, the scratch memory in bytes, and the share of its memory
    traffic that fits in a core's cache.
    """

    variant: str
    expected: float
    scratch: int = 0
    cached: float = 1.0


@record
class Ranked:
    """A candidate with a selector's rank; higher is better."""

    variant: str
    rank: float
    estimate: Estimate


class Selection(NamedTuple):
    """A choice. `confidence` is the measured probability that no alternative is faster."""

    variant: str
    confidence: float
    reason: str
    alternatives: tuple[Ranked, ...]
    seconds: float
    chosen: Ranked


def by_score(
    load: Workload, candidates: Sequence[Candidate], known: Knowledge, weights: Weights, current: str | None
) -> Selection:
    """Choose the highest weighted sum of speed, memory, cache fit and history, minus the cost of switching."""
    estimates = [known.estimate(load, c.variant, c.expected) for c in candidates]
    fastest = min(e.seconds for e in estimates)
    ranked = []
    for candidate, estimate in zip(candidates, estimates, strict=True):
        rank = (
            weights.time * fastest / estimate.seconds
            + weights.memory / (1 + candidate.scratch / MEGABYTE)
            + weights.cache * candidate.cached
            + weights.history * known.merit(load, candidate.variant)
            - (weights.switching if current is not None and candidate.variant != current else 0.0)
        )
        ranked.append(Ranked(candidate.variant, rank, estimate))
    return _selection(ranked, "score")


def by_model(load: Workload, candidates: Sequence[Candidate], known: Knowledge) -> Selection | None:
    """Choose the least predicted time; None if a candidate has no model."""
    ranked = []
    for candidate in candidates:
        model = known.model(load, candidate.variant)
        if model is None:
            return None
        found = model.predict(load)
        ranked.append(Ranked(candidate.variant, -found.seconds, Estimate(found.seconds, found.sigma, "model")))
    return _selection(ranked, "model")


def choose(
    load: Workload,
    candidates: Sequence[Candidate],
    known: Knowledge,
    selector: str,
    weights: Weights,
    current: str | None,
    most_error: float,
) -> Selection:
    """Choose with the named selector, or by score if no model can be trusted."""
    scored = by_score(load, candidates, known, weights, current)
    if selector == "score":
        return scored
    learned = by_model(load, candidates, known)
    if learned is None:
        return scored
    if selector == "hybrid" and known.error(load, [c.variant for c in candidates]) > most_error:
        return scored
    return learned


def _selection(ranked: Sequence[Ranked], what: str) -> Selection:
    first, *others = sorted(ranked, key=lambda r: -r.rank)
    shown = f"{what} {first.rank:.3f}" if what == "score" else f"predicted {first.estimate.seconds * 1e6:.3g} us"
    reason = f"{shown}, {first.estimate.source}"
    return _chosen(first, others, reason)


def keeping(found: Selection, current: str) -> Selection:
    """Keep the current variant, because the one that ranks higher is not certain to be faster."""
    reason = f"{found.variant} is not surely faster ({found.reason})"
    own = next((r for r in found.alternatives if r.variant == current), None)
    if own is None:  # never measured at such sizes
        return found._replace(variant=current, reason=reason, alternatives=(found.chosen, *found.alternatives))
    return _chosen(own, [found.chosen, *(r for r in found.alternatives if r is not own)], reason)


def _chosen(first: Ranked, others: Sequence[Ranked], reason: str) -> Selection:
    against = min(others, key=lambda r: r.estimate.seconds, default=None)
    confidence = 1.0 if against is None else _sureness(first.estimate, against.estimate)
    return Selection(first.variant, confidence, reason, tuple(others), first.estimate.seconds, first)


def _sureness(a: Estimate, b: Estimate) -> float:
    """Return the probability that the first takes less time than the second."""
    return 0.5 + 0.5 * math.erf(math.log(b.seconds / a.seconds) / math.hypot(a.sigma, b.sigma) / math.sqrt(2))
