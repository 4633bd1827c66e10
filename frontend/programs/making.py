"""Make arrays: `np.zeros`, `np.empty`, `np.full` and their kin, as memory that is allocated once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.dims import Size
from ...ir.dtypes import F64, DType, from_numpy
from ...ir.errors import TypeProblem
from .arithmetic import (
    as_int,
)
from .builtin_calls import as_python
from .drafts import Draft
from .kinds import Known, NumpyScalar
from .lowering import Lowering
from .values import (
    Abstract,
    CutProblem,
    Number,
    TupleValue,
    View,
    constant,
)

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]
Rule = Callable[[Lowering, Arguments, Named], Abstract]


def _shape(p: Lowering, value: Abstract) -> tuple[Size, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    found: list[Size] = []
    for item in items:
        number = p.number(item)
        if isinstance(number.kind, NumpyScalar):
            number = as_python(p, number)
        size = p.e.size_of(as_int(p.e, number))
        p.e.need(size)
        if not p.e.holds(size):
            raise CutProblem("can't show that the size of an array is not negative")
        found.append(size)
    return tuple(found)


def dtype_argument(value: Abstract | None, default: DType = F64) -> DType:
    if value is None or (isinstance(value, Known) and value.value is None):
        return default
    if not isinstance(value, Known):
        raise CutProblem("a dtype must be known when compiling")
    try:
        return from_numpy(np.dtype(value.value))
    except (TypeProblem, TypeError) as error:
        raise CutProblem(f"this dtype is not supported: {value.value}") from error


def _made(value: float | None) -> Callable[[Lowering, Arguments, Named], Abstract]:
    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        given = bound_arguments(("shape", "dtype", "order"), args, named)
        _plain_order(given)
        dtype = dtype_argument(given.get("dtype"))
        view = p.e.allocate(dtype, _shape(p, given["shape"]), p.node)
        if value is not None:
            fill(p, view, constant(value) if dtype.kind == "float" else constant(int(value)))
        return view

    return make


def _made_like(value: float | None) -> Callable[[Lowering, Arguments, Named], Abstract]:
    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        given = bound_arguments(("a", "dtype", "order", "subok", "shape"), args, named)
        _plain_order(given)
        of = p.computed(given["a"])
        if not isinstance(of, View):
            raise CutProblem("the array to be like must be an array")
        shape = _shape(p, given["shape"]) if "shape" in given else of.shape
        dtype = dtype_argument(given.get("dtype"), of.dtype)
        view = p.e.allocate(dtype, shape, p.node)
        view.buffer.like = of
        if value is not None:
            fill(p, view, constant(value) if dtype.kind == "float" else constant(int(value)))
        return view

    return make


def _full(p: Lowering, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("shape", "fill_value", "dtype", "order"), args, named)
    _plain_order(given)
    number = p.number(given["fill_value"])
    dtype = dtype_argument(given.get("dtype"), number.dtype)
    view = p.e.allocate(dtype, _shape(p, given["shape"]), p.node)
    fill(p, view, number)
    return view


def bound_arguments(names: Sequence[str], args: Arguments, named: Named) -> dict[str, Abstract]:
    found = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(named) - set(names) or set(named) & set(found):
        raise CutProblem("these arguments are not compiled")
    return {**found, **named}


def _plain_order(given: Mapping[str, Abstract]) -> None:
    order = given.get("order")
    if order is not None and not (isinstance(order, Known) and order.value in ("C", "K", None)):
        raise CutProblem("arrays that are made in a piece lie in C order")


def fill(p: Lowering, view: View, number: Number) -> None:
    """Writes a number to all of an array."""
    if view.dtype.kind == "complex" and view.rank and number.known is not None:
        draft = Draft(p.e)
        draft.emit([draft.builder.constant(complex(number.known), view.dtype)], [view])
        return
    value = p.stored_number(number, view)
    if not view.rank:
        p.e.store(value, view, ())
        return
    draft = Draft(p.e)
    draft.emit([draft.leaf(Number(NumpyScalar(view.dtype), value))], [view])


MAKING: Mapping[Any, Rule] = {
    np.zeros: _made(0.0), np.ones: _made(1.0), np.empty: _made(None), np.ndarray: _made(None), np.full: _full,
    np.zeros_like: _made_like(0.0), np.ones_like: _made_like(1.0), np.empty_like: _made_like(None),
}  # fmt: skip
