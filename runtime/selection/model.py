"""Predict the time of a variant on other workloads, with an interval, from its recorded times.

The model is a ridge regression of the logarithm of the time on the features of the workload. Its error on held-out
records says how far it can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.records import record
from .history import Record
from .workload import FEATURES, Workload

RIDGE = 1e-2
FOLDS = 5
LEAST_RECORDS = 6
ENOUGH = 1.64  # standard deviations that contain nine of ten times
Floats = np.ndarray[Any, np.dtype[np.float64]]


@record
class Prediction:
    """Seconds, and the limits between which nine of ten times lie."""

    seconds: float
    low: float
    high: float

    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithm."""
        return math.log(self.high / self.low) / (2 * ENOUGH)


@record
class Model:
    """A trained regression; `error` is the median relative error on held-out records."""

    weights: Floats
    center: Floats
    inverse: Floats
    sigma: float
    error: float

    def predict(self, workload: Workload) -> Prediction:
        row = np.array(workload.features()) - self.center
        row[0] = 1.0
        guess = float(row @ self.weights)
        off = ENOUGH * self.sigma * math.sqrt(1.0 + float(row @ self.inverse @ row))
        guess, off = min(max(guess, -40.0), 40.0), min(off, 40.0)
        return Prediction(math.exp(guess), math.exp(guess - off), math.exp(guess + off))


def train(records: Sequence[Record], now: float, half_life: float) -> Model | None:
    """Train a model on the records of one variant, weighting old ones less; None if there are too few."""
    if len(records) < LEAST_RECORDS:
        return None
    rows = np.array([r.workload.features() for r in records])
    times = np.log([r.typical for r in records])
    trust = np.sqrt([max(1e-6, min(r.aged(now, half_life), 8.0)) for r in records])
    center = rows.mean(axis=0)
    center[0] = 0.0
    rows = rows - center
    weights, inverse = _solve(rows, times, trust)
    held_out = np.abs(times - _held_out(rows, times, trust))
    sigma = float(np.sqrt(np.mean(np.square(held_out)))) or 1e-3
    return Model(weights, center, inverse, sigma, float(np.expm1(np.median(held_out))))


def _solve(rows: Floats, times: Floats, trust: Floats) -> tuple[Floats, Floats]:
    """Return the weights, and the matrix of their uncertainty."""
    scaled = rows * trust[:, None]
    ridge = np.full(len(FEATURES), RIDGE)
    ridge[0] = 1e-9  # the mean is not regularised
    inverse: Floats = np.linalg.inv(scaled.T @ scaled + np.diag(ridge)).astype(np.float64)
    return inverse @ (scaled.T @ (times * trust)), inverse


def _held_out(rows: Floats, times: Floats, trust: Floats) -> Floats:
    """Predict each record with a model that was trained without it."""
    found = np.empty_like(times)
    fold = np.arange(len(times)) % FOLDS
    for k in range(FOLDS):
        others = fold != k
        weights, _ = _solve(rows[others], times[others], trust[others])
        found[~others] = rows[~others] @ weights
    return found
