"""Define `reduce`, `accumulate` and `outer` of NumPy's ufuncs."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.graph import Value
from ..maker import ABSENT, Maker, Operand
from .arrays import array_of, strong_array
from .cumulative import accumulated
from .elementwise import Make
from .reductions import ALGEBRAS, Algebra, reduced
from .shapes import reshaped


def _reduce(algebra: Algebra) -> Make:
    def make(m: Maker, array: Operand, /, axis: object = 0, dtype: object = None, out: None = None,
             keepdims: object = False, initial: object = ABSENT, where: object = True) -> Value:  # fmt: skip
        return reduced(m, algebra, array_of(m, array), axis, dtype, keepdims, initial, where)

    return make


def _accumulate(algebra: Algebra) -> Make:
    def make(m: Maker, array: Operand, /, axis: object = 0, dtype: object = None, out: None = None) -> Value:
        return accumulated(m, algebra, array, axis, dtype)

    return make


def outer_operands(m: Maker, a: object, b: object) -> tuple[Value, Value]:
    """Reshape the operands of `outer` to broadcast. Unlike in a plain call, a Python number gets a strong dtype."""
    left, right = strong_array(m, a), strong_array(m, b)
    return reshaped(m, left, (*left.type.shape, *(1,) * right.type.rank)), right


UFUNC_METHODS: Mapping[str, Make] = {
    **{f"{name}.reduce": _reduce(algebra) for name, algebra in ALGEBRAS.items()},
    **{f"{name}.accumulate": _accumulate(algebra) for name, algebra in ALGEBRAS.items()},
}
