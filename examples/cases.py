"""Define the cases of `run.py`: for each example kernel its data, the NumPy code, and the tolerance.

A tolerance is in units in the last place (ULP) of the expected value or of `scale`, whichever is larger. `scale` is for
results in which large numbers cancel: their rounding errors stay, in NumPy as in Weft. Integers and booleans must be
equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import references

Array = np.ndarray[Any, Any]
EARTH = 6371.0


class Data:
    """Make arrays of about `count` elements, the same on every run."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rng = np.random.default_rng(count)

    def vector(self, dtype: str = "f4", low: float = -3.0, high: float = 3.0) -> Array:
        return self.rng.uniform(low, high, self.count).astype(dtype)

    def table(self, dtype: str = "f4", columns: int = 512, low: float = -3.0, high: float = 3.0) -> Array:
        return self.rng.uniform(low, high, (max(2, self.count // columns), columns)).astype(dtype)

    def row(self, dtype: str = "f4", columns: int = 512) -> Array:
        return self.rng.uniform(-1, 1, columns).astype(dtype)

    def integers(self, dtype: str, low: int, high: int) -> Array:
        return self.rng.integers(low, high, self.count).astype(dtype)

    def image(self, *channels: int) -> Array:
        side = max(4, 2 * (int(self.count**0.5) // 2))
        return self.rng.random((side, side + 2, *channels)).astype("f4")

    def squares(self) -> Array:
        image = self.image()
        return image.reshape(image.shape[0] // 2, 2, image.shape[1] // 2, 2)

    def side(self) -> Array:
        return self.rng.standard_normal(max(2, int(self.count**0.5)))

    def points(self, share: float) -> Array:
        return self.rng.standard_normal((max(2, int(share * self.count**0.5)), 3))


@dataclass(frozen=True)
class Case:
    """A kernel in a file of this folder. A jitted Python function is its own reference."""

    file: str
    kernel: str
    make: Callable[[Data], tuple[Any, ...]]
    reference: Callable[..., Any] | None = None
    ulps: float = 0.0
    scale: float = 0.0


def _globe(d: Data) -> tuple[Any, ...]:
    return (*(d.vector("f8", -s, s) for s in (1.5, 3.1, 1.5, 3.1)), EARTH)


def _interest(d: Data) -> tuple[Any, ...]:
    rates = d.table("f8", 12, -0.05, 0.06)
    return d.vector("f8")[: len(rates)], rates


def _options(d: Data) -> tuple[Any, ...]:
    return d.vector("f8", 80, 120), d.vector("f8", 80, 120), d.vector("f8", 0.25, 2), 0.02, 0.3


CASES = (
    Case("elementwise.weft", "blend", lambda d: (d.vector(), d.vector(), d.vector()), references.blend),
    Case("elementwise.weft", "axpy", lambda d: (2.5, d.vector("f8"), d.vector("f8")), references.axpy),
    Case("elementwise.weft", "haversine", _globe, references.haversine, ulps=8, scale=EARTH),
    Case("elementwise.weft", "damped_wave", lambda d: (d.vector("f8", 0, 9), 0.3, 1.5), references.damped_wave, ulps=4),
    Case("elementwise.weft", "polar", lambda d: (d.vector(), d.vector()), references.polar),
    Case("finance.weft", "black_scholes", _options, references.black_scholes, ulps=8, scale=120),
    Case("finance.weft", "compound", _interest, references.compound, ulps=16),
    Case("images.weft", "luminance", lambda d: (d.image(3),), references.luminance),
    Case("images.weft", "blur", lambda d: (d.image(),), references.blur),
    Case("images.weft", "turn", lambda d: (d.image(),), references.turn),
    Case("images.weft", "halve", lambda d: (d.squares(),), references.halve, ulps=2),
    Case("layers.weft", "bias_gelu", lambda d: (d.table(), d.row()), references.bias_gelu, ulps=4, scale=2),
    Case("layers.weft", "swish", lambda d: (d.vector(),), references.swish, ulps=8),
    Case("layers.weft", "softmax", lambda d: (d.table(),), references.softmax, ulps=8),
    Case("layers.weft", "logsumexp", lambda d: (d.table(),), references.logsumexp, ulps=4),
    Case("layers.weft", "layernorm", lambda d: (d.table(), d.row(), d.row()), references.layernorm, ulps=8, scale=1),
    Case("layers.weft", "rmsnorm", lambda d: (d.table(), d.row()), references.rmsnorm, ulps=8),
    Case("layers.weft", "residual_relu", lambda d: (d.table(), d.table(), d.row()), references.residual_relu),
    Case("logic.weft", "clamped", lambda d: (d.vector(), -1.0, 2.0), references.clamped),
    Case("logic.weft", "quantise", lambda d: (d.vector(), 0.01), references.quantise),
    Case("logic.weft", "mixed_bits", lambda d: (d.integers("i4", -(2**31), 2**31),), references.mixed_bits),
    Case("logic.weft", "outliers", lambda d: (d.table("f8"), 2.9), references.outliers),
    Case("logic.weft", "leap", lambda d: (d.integers("i8", 1, 4000),), references.leap),
    Case("pairs.weft", "outer_sum", lambda d: (d.side(), d.side()), references.outer_sum),
    Case("pairs.weft", "squared_distances", lambda d: (d.points(0.5), d.points(0.5)), references.squared_distances, 4),
    Case(
        "pairs.weft", "gaussian_kernel", lambda d: (d.points(0.5), d.points(0.5), 0.7), references.gaussian_kernel, 4, 1
    ),
    Case("statistics.weft", "moments", lambda d: (d.vector(),), references.moments, ulps=8, scale=1),
    Case("statistics.weft", "standardise", lambda d: (d.table("f8"),), references.standardise, ulps=8, scale=1),
    Case("statistics.weft", "unit_range", lambda d: (d.table("f8"),), references.unit_range),
    Case("statistics.weft", "column_means", lambda d: (d.table(),), references.column_means, ulps=8, scale=1),
    Case("statistics.weft", "correlation", lambda d: (d.vector("f8"), d.vector("f8")), references.correlation, 8, 1),
    Case("functions.py", "wave", lambda d: (d.table(), d.vector()[: max(2, d.count // 512)]), ulps=8),
    Case("functions.py", "summary", lambda d: (d.vector("f8"),), ulps=8, scale=1),
    Case("functions.py", "sharpened", lambda d: (d.image(), 0.5)),
)
