"""Emit the complex inverse circular and hyperbolic functions.

Kahan's formulas: with `sqrt(1 + z) = a + ib` and `sqrt(1 - z) = c - id`, where `y >= 0` makes all four positive,

    asin z = atan2(x, ac + bd) + i asinh(ad + bc)
    acos z = 2 atan2(c, a) - i asinh(ad + bc)
    atanh z = log1p(4x / ((1 - x)^2 + y^2)) / 4 + i atan2(2y, (1 - x)(1 + x) - y^2) / 2      for x >= 0

and the signs follow from those of `x` and `y`. Only the last difference cancels, where it hardly changes the angle. The
roots, their products and the quotient are sums of two doubles, so only the real functions lose accuracy. `acosh` is
`acos` turned by a quarter; `asinh` and `atan` are `asin` and `atanh` with both parts exchanged before and after.

The rare branch handles the branch points, and large values, for which only the first term of the series at infinity
counts. Infinite and NaN parts give what C99, Annex G, prescribes.

Largest errors of `double` found over 10**8 points each, in ULP of the magnitude: asin and asinh 1.38, acos and acosh
1.47, atan and atanh 1.34.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..code.text import Emitter, Val
from .arctangent import atan2
from .complex_arithmetic import reciprocal
from .complex_logarithm import angle_of_pairs, log_of_double
from .complex_parts import Parts, through_double
from .complex_root import MOST, root_pairs
from .doubledouble import Pair, add, multiply, quotient, square_root, two_product, two_sum
from .inverse_hyperbolic import asinh as real_asinh
from .logarithm import log as real_log
from .logarithm import log1p as real_log1p

LN_2 = 0.6931471805599453
# From here on atanh(z) is 1/z, except that its imaginary part is pi/2.
FAR = 2.0**60


class Roots(NamedTuple):
    """The real parts of both roots, and the two sums of products."""

    of_sum: Pair
    of_difference: Pair
    cosine: Pair
    sine: Pair


def _asinh(e: Emitter, x: Pair) -> Val:
    slope = e.call("sqrt", e.fma(x.high, x.high, e.const_like(x.high, 1.0)))
    return e.op("fadd", real_asinh(e, x.high), e.op("fdiv", x.low, slope))


def _roots(e: Emitter, x: Val, y: Val) -> Roots:
    """The roots for `y >= 0`."""
    one, zero = e.const_like(x, 1.0), e.zero_like(x)
    a, b = root_pairs(e, two_sum(e, one, x), y)
    c, d = root_pairs(e, two_sum(e, one, e.fneg(x)), y)
    # At a branch point the root of iy has equal parts, however small y is.
    lifted = square_root(e, Pair(e.op("fmul", y, e.const_like(y, 2.0**99)), zero))
    half_root = Pair(*(e.op("fmul", part, e.const_like(y, 2.0**-50)) for part in lifted))
    left, right = e.fcmp("oeq", x, e.const_like(x, -1.0)), e.fcmp("oeq", x, one)

    def choose(at_branch_point: Val, root: Pair) -> Pair:
        return Pair(*(e.select(at_branch_point, *given) for given in zip(half_root, root, strict=True)))

    a, b, c, d = choose(left, a), choose(left, b), choose(right, c), choose(right, d)
    return Roots(a, c, add(e, multiply(e, a, c), multiply(e, b, d)), add(e, multiply(e, a, d), multiply(e, b, c)))


def _large(e: Emitter, re: Val, im: Val, bound: float) -> Val:
    """Whether a part is beyond the bound or NaN."""
    limit = e.const_like(re, bound)
    return e.op("or", *(e.fcmp("ugt", e.call("fabs", part), limit) for part in (re, im)))


def _on_axis(e: Emitter, re: Val, im: Val) -> Val:
    """Whether the real part is 0 and the imaginary part NaN."""
    return e.op("and", e.fcmp("oeq", re, e.zero_like(re)), e.fcmp("uno", im, im))


@through_double
def asin(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse sine."""
    height = e.call("fabs", im)
    roots = _roots(e, re, height)
    real, imaginary = angle_of_pairs(e, Pair(re, e.zero_like(re)), roots.cosine), _asinh(e, roots.sine)

    def special() -> Parts:
        angle = e.select(_on_axis(e, re, im), re, atan2(e, re, height))
        return angle, log_of_double(e, re, im)

    real, imaginary = e.rare_all(_large(e, re, im, MOST), (real, imaginary), special)
    return e.call("copysign", real, re), e.call("copysign", imaginary, im)


