"""Define the arguments of each library kernel in the tests, and how close it must be to its reference.

Sizes are letters of a `Data`; the test chooses the sizes, memory layouts and dtype. A tolerance is in units in the last
place of the expected value or of `scale`, whichever is larger: if large numbers cancel, their rounding errors stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Data:
    """Random arrays of one dtype. `apart` lays them out with gaps, backwards, and transposed if they are matrices."""

    rng: np.random.Generator
    dtype: str
    n: int = 37
    m: int = 53
    k: int = 19
    apart: bool = False

    def uniform(self, *shape: int, low: float = -3, high: float = 3) -> Array:
        return self._laid_out(self.rng.uniform(low, high, shape).astype(self.dtype))

    def integers(self, *shape: int, low: int = 0, high: int = 10, dtype: str = "i8") -> Array:
        return self._laid_out(self.rng.integers(low, max(high, low + 1), shape).astype(dtype))

    def _laid_out(self, x: Array) -> Array:
        if not self.apart:
            return x
        wide = np.repeat(x, 2, axis=-1).T.copy().T
        return wide[..., ::-2][..., ::-1] if x.ndim == 1 else wide[..., ::2]


@dataclass(frozen=True)
class Case:
    """`make` returns the arguments. Without `empty` the kernel has no value for arrays without elements.

    Kernels that take `long` to compile are tested in fewer combinations of dtype and layout.
    """

    make: Callable[[Data], Sequence[Any]]
    ulps: float = 0
    scale: float = 0
    empty: bool = True
    long: bool = False


def _pair(d: Data) -> Sequence[Any]:
    return d.uniform(d.n, d.m), d.uniform(d.n, d.m)


def _elements(d: Data) -> Sequence[Any]:
    return (d.uniform(d.n, d.m),)


def _positive(d: Data) -> Sequence[Any]:
    return (d.uniform(d.n, d.m, low=0.01, high=9),)


def _norm(d: Data) -> Sequence[Any]:
    return d.uniform(d.n, d.m), d.uniform(d.m), d.uniform(d.m), 1e-5


def _globe(d: Data) -> Sequence[Any]:
    north, east = d.uniform(d.n, low=-90, high=90), d.uniform(d.n, low=-180, high=180)
    return north, east, d.uniform(d.n, low=-90, high=90), d.uniform(d.n, low=-180, high=180), 6371.0


def _options(d: Data) -> Sequence[Any]:
    return (
        d.uniform(d.n, low=80, high=120),
        d.uniform(d.n, low=80, high=120),
        d.uniform(d.n, low=0.3, high=2),
        0.02,
        0.3,
    )


def _plane(d: Data) -> Sequence[Any]:
    return d.uniform(d.m, low=-2, high=1), d.uniform(d.n, low=-1.3, high=1.3)


def _channels(d: Data) -> Sequence[Any]:
    return d.uniform(min(d.n, 2), 3, d.m, d.k), d.uniform(5, 3, min(d.k, 3), min(d.k, 2))


def _attention(d: Data) -> Sequence[Any]:
    return d.uniform(2, d.n, d.k), d.uniform(2, 3 * d.m, d.k), d.uniform(2, 3 * d.m, d.k)


def _bodies(d: Data) -> Sequence[Any]:
    return d.uniform(d.n, 3), d.uniform(d.n, 3), d.uniform(d.n, low=0.1, high=1)


def _system(d: Data) -> Sequence[Any]:
    a = d.uniform(d.n, d.n)
    a[np.diag_indices(d.n)] += 200
    return a, d.uniform(d.n), 1e-5, 50


def _graph(d: Data) -> Sequence[Any]:
    lengths = d.uniform(d.n, d.n, low=1, high=9)
    lengths[lengths > 5] = np.inf
    return (lengths,)


def _spins(d: Data) -> Sequence[Any]:
    half = d.uniform(d.k, d.k)
    return half + half.T, d.uniform(d.k), np.sign(d.uniform(d.n, d.k))


def _annealing(d: Data) -> Sequence[Any]:
    return *_spins(d), d.uniform(d.m, low=0.1, high=2), d.uniform(d.m, d.n, low=0, high=1)


def _amplitudes(d: Data) -> Sequence[Any]:
    state = d.uniform(d.n) + 1j * d.uniform(d.n)
    return state.astype(np.result_type(d.dtype, np.complex64)), d.integers(d.n, high=2, dtype="?"), 3


def _filter(d: Data) -> Sequence[Any]:
    a = d.uniform(min(d.k, 3)) / 8
    a[0] = 1
    return d.uniform(min(d.k, 4)), a, d.uniform(d.n)


CASES: dict[str, Case] = {
    "add": Case(_pair),
    "sub": Case(_pair),
    "mul": Case(_pair),
    "div": Case(_pair),
    "axpy": Case(lambda d: (2.5, *_pair(d))),
    "dot": Case(lambda d: (d.uniform(d.n), d.uniform(d.n)), 8, 8),
    "sum": Case(_elements, 16, 64),
    "asum": Case(_elements, 8),
    "nrm2": Case(_elements, 8),
    "argmax": Case(_elements, empty=False),
    "cumsum": Case(_elements),
    "sin": Case(_elements, 2, 0.1),
    "cos": Case(_elements, 2, 0.1),
    "exp": Case(_elements, 3),
    "log": Case(_positive, 5, 0.1),  # NumPy is up to 4 ULP from the truth in f32
    "sqrt": Case(_positive),
    "relu": Case(_elements),
    "leaky_relu": Case(lambda d: (*_elements(d), 0.01)),
    "sigmoid": Case(_elements, 3),
    "tanh": Case(_elements, 3),
    "gelu": Case(_elements, 6),
    "gelu_tanh": Case(_elements, 6, 0.5),
    "silu": Case(_elements, 4),
    "softplus": Case(_elements, 3),
    "elu": Case(lambda d: (*_elements(d), 1.5), 3),
    "softmax": Case(_elements, 8),
    "log_softmax": Case(_elements, 4, 1),
    "logsumexp": Case(_elements, 4, 1),
    "layernorm": Case(_norm, 16, 4),
    "rmsnorm": Case(lambda d: (d.uniform(d.n, d.m), d.uniform(d.m), 1e-5), 8),
    "cross_entropy": Case(lambda d: (d.uniform(d.n, d.m), d.integers(d.n, high=d.m)), 16, 1, empty=False),
    "gemm": Case(lambda d: (1.5, d.uniform(d.n, d.k), d.uniform(d.k, d.m), -0.5, d.uniform(d.n, d.m)), 16, 32),
    "gemv": Case(lambda d: (1.5, d.uniform(d.n, d.m), d.uniform(d.m), -0.5, d.uniform(d.n)), 16, 32),
    "ger": Case(lambda d: (1.5, d.uniform(d.n), d.uniform(d.m), d.uniform(d.n, d.m)), 2, 8),
    "trmm": Case(lambda d: (True, 1.5, d.uniform(d.n, d.n), d.uniform(d.n, d.m)), 16, 32, long=True),
    "symm": Case(lambda d: (True, 1.5, d.uniform(d.n, d.n), d.uniform(d.n, d.m), -0.5, d.uniform(d.n, d.m)), 16, 32),
    "syrk": Case(lambda d: (False, 1.5, d.uniform(d.n, d.k), -0.5, d.uniform(d.n, d.n)), 16, 32, long=True),
    "conv1d": Case(lambda d: (d.uniform(d.n), d.uniform(min(d.k, 7))), 8, 16, empty=False),
    "conv2d": Case(lambda d: (d.uniform(d.n, d.m), d.uniform(min(d.k, 3), min(d.k, 5))), 8, 32, empty=False),
    "conv2d_nchw": Case(_channels, 16, 64, long=True),
    "maxpool": Case(lambda d: (d.uniform(d.n, d.m),)),
    "ema": Case(lambda d: (d.uniform(d.n), 0.25)),
    "iir": Case(_filter),
    "attention": Case(_attention, 64, 1, long=True),
    "causal_attention": Case(_attention, 64, 1, long=True),
    "nbody": Case(lambda d: (*_bodies(d), 0.001, 3), 64, 16, long=True),
    "jacobi": Case(_system, 8, 1),
    "heat2d": Case(lambda d: (d.uniform(d.n, d.m), 0.2, 3), 8, 3),
    "life": Case(lambda d: (d.integers(d.n, d.m, high=2, dtype="u1"), 3), empty=False),
    "cosine_similarity": Case(_pair, 8, 1),
    "pairwise_distance": Case(lambda d: (d.uniform(d.n, d.k), d.uniform(d.m, d.k)), 8),
    "haversine": Case(_globe, 16, 6371),
    "black_scholes": Case(_options, 16, 120),
    "mandelbrot": Case(lambda d: (*_plane(d), 50)),
    "min_plus": Case(lambda d: (d.uniform(d.n, d.k), d.uniform(d.k, d.m))),
    "shortest_paths": Case(_graph),
    "ising_energy": Case(_spins, 16, 64),
    "anneal": Case(_annealing, 16, 64, long=True),
    "amplify": Case(_amplitudes, 16, 8, empty=False),
    "julia": Case(lambda d: (*_plane(d), -0.8, 0.156, 50)),
}
