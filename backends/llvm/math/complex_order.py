"""Complex values as parts in, comparisons, choices and tests of them out, as NumPy has them.

The order is that of the real parts, then that of the imaginary parts. A NaN in an imaginary part makes it false, except
beside equal real parts, where the imaginary parts decide. Among values with NaN, `maximum` and `minimum` give the first
operand that has one; `fmax` and `fmin` give the other operand.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .complex_parts import Function, Parts


def compare(real: str, imaginary: str) -> Function:
    """A comparison that holds where `real` does for the real parts, or where these are equal and `imaginary` holds."""

    def emit(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
        first = e.op("and", e.fcmp(real, ar, br), e.fcmp("ord", ai, bi))
        return (e.op("or", first, e.op("and", e.fcmp("oeq", ar, br), e.fcmp(imaginary, ai, bi))),)

    return emit


less, less_equal = compare("olt", "olt"), compare("olt", "ole")
greater, greater_equal = compare("ogt", "ogt"), compare("ogt", "oge")


def equal(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    return (e.op("and", e.fcmp("oeq", ar, br), e.fcmp("oeq", ai, bi)),)


def not_equal(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    return (e.op("or", e.fcmp("une", ar, br), e.fcmp("une", ai, bi)),)


def choose(prefer_first: Function, ignore_nan: bool) -> Function:
    """The first operand where the comparison holds or where NaN decides for it, else the second."""

    def emit(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
        (holds,) = prefer_first(e, ar, ai, br, bi)
        nan = e.fcmp("uno", br, bi) if ignore_nan else e.fcmp("uno", ar, ai)
        first = e.op("or", holds, nan)
        return e.select(first, ar, br), e.select(first, ai, bi)

    return emit


maximum, fmax = choose(greater_equal, ignore_nan=False), choose(greater_equal, ignore_nan=True)
minimum, fmin = choose(less_equal, ignore_nan=False), choose(less_equal, ignore_nan=True)


def truth(e: Emitter, re: Val, im: Val) -> Val:
    """Whether the value is not 0; NaN is not 0."""
    zero = e.zero_like(re)
    return e.op("or", e.fcmp("une", re, zero), e.fcmp("une", im, zero))


def logical(opcode: str) -> Function:
    """A logical operation on the truth of two values."""

    def emit(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
        return (e.op(opcode, truth(e, ar, ai), truth(e, br, bi)),)

    return emit


logical_and, logical_or, logical_xor = logical("and"), logical("or"), logical("xor")


def logical_not(e: Emitter, re: Val, im: Val) -> Parts:
    return (e.not_(truth(e, re, im)),)


def isnan(e: Emitter, re: Val, im: Val) -> Parts:
    """Whether a part is NaN."""
    return (e.fcmp("uno", re, im),)


def isinf(e: Emitter, re: Val, im: Val) -> Parts:
    """Whether a part is infinite."""
    infinity = e.const_like(re, math.inf)
    return (e.op("or", *(e.fcmp("oeq", e.call("fabs", part), infinity) for part in (re, im))),)


def isfinite(e: Emitter, re: Val, im: Val) -> Parts:
    """Whether both parts are finite."""
    infinity = e.const_like(re, math.inf)
    return (e.op("and", *(e.fcmp("olt", e.call("fabs", part), infinity) for part in (re, im))),)
