"""NumPy's functions of elements: a table from their names to what makes their nodes.

Most are one op. Those that are several ops stand in `powers`, `choosing`, `rounding` and `complex_parts`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..ir import rules
from ..ir.dtypes import BF16
from ..ir.graph import Value
from ..ir.ops import SPECIAL, TABLE, OpDef
from .choosing import CHOOSING
from .complex_parts import COMPLEX_PARTS
from .converting import astype
from .maker import Make as Make
from .maker import Maker, Operand
from .powers import POWERS
from .powers import power as power
from .rounding import ROUNDING

# NumPy's names of the ops; an op that is not listed has NumPy's name.
_NUMPY_NAMES = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
ALIASES = {
    "true_divide": "divide", "mod": "remainder", "pow": "power", "abs": "absolute", "bitwise_not": "invert",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "conj": "conjugate", "around": "round", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


def simple(op: OpDef) -> Make:
    """A function that is one op."""
    if op.arity == 1:
        return lambda m, x, /: m.op(op, x)
    return lambda m, x1, x2, /: m.op(op, x1, x2)


def together(*names: str) -> Make:
    """A function with several results, each of them an op."""
    ops = [TABLE[name] for name in names]
    if ops[0].arity == 1:
        return lambda m, x, /: tuple(m.op(op, x) for op in ops)
    return lambda m, x1, x2, /: tuple(m.op(op, x1, x2) for op in ops)


def in_dtypes_of(ufunc: np.ufunc, op: OpDef) -> Make:
    """An op in the dtypes of another ufunc: `fabs` is always a float, and bf16 becomes f32 in `degrees`."""
    resolve = rules.ufunc_dtypes(ufunc)

    def make(m: Maker, x: Operand, /) -> Value:
        (dtype,), _ = resolve((m.dtype_of(x).strong,), {})
        return m.op(op, m.cast(x, dtype))

    return make


def sign(m: Maker, x: Operand, /) -> Value:
    """Of -0.0 it is 0.0, but for bf16 -0.0, as ml_dtypes has it."""
    found = m.op(TABLE["sign"], x)
    return m.op(TABLE["copysign"], found, x) if found.type.dtype == BF16 else found


ELEMENTWISE: Mapping[str, Make] = {
    **{_NUMPY_NAMES.get(op.name, op.name): simple(op) for op in TABLE.values() if isinstance(op.numpy, np.ufunc)},
    **{op.name: simple(op) for op in SPECIAL},
    **POWERS,
    **CHOOSING,
    **ROUNDING,
    **COMPLEX_PARTS,
    "divmod": together("floor_divide", "remainder"),
    "frexp": together("frexp_mantissa", "frexp_exponent"),
    "modf": together("modf_fraction", "modf_whole"),
    "fabs": in_dtypes_of(np.fabs, TABLE["abs"]),
    "degrees": in_dtypes_of(np.degrees, TABLE["rad2deg"]),
    "radians": in_dtypes_of(np.radians, TABLE["deg2rad"]),
    "sign": sign,
    "astype": astype,
}
