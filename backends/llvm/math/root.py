"""Emit the cube root and the hypotenuse.

The cube root starts from `r ~ |x|**(-1/3)`: subtracting a third of the bits of `x` from a constant gives 5 accurate
bits. With `d = 1 - |x| r**3` the series of `(1 - d)**(-1/3)` improves it without division. One Newton step on `c = |x|
r**2`, with the residual `|x| - c**3` in twice the precision, leaves little more than the last rounding.

`hypot` of `float` is computed in `double`, where squares are exact. For `double` the sum of squares keeps its rounding
error, and one Newton step follows the square root.

Largest errors found, in ULP (cbrt of `float`: all arguments; otherwise over 10**7 points): cbrt 0.51, hypot 0.5 for
`float` and 0.75 for `double`; only subnormal results, which are rounded twice, exceed 0.5 much.
"""

from __future__ import annotations

import math

from ..code.text import BITS, Emitter, Val
from .bits import as_float, as_integer
from .doubledouble import fast_two_sum, two_product
from .scaling import MANTISSA_BITS, exponent_bits, not_finite_from

# From 2 to this power on, no step of the cube root loses digits. Smaller numbers are multiplied by a factor; the second
# number is the inverse of its cube root.
CBRT_LEAST = {"float": -60, "double": -900}
CBRT_LIFT = {"float": (2.0**96, 2.0**-32), "double": (2.0**180, 2.0**-60)}
# The series of (1 - d)**(-1/3) without its first term.
CBRT_SERIES = (35 / 243, 14 / 81, 2 / 9, 1 / 3)
# The exponent field, with a fraction, from which a third of that of `x` is subtracted: 4/3 of the bias, minus a
# correction that makes the largest errors on both sides equal.
CBRT_START = {"float": 169.2641, "double": 1363.9308}

# Between these powers of two of the larger side, squares of `double` are far from overflow and underflow.
HYPOT_LEAST, HYPOT_MOST = -450, 510
HYPOT_LIFT = 2.0**600


def _inverse_cube_root_guess(e: Emitter, size: Val) -> Val:
    """Approximate `size**(-1/3)` by a constant minus a third of the bits, as floats: vectors can't divide integers."""
    width = MANTISSA_BITS[size.elem]
    drop = BITS[size.elem] - width
    bits = as_integer(e, size)
    # Put the highest bits of `size` into the lowest bits of 2**width.
    top = e.op("lshr", bits, e.const_like(bits, drop))
    counted = as_float(e, e.op("or", top, e.const_like(bits, exponent_bits(size.elem, width))))
    start = CBRT_START[size.elem] * 2.0 ** (width - drop)
    # Bits above the lowest ones are shifted out at the end.
    shifted = e.fma(counted, e.const_like(size, -1 / 3), e.const_like(size, 2.0**width * (1 + 1 / 3) + round(start)))
    return as_float(e, e.op("shl", as_integer(e, shifted), e.const_like(bits, drop)))


def _improve(e: Emitter, size: Val, inverse: Val, terms: int) -> Val:
    """Improve `size**(-1/3)`; the order of the products keeps them in range."""
    cube = e.op("fmul", e.op("fmul", size, inverse), e.op("fmul", inverse, inverse))
    d = e.op("fsub", e.const_like(size, 1.0), cube)
    return e.fma(e.op("fmul", inverse, d), e.poly(d, list(CBRT_SERIES[-terms:])), inverse)


def _cube_root(e: Emitter, size: Val) -> Val:
    inverse = _improve(e, size, _inverse_cube_root_guess(e, size), 4)
    if size.elem == "double":
        inverse = _improve(e, size, inverse, 1)
    square = e.op("fmul", inverse, inverse)
    root = e.op("fmul", size, square)
    root_square = two_product(e, root, root)
    left = e.fma(e.fneg(root), root_square.low, e.fma(e.fneg(root), root_square.high, size))
    return e.fma(left, e.op("fmul", square, e.const_like(size, 1 / 3)), root)


def cbrt(e: Emitter, x: Val) -> Val:
    """Return the cube root, also of negative numbers."""
    size = e.call("fabs", x)

    def handle() -> Val:
        lift, lower = (e.const_like(x, factor) for factor in CBRT_LIFT[x.elem])
        lifted = e.op("fmul", _cube_root(e, e.op("fmul", size, lift)), lower)
        # Zeros, infinities and NaN are their own cube roots.
        finite = e.fcmp("olt", size, e.const_like(x, math.inf))
        own = e.op("or", e.fcmp("oeq", x, e.zero_like(x)), e.not_(finite))
        return e.select(own, size, lifted)

    usual = _cube_root(e, size)
    return e.call("copysign", e.rare(not_finite_from(e, size, CBRT_LEAST[x.elem]), usual, handle), x)


def _hypotenuse(e: Emitter, long: Val, short: Val) -> Val:
    """Return the root of the sum of squares of `double`, with its rounding errors corrected by a Newton step."""
    square, small = two_product(e, long, long), two_product(e, short, short)
    total = fast_two_sum(e, square.high, small.high)
    low = e.op("fadd", total.low, e.op("fadd", square.low, small.low))
    root = e.call("sqrt", total.high)
    left = e.op("fadd", e.fma(e.fneg(root), root, total.high), low)
    return e.op("fadd", root, e.op("fdiv", left, e.op("fadd", root, root)))


def hypot(e: Emitter, x: Val, y: Val) -> Val:
    """Return the root of `x*x + y*y` without intermediate overflow; it is infinite if a side is, even beside NaN."""
    a, b = e.call("fabs", x), e.call("fabs", y)
    infinity = e.const_like(x, math.inf)

    def infinite_or(result: Val) -> Val:
        either = e.op("or", e.fcmp("oeq", a, infinity), e.fcmp("oeq", b, infinity))
        return e.select(either, infinity, result)

    if x.elem == "float":
        wide_x, wide_y = e.cast("fpext", x, "double"), e.cast("fpext", y, "double")
        total = e.fma(wide_x, wide_x, e.op("fmul", wide_y, wide_y))
        result = e.cast("fptrunc", e.call("sqrt", total), "float")
        return e.rare(e.fcmp("uno", x, y), result, lambda: infinite_or(result))

    larger = e.fcmp("ogt", a, b)
    long, short = e.select(larger, a, b), e.select(larger, b, a)

    def handle() -> Val:
        tiny = e.fcmp("olt", long, e.const_like(x, 1.0))
        up, down = e.const_like(x, HYPOT_LIFT), e.const_like(x, 1 / HYPOT_LIFT)
        factor, back = e.select(tiny, up, down), e.select(tiny, down, up)
        scaled = _hypotenuse(e, e.op("fmul", long, factor), e.op("fmul", short, factor))
        result = e.select(e.fcmp("oeq", long, e.zero_like(x)), long, e.op("fmul", scaled, back))
        return infinite_or(e.select(e.fcmp("uno", x, y), e.const_like(x, math.nan), result))

    above, below = e.const_like(x, 2.0**HYPOT_MOST), e.const_like(x, 2.0**HYPOT_LEAST)
    extreme = e.op("or", e.fcmp("ugt", long, above), e.fcmp("ult", long, below))
    return e.rare(e.op("or", extreme, e.fcmp("uno", x, y)), _hypotenuse(e, long, short), handle)
