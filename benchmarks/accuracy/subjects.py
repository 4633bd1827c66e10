"""Find the implementations of a function in a format: Weft's own code, and NumPy's."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import weft

from .formats import Array, Format, specials
from .functions import Function

Subject = Callable[..., Array]


def kernel(function: Function, format: Format) -> Subject | None:
    """Return Weft's own code for a function, or nothing if Weft leaves the function to NumPy."""
    names = "xy"[: function.arity]
    parameters = ", ".join(f"{name}: {format.name}[n]" for name in names)
    result = format.part.name if function.has_real_result else format.name
    text = f"kernel measured({parameters}) -> {result}[n] {{ return {function.language}({', '.join(names)}) }}"
    try:
        compiled = weft.compile(text).measured
        sample = [np.ones(8, format.dtype)] * function.arity
        return None if compiled.lower(*sample).fallbacks else compiled
    except weft.errors.WeftError:
        return None


def numpy_subject(function: Function, format: Format) -> Subject | None:
    """Return NumPy's function, if it has one for the format."""
    ufunc = function.numpy
    if ufunc is None:
        return None
    try:
        with np.errstate(all="ignore"):
            found = ufunc(*[np.ones(1, format.dtype)] * function.arity).dtype
    except TypeError:
        return None
    return ufunc if found in (format.dtype, format.part.dtype) else None


def wrong_specials(function: Function, format: Format, mine: Subject) -> list[str]:
    """List special values whose results differ from NumPy's, and special results that differ; signs of zeros count.

    Complex numbers are left to the test suite, which knows where NumPy's own results are wrong.
    """
    theirs = numpy_subject(function, format)
    if theirs is None or format.is_complex:
        return []
    values = list(itertools.product(specials(format), repeat=function.arity))
    inputs = [np.array(side, format.dtype) for side in zip(*values, strict=True)]
    with np.errstate(all="ignore"):
        got, expected = mine(*inputs).astype(np.float64), theirs(*inputs).astype(np.float64)
    special = ~np.isfinite(expected) | (expected == 0) | (np.abs(np.frexp(expected)[0]) == 0.5)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(expected)
    wrong = np.flatnonzero(special & ~same)
    return [f"{tuple(float(x[i]) for x in inputs)}: {got[i]}, NumPy has {expected[i]}" for i in wrong]
