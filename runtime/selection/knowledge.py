"""Estimate the time of a variant on a workload: measured, measured at similar sizes, or guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir.records import record
from .history import History, Record
from .model import LEAST_RECORDS, Model, train
from .workload import BUCKETS, Workload

GUESSED = 0.7  # the standard deviation of the logarithm of a time that was never measured
LEAST_SIGMA = 0.02
REACH = 2 * BUCKETS  # the largest distance in size classes at which a record still counts


@record
class Estimate:
    """Seconds, the standard deviation of their logarithm, and the source."""

    seconds: float
    sigma: float
    source: str


class Knowledge:
    """A snapshot of the history, by graph and variant."""

    def __init__(self, history: History) -> None:
        self._now, self._half_life = history.clock(), history.half_life
        self._by_variant: dict[str, list[Record]] = {}
        self._by_graph: dict[tuple[str, str, int], list[Record]] = {}
        self._models: dict[tuple[str, ...], Model | None] = {}
        for past in sorted(history, key=lambda r: r.workload.size):
            load = past.workload
            self._by_variant.setdefault(past.variant, []).append(past)
            self._by_graph.setdefault((load.family, past.variant, load.threads), []).append(past)

    def estimate(self, load: Workload, variant: str, expected: float) -> Estimate:
        """Estimate the time of a variant; use `expected` if nothing similar was measured."""
        records = self._by_graph.get((load.family, variant, load.threads), [])
        below = [r for r in records if r.workload.bucket <= load.bucket][-1:]
        above = [r for r in records if r.workload.bucket >= load.bucket][:1]
        near = [r for r in (*below, *above) if abs(r.workload.bucket - load.bucket) <= REACH]
        if not near:
            return Estimate(expected, GUESSED, "not measured")
        if near[0].workload.bucket == load.bucket:
            return Estimate(near[0].typical * _scale(near[0], load), self._sigma(near[0]), "measured")
        times = [r.typical * _scale(r, load) for r in near]
        distances = [abs(r.workload.bucket - load.bucket) for r in near]
        total = sum(1 / d for d in distances)
        mean = math.exp(sum(math.log(t) / d for t, d in zip(times, distances, strict=True)) / total)
        sigma = max(map(self._sigma, near)) + 0.1 * min(distances)
        return Estimate(mean, sigma, "measured at sizes near by")

    def merit(self, load: Workload, variant: str) -> float:
        """Rate how well a variant recently did on this graph, from 0 to 1; 0.5 if nothing is known."""
        peers = [
            r
            for (family, _, threads), records in self._by_graph.items()
            if family == load.family and threads == load.threads
            for r in records
            if r.workload.bucket == load.bucket
        ]
        own = next((r for r in peers if r.variant == variant), None)
        if own is None:
            return 0.5
        recent = own.aged(self._now, self._half_life) / own.weight
        best = min(r.typical for r in peers)
        return 0.5 + (best / own.typical - 0.5) * recent

    def model(self, load: Workload, variant: str) -> Model | None:
        """Return a regression on this graph's records if there are enough, otherwise on those of all graphs."""
        own = self._by_graph.get((load.family, variant, load.threads), [])
        key, records = ((load.family, variant), own) if len(own) >= LEAST_RECORDS else ((variant,), None)
        if key not in self._models:
            chosen = records if records is not None else self._by_variant.get(variant, [])
            self._models[key] = train(chosen, self._now, self._half_life)
        return self._models[key]

    def error(self, load: Workload, variants: Sequence[str]) -> float:
        """Return the largest relative error of the variants' models on held-out records."""
        models = [self.model(load, v) for v in variants]
        return max(m.error if m is not None else math.inf for m in models)

    def _sigma(self, past: Record) -> float:
        """Return the uncertainty of a record, from its samples and its age."""
        recent = max(1e-3, past.aged(self._now, self._half_life) / past.weight)
        return max(LEAST_SIGMA, past.sigma) / math.sqrt(recent)


def _scale(past: Record, load: Workload) -> float:
    """Scale a record's time to the size of the workload."""
    return max(1, load.size) / max(1, past.workload.size)
