"""Write complex operations as real operations on real and imaginary parts.

Only comparisons and operations on each part separately are here; the backend computes other functions. The order is
NumPy's: by real parts, and if these are equal, by imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.complexes import FUNCTIONS
from ...ir.graph import Value
from ...ir.ops import CAST, CONCATENATE, CONSTANT, DEMAND, GATHER, IN_PARTS, SLICE, TABLE, VIEWS, WHERE, OpDef
from ...ir.types import Sizes

Parts = tuple[Value, Value]
Make = Callable[..., Value]
Rule = Callable[..., "Value | Parts"]

FEW_TERMS = 4  # of an element of a product, which elementwise code adds faster than tiles do

BOTH_PARTS = frozenset(
    (*VIEWS, WHERE, DEMAND, GATHER, *(TABLE[n] for n in ("add", "sub", "neg", "positive", "rint", "sum")))
)


def _op(name: str) -> OpDef:
    return TABLE[name]


def conjugate(make: Make, a: Parts) -> Parts:
    return a[0], make(_op("neg"), a[1])


def equal(make: Make, a: Parts, b: Parts) -> Value:
    eq = _op("eq")
    return make(_op("logical_and"), make(eq, a[0], b[0]), make(eq, a[1], b[1]))


def not_equal(make: Make, a: Parts, b: Parts) -> Value:
    ne = _op("ne")
    return make(_op("logical_or"), make(ne, a[0], b[0]), make(ne, a[1], b[1]))


def ordered(real: str, imag: str) -> Rule:
    """Compares by real, then imaginary parts; a NaN imaginary part makes the result false."""

    def compare(make: Make, a: Parts, b: Parts) -> Value:
        both, nan = _op("logical_and"), _op("isnan")
        numbers = make(_op("logical_not"), make(_op("logical_or"), make(nan, a[1]), make(nan, b[1])))
        by_real = make(both, make(_op(real), a[0], b[0]), numbers)
        by_imag = make(both, make(_op("eq"), a[0], b[0]), make(_op(imag), a[1], b[1]))
        return make(_op("logical_or"), by_real, by_imag)

    return compare


def _is_nan(make: Make, a: Parts) -> Value:
    return make(_op("logical_or"), make(_op("isnan"), a[0]), make(_op("isnan"), a[1]))


def extreme(real: str, imag: str, nan_wins: bool) -> Rule:
    """Picks the smaller or larger number; NaN wins, or loses for `fmin` and `fmax`."""
    compare = ordered(real, imag)

    def pick(make: Make, a: Parts, b: Parts) -> Parts:
        first = compare(make, a, b)
        taken = make(_op("logical_or"), _is_nan(make, a if nan_wins else b), first)
        return make(WHERE, taken, a[0], b[0]), make(WHERE, taken, a[1], b[1])

    return pick


def either(name: str, joined: str) -> Rule:
    def test(make: Make, a: Parts) -> Value:
        return make(_op(joined), make(_op(name), a[0]), make(_op(name), a[1]))

    return test


def product(make: Make, a: Parts, b: Parts) -> Parts:
    """Writes a matrix product as four real ones, or as elementwise code if its elements have few terms."""
    terms = a[0].type.shape[-1]
    if isinstance(terms, int) and 0 < terms <= FEW_TERMS:
        return _sum_of_outer_products(make, a, b, terms)
    (re, im), (to_re, to_im), by = a, b, _op("matmul")
    real = make(_op("sub"), make(by, re, to_re), make(by, im, to_im))
    return real, make(_op("add"), make(by, re, to_im), make(by, im, to_re))


def _sum_of_outer_products(make: Make, a: Parts, b: Parts, terms: int) -> Parts:
    """Write a matrix product term by term: each is a column of the left operand times a row of the right one."""
    mul, add, sub = _op("mul"), _op("add"), _op("sub")
    sums: Parts | None = None
    for k in range(terms):
        re, im = (_line(make, part, -1, k) for part in a)
        to_re, to_im = (_line(make, part, -2, k) for part in b)
        real = make(sub, make(mul, re, to_re), make(mul, im, to_im))
        imag = make(add, make(mul, re, to_im), make(mul, im, to_re))
        sums = (real, imag) if sums is None else (make(add, sums[0], real), make(add, sums[1], imag))
    assert sums is not None
    return sums


def _line(make: Make, x: Value, axis: int, k: int) -> Value:
    """Take one column or row of each matrix, by its number."""
    shape = x.type.shape
    starts, sizes = [0] * len(shape), list(shape)
    starts[axis], sizes[axis] = k, 1
    return make(SLICE, x, starts=Sizes(starts), steps=(1,) * len(shape), sizes=Sizes(sizes))


_BY_NAME: Mapping[str, Rule] = {
    "matmul": product,
    "conjugate": conjugate,
    "eq": equal,
    "ne": not_equal,
    "lt": ordered("lt", "lt"),
    "le": ordered("lt", "le"),
    "gt": ordered("gt", "gt"),
    "ge": ordered("gt", "ge"),
    "minimum": extreme("lt", "le", nan_wins=True),
    "maximum": extreme("gt", "ge", nan_wins=True),
    "fmin": extreme("lt", "le", nan_wins=False),
    "fmax": extreme("gt", "ge", nan_wins=False),
    "isnan": either("isnan", "logical_or"),
    "isinf": either("isinf", "logical_or"),
    "isfinite": either("isfinite", "logical_and"),
}
RULES: Mapping[OpDef, Rule] = {TABLE[name]: rule for name, rule in _BY_NAME.items() if name in TABLE}
COMPLEX_OPS = frozenset(op.name for op in (*BOTH_PARTS, *RULES, *IN_PARTS, CAST, CONSTANT, CONCATENATE)) | FUNCTIONS
