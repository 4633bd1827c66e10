"""Define `np.piecewise` for traced values.

NumPy calls each function with the elements that its condition picks. Here it is called with all elements, which gives
the same results for an elementwise function. Any other function is left to NumPy, and so is one that could fail for an
element that is not picked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.dtypes import BOOL, DType
from ...ir.errors import Span
from ...ir.graph import Node, Value
from ...ir.ops import CONSTANT, SIZE, TABLE, WHERE, Trait
from ..maker import Maker, fits
from .tracer import Tracer

if TYPE_CHECKING:
    from .trace import Trace

OR, NOT, POWER = TABLE["logical_or"], TABLE["logical_not"], TABLE["power"]


def piecewise(
    trace: Trace, span: Span | None, x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any
) -> Tracer:
    """Record `np.piecewise`, or raise `Unsupported` if NumPy has to compute it."""
    m = Maker(trace.builder, span)
    value = trace.owned(x, span) if isinstance(x, Tracer) else trace.capture(x, span)
    conditions = [m.cast(c, BOOL) for c in _conditions(trace, m, value, condlist, span)]
    if not isinstance(funclist, (list, tuple)) or len(funclist) not in (len(conditions), len(conditions) + 1):
        raise m.refuse("'piecewise' with this number of functions")
    if len(funclist) > len(conditions):
        conditions.append(m.op(NOT, _any(m, conditions)))
    dtype = value.type.dtype.strong
    zero = m.builder.constant(False if dtype == BOOL else 0, dtype, span)
    found = m.op(WHERE, True, zero, value)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            part = m.cast(_called(trace, m, value, function, args, kwargs), dtype)
        else:
            part = _number(m, function, dtype)
        found = m.op(WHERE, condition, part, found)
    return Tracer(trace, found)


def _conditions(trace: Trace, m: Maker, x: Value, given: Any, span: Span | None) -> list[Value]:
    listed = given if isinstance(given, (list, tuple)) else [given]
    found = [m.lift(trace.operand(c, True, span)) for c in listed]
    if not found or any(c.type.shape != x.type.shape for c in found):
        raise m.refuse("'piecewise' with conditions of a different shape")
    return found


def _any(m: Maker, conditions: Sequence[Value]) -> Value:
    total, *rest = conditions
    for condition in rest:
        total = m.op(OR, total, condition)
    return total


def _called(
    trace: Trace, m: Maker, x: Value, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Value:
    """Call an elementwise function on all elements."""
    builder = trace.builder
    mark, guards = len(builder.nodes), len(builder.facts.guards)
    result = m.lift(trace.operand(function(Tracer(trace, x), *args, **kwargs), False, m.span))
    plain = all(map(_is_plain, builder.nodes[mark:])) and len(builder.facts.guards) == guards
    if not plain or result.type.shape not in ((), x.type.shape):
        raise m.refuse("'piecewise' with a function that does not work element by element")
    return result


def _is_plain(node: Node) -> bool:
    """Tell whether an operation works on single elements and can't fail."""
    fails = node.op is POWER and node.result.type.dtype.is_integer
    return Trait.ELEMENTWISE in node.op.traits and node.op is not SIZE and not fails


def _number(m: Maker, given: Any, dtype: DType) -> Value:
    """Convert a number as assigning it to an element would."""
    if not isinstance(given, (bool, int, float, np.bool_, np.integer, np.floating)):
        raise m.refuse("'piecewise' with an array in place of a function")
    if type(given) is int and dtype.is_integer and not fits(given, dtype):
        raise m.refuse("'piecewise' with an integer that does not fit")
    with np.errstate(all="ignore"):
        number = np.asarray(given).astype(dtype.numpy)[()]
    return m.builder.op(CONSTANT, span=m.span, value=number.item(), dtype=dtype)
