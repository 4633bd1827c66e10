"""Emit the parts of a `float` power: the logarithm as a sum of two values, and the exponential of such a sum.

The first four bits of the mantissa `m` select a factor `c` of five bits, near `1/m`, so that `f = c m - 1` is exact and
at most 1/16. With `x = 2**k m`, `log(x) = k log(2) - log(c) + f - f**2/2 + f**3 P(f)`. All terms but the last keep
their rounding errors: 33 accurate bits, even next to 1, where `k log(2) - log(c)` is exactly 0.

The exponential is `2**(n/16) exp(r)`, where `n` is nearest to `16/ln(2)` times the argument, with a polynomial for
`exp(r) - 1` on `|r| <= ln(2) / 32`. The sixteen powers of two and their rounding errors are in tables.
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .bits import as_float, as_integer
from .doubledouble import Pair, fast_two_sum
from .scaling import EXPONENT_UNIT, Whole, nearest_whole, rounder, rounder_bits
from .tables import RegisterTable, lookup

MANTISSA, EXPONENT, ONE = 0x7FFFFF, 0x7F800000, 0x3F800000
# Both parts are so short that their products with an exponent are exact.
LN_2 = (0.693145751953125, 1.4286197256296873e-06)
INVERSE = RegisterTable(
    "power_inverse",
    (
        1.0,
        0.90625,
        0.875,
        0.8125,
        0.78125,
        0.75,
        0.71875,
        0.6875,
        0.65625,
        0.625,
        0.59375,
        0.59375,
        0.5625,
        0.53125,
        0.53125,
        0.5,
    ),
)
# -log(c) - 127 log(2), because the exponent is counted with its bias of 127.
LOG_HIGH = RegisterTable(
    "power_log_high",
    (
        -88.02951049804688,
        -87.93107604980469,
        -87.89598083496094,
        -87.82186889648438,
        -87.78265380859375,
        -87.7418212890625,
        -87.69926452636719,
        -87.65481567382812,
        -87.60829162597656,
        -87.55950927734375,
        -87.50820922851562,
        -87.50820922851562,
        -87.45414733886719,
        -87.39698791503906,
        -87.39698791503906,
        -87.33636474609375,
    ),
)
LOG_LOW = RegisterTable(
    "power_log_low",
    (
        -0.0001814347051549703,
        -0.0001758101279847324,
        -0.0001797051663743332,
        -0.00018367149459663779,
        -0.00017804623348638415,
        -0.00018857124086935073,
        -0.0001857195165939629,
        -0.00018280948279425502,
        -0.00018684170208871365,
        -0.00017902615945786238,
        -0.0001857806055340916,
        -0.0001857806055340916,
        -0.00018044898752123117,
        -0.00018145896319765598,
        -0.00018145896319765598,
        -0.0001800060854293406,
    ),
)
# (log(1 + f) - f + f**2 / 2) / f**3; relative error of the logarithm 2**-36.0.
CUBIC_POLY = [
    0.1443953663110733,
    -0.16737070679664612,
    0.19999311864376068,
    -0.24999910593032837,
    0.3333333432674408,
]

SIXTEENTHS = 23.083120346069336  # 16 / ln(2)
LN_2_SIXTEENTH = (0.0433197021484375, 1.9966364561696537e-06)
# 2**(n/16), where n counts sixteenths of an exponent and has been subtracted from the bits; and its rounding error.
POWERS = RegisterTable(
    "power_of_two",
    (
        1.0,
        0.9908868670463562,
        0.9827538728713989,
        0.9756442904472351,
        0.9696035385131836,
        0.9646788835525513,
        0.9609197974205017,
        0.9583777785301208,
        0.9571067690849304,
        0.9571630954742432,
        0.9586054086685181,
        0.9614951610565186,
        0.9658964276313782,
        0.9718760848045349,
        0.9795040488243103,
        0.9888532757759094,
    ),
)
POWERS_LOST = RegisterTable(
    "power_of_two_lost",
    (
        0.0,
        4.6285471455576044e-08,
        -1.199215748926008e-08,
        4.7297824323777604e-08,
        3.1934181521364735e-08,
        3.621057231839586e-08,
        -3.0990719324108795e-08,
        -7.475213337215791e-09,
        1.7114270889351246e-08,
        -3.047683350132502e-08,
        5.233334210430485e-09,
        6.10759176566944e-09,
        -1.4719605090363075e-08,
        -5.258795177098818e-09,
        -6.128259677495862e-09,
        5.140609271592211e-09,
    ),
)
# (exp(r) - 1) / r; error of the exponential 2**-29.2.
EXP_POLY = [0.16667042672634125, 0.5000165104866028, 1.0]


def log(e: Emitter, x: Val, lifted: Val | None = None) -> Pair:
    """Return the natural logarithm of a positive normal number, minus `lifted` times that of 2."""
    bits = as_integer(e, x)
    mantissa = e.op("and", bits, e.const_like(bits, MANTISSA))
    m = as_float(e, e.op("or", mantissa, e.const_like(bits, ONE)))
    k = e.cast("sitofp", e.op("and", bits, e.const_like(bits, EXPONENT)), "float")
    if lifted:
        k = e.fma(lifted, e.const_like(x, -1 / EXPONENT_UNIT["float"]), k)
    index = e.op("lshr", bits, e.const_like(bits, 19))
    f = e.fma(m, lookup(e, index, INVERSE), e.const_like(x, -1.0))

    minus_half = e.op("fmul", f, e.const_like(x, -0.5))
    near = e.fma(minus_half, f, f)
    lost = e.fma(minus_half, f, e.op("fsub", f, near))
    cube = e.op("fmul", e.op("fmul", f, f), f)
    rest = e.fma(cube, e.poly(f, CUBIC_POLY), lost)

    high, low = (e.const_like(x, part * EXPONENT_UNIT["float"]) for part in LN_2)
    total = fast_two_sum(e, e.fma(k, high, lookup(e, index, LOG_HIGH)), near)
    whole_low = e.fma(k, low, lookup(e, index, LOG_LOW))
    return Pair(total.high, e.op("fadd", e.op("fadd", rest, whole_low), total.low))


def _exp_less_one(e: Emitter, power: Pair) -> tuple[Val, Val]:
    """Return `n`, in the lowest bits, and the factor by which the rounded power of two must be increased."""
    # Next to 1 the low part of the logarithm is a thousandth of the high one.
    n = nearest_whole(e, e.op("fadd", power.high, power.low), SIXTEENTHS)
    high, low = (e.const_like(n.value, -part) for part in LN_2_SIXTEENTH)
    r = e.op("fadd", e.fma(n.value, low, e.fma(n.value, high, power.high)), power.low)
    return n.bits, e.fma(r, e.poly(r, EXP_POLY), lookup(e, n.bits, POWERS_LOST))


def exp_normal(e: Emitter, power: Pair) -> Val:
    """`exp(power)` where that is a normal number."""
    n, more = _exp_less_one(e, power)
    sixteenths = e.op("shl", n, e.const_like(n, 19))
    scaled = as_float(e, e.op("add", as_integer(e, lookup(e, n, POWERS)), sixteenths))
    return e.fma(scaled, more, scaled)


def exp(e: Emitter, power: Pair) -> tuple[Val, Whole]:
    """`exp(power)` as a value near 1 and a power of two."""
    n, more = _exp_less_one(e, power)
    sixteenths = e.op("shl", e.op("and", n, e.const_like(n, 15)), e.const_like(n, 19))
    near = as_float(e, e.op("add", as_integer(e, lookup(e, n, POWERS)), sixteenths))
    start = e.const_like(n, rounder_bits("float"))
    whole = e.op("add", e.op("ashr", e.op("sub", n, start), e.const_like(n, 4)), start)
    value = e.op("fsub", as_float(e, whole), e.const_like(near, rounder("float")))
    return e.fma(near, more, near), Whole(value, whole)
