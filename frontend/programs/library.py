"""Write functions of NumPy that have no graph as plain Python; pieces inline them, as if the user had written them.

Where NumPy would raise or warn, they raise: then the piece fails, and NumPy itself runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.dtypes import F32, F64, U64
from .values import Abstract, Number, TupleValue, View

Array = np.ndarray[Any, Any]
Substitute = tuple[Any, Sequence[Abstract]] | None


def cholesky(a: Array) -> Array:
    """`np.linalg.cholesky` of one real matrix."""
    if a.shape[0] != a.shape[1] or a.shape[0] > 64:  # LAPACK is faster for more
        raise ValueError
    lower = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(i):
            lower[i, j] = (a[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        rest = a[i, i] - lower[i, :i] @ lower[i, :i]
        if not rest > 0:
            raise ValueError
        lower[i, i] = np.sqrt(rest)
    return lower


def cov(m: Array) -> Array:
    """`np.cov` of several variables in rows."""
    if m.shape[1] < 2 or m.shape[0] * m.shape[0] * m.shape[1] > 2_000_000:  # BLAS makes half of the result, for more
        raise ValueError
    x = m - m.mean(axis=1)[:, None]
    found: Array = (x @ x.T) * (1 / (m.shape[1] - 1))
    return found


def histogram(a: Array, bins: int) -> tuple[Array, Array]:
    """`np.histogram` with bins of equal width."""
    low, high, places = _places(a, bins)
    counts = np.zeros(bins, np.int64)
    for k in places:
        counts[k] += 1
    return counts, np.linspace(low, high, bins + 1)


def histogram_within(a: Array, bins: int, low: float, high: float) -> tuple[Array, Array]:
    """`np.histogram` with bins of equal width in a range; elements outside of it are left out."""
    if not low < high:
        raise ValueError
    edges = np.linspace(low, high, bins + 1).astype(a.dtype)
    places = np.minimum(((a - low) / np.float64(high - low) * bins).astype(np.int64), bins - 1)
    counts = np.zeros(bins, np.int64)
    for i, v in enumerate(a):
        if v >= low and v <= high:
            k = places[i]
            if v < edges[k]:
                k = k - 1
            elif v >= edges[k + 1] and k != bins - 1:
                k = k + 1
            counts[k] += 1
    return counts, edges


def weighted_histogram(a: Array, bins: int, weights: Array) -> tuple[Array, Array]:
    """`np.histogram` that adds up weights."""
    if len(a) != len(weights):
        raise ValueError
    low, high, places = _places(a, bins)
    sums = np.zeros(bins, weights.dtype)
    for i, k in enumerate(places):
        sums[k] += weights[i]
    return sums, np.linspace(low, high, bins + 1)


def bincount(x: Array, size: int) -> Array:
    """`np.bincount` with `minlength`; larger numbers fail."""
    if x.min() < 0:
        raise ValueError
    counts = np.zeros(size, np.int64)
    for k in x:
        counts[k] += 1
    return counts


def weighted_bincount(x: Array, weights: Array, size: int) -> Array:
    """`np.bincount` with `minlength` that adds up weights; larger numbers fail."""
    if len(x) != len(weights) or x.min() < 0:
        raise ValueError
    sums = np.zeros(size)
    for i, k in enumerate(x):
        sums[k] += weights[i]
    return sums


def _places(a: Array, bins: int) -> tuple[Any, Any, Array]:
    """The smallest and the largest element, and for each element the bin in which it is.

    Infinite values give an index out of range, so that the piece fails.
    """
    low, high = a.min(), a.max()
    if not low < high:
        raise ValueError
    edges = np.linspace(low, high, bins + 1)
    places = np.minimum(((a - low) / (high - low) * bins).astype(np.int64), bins - 1)
    for i, v in enumerate(a):
        k = places[i]
        if v < edges[k]:
            places[i] = k - 1
        elif v >= edges[k + 1] and k != bins - 1:
            places[i] = k + 1
    return low, high, places


def total(items: Array) -> Any:
    """Compute `sum` of the elements of an array, one after the other."""
    found = 0
    for item in items:
        found = found + item
    return found


def largest(items: Array) -> Any:
    """Compute `max` of the elements of an array: the first of equal ones."""
    found = items[0]
    for item in items:
        if item > found:
            found = item
    return found


def smallest(items: Array) -> Any:
    """Compute `min` of the elements of an array: the first of equal ones."""
    found = items[0]
    for item in items:
        if item < found:
            found = item
    return found


def int_power(base: int, exponent: int) -> int:
    """Compute `base ** exponent` of ints.

    A product that does not fit 64 bits fails the piece, as for all of Python's ints.
    """
    if exponent < 0:
        raise ValueError  # it is a float
    found = 1
    while exponent > 0:
        if exponent % 2 == 1:
            found = found * base
        exponent = exponent // 2
        if exponent > 0:
            base = base * base
    return found


OVER_ARRAYS = ((sum, total), (max, largest), (min, smallest))
WRITTEN_HERE = (np.linalg.cholesky, np.cov, np.histogram, np.bincount, sum, max, min)
COMPUTED_ONCE = (_places,)
"""Functions whose results nobody changes, so a second call with the same arguments gives the same ones."""
LOOPS = (np.histogram, np.bincount)
"""Functions that are faster as loops than NumPy's, so a function that calls them is tried as a nest first."""


