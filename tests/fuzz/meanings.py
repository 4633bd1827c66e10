"""Define what ops mean when the oracle runs graphs on the reference backend.

A mathematical function has many right answers, and a float sum depends on its order. So that runs can be compared bit
for bit, each gets its inexact ops from a table:

- `native` has the bits of native code: functions from their own kernels, sums from the tree of the plan, each total
  checked against the exact one within the tree's bound;
- `canonical` has the same functions, but every sum in an order of its own that depends on the elements alone, so that
  the graph before the passes and the graph after them must give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from weft.backends import reference, stated, tree
from weft.ir.complexes import FUNCTIONS as COMPLEX_FUNCTIONS
from weft.ir.dtypes import DType, from_numpy
from weft.ir.ops import COMPLEX_FUNCTION, TABLE, WHOLE_POWER, OpDef, Trait

from . import bounds
from .natives import Natives

Array = np.ndarray[Any, Any]
Meanings = Mapping[str, Callable[..., Any]]

# Costly, but fixed to the bit by IEEE 754 or by integer arithmetic.
EXACT = frozenset(("floor_divide", "remainder", "fmod", "sqrt", "gcd", "lcm", "ldexp", "spacing", "nextafter"))
IN_PARTS = frozenset((*COMPLEX_FUNCTIONS, "mul", "square"))
ACCUMULATING = ("sum", "prod")


def may_be_inexact(op: OpDef) -> bool:
    """Tell whether an op may round in a way that only its own code determines, for some dtypes."""
    if Trait.ELEMENTWISE not in op.traits or op.numpy is None:
        return False
    if op in (WHOLE_POWER, COMPLEX_FUNCTION) or op.name in IN_PARTS:
        return True
    return Trait.EXPENSIVE in op.traits and op.name not in EXACT


def is_inexact(op: OpDef, operands: tuple[DType, ...], result: DType) -> bool:
    """Tell whether an op on these dtypes rounds in such a way."""
    if not may_be_inexact(op):
        return False
    if any(d.kind == "complex" for d in operands):
        return op.name in IN_PARTS
    if result.kind != "float":
        return False
    return op in (WHOLE_POWER, COMPLEX_FUNCTION) or (Trait.EXPENSIVE in op.traits and op.name not in EXACT)


def native(natives: Natives) -> Meanings:
    """Return meanings with the bits of native code, for a graph whose reductions have their trees."""
    return {**stated.MEANINGS, **_functions(natives), "sum": _tree("sum"), "prod": _tree("prod")}


def canonical(natives: Natives) -> Meanings:
    """Return meanings with the same bits for all equivalent graphs."""
    functions = _functions(natives)
    return {
        **stated.MEANINGS,
        **functions,
        "power": _power(functions["power"], functions["whole_power"]),
        "sum": _ordered(np.add, 0),
        "prod": _ordered(np.multiply, 1),
        "composite": _composite,
        "scan": _scan,
    }


def _functions(natives: Natives) -> Meanings:
    return {op.name: _function(natives, op) for op in TABLE.values() if may_be_inexact(op)}


def _function(natives: Natives, op: OpDef) -> Callable[..., Any]:
    exact = stated.MEANINGS.get(op.name, op.numpy)
    assert exact is not None

    def meaning(*operands: Any, **attrs: Any) -> Any:
        dtypes = tuple(from_numpy(np.asarray(x).dtype) for x in operands)
        if not is_inexact(op, dtypes, _result(op, dtypes, attrs)):
            return exact(*operands, **attrs)
        found = natives.run(op, operands, attrs)
        if op is WHOLE_POWER and dtypes[0].kind == "float":
            bounds.check_function(np.power, (operands[0], np.asarray(attrs["exponent"], operands[0].dtype)), found)
        return found

    return meaning


def _result(op: OpDef, dtypes: tuple[DType, ...], attrs: Mapping[str, Any]) -> DType:
    return op.dtypes(dtypes, attrs)[1][0]


def _power(power: Callable[..., Any], whole: Callable[..., Any]) -> Callable[..., Any]:
    """Compute powers by multiplication if `canonicalize` may do so, whether it did or not."""

    def meaning(x: Any, y: Any) -> Any:
        found = np.asarray(power(x, y))
        if found.dtype.kind not in "fV":
            return found
        base, exponent = (np.asarray(v).astype(found.dtype) for v in (x, y))
        simple: dict[int, Any] = {0: np.ones_like(base), 1: base, 2: base * base}
        for k in range(9):
            if np.any(exponent == k):
                found = np.where(exponent == k, simple[k] if k in simple else whole(base, exponent=k), found)
        return found

    return meaning


def _tree(name: str) -> Callable[..., Any]:
    combine, identity = reference.IDENTITY[name]
    plain = TABLE[name].numpy
    assert plain is not None

    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        if not plan.get("steps"):
            return plain(x, axes, keepdims)
        found = tree.reduce(combine, identity, np.asarray(x), axes, keepdims, **plan)
        bounds.check_total(name, np.asarray(x), axes, keepdims, found, plan)
        return found

    return meaning


def _composite(
    kind: str, exp: Callable[[Any], Any], u: Any, shift: Any, axes: tuple[int, ...], keepdims: bool, **plan: Any
) -> Any:
    """Compute a composite like the plain sum that it was."""
    if kind == "total":
        return _ordered(np.add, 0)(u, axes, keepdims)
    shape = tuple(1 if k in axes else n for k, n in enumerate(u.shape))
    off = u - np.reshape(shift, shape)
    terms = {"moment1": lambda: off, "moment2": lambda: off * off}.get(kind, lambda: exp(off))()
    return _ordered(np.add, 0)(terms, axes, keepdims)


def _ordered(ufunc: np.ufunc, identity: int) -> Callable[..., Any]:
    """Combine the elements from the smallest to the largest, whatever their order."""

    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        x = np.asarray(x)
        if x.dtype.kind == "c" and ufunc is np.add:
            found = np.empty(_left(x, axes, keepdims), x.dtype)
            found.real, found.imag = (meaning(part, axes, keepdims) for part in (x.real, x.imag))
            return found
        if x.dtype.kind not in "fV":
            return ufunc.reduce(x, axis=axes, keepdims=keepdims)
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        kept = [a for a in range(x.ndim) if a not in axes]
        rows = np.transpose(wide, [*kept, *axes]).reshape(*(x.shape[a] for a in kept), -1 if x.size else 0)
        started = np.concatenate(
            [np.full((*rows.shape[:-1], 1), identity, wide.dtype), np.sort(rows, axis=-1)], axis=-1
        )
        total = ufunc.accumulate(started, axis=-1)[..., -1]
        return total.reshape(_left(x, axes, keepdims)).astype(x.dtype)

    return meaning


def _left(x: Array, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)


def _scan(x: Any, combine: str, axis: int, **plan: Any) -> Any:
    """Scan one element after another, halves in f32."""
    x = np.asarray(x)
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x
    return stated.MEANINGS["scan"](wide, combine, axis).astype(x.dtype)
