"""Random choices over the values of a program so far: operands, partners that broadcast, numbers, axes, shapes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from weft.ir.dtypes import ALL, NATIVE

from .program import Ref, SizeOf

T = TypeVar("T")
DTYPES = tuple(d.numpy.name for d in ALL if d in NATIVE)
OTHERS = tuple(d.numpy.name for d in ALL if d not in NATIVE)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65)
LONG = (100, 129, 513, 1025, 2100)  # over a vector, over a block of the reduction tree, over two
INTEGERS = (0, 1, 2, 3, -1, -2, 5, 7, 8, 31, 64, 100, 127, 128, 255, 256, -128, -129, 2**31, 2**40, -(2**63), 2**63)
FLOATS = (0.5, -0.0, 0.0, 1.0, 2.0, -1.5, 3.0, 0.1, 1e30, 1e-30, 65520.0, float("inf"), float("nan"), -1.0)
COMPLEX = (1j, 0.5 - 2j, complex(0.0, -0.0), complex(float("inf"), 1.0))
MISSING = object()


class Choice:
    """A source of chance, and the values so far as NumPy has them."""

    def __init__(self, rng: random.Random, values: list[Any], eager: bool = False) -> None:
        self.rng, self.values, self.eager = rng, values, eager

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.rng.randrange(len(items))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # -- values

    def value(self, suits: Callable[[Any], bool] = lambda x: True) -> Ref | None:
        """Choose a suitable value, more likely a late one, so that programs are deep."""
        fit = [k for k, x in enumerate(self.values) if isinstance(x, (np.ndarray, np.generic)) and suits(x)]
        if not fit:
            return None
        return Ref(max(self.one_of(fit), self.one_of(fit)))

    def plain_float(self) -> Ref:
        """Choose a float if there is one, more likely an early one, which still has all its special numbers."""
        fit = [k for k, x in enumerate(self.values) if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"]
        return Ref(min(self.one_of(fit), self.one_of(fit))) if fit else self.any_value()

    def any_value(self) -> Ref:
        found = self.value()
        assert found is not None
        return found

    def actual(self, ref: Any) -> Any:
        return self.values[ref.index] if isinstance(ref, Ref) else ref

    def partner(self, first: Any) -> Any:
        """Choose an operand for a value: one that broadcasts with it, a number, rarely anything else."""
        shape = np.shape(self.actual(first))
        roll = self.rng.random()
        if roll < 0.25:
            return self.number()
        if roll < 0.32:
            return self.numpy_scalar()
        if roll < 0.34:
            return self.any_value()
        if roll < 0.40:
            return first
        return self.value(lambda x: _broadcasts(x.shape, shape)) or first

    def mask(self, first: Any) -> Any:
        """Truth values that broadcast to the shape of a value."""
        shape = np.shape(self.actual(first))
        found = self.value(lambda x: x.dtype == bool and _broadcasts(x.shape, shape))
        return True if found is None else found

    # -- constants

    def number(self) -> Any:
        """A Python number, weak as NumPy has it."""
        roll = self.rng.random()
        if roll < 0.5:
            return self.one_of(INTEGERS[:12] if self.chance(0.8) else INTEGERS)
        if roll < 0.92:
            return self.one_of(FLOATS)
        return self.one_of((True, False)) if roll < 0.97 else self.one_of(COMPLEX)

    def integer(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def dtype(self) -> Any:
        return np.dtype(self.one_of(OTHERS) if OTHERS and self.chance(0.05) else self.native_dtype())

    def native_dtype(self) -> str:
        """Choose plain floats more often than other dtypes, because most rounding errors show there."""
        return self.one_of(("float32", "float64")) if self.chance(0.3) else self.one_of(DTYPES)

    def numpy_scalar(self) -> Any:
        dtype = self.dtype()
        with np.errstate(all="ignore"):
            return np.array(self.one_of((0, 1, 2, 3, 100))).astype(dtype)[()]

    def size(self, ref: Any, axis: int) -> Any:
        """Choose the size of a value along an axis, as a symbol or as a number."""
        number = np.shape(self.actual(ref))[axis]
        return SizeOf(ref.index, axis) if isinstance(ref, Ref) and self.chance(0.4) else number

    # -- axes and shapes

    def axis(self, rank: int) -> int:
        """Choose an axis, counted from either end; rarely one that does not exist."""
        if rank == 0 or self.chance(0.02):
            return self.integer(-rank - 1, rank)
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int) -> tuple[int, ...]:
        picked = [axis for axis in range(rank) if self.chance(0.5)]
        self.rng.shuffle(picked)
        return tuple(axis - rank if self.chance(0.3) else axis for axis in picked)

    def order(self, rank: int) -> tuple[int, ...]:
        return tuple(self.rng.sample(range(rank), rank))

    def small_shape(self) -> tuple[int, ...]:
        return tuple(self.one_of(SIZES[:10]) for _ in range(self.integer(0, 3)))

    def slice(self, size: int) -> slice:
        """Choose all of an axis in steps, or a part of it, which may be empty."""
        step = self.one_of((None, 1, 2, 2, 3, -1, -1, -2))
        if self.chance(0.5):
            return slice(None, None, step)
        ends = (None, 0, 1, 2, -1, -2, size // 2, size, size + 3, -size - 2)
        found = slice(self.one_of(ends), self.one_of(ends), step)
        return found if len(range(size)[found]) or self.chance(0.2) else slice(None, self.one_of(ends), None)


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or m == 1 or n == 1 for m, n in zip(a[::-1], b[::-1], strict=False))
