"""Searches over paths, spins and amplitudes, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def min_plus(a: Any, b: Any) -> Any:
    return np.min(a[:, :, None] + b[None, :, :], axis=1)


def shortest_paths(lengths: Any) -> Any:
    d = lengths.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def ising_energy(couplings: Any, fields: Any, spins: Any) -> Any:
    apart = couplings - np.diag(np.diag(couplings))
    return -np.sum(spins * (spins @ apart), axis=1) / 2 - spins @ fields


def anneal(couplings: Any, fields: Any, spins: Any, beta: Any, noise: Any) -> Any:
    apart = couplings - np.diag(np.diag(couplings))
    s = spins.copy()
    for t in range(len(beta)):
        site = t % len(fields)
        pull = s @ apart[site] + fields[site]
        s[noise[t] < np.exp(-2 * beta[t] * s[:, site] * pull), site] *= -1
    return s, ising_energy(couplings, fields, s)


def amplify(state: Any, marked: Any, steps: int) -> Any:
    s = state
    for _ in range(steps):
        flipped = np.where(marked, -s, s)
        s = 2 * np.mean(flipped) - flipped
    return s
