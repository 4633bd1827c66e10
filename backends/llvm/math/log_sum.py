"""Two values in, the logarithm of the sum of their exponentials out.

With the larger one `m` and `d` what it exceeds the smaller one by, kept as a sum of two values, `log(exp x + exp y)` is
`m + log(1 + exp(-d))`. The sum at the end is the rounding that counts most; where `m` is negative it may cancel, as
NumPy's does.
"""

from __future__ import annotations

from ..text import Emitter, Val
from .doubledouble import Pair, two_product, two_sum
from .exponential import EXP_NORMAL, exp, exp2
from .logarithm import log_of_pair
from .logistic import exp_pair, one_plus
from .scaling import scale_normal

# ln 2 and its reciprocal, each in two parts.
LN_2 = {
    "float": (0.6931471824645996, -1.904654323148236e-09),
    "double": (0.6931471805599453, 2.3190468138462996e-17),
}
LOG2_E = {"float": 1.4426950216293335, "double": 1.4426950408889634}


def logaddexp(e: Emitter, x: Val, y: Val) -> Val:
    """`log(exp(x) + exp(y))`."""
    larger, gap = _apart(e, x, y)
    usual = _log_of_one_plus_exp(e, gap)
    added = e.rare(_is_wide(e, gap.high), usual, lambda: exp(e, gap.high))
    return _joined(e, x, y, LN_2[x.elem][0], e.op("fadd", larger, added))


def logaddexp2(e: Emitter, x: Val, y: Val) -> Val:
    """`log2(2**x + 2**y)`."""
    larger, gap = _apart(e, x, y)
    high, low = (e.const_like(x, part) for part in LN_2[x.elem])
    scaled = two_product(e, gap.high, high)
    scaled = Pair(scaled.high, e.fma(gap.low, high, e.fma(gap.high, low, scaled.low)))
    usual = _log_of_one_plus_exp(e, scaled)
    added = e.rare(_is_wide(e, scaled.high), usual, lambda: exp2(e, gap.high))
    return _joined(e, x, y, 1.0, e.fma(added, e.const_like(x, LOG2_E[x.elem]), larger))


def _apart(e: Emitter, x: Val, y: Val) -> tuple[Val, Pair]:
    """The larger one, and the smaller one less it."""
    first = e.fcmp("ogt", x, y)
    larger, smaller = e.select(first, x, y), e.select(first, y, x)
    return larger, two_sum(e, smaller, e.fneg(larger))


def _log_of_one_plus_exp(e: Emitter, gap: Pair) -> Val:
    mantissa, whole = exp_pair(e, gap.high, gap.low)
    power = scale_normal(e, e.const_like(gap.high, 1.0), whole)
    return log_of_pair(e, one_plus(e, mantissa, power), doublings=0)


def _is_wide(e: Emitter, gap: Val) -> Val:
    """Whether the exponential of the gap may be subnormal: then it is the logarithm of 1 more, too."""
    return e.fcmp("ugt", e.call("fabs", gap), e.const_like(gap, EXP_NORMAL[gap.elem]))


def _joined(e: Emitter, x: Val, y: Val, of_two: float, usual: Val) -> Val:
    """For equal numbers, infinities among them, the logarithm of two is added; NaN wins."""
    doubled = e.op("fadd", x, e.const_like(x, of_two))
    return e.select(e.fcmp("uno", x, y), e.op("fadd", x, y), e.select(e.fcmp("oeq", x, y), doubled, usual))