def substitute(function: Any, args: Sequence[Abstract], named: Mapping[str, Abstract]) -> Substitute:
    """A function of this module and its arguments, in place of a function of NumPy or Python."""
    if len(args) == 1 and not named and isinstance(args[0], View) and args[0].rank == 1:
        for known, ours in OVER_ARRAYS:
            if function is known:
                return ours, args
    arrays = [x for x in (*args, *named.values()) if isinstance(x, View)]
    if function is np.bincount and all(x.rank == 1 for x in arrays):
        return _found(_bincount, args, named)
    if not arrays or any(x.dtype not in (F32, F64) for x in arrays):
        return None
    if function is np.linalg.cholesky and not named and len(args) == 1 and arrays[0].rank == 2:
        return cholesky, args
    doubles = all(x.dtype == F64 for x in arrays)
    if function is np.cov and not named and len(args) == 1 and doubles and arrays[0].rank == 2:
        return (cov, args) if arrays[0].shape[0] != 1 else None
    if function is np.histogram and all(x.rank == 1 for x in arrays):
        return _found(_histogram, args, named)
    return None


def _found(rule: Callable[..., Substitute], args: Sequence[Abstract], named: Mapping[str, Abstract]) -> Substitute:
    try:
        inspect.signature(rule).bind(*args, **named)
    except TypeError:  # NumPy tells what is wrong
        return None
    return rule(*args, **named)


def _histogram(
    a: Abstract,
    bins: Abstract | None = None,
    range: Abstract | None = None,
    density: Abstract | None = None,
    weights: Abstract | None = None,
) -> Substitute:
    """Which function is `np.histogram` with these arguments."""
    if not (isinstance(a, View) and _is_int(bins) and density is None) or bins is None:
        return None
    if weights is not None and not isinstance(weights, View):
        return None
    if range is None and (a.dtype != F64 or (weights is not None and weights.dtype != F64)):
        return None
    if range is None:
        return (histogram, (a, bins)) if weights is None else (weighted_histogram, (a, bins, weights))
    if weights is not None or not isinstance(range, TupleValue) or len(range.items) != 2:
        return None
    are_numbers = all(isinstance(x, Number) and x.is_python for x in range.items)
    return (histogram_within, (a, bins, *range.items)) if are_numbers else None


def _bincount(x: Abstract, weights: Abstract | None = None, minlength: Abstract | None = None) -> Substitute:
    """Which function is `np.bincount` with these arguments."""
    if not (isinstance(x, View) and x.dtype.is_integer and x.dtype != U64 and _is_int(minlength)) or minlength is None:
        return None
    if weights is None:
        return bincount, (x, minlength)
    is_real = isinstance(weights, View) and weights.dtype in (F32, F64)
    return (weighted_bincount, (x, weights, minlength)) if is_real else None


def _is_int(x: Abstract | None) -> bool:
    return isinstance(x, Number) and x.is_python and x.dtype.is_integer
