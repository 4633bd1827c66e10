"""Make the arguments of random programs: the same new array or number every time.

An `Input` has the kind of argument, its dtype, shape, memory layout and numbers. Numbers are drawn by mood and seed, or
listed, as in a shrunk program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..differential.arrays import LAYOUTS, random, specials

Array = np.ndarray[Any, Any]

# "array" and "captured" (read from outside by the function) have a layout, "scalar" is NumPy's, "number" Python's.
KINDS = ("array", "captured", "scalar", "number")


@dataclass(frozen=True)
class Input:
    """One argument."""

    dtype: str
    shape: tuple[int, ...] = ()
    layout: str = "C"
    mood: str = "plain"
    seed: int = 0
    kind: str = "array"
    numbers: tuple[Any, ...] | None = None

    @property
    def flat(self) -> Array:
        """The numbers in C order."""
        if self.numbers is not None:
            return np.array(self.numbers, np.dtype(self.dtype)).reshape(-1)
        size = int(np.prod(self.shape, dtype=int))
        return MOODS[self.mood](self.dtype, size, np.random.default_rng(self.seed))

    def make(self) -> Any:
        """The argument itself."""
        x = self.flat.reshape(self.shape)
        if self.kind == "number":
            return x.item()
        if self.kind == "scalar":
            return x[()]
        return laid_out(x, self.layout)

    def resized(self, sizes: Mapping[int, int]) -> Input:
        """The input with other sizes."""
        shape = tuple(sizes.get(n, n) for n in self.shape)
        return self if shape == self.shape else replace(self, shape=shape, numbers=None)


def fits(layout: str, shape: tuple[int, ...]) -> bool:
    """Tell whether an array of this shape can have this layout."""
    return bool(shape) or layout in ("C", "unaligned", "read-only", "byte-swapped")


def laid_out(x: Array, layout: str) -> Array:
    """Return the array in a layout, or unchanged if the layout needs more dimensions."""
    return LAYOUTS[layout](x) if fits(layout, x.shape) and (x.shape or layout != "C") else x


def _whole(dtype: str, size: int, rng: np.random.Generator) -> Array:
    low = -9 if np.dtype(dtype).kind not in "bu" else 0
    return rng.integers(low, 10, size).astype(np.dtype(dtype))


def _ties(dtype: str, size: int, rng: np.random.Generator) -> Array:
    """Draw few different numbers, including zeros of both signs."""
    few = np.array([0, 1, 1, 2, 3, 0, 0, 0]).astype(np.dtype(dtype))
    if np.dtype(dtype).kind not in "bu":
        few[-3:] = -few[[0, 1, 3]]
    return rng.choice(few, size)


def _special(dtype: str, size: int, rng: np.random.Generator) -> Array:
    """Draw special numbers in any order, as often as there is room."""
    return np.resize(rng.permutation(specials(dtype)), size)


def _dotted(dtype: str, size: int, rng: np.random.Generator) -> Array:
    """Everyday numbers with a special one here and there."""
    return np.where(rng.random(size) < 0.1, _special(dtype, size, rng), random(dtype, size, rng))


def _bits(dtype: str, size: int, rng: np.random.Generator) -> Array:
    """Draw any bit pattern, so any exponent; signalling NaNs are made quiet by an addition."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(size) < 0.5
    with np.errstate(all="ignore"):
        found: Array = rng.integers(0, 256, size * kind.itemsize, np.uint8).view(kind) + kind.type(0)
    return found


def _same(number: int) -> Callable[[str, int, np.random.Generator], Array]:
    return lambda dtype, size, rng: np.full(size, number).astype(np.dtype(dtype))


def _negative_zeros(dtype: str, size: int, rng: np.random.Generator) -> Array:
    zeros = _same(0)(dtype, size, rng)
    return -zeros if zeros.dtype.kind in "fV" else zeros


MOODS: Mapping[str, Callable[[str, int, np.random.Generator], Array]] = {
    "zeros": _same(0),
    "ones": _same(1),
    "whole": _whole,
    "plain": random,
    "ties": _ties,
    "dotted": _dotted,
    "special": _special,
    "bits": _bits,
    "negative zeros": _negative_zeros,
}
