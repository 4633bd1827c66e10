"""Draw functions that read sizes, and calls with many sizes, for `test_sizes_read`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Make = Callable[[Any, Any, Any], Any]

# Arrays of one dimension, made from two arrays and a number: sizes of arguments, and sizes that data decides.
ARRAYS: dict[str, Make] = {
    "a": lambda a, b, n: a,
    "b": lambda a, b, n: b,
    "a[:n]": lambda a, b, n: a[:n],
    "a[n:]": lambda a, b, n: a[n:],
    "a[::2]": lambda a, b, n: a[::2],
    "a[1:]": lambda a, b, n: a[1:],
    "a[a > 0]": lambda a, b, n: a[a > 0],
    "b[b < 0]": lambda a, b, n: b[b < 0],
    "unique(a)": lambda a, b, n: np.unique(a),
    "flatnonzero(b)": lambda a, b, n: np.flatnonzero(b),
    "append(unique(b), 0)": lambda a, b, n: np.append(np.unique(b), 0.0),
    "convolve(a, b)": lambda a, b, n: np.convolve(a, b),
    "concatenate(a, b[b > 0])": lambda a, b, n: np.concatenate([a, b[b > 0]]),
    "trim_zeros(a)": lambda a, b, n: np.trim_zeros(a),
    "repeat(a[a > 0], 2)": lambda a, b, n: np.repeat(a[a > 0], 2),
    "compress(b)": lambda a, b, n: np.compress(b > 0, b),
}

# What is made of such an array before it is read: some are compiled, some run in NumPy.
STEPS: dict[str, Callable[[Any], Any]] = {
    "[1:]": lambda u: u[1:],
    "[:-1]": lambda u: u[:-1],
    "[> 0]": lambda u: u[u > 0],
    "unique": np.unique,
    "sort": np.sort,
    "diff": np.diff,
    "cumsum": np.cumsum,
    "append 1": lambda u: np.append(u, 1.0),
    "twice": lambda u: np.concatenate([u, u]),
    "times 2": lambda u: u * 2,
    "roll": lambda u: np.roll(u, 1),
    "trim": np.trim_zeros,
    "pairs": lambda u: np.repeat(u, 2),
}


def _branch(u: Any, v: Any) -> Any:
    return u + 1 if u.size else -v


def _compare(u: Any, v: Any) -> Any:
    if u.shape[0] > 2:
        return u * 2
    return v if len(v) == u.size else u - 1


def _loop(u: Any, v: Any) -> Any:
    total = 0.0
    for i in range(u.shape[0]):
        total = total + u[i] * (i + 1)
    return total


def _caught(u: Any, v: Any) -> Any:
    try:
        return u[2]
    except IndexError:
        return v * 3


# What reads sizes, of two arrays.
READERS: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda u, v: np.zeros(u.size) + 1,
    "full": lambda u, v: np.full((len(u), 2), 3.0),
    "arange": lambda u, v: np.arange(u.size) * u,
    "branch": _branch,
    "compare": _compare,
    "loop": _loop,
    "caught": _caught,
    "ndim": lambda u, v: u * np.squeeze(v).ndim,
    "squeeze": lambda u, v: np.squeeze(u) + 1,
    "squeeze a sum": lambda u, v: np.squeeze(u[:1]) * 2,
    "first": lambda u, v: u[0] + 1,
    "last": lambda u, v: u[-1] * v,
    "third": lambda u, v: u[2],
    "at the other's end": lambda u, v: u[len(v) - 1],
    "as many as the other": lambda u, v: u[: v.size] + 1,
    "add": lambda u, v: u + v,
    "inner": lambda u, v: u[1:-1] * v,
    "table of differences": lambda u, v: u[:, None] - v,
    "pad": lambda u, v: np.pad(u, 1, mode="edge"),
    "pairs": lambda u, v: u.reshape(-1, 2).sum(axis=1),
    "column": lambda u, v: u.reshape(u.shape[0], 1) * v.shape[0],
    "table": lambda u, v: np.broadcast_to(u, (2, u.size)) + 1,
    "by its size": lambda u, v: u / max(u.size, 1) + v.sum(),
    "odd": lambda u, v: u.sum() if u.size % 2 else v.sum(),
    "max": lambda u, v: u.max() - 1,
    "stack": lambda u, v: np.stack([u, v]),
    "tile": lambda u, v: np.tile(u, v.ndim + 1),
    "parts": lambda u, v: np.array_split(u, max(1, v.size)),
    "dot": lambda u, v: np.dot(u, v),
    "concatenate": lambda u, v: np.concatenate([u, v, np.zeros(u.size)]),
    "size": lambda u, v: u.size * 2 + v.size,
    "solve": lambda u, v: np.linalg.lstsq(u[:, None] + 1, v, rcond=None)[0],
    "histogram": lambda u, v: np.histogram(u, bins=3)[0] * v[:3].size,
    "outer": lambda u, v: np.outer(u, v).ravel()[: u.size] + u,
    "search": lambda u, v: np.searchsorted(np.sort(u), v) + np.arange(v.size),
    "interp": lambda u, v: np.interp(u, np.arange(v.size), v) + u,
    "both": lambda u, v: np.intersect1d(u, v) * np.union1d(u, v).size,
    "difference": lambda u, v: np.convolve(u, v)[: u.size] - u,
    "set": lambda u, v: np.append(np.setdiff1d(u, v), v[:1]) + 1,
    "cross": lambda u, v: np.correlate(u, v, mode="full")[v.size - 1 :] * u,
    "poly": lambda u, v: np.polyval(u, v) + v,
}


def functions(random: Random, count: int) -> Iterator[tuple[str, Callable[[Any, Any, Any], Any]]]:
    """Draw functions of two arrays and a number, with names that describe them."""
    for _ in range(count):
        (left, u), (right, v) = (_array_of(random, *pair) for pair in random.sample(sorted(ARRAYS.items()), 2))
        name, read = random.choice(sorted(READERS.items()))
        yield f"{name} of {left} and {right}", _joined(u, v, read)


def _array_of(random: Random, name: str, make: Make) -> tuple[str, Make]:
    """Return the array, possibly after some steps."""
    for step, change in random.sample(sorted(STEPS.items()), random.choice((0, 0, 1, 2))):
        name, make = f"{name} {step}", _changed(make, change)
    return name, make


def _changed(make: Make, change: Callable[[Any], Any]) -> Make:
    return lambda a, b, n: change(make(a, b, n))


def _joined(u: Make, v: Make, read: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    return lambda a, b, n: read(u(a, b, n), v(a, b, n))


def arguments(random: Random, count: int) -> Iterator[tuple[Array, Array, int]]:
    """Draw calls with small sizes, including 0 and 1, and small numbers of either sign."""
    for _ in range(count):
        size = random.choice((0, 1, 1, 2, 3, 4, 6))
        other = random.choice((size, size, size + 2, random.choice((0, 1, 2, 3, 5))))
        yield _array(random, size), _array(random, other), random.choice((0, 1, 2, 3, -1))


def _array(random: Random, size: int) -> Array:
    values = random.choice(((-1, 1), (1,), (-2,), (-2, -1, 0, 1, 2, 3)))
    return np.array([float(random.choice(values)) for _ in range(size)], np.float64)
