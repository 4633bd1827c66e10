"""Compute with the elements that a mask selects, without a compressed copy: `x[m] = f(x[m])`, `x[m].mean()`, `x[m] +=
1`.

A selected array is the whole array with its mask. Elementwise functions are applied to the whole array. A reduction
sees its neutral element outside of the mask. A store writes the selected elements and leaves the others unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.dtypes import BOOL, F64, I64, DType
from ....ir.graph import Value
from ..arithmetic import INT, value_of
from ..context import Lowering
from ..values import Abstract, CutProblem, Expression, Number, Selected, View


def selects(of: Abstract, items: Sequence[Abstract]) -> bool:
    """Whether an index is a single mask for the whole array."""
    if len(items) != 1 or not isinstance(of, (View, Expression)) or not isinstance(items[0], (View, Expression)):
        return False
    return _type(items[0])[0] == BOOL and len(_type(items[0])[1]) == len(_type(of)[1]) > 0


def _type(of: View | Expression) -> tuple[DType, tuple[Any, ...]]:
    return (of.dtype, of.shape) if isinstance(of, View) else (of.value.type.dtype, of.value.type.shape)


def lift(p: Lowering, args: Sequence[Abstract], call: Callable[[Sequence[Abstract]], Abstract]) -> Abstract | None:
    """Apply an elementwise function to selected arrays; None if no argument is selected."""
    chosen = [x for x in args if isinstance(x, Selected)]
    if not chosen:
        return None
    if any(x.is_stale for x in chosen):
        raise CutProblem("an array was changed after a mask had selected from it")
    mask = chosen[0].mask
    if not all(isinstance(x, Number) or (isinstance(x, Selected) and _is_same(p, x.mask, mask)) for x in args):
        raise CutProblem("an array that a mask selects is combined with one that another mask, or none, selects")
    made = call([x.value if isinstance(x, Selected) else x for x in args])
    assert isinstance(made, Expression)
    return Selected(made, mask)


def _is_same(p: Lowering, a: View | Expression, b: View | Expression) -> bool:
    return same_values(p.draft.operand(a), p.draft.operand(b))


def same_values(a: Value, b: Value) -> bool:
    """Whether two values of a draft are computed in the same way."""
    if a is b:
        return True
    if a.node is None or b.node is None or a.node.op is not b.node.op or a.index != b.index:
        return False
    if a.node.attrs != b.node.attrs or len(a.node.operands) != len(b.node.operands) or a.node.body is not None:
        return False
    return all(map(same_values, a.node.operands, b.node.operands))


def write_selected(
    p: Lowering, of: View, mask: Abstract, value: Abstract, convert: Callable[[Abstract], Value]
) -> None:
    """Store `of[mask] = value`, where the value is a number or was selected by the same mask."""
    if not isinstance(mask, (View, Expression)):
        raise CutProblem("this is not a mask")
    if isinstance(value, Selected):
        if value.is_stale or not _is_same(p, value.mask, mask):
            raise CutProblem("elements that one mask selects are written to those that another mask selects")
        value = value.value
    elif not isinstance(value, Number):
        raise CutProblem("an array is written to the elements that a mask selects, whose number depends on data")
    new = Expression(convert(value))
    chosen = p.draft.call("where", (mask, new, of), {})
    assert isinstance(chosen, Expression)
    p.draft.emit([chosen.value], [of])


def count(p: Lowering, of: Selected) -> Number:
    """How many elements a mask selects."""
    made = p.draft.call("sum", (of.mask,), {})
    return Number(INT, p.e.cast(value_of(p.e, p.number(made)), I64))


def reduce_selected(p: Lowering, name: str, of: Selected, named: Mapping[str, Abstract]) -> Abstract:
    """A reduction over all that a mask selects."""
    if of.is_stale:
        raise CutProblem("an array was changed after a mask had selected from it")
    if named:
        raise CutProblem("a reduction of elements that a mask selects takes no other arguments")
    dtype = _type(of.value)[0]
    if name == "mean":
        total = reduce_selected(p, "sum", _floats(p, of, dtype), {})
        number = p.number(p.draft.call("sum", (of.mask,), {}))
        return p.draft.call("divide", (total, number), {}) if dtype != BOOL else total
    if name not in NEUTRAL:
        raise CutProblem(f"'{name}' of elements that a mask selects has no native code in loops")
    if name in ("min", "max"):
        some = p.e.op("gt", value_of(p.e, count(p, of)), p.e.constant(0, I64))
        p.e.check(some, "the minimum or maximum of an empty selection")
    neutral = _neutral(name, dtype)
    rest = p.draft.cast(p.draft.builder.constant(neutral, dtype), dtype)
    return p.draft.call(name, (p.draft.call("where", (of.mask, of.value, Expression(rest)), {}),), {})


def _floats(p: Lowering, of: Selected, dtype: DType) -> Selected:
    if dtype.kind == "float":
        return of
    return Selected(Expression(p.draft.cast(p.draft.operand(of.value), F64)), of.mask)


def _neutral(name: str, dtype: DType) -> bool | int | float:
    if name in ("min", "max") and dtype.kind != "bool":
        if dtype.kind == "float":
            return np.inf if name == "min" else -np.inf
        limits = np.iinfo(dtype.numpy)
        return int(limits.max if name == "min" else limits.min)
    zero = {"bool": False, "float": 0.0}.get(dtype.kind, 0)
    one = {"bool": True, "float": 1.0}.get(dtype.kind, 1)
    return one if NEUTRAL[name] else zero


NEUTRAL = {"sum": 0, "prod": 1, "any": 0, "all": 1, "min": 1, "max": 0}
