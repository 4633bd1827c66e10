"""Generate the arrays that `--arg` describes, such as `randn(4,3)`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..ir.dtypes import F64, I64, DType
from ..ir.errors import LimitExceeded, ValueProblem
from ..ir.records import record

Array = np.ndarray[Any, Any]
Number = bool | int | float
Random = np.random.Generator

MAX_RANK = 32


@record
class Generator:
    """Make an array. `dtype` is the default; None keeps the dtype of the generated values."""

    make: Callable[[Sequence[Number], Random], Array]
    dtype: DType | None = None


def _sizes(usage: str, numbers: Sequence[Number]) -> tuple[int, ...]:
    sizes = [n for n in numbers if type(n) is int and n >= 0]
    if len(sizes) != len(numbers):
        raise ValueProblem("a size must be a whole number of 0 or more", hint=f"write {usage}")
    if len(sizes) > MAX_RANK:
        raise LimitExceeded(f"an array can have at most {MAX_RANK} dimensions, not {len(sizes)}")
    _check_memory(math.prod(sizes))
    return tuple(sizes)


def _check_memory(elements: float) -> None:
    """Refuse an array that does not fit in memory, before the system starts to kill processes.

    This counts the generated array, its copy in the wanted dtype, and a result of the same size.
    """
    have = free_memory()
    if not 3 * 8 * elements <= have:
        raise LimitExceeded(
            f"the array is too large for the {have / 2**30:.0f} GB that are free", hint="make it smaller"
        )


def free_memory() -> int:
    """Return the bytes available without swapping, or all memory if the system does not say."""
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            name, _, amount = line.partition(":")
            if name == "MemAvailable":
                return 1024 * int(amount.split()[0])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 40


def _finite(usage: str, numbers: Sequence[Number], counts: tuple[int, ...]) -> Sequence[Number]:
    if len(numbers) not in counts or not all(math.isfinite(n) for n in numbers):
        wanted = f"{' or '.join(map(str, counts))} finite numbers"
        raise ValueProblem(f"it takes {wanted}, not {', '.join(map(str, numbers)) or 'none'}", hint=usage)
    return numbers


def _zeros(numbers: Sequence[Number], random: Random) -> Array:
    return np.zeros(_sizes("zeros(4,3)", numbers), np.int8)


def _ones(numbers: Sequence[Number], random: Random) -> Array:
    return np.ones(_sizes("ones(4,3)", numbers), np.int8)


def _full(numbers: Sequence[Number], random: Random) -> Array:
    usage = "full(value,4,3)"
    if not numbers:
        raise ValueProblem("the value is missing", hint=f"write {usage}")
    return np.full(_sizes(usage, numbers[1:]), numbers[0])


def _randn(numbers: Sequence[Number], random: Random) -> Array:
    return random.standard_normal(_sizes("randn(4,3)", numbers))


def _rand(numbers: Sequence[Number], random: Random) -> Array:
    return random.random(_sizes("rand(4,3)", numbers))


def _randint(numbers: Sequence[Number], random: Random) -> Array:
    usage = "randint(low,high,4,3)"
    bounds = [n for n in numbers[:2] if type(n) is int and -(2**63) <= n <= 2**63]
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise ValueProblem("it takes two whole numbers in ascending order, then sizes", hint=f"write {usage}")
    sizes = _sizes(usage, numbers[2:])
    return random.integers(bounds[0], bounds[1], sizes)


def _arange(numbers: Sequence[Number], random: Random) -> Array:
    given = _finite("write arange(stop), arange(start,stop) or arange(start,stop,step)", numbers, (1, 2, 3))
    start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given[:2], given[2] if len(given) == 3 else 1)
    if step == 0:
        raise ValueProblem("the step must not be 0")
    try:
        _check_memory((stop - start) / step)
        return np.arange(start, stop, step)
    except OverflowError:
        raise ValueProblem("a number does not fit in 64 bits") from None


def _linspace(numbers: Sequence[Number], random: Random) -> Array:
    usage = "write linspace(start,stop,count)"
    start, stop, count = _finite(usage, numbers, (3,))
    (size,) = _sizes("linspace(start,stop,count)", (count,))
    return np.linspace(float(start), float(stop), size)


GENERATORS = {
    "zeros": Generator(_zeros, F64),
    "ones": Generator(_ones, F64),
    "full": Generator(_full),
    "randn": Generator(_randn),
    "rand": Generator(_rand),
    "randint": Generator(_randint, I64),
    "arange": Generator(_arange),
    "linspace": Generator(_linspace),
}
