"""Map the names of NumPy's elementwise functions to the code that makes their nodes.

Most are one op. Functions of several ops are in `powers`, `choosing`, `rounding` and `complex_parts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir import rules
from ...ir.dtypes import BF16, from_numpy, python_type
from ...ir.errors import TypeProblem
from ...ir.graph import Value
from ...ir.ops import SPECIAL, TABLE, OpDef
from ..maker import Make as Make
from ..maker import Maker, Operand, as_dtype
from .choosing import CHOOSING
from .complex_parts import COMPLEX_PARTS
from .conversion import astype
from .powers import POWERS
from .powers import power as power
from .rounding import ROUNDING

# NumPy's names of the ops; an op that is not listed has NumPy's name.
_NUMPY_NAMES = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
OP_NAMES = {numpy: ours for ours, numpy in _NUMPY_NAMES.items()}
ALIASES = {
    "true_divide": "divide", "mod": "remainder", "pow": "power", "abs": "absolute", "bitwise_not": "invert",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "conj": "conjugate", "around": "round", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def simple(op: OpDef) -> Make:
    """Make a function of a single op; a ufunc also takes the dtype to compute in."""

    def one(m: Maker, x: Operand, /, *, dtype: object = None, casting: Any = "same_kind") -> Value:
        return m.op(op, *_told(m, op, (x,), dtype, casting))

    def two(m: Maker, x1: Operand, x2: Operand, /, *, dtype: object = None, casting: Any = "same_kind") -> Value:
        return m.op(op, *_told(m, op, (x1, x2), dtype, casting))

    return one if op.arity == 1 else two


def _told(m: Maker, op: OpDef, operands: tuple[Operand, ...], dtype: object, casting: Any) -> tuple[Operand, ...]:
    """Cast the operands to the dtypes of the loop that NumPy selects for the requested result dtype."""
    if dtype is None and casting == "same_kind":
        return operands
    ufunc = op.numpy
    if not isinstance(ufunc, np.ufunc) or casting not in CASTINGS:
        raise m.refuse(f"the argument 'dtype' of '{op.name}'")
    wanted = None if dtype is None else as_dtype(dtype, m.span).numpy
    given = [m.dtype_of(x) for x in operands]
    asked = [python_type(d) if d.weak and not all(g.weak for g in given) else d.numpy for d in given]
    try:
        loop = ufunc.resolve_dtypes((*asked, None), signature=(*(None,) * ufunc.nin, wanted), casting=casting)
    except TypeError as error:
        raise TypeProblem(
            f"'{op.name}': {error}", m.span, "leave out 'dtype' and 'casting', or convert first"
        ) from error
    return tuple(m.cast(x, from_numpy(d)) for x, d in zip(operands, loop, strict=False))


def together(*names: str) -> Make:
    """Make a function with several results, one op for each."""
    ops = [TABLE[name] for name in names]
    if ops[0].arity == 1:
        return lambda m, x, /: tuple(m.op(op, x) for op in ops)
    return lambda m, x1, x2, /: tuple(m.op(op, x1, x2) for op in ops)


def in_dtypes_of(ufunc: np.ufunc, op: OpDef) -> Make:
    """Apply an op in the dtypes of another ufunc: `fabs` always gives a float, and `degrees` turns bf16 into f32."""
    resolve = rules.ufunc_dtypes(ufunc)

    def make(m: Maker, x: Operand, /) -> Value:
        (dtype,), _ = resolve((m.dtype_of(x).strong,), {})
        return m.op(op, m.cast(x, dtype))

    return make


def sign(m: Maker, x: Operand, /) -> Value:
    """Return the sign. The sign of -0.0 is 0.0, but for bf16 it is -0.0, as in ml_dtypes."""
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
