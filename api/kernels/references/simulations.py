"""Systems that change step by step, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def _gravity(x: Any, mass: Any) -> Any:
    d = x[None, :, :] - x[:, None, :]
    r2 = (d * d).sum(axis=-1)
    pull = np.where(r2 == 0, 0, mass / (np.where(r2 == 0, 1, r2) ** 1.5))
    return (pull[..., None] * d).sum(axis=1)


def nbody(position: Any, velocity: Any, mass: Any, dt: Any, steps: int) -> Any:
    x, v, a = position.copy(), velocity.copy(), _gravity(position, mass)
    for _ in range(steps):
        x = x + dt * (v + dt / 2 * a)
        following = _gravity(x, mass)
        v, a = v + dt / 2 * (a + following), following
    return x, v


def jacobi(a: Any, b: Any, tol: Any, limit: int) -> Any:
    d, steps = np.diagonal(a), 0
    x = b / d
    change = np.max(np.abs(x), initial=0)
    while steps < limit and change > tol:
        following = x + (b - a @ x) / d
        change = np.max(np.abs(following - x), initial=0)
        x, steps = following, steps + 1
    return x, np.int64(steps)


def heat2d(u: Any, r: Any, steps: int) -> Any:
    v = u.copy()
    for _ in range(steps):
        around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
        v[1:-1, 1:-1] = v[1:-1, 1:-1] + r * (around - 4 * v[1:-1, 1:-1])
    return v


def life(cells: Any, steps: int) -> Any:
    c = (cells != 0).astype(np.uint8)
    for _ in range(steps):
        around = sum(np.roll(c, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        c = ((around == 3) | (around == 2) & (c == 1)).astype(np.uint8)
    return c
