"""Simulate a planet and its moon around a sun for 20,000 steps in one native call, and check that energy is conserved.

python examples/library/orbit.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import weft

Array = np.ndarray[Any, Any]


def energy(position: Array, velocity: Array, mass: Array) -> float:
    apart = weft.kernels.pairwise_distance(position, position)
    pairs = np.triu_indices(len(mass), 1)
    return float((mass * (velocity**2).sum(axis=1)).sum() / 2 - (np.outer(mass, mass)[pairs] / apart[pairs]).sum())


def main() -> None:
    mass = np.array([1.0, 1e-3, 1e-6])
    position = np.array([[0, 0, 0], [1, 0, 0], [1.02, 0, 0]], float)
    velocity = np.array([[0, 0, 0], [0, 1, 0], [0, 1 + np.sqrt(1e-3 / 0.02), 0]], float)
    before = energy(position, velocity, mass)
    args = mass, 0.0005, 20_000
    moved, speed = weft.kernels.nbody(position, velocity, *args)
    drift = abs(energy(moved, speed, mass) / before - 1)
    few = weft.kernels.nbody(position, velocity, mass, 0.0005, 100)
    assert np.allclose(few, weft.kernels.nbody.reference(position, velocity, mass, 0.0005, 100), rtol=1e-9, atol=1e-12)
    assert drift < 1e-4
    years = 20_000 * 0.0005 / (2 * np.pi)
    print(f"after {years:.2f} years the energy has changed by {drift:.0e}, the planet is at {moved[1].round(3)}")


if __name__ == "__main__":
    main()
