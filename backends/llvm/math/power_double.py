"""Emit the parts of a `double` power: the logarithm as a sum of two values, and the exponential of such a sum.

Sixteen intervals cover the mantissa `m`. Each has a factor `c` near `1 / m`, so short that `z = c m - 1` is exact, and

    log2(2**k m) = k - log2(c) + z / ln(2) + z**2 Q(z),  |z| < 0.035

The first terms keep their rounding errors, which gives 64 accurate bits. In the interval around 1, `c` is 1 and nothing
cancels. The power of two has a table as well: `2**(n / 16 + r) = T (1 + r E(r))` with `T` as a sum of two values.
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .bits import as_float, as_integer
from .doubledouble import Pair, fast_fma, fast_two_sum, two_product
from .polynomial import evaluate
from .scaling import MANTISSA_BITS, Whole, nearest_whole, rounder_bits, scale_normal
from .tables import ENTRIES, RegisterTable, lookup

# 11/16 + 1/64: the intervals begin here, and 1 is in the middle of the tenth.
LEAST_BITS = 0x3FE6800000000000
# 1 / ln(2) and the first coefficient of Q, each in two parts.
ONE_OVER_LN_2 = (1.4426950408889634, 2.0355273740931033e-17)
FIRST = (-0.7213475204444817, -1.0177636870465517e-17)
# The other coefficients of Q, the highest power first; relative error of the logarithm 2**-67.
REST = (
    0.1338579376922104,
    -0.14458853983921474,
    0.16029353068073787,
    -0.18033657988788496,
    0.2060992961978295,
    -0.2404491735978944,
    0.2885390081763459,
    -0.3606737602222257,
    0.48089834696298794,
)
# E, to 2**-57 of the result.
EXP2 = (
    0.0001540377944439803,
    0.0013333818274216306,
    0.009618129106208361,
    0.05550410865216758,
    0.24022650695910094,
    0.6931471805599468,
)
FACTORS = RegisterTable(
    "log2_factors",
    (
        1.375,
        1.34375,
        1.28125,
        1.21875,
        1.1875,
        1.15625,
        1.09375,
        1.0625,
        1.03125,
        1.0,
        0.9375,
        0.890625,
        0.84375,
        0.796875,
        0.765625,
        0.71875,
    ),
)
# -log2 of the factors in two parts; `k` plus the first is exact.
LOGS = RegisterTable(
    "log2_of_factors",
    (
        -0.4594316186373817,
        -0.4262647547020606,
        -0.3575520046181282,
        -0.2854022188621457,
        -0.24792751344352837,
        -0.2094533656288604,
        -0.12928301694500988,
        -0.0874628412502716,
        -0.04439411935845783,
        0.0,
        0.09310940439149817,
        0.16710998583516812,
        0.2451124978365442,
        0.3275746580284249,
        0.3852901558848316,
        0.47643804394306244,
    ),
)
LOGS_REST = RegisterTable(
    "log2_of_factors_rest",
    (
        8.443284155858175e-14,
        -3.733907276649932e-14,
        4.450095846656107e-14,
        -1.02668366941445e-13,
        -5.712484083531846e-14,
        -8.937120568078598e-14,
        4.3421195976986995e-14,
        -6.781363655020842e-14,
        4.390985973169353e-15,
        0.0,
        -1.6703260328550802e-14,
        9.02069790225012e-14,
        -1.275189131300513e-14,
        7.951818330761124e-14,
        -3.983479855974919e-14,
        -7.531150579247643e-14,
    ),
)
ROOTS = RegisterTable(
    "roots_of_two",
    (
        1.0,
        1.0442737824274138,
        1.0905077326652577,
        1.1387886347566916,
        1.189207115002721,
        1.241857812073484,
        1.2968395546510096,
        1.3542555469368927,
        1.4142135623730951,
        1.4768261459394993,
        1.5422108254079407,
        1.6104903319492543,
        1.681792830507429,
        1.7562521603732995,
        1.8340080864093424,
        1.9152065613971474,
    ),
)
ROOTS_REST = RegisterTable(
    "roots_of_two_rest",
    (
        0.0,
        8.551889705537965e-17,
        -3.046782079812471e-17,
        8.912812676025408e-17,
        3.982015231465646e-17,
        4.658027591836937e-17,
        2.5382502794888315e-17,
        7.70094837980299e-17,
        -9.667293313452913e-17,
        -3.483994556892796e-17,
        7.949834809697621e-17,
        2.4707192569797888e-17,
        8.199010020581497e-17,
        2.960140695448873e-17,
        3.283107224245627e-17,
        -1.0619946056195963e-16,
    ),
)


def log(e: Emitter, x: Val, lifted: Val | None = None) -> Pair:
    """Return `log2(x)` of a positive normal number, minus `lifted`."""
    bits, width = as_integer(e, x), MANTISSA_BITS["double"]
    above = e.op("sub", bits, e.const_like(bits, LEAST_BITS))
    mantissa = as_float(e, e.op("sub", bits, e.op("and", above, e.const_like(bits, -(1 << width)))))
    k = e.cast("sitofp", e.op("ashr", above, e.const_like(bits, width)), "double")
    index = e.op("lshr", above, e.const_like(bits, width - (ENTRIES.bit_length() - 1)))
    whole = e.op("fadd", k, lookup(e, index, LOGS))
    if lifted:
        whole = e.op("fsub", whole, lifted)
    z = e.fma(mantissa, lookup(e, index, FACTORS), e.const_like(x, -1.0))
    inverse, inverse_low = (e.const_like(x, part) for part in ONE_OVER_LN_2)
    linear = two_product(e, z, inverse)
    first, first_low = (e.const_like(x, part) for part in FIRST)
    bracket = fast_fma(e, z, evaluate(e, z, REST), first)
    bracket_low = e.op("fadd", bracket.low, first_low)
    square = two_product(e, z, z)
    curved = two_product(e, square.high, bracket.high)
    curved_low = e.fma(square.low, bracket.high, e.fma(square.high, bracket_low, curved.low))
    near = fast_two_sum(e, linear.high, curved.high)
    near_low = e.op("fadd", near.low, e.op("fadd", curved_low, e.fma(z, inverse_low, linear.low)))
    total = fast_two_sum(e, whole, near.high)
    return Pair(total.high, e.op("fadd", total.low, e.op("fadd", near_low, lookup(e, index, LOGS_REST))))


def exp(e: Emitter, power: Pair) -> tuple[Val, Whole]:
    """`2**power` as a value between 1 and 2, or hardly below 1, and a power of two."""
    sixteenths = nearest_whole(e, power.high, ENTRIES)
    r = e.fma(sixteenths.value, e.const_like(power.high, -1 / ENTRIES), power.high)
    r = e.op("fadd", r, power.low)
    root, root_low = (lookup(e, sixteenths.bits, table) for table in (ROOTS, ROOTS_REST))
    growth = e.op("fmul", r, evaluate(e, r, EXP2))
    bits, shift = sixteenths.bits, ENTRIES.bit_length() - 1
    whole = rounder_bits("double")
    bits = e.op("ashr", bits, e.const_like(bits, shift))
    bits = e.op("add", bits, e.const_like(bits, whole - (whole >> shift)))
    return e.op("fadd", root, e.fma(root, growth, root_low)), Whole(sixteenths.value, bits)


def exp_normal(e: Emitter, power: Pair) -> Val:
    """`2**power` where that is a normal number."""
    return scale_normal(e, *exp(e, power))
