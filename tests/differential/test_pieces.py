"""Test elementwise ops on concatenations, which are computed piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .comparing import agrees

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "difference": lambda u: u - np.roll(u, 1, 0),
    "columns": lambda u: np.negative(np.roll(u, 2, 1)) + u,
    "joined": lambda u: np.concatenate([u, u * 2], axis=1) + 1,
    "grown": lambda u: np.negative(np.concatenate([u[:1], u], 0)) * 2,
    "padded": lambda u: np.pad(u, 1) * 3,
    "compared": lambda u: (np.roll(u, 1, 0) != u) & (u != 0),
    "chosen": lambda u: np.where(u != 0, np.roll(u, 1), 0),
    "two cuts": lambda u: np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1),
    "stacked": lambda u: np.vstack([u, u]) - np.arange(u.shape[1]),
    "read twice": lambda u: (np.roll(u, 1, 0) + 1, np.roll(u, 1, 0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pieces(name: str) -> None:
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, (14, 18))
    jitted = weft.jit(FUNCTIONS[name])
    for u in (
        whole.astype(np.float32), np.asfortranarray(whole, np.float32), whole.astype(np.float64)[::2, ::2],
        whole[:1], whole[:, :1].astype(np.float16), whole + 1j * whole[::-1],
    ):  # fmt: skip
        agrees(FUNCTIONS[name], u, jitted=jitted)


def test_nothing_that_was_put_together_is_in_memory() -> None:
    lowered = weft.jit(lambda x: (x - np.roll(x, 1)) * 2).lower(np.ones(10))
    assert len(lowered.kernels) == 2
