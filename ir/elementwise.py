"""Define the elementwise ops of the op table: each result element needs only the operands' elements at its index."""

from __future__ import annotations

import numpy as np

from . import assertions, rules, scipy_meanings
from .opdef import logical_op, make_op, part_op, special_op, ufunc_op

ELEMENTWISE = (
    ufunc_op("add", np.add, "Sum of two numbers.", "commutative"),
    ufunc_op("sub", np.subtract, "Difference of two numbers."),
    ufunc_op("mul", np.multiply, "Product of two numbers.", "commutative"),
    ufunc_op("div", np.true_divide, "Quotient; integers give floats."),
    ufunc_op("floor_divide", np.floor_divide, "Largest whole number not above the quotient.", "expensive"),
    ufunc_op("remainder", np.remainder, "What floor_divide leaves, with the sign of the divisor.", "expensive"),
    ufunc_op("power", np.power, "First number to the power of the second.", "expensive"),
    ufunc_op("neg", np.negative, "The number with its sign changed."),
    ufunc_op("positive", np.positive, "The number itself."),
    ufunc_op("abs", np.absolute, "Absolute value."),
    ufunc_op("sign", np.sign, "-1, 0 or 1 by the sign of the number."),
    ufunc_op("square", np.square, "The number times itself."),
    ufunc_op("reciprocal", np.reciprocal, "One divided by the number."),
    ufunc_op("sqrt", np.sqrt, "Square root.", "expensive"),
    ufunc_op("exp", np.exp, "e to the power of the number.", "expensive"),
    ufunc_op("exp2", np.exp2, "Two to the power of the number.", "expensive"),
    ufunc_op("expm1", np.expm1, "e to the power of the number, minus 1, also near 0.", "expensive"),
    ufunc_op("log", np.log, "Natural logarithm.", "expensive"),
    ufunc_op("log2", np.log2, "Logarithm to base 2.", "expensive"),
    ufunc_op("log10", np.log10, "Logarithm to base 10.", "expensive"),
    ufunc_op("log1p", np.log1p, "Natural logarithm of 1 plus the number, also near 0.", "expensive"),
    ufunc_op("cbrt", np.cbrt, "Cube root.", "expensive"),
    ufunc_op("hypot", np.hypot, "Length of the vector with these two coordinates.", "expensive commutative"),
    ufunc_op("sin", np.sin, "Sine of an angle in radians.", "expensive"),
    ufunc_op("cos", np.cos, "Cosine of an angle in radians.", "expensive"),
    ufunc_op("tan", np.tan, "Tangent of an angle in radians.", "expensive"),
    ufunc_op("arcsin", np.arcsin, "Angle whose sine is the number.", "expensive"),
    ufunc_op("arccos", np.arccos, "Angle whose cosine is the number.", "expensive"),
    ufunc_op("arctan", np.arctan, "Angle whose tangent is the number.", "expensive"),
    ufunc_op("arctan2", np.arctan2, "Angle of the point with this y and this x.", "expensive"),
    ufunc_op("sinh", np.sinh, "Hyperbolic sine.", "expensive"),
    ufunc_op("cosh", np.cosh, "Hyperbolic cosine.", "expensive"),
    ufunc_op("tanh", np.tanh, "Hyperbolic tangent.", "expensive"),
    ufunc_op("arcsinh", np.arcsinh, "Inverse hyperbolic sine.", "expensive"),
    ufunc_op("arccosh", np.arccosh, "Inverse hyperbolic cosine.", "expensive"),
    ufunc_op("arctanh", np.arctanh, "Inverse hyperbolic tangent.", "expensive"),
    ufunc_op("floor", np.floor, "Largest whole number not above the number."),
    ufunc_op("ceil", np.ceil, "Smallest whole number not below the number."),
    ufunc_op("trunc", np.trunc, "Whole number towards zero."),
    ufunc_op("rint", np.rint, "Nearest whole number, ties to even."),
    ufunc_op("minimum", np.minimum, "The smaller number; NaN if one is NaN.", "commutative"),
    ufunc_op("maximum", np.maximum, "The larger number; NaN if one is NaN.", "commutative"),
    ufunc_op("eq", np.equal, "Whether two numbers are equal.", "commutative"),
    ufunc_op("ne", np.not_equal, "Whether two numbers differ.", "commutative"),
    ufunc_op("lt", np.less, "Whether the first number is smaller."),
    ufunc_op("le", np.less_equal, "Whether the first number is not larger."),
    ufunc_op("gt", np.greater, "Whether the first number is larger."),
    ufunc_op("ge", np.greater_equal, "Whether the first number is not smaller."),
    logical_op("logical_and", np.logical_and, "Whether both are true.", "commutative"),
    logical_op("logical_or", np.logical_or, "Whether one is true.", "commutative"),
    logical_op("logical_xor", np.logical_xor, "Whether exactly one is true.", "commutative"),
    logical_op("logical_not", np.logical_not, "Whether it is not true."),
    ufunc_op("bitwise_and", np.bitwise_and, "Bits set in both.", "commutative"),
    ufunc_op("bitwise_or", np.bitwise_or, "Bits set in one of them.", "commutative"),
    ufunc_op("bitwise_xor", np.bitwise_xor, "Bits set in exactly one.", "commutative"),
    ufunc_op("invert", np.invert, "Every bit turned over."),
    ufunc_op("left_shift", np.left_shift, "Bits moved to higher places."),
    ufunc_op("right_shift", np.right_shift, "Bits moved to lower places."),
    ufunc_op("isnan", np.isnan, "Whether it is NaN."),
    ufunc_op("isinf", np.isinf, "Whether it is infinite."),
    ufunc_op("isfinite", np.isfinite, "Whether it is neither infinite nor NaN."),
    ufunc_op("signbit", np.signbit, "Whether the sign is minus, of zeros and NaN too."),
    ufunc_op("copysign", np.copysign, "The first number with the sign of the second."),
    ufunc_op("fmin", np.fmin, "The smaller number; the other one if one is NaN.", "commutative"),
    ufunc_op("fmax", np.fmax, "The larger number; the other one if one is NaN.", "commutative"),
    ufunc_op("fmod", np.fmod, "What division towards zero leaves, with the sign of the dividend.", "expensive"),
    ufunc_op("gcd", np.gcd, "Greatest common divisor.", "expensive commutative"),
    ufunc_op("lcm", np.lcm, "Least common multiple.", "expensive commutative"),
    ufunc_op("bitwise_count", np.bitwise_count, "How many bits of the absolute value are set."),
    ufunc_op("heaviside", np.heaviside, "Zero below zero, one above, and the second number at zero."),
    ufunc_op("ldexp", np.ldexp, "The number times two to a whole power."),
    ufunc_op("nextafter", np.nextafter, "The next number of the dtype towards the second."),
    ufunc_op("spacing", np.spacing, "How far the next number of the dtype is."),
    ufunc_op("deg2rad", np.deg2rad, "An angle in degrees as radians."),
    ufunc_op("rad2deg", np.rad2deg, "An angle in radians as degrees."),
    ufunc_op("logaddexp", np.logaddexp, "Logarithm of the sum of two exponentials.", "expensive commutative"),
    ufunc_op("logaddexp2", np.logaddexp2, "Logarithm to base 2 of a sum of powers of two.", "expensive commutative"),
    ufunc_op("conjugate", np.conjugate, "The number with its imaginary part negated."),
)
# One of the two results of a NumPy function.
PARTS = (
    part_op("frexp_mantissa", np.frexp, 0, "What is left, from 1/2 to 1, when a power of two is taken out."),
    part_op("frexp_exponent", np.frexp, 1, "The power of two that leaves a number from 1/2 to 1."),
    part_op("modf_fraction", np.modf, 0, "What is behind the point, with the sign of the number."),
    part_op("modf_whole", np.modf, 1, "What is before the point."),
)
# Functions of scipy.special, with its dtypes.
SPECIAL = (
    special_op("erf", scipy_meanings.erf, "Error function."),
    special_op("erfc", scipy_meanings.erfc, "Complement of the error function, also where it is small."),
    special_op("expit", scipy_meanings.expit, "Logistic function, 1 / (1 + exp(-x))."),
    special_op("logit", scipy_meanings.logit, "Logarithm of the odds, log(x / (1 - x))."),
)

WHOLE_POWER = make_op(
    "whole_power", 1, rules.whole_power_dtypes, rules.elementwise, "elementwise scalar",
    "The number to a small whole power, by multiplying.",
    lambda x, exponent: np.power(x, np.asarray(exponent, np.asarray(x).dtype)),
    "exponent: exponent",
)  # fmt: skip
WHERE = make_op(
    "where", 3, rules.where_dtypes, rules.elementwise, "elementwise",
    "The second where the first is true, else the third.", np.where,
)  # fmt: skip
DEMAND = make_op(
    "demand", 2, assertions.demand_dtypes, rules.elementwise, "elementwise scalar",
    "The first; an error if the second is false anywhere.", assertions.demand,
    "error: error; message: text",
)  # fmt: skip
CAST = make_op(
    "cast", 1, rules.cast_dtypes, rules.elementwise, "elementwise", "The number as another dtype, as NumPy's astype.",
    lambda x, to: np.asarray(x).astype(to), "to: strong dtype",
)  # fmt: skip
