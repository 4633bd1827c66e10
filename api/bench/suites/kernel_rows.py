"""Define the suite `library`: kernels that come with Weft, beside NumPy's way and the loops of a Numba user."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from ... import kernels
from ...kernels.references import search, signals, simulations
from ..row import NUMPY, Inputs, Loops, Row
from . import loops_library as loops

SIZES = (1_000, 100_000)  # NumPy's way is a loop in Python
STEPS = 12


def _filtered(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    numbers = [0.2, 0.3, 0.1], [1.0, -0.5, 0.2], rng.standard_normal(n)
    return tuple(np.asarray(x, NUMPY[dtype]) for x in numbers)


def _averaged(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return rng.standard_normal(n).astype(NUMPY[dtype]), 0.25


def _squares(count: int) -> Inputs:
    def inputs(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
        side = isqrt(n)
        return tuple(rng.random((side, side)).astype(NUMPY[dtype]) for _ in range(count))

    return inputs


def _spins(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    side = isqrt(n)
    couplings = rng.standard_normal((side, side))
    given = couplings + couplings.T, rng.standard_normal(side), rng.choice([-1.0, 1.0], (side, side))
    return tuple(x.astype(NUMPY[dtype]) for x in given)


def _annealed(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    side = isqrt(n)
    return *_spins(rng, n, dtype), *(x.astype(NUMPY[dtype]) for x in (np.linspace(0.1, 2, 20), rng.random((20, side))))


def _amplified(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return np.full(n, 1 / n**0.5, np.complex128), np.arange(n) == n // 3, STEPS


def _energy(anneal: Any) -> Any:
    return lambda *args: anneal(*args)[1]


def _row(
    kernel: Any, reference: Any, inputs: Inputs, written: Loops | None = None, dtypes: tuple[str, ...] = ("f64",)
) -> Row:
    name = reference.__name__
    return Row(name, lambda np: reference, inputs, loops=written, dtypes=dtypes, sizes=SIZES, kernel=kernel)


ROWS = (
    _row(kernels.ema, signals.ema, _averaged, loops.ema),
    _row(kernels.iir, signals.iir, _filtered, loops.iir),
    _row(kernels.min_plus, search.min_plus, _squares(2), loops.min_plus, ("f32", "f64")),
    _row(kernels.shortest_paths, search.shortest_paths, _squares(1), loops.shortest_paths, ("f32", "f64")),
    _row(kernels.ising_energy, search.ising_energy, _spins),
    Row(
        "anneal",
        lambda np: _energy(search.anneal),
        _annealed,
        dtypes=("f64",),
        sizes=SIZES,
        kernel=_energy(kernels.anneal),
    ),
    _row(kernels.amplify, search.amplify, _amplified, loops.amplify, ("c128",)),
    _row(kernels.heat2d, simulations.heat2d, lambda rng, n, dtype: (*_squares(1)(rng, n, dtype), 0.2, STEPS)),
)
