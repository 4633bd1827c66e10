"""Describe the formats of floating-point numbers: bits, exponents, NumPy's dtype, and all their numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from weft.ir import dtypes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: the bits of its mantissa, including the leading one, and the exponents of its normal numbers."""

    name: str
    bits: int
    least: int
    most: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtypes.parse(self.name).numpy

    @property
    def is_complex(self) -> bool:
        return self.name.startswith("c")

    @property
    def part(self) -> Format:
        """The format of a complex number's parts; a real format is its own part."""
        return {"c64": F32, "c128": F64}.get(self.name, self)

    @property
    def pattern(self) -> np.dtype[Any]:
        """The unsigned integer type of the same size."""
        return np.dtype(f"u{self.dtype.itemsize}")

    @property
    def smallest(self) -> float:
        return float(2.0 ** (self.least - self.bits + 1))

    @property
    def smallest_normal(self) -> float:
        return float(2.0**self.least)

    @property
    def largest(self) -> float:
        return float((2.0 - 2.0 ** (1 - self.bits)) * 2.0**self.most)

    @property
    def count(self) -> int:
        """Return how many numbers there are, including infinities and all NaNs."""
        return int(1 << 8 * self.dtype.itemsize)

    def every(self, block: int) -> Iterator[Array]:
        """Yield all numbers of the format in blocks of neighbours; consecutive blocks are far apart.

        So large errors are met early. After that, few points can exceed them and need to be computed with many digits.
        """
        first = np.arange(min(block, self.count)).astype(self.pattern)
        blocks = self.count // first.size  # a power of two, so every number is met once
        for number in range(blocks):
            start = number * _STRIDE % blocks * first.size
            yield (first + self.pattern.type(start)).view(self.dtype)


_STRIDE = 20_261  # odd, and about 0.618 of the blocks of f32

F16 = Format("f16", 11, -14, 15)
BF16 = Format("bf16", 8, -126, 127)
F32 = Format("f32", 24, -126, 127)
F64 = Format("f64", 53, -1022, 1023)
C64 = Format("c64", F32.bits, F32.least, F32.most)
C128 = Format("c128", F64.bits, F64.least, F64.most)
REAL = (F16, BF16, F32, F64)
COMPLEX = (C64, C128)
FORMATS = {format.name: format for format in (*REAL, *COMPLEX)}


@functools.cache
def specials(format: Format) -> Array:
    """Return zeros, infinities, NaN, the smallest and largest numbers, and exact arguments of many functions."""
    limits = [format.smallest, format.smallest_normal, format.largest]
    sizes = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, *limits, np.inf, np.nan])
    return np.concatenate([sizes, -sizes]).astype(format.dtype)
