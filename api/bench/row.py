"""Define what is measured: a `Row` is one expression with its inputs, a `Case` is a row at one size and dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.records import record

Function = Callable[..., Any]
Make = Callable[[Any], Function]
"""NumPy, or another library under NumPy's names, to the function of the arrays. Every library gets the same text."""
Loops = Callable[[Any, Any], Function]
"""NumPy and Numba's `prange` to the function written as loops."""
Inputs = Callable[[np.random.Generator, int, str], tuple[Any, ...]]
"""A generator, the number of elements and the dtype to the arguments."""

SMALL, MID, BIG = 1_000, 100_000, 4_000_000
SIZES = (SMALL, MID, BIG)
FLOATS = ("f32", "f64")
NUMPY = {"f32": np.float32, "f64": np.float64}


@record
class Row:
    """One expression. `numexpr` names the arguments a, b, c, ... in their order."""

    name: str
    make: Make
    inputs: Inputs
    numexpr: str = ""
    loops: Loops | None = None
    dtypes: tuple[str, ...] = FLOATS
    sizes: tuple[int, ...] | None = None  # None means the sizes of the command line
    streams: bool = False  # bound by memory once the arrays exceed the cache
    views: bool = False  # the inputs are not contiguous, and a library without strides does other work
    torch: Make | None = None  # for tensors, which have other names for the same operations
    into: Any = None  # a ufunc: the last argument is written, by this function in NumPy
    ufunc: Any = None  # does the same in NumPy, without a Python function around it
    kernel: Any = None  # Weft's own kernel, called in place of the function


@record
class Case:
    """A row at one size and dtype, with its arguments."""

    row: Row
    size: int
    dtype: str
    args: tuple[Any, ...]

    @property
    def arrays(self) -> list[Any]:
        return [x for x in self.args if isinstance(x, np.ndarray)]


def cases(row: Row, sizes: Sequence[int]) -> list[tuple[int, str]]:
    """Return the sizes and dtypes of a row; equal dtypes are adjacent, because they are compiled once."""
    return [(size, dtype) for dtype in row.dtypes for size in row.sizes or sizes]


def case(row: Row, size: int, dtype: str) -> Case:
    """Make a case; its arguments depend only on the row's name, size and dtype."""
    seed = [size, len(dtype), *row.name.encode()]
    return Case(row, size, dtype, row.inputs(np.random.default_rng(seed), size, dtype))


def normal(count: int = 1) -> Inputs:
    """Make vectors of normally distributed numbers."""
    return lambda rng, n, dtype: tuple(rng.standard_normal(n).astype(NUMPY[dtype]) for _ in range(count))


def uniform(low: float, high: float, count: int = 1) -> Inputs:
    """Make vectors of numbers between two bounds."""
    return lambda rng, n, dtype: tuple(rng.uniform(low, high, n).astype(NUMPY[dtype]) for _ in range(count))


def matrices(count: int = 1, width: int = 0) -> Inputs:
    """Make normal matrices with rows of `width`, or by default of 64 up to 1,000 elements and 512 above."""
    return lambda rng, n, dtype: tuple(rng.standard_normal(shape(n, width)).astype(NUMPY[dtype]) for _ in range(count))


def shape(n: int, width: int = 0) -> tuple[int, int]:
    """Return the rows and columns of a matrix of about n elements."""
    columns = width or (64 if n <= SMALL else 512)
    return max(1, n // columns), columns
