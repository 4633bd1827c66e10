"""Emit sine, cosine and tangent of angles in radians.

The angle is reduced to `[-pi/4, pi/4]` as a sum of two values (`pio2`). Then both `sin r = r + (low + r^3 P(r^2))` and
`cos r = 1 + r^2 (-1/2 + r^2 Q(r^2))` are evaluated, and the quadrant selects one. `P` and `Q` are minimax polynomials,
accurate to 2**-28 (`float`) and 2**-58 (`double`).

The tangent comes from half the angle, which needs a shorter polynomial: `w = 2 tan(r / 2) = r + (low + r^3 T(r^2))`
gives `w / (1 - w^2 / 4)`. In odd quadrants the result is minus the reciprocal of that, which takes the same division.

Largest errors in ULP (`float` over every argument from 2**-13 on, `double` over 10**8): `sin` and `cos` 0.89 and 0.88,
`tan` 0.85 and 0.97.
"""

from __future__ import annotations

from collections.abc import Callable

from ..code.text import BITS, Emitter, Val
from .bits import flip_sign, sign_bit
from .doubledouble import Pair, divide, fast_fma, fast_two_sum
from .lanes import each_lane
from .pio2 import MODERATE, ReducedAngle, reduce_huge, reduce_moderate
from .polynomial import evaluate

SINE = {
    "float": [-0.00019518595945555717, 0.008332191035151482, -0.16666655242443085],
    "double": [
        1.589679152102546e-10,
        -2.505075843546637e-08,
        2.7557313697161273e-06,
        -0.0001984126982983552,
        0.008333333333322472,
        -0.16666666666666632,
    ],
}
COSINE = {
    "float": [2.4432332793367095e-05, -0.0013887309469282627, 0.04166664555668831, -0.5],
    "double": [
        -1.1358672546638231e-11,
        2.08757040876277e-09,
        -2.755731420900421e-07,
        2.4801587288981093e-05,
        -0.0013888888888873322,
        0.041666666666666595,
        -0.5,
    ],
}

# P of `2 tan(r / 2) = r + r^3 P(r^2)`.
TANGENT = {
    "float": [9.986721124732867e-05, 0.0008355241152457893, 0.008334933780133724, 0.08333323150873184],
    "double": [
        1.2549854034389527e-09,
        8.528876979459794e-09,
        8.920891561432903e-08,
        8.768289500645903e-07,
        8.655545501346621e-06,
        8.542768274507247e-05,
        0.0008432539688837757,
        0.008333333333304974,
        0.08333333333333377,
    ],
}


def sin(e: Emitter, x: Val) -> Val:
    """The sine."""
    return flip_sign(e, _sine(e, x, 0), sign_bit(e, x))


def cos(e: Emitter, x: Val) -> Val:
    """The cosine."""
    return _sine(e, x, 1)


def tan(e: Emitter, x: Val) -> Val:
    """The tangent."""
    return flip_sign(e, _of_any_size(e, x, "tangent", 0, _tangent_of_reduced), sign_bit(e, x))


def _sine(e: Emitter, x: Val, quarter_turns: int) -> Val:
    """Return the sine of the magnitude of an angle, advanced by some quarter turns."""
    return _of_any_size(e, x, f"sine{quarter_turns}", quarter_turns, _sine_of_reduced)


def _of_any_size(e: Emitter, x: Val, name: str, quarter_turns: int, function: Callable[..., Val]) -> Val:
    """A function of the reduced magnitude of an angle; huge angles have a function that takes them one by one."""
    magnitude = e.call("fabs", x)
    huge = e.fcmp("ugt", magnitude, e.const_like(x, MODERATE[x.elem]))
    usual = function(e, reduce_moderate(e, magnitude, quarter_turns))

    def one_by_one(e: Emitter, x: Val) -> list[Val]:
        return [each_lane(e, e.call("fabs", x), lambda lane: function(e, reduce_huge(e, lane, quarter_turns)))]

    return e.rare(huge, usual, lambda: e.call_function(f"{name}_of_huge", [x], one_by_one)[0])


def _sine_of_reduced(e: Emitter, angle: ReducedAngle) -> Val:
    quadrant, r, low = angle
    square = _square(e, angle)
    correction = e.fma(e.op("fmul", r, square), e.poly(square, SINE[r.elem]), low)
    sine = e.op("fadd", r, correction)
    cosine = e.fma(square, e.poly(square, COSINE[r.elem]), e.const_like(r, 1.0))
    odd = e.icmp("ne", e.op("and", quadrant, e.const_like(quadrant, 1)), e.zero_like(quadrant))
    negative = sign_bit(e, e.op("shl", quadrant, e.const_like(quadrant, BITS[r.elem] - 2)))
    return flip_sign(e, e.select(odd, cosine, sine), negative)


def _square(e: Emitter, angle: ReducedAngle) -> Val:
    """Return the square of the angle; the product of its two parts matters to the cosine near `pi/4`."""
    r, low = angle.high, angle.low
    return e.fma(r, r, e.op("fmul", r, e.op("fadd", low, low)))


def _tangent_of_reduced(e: Emitter, angle: ReducedAngle) -> Val:
    """The tangent of the angle, or in odd quadrants minus its reciprocal: one quotient of the same two numbers."""
    quadrant, r, low = angle
    square = e.op("fmul", r, r)
    rest = e.fma(e.op("fmul", r, square), evaluate(e, square, TANGENT[r.elem]), low)
    twice = fast_two_sum(e, r, rest)
    quarter = e.op("fmul", twice.high, e.const_like(r, -0.25))
    divisor = fast_fma(e, quarter, twice.high, e.const_like(r, 1.0))
    divisor = Pair(divisor.high, e.fma(e.op("fadd", quarter, quarter), twice.low, divisor.low))
    odd = e.cast("trunc", quadrant, "i1")
    upper = Pair(e.select(odd, divisor.high, twice.high), e.select(odd, divisor.low, twice.low))
    lower = Pair(e.select(odd, twice.high, divisor.high), e.select(odd, twice.low, divisor.low))
    negative = e.op("shl", quadrant, e.const_like(quadrant, BITS[r.elem] - 1))
    return flip_sign(e, divide(e, upper, lower), negative)