@through_double
def acos(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse cosine."""
    height = e.call("fabs", im)
    roots = _roots(e, re, height)
    half = angle_of_pairs(e, roots.of_difference, roots.of_sum)
    real, imaginary = e.op("fadd", half, half), _asinh(e, roots.sine)

    def special() -> Parts:
        quarter = e.const_like(re, math.pi / 2)
        return e.select(_on_axis(e, re, im), quarter, atan2(e, height, re)), log_of_double(e, re, im)

    real, imaginary = e.rare_all(_large(e, re, im, MOST), (real, imaginary), special)
    return real, e.call("copysign", imaginary, e.fneg(im))


def acosh(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse hyperbolic cosine."""
    imaginary, real = acos(e, re, im)
    return e.call("fabs", real), e.call("copysign", imaginary, im)


def asinh(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse hyperbolic sine."""
    imaginary, real = asin(e, im, re)
    return real, imaginary


@through_double
def atanh(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse hyperbolic tangent."""
    one, zero, half = e.const_like(re, 1.0), e.zero_like(re), e.const_like(re, 0.5)
    width, height = e.call("fabs", re), e.call("fabs", im)
    above, below = two_sum(e, one, width), two_sum(e, one, e.fneg(width))
    square = two_product(e, height, height)
    four_widths = Pair(e.op("fmul", width, e.const_like(re, 4.0)), zero)
    ratio = quotient(e, four_widths, add(e, multiply(e, below, below), square))
    log = real_log1p(e, ratio.high)
    log = e.op("fadd", log, e.op("fdiv", ratio.low, e.op("fadd", one, ratio.high)))
    flat = add(e, multiply(e, below, above), Pair(e.fneg(square.high), e.fneg(square.low)))
    angle = angle_of_pairs(e, Pair(e.op("fadd", height, height), zero), flat)
    usual = e.op("fmul", log, e.const_like(re, 0.25)), e.op("fmul", angle, half)

    tiny = e.op("and", e.fcmp("oeq", width, one), e.fcmp("olt", height, e.const_like(re, 1 / FAR)))

    def special() -> Parts:
        """Handle large values, and points very near the branch point."""
        quarters = (e.op("fmul", part, e.const_like(part, 0.25)) for part in (re, im))
        far = e.op("fmul", reciprocal(e, *quarters)[0], e.const_like(re, 0.25))
        infinity = e.const_like(re, math.inf)
        endless = e.op("or", e.fcmp("oeq", width, infinity), e.fcmp("oeq", height, infinity))
        far = e.select(e.op("or", endless, _on_axis(e, re, im)), zero, far)
        quarter = e.const_like(re, math.pi / 2)
        undefined = e.op("or", e.fcmp("uno", im, im), e.op("and", e.fcmp("uno", re, re), e.not_(endless)))
        turned = e.select(undefined, e.const_like(re, math.nan), quarter)
        log = e.op("fmul", e.op("fsub", e.const_like(re, LN_2), real_log(e, height)), half)
        eighth = e.select(e.fcmp("oeq", im, zero), zero, e.const_like(re, math.pi / 4))
        return e.select(tiny, log, far), e.select(tiny, eighth, turned)

    real, imaginary = e.rare_all(e.op("or", _large(e, re, im, FAR), tiny), usual, special)
    return e.call("copysign", real, re), e.call("copysign", imaginary, im)


def atan(e: Emitter, re: Val, im: Val) -> Parts:
    """The inverse tangent."""
    imaginary, real = atanh(e, im, re)
    return real, imaginary
