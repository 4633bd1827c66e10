"""Lower `np.zeros`, `np.empty`, `np.full` and similar calls to memory that is allocated once for each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.dims import Size
from ....ir.graph import Value
from ..arguments import bound_arguments, dtype_argument
from ..arithmetic import as_int, number_parts
from ..builtin_calls import as_python
from ..context import Lowering
from ..kinds import Known, NumpyScalar
from ..values import Abstract, CutProblem, Number, TupleValue, View, constant
from .drafts import Draft

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


def _made(value: float | None) -> Callable[[Lowering, Arguments, Named], Abstract]:
    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        given = bound_arguments(("shape", "dtype", "order"), args, named)
        dtype, shape = dtype_argument(given.get("dtype")), _shape(p, given["shape"])
        view = p.e.allocate(dtype, shape, p.node, _order(given, len(shape)))
        if value is not None:
            fill(p, view, constant(value) if dtype.kind == "float" else constant(int(value)))
        return view

    return make


def _made_like(value: float | None) -> Callable[[Lowering, Arguments, Named], Abstract]:
    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        given = bound_arguments(("a", "dtype", "order", "subok", "shape"), args, named)
        of = p.computed(given["a"])
        if not isinstance(of, View):
            raise CutProblem("the prototype of a new array must be an array")
        shape = _shape(p, given["shape"]) if "shape" in given else of.shape
        dtype = dtype_argument(given.get("dtype"), of.dtype)
        like = p.e.order_like(of) if len(shape) == of.rank else None
        view = p.e.allocate(dtype, shape, p.node, _order(given, len(shape), like))
        if value is not None:
            fill(p, view, constant(value) if dtype.kind == "float" else constant(int(value)))
        return view

    return make


def _full(p: Lowering, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("shape", "fill_value", "dtype", "order"), args, named)
    number, shape = p.number(given["fill_value"]), _shape(p, given["shape"])
    dtype = dtype_argument(given.get("dtype"), number.dtype)
    view = p.e.allocate(dtype, shape, p.node, _order(given, len(shape)))
    fill(p, view, number)
    return view


def _order(given: Mapping[str, Abstract], rank: int, like: tuple[int, ...] | None = None) -> tuple[int, ...] | None:
    """Return the axes of a new array from outermost to innermost, by the argument `order` and the array to be like."""
    wanted = given.get("order", Known("K"))
    if not isinstance(wanted, Known) or wanted.value not in ("C", "F", "A", "K", None):
        raise CutProblem("the memory order of an array must be known at compile time")
    axes = tuple(range(rank))
    if wanted.value == "F" or (wanted.value == "A" and like == axes[::-1]):
        return axes[::-1]
    return like if wanted.value in ("K", None) else axes


def fill(p: Lowering, view: View, number: Number) -> None:
    """Writes a number to all of an array."""
    if view.dtype.kind == "complex" and view.rank and number.known is not None:
        draft = Draft(p.e)
        draft.emit([draft.builder.constant(complex(number.known), view.dtype)], [view])
        return
    if view.dtype.kind == "complex":
        for k, part in enumerate(number_parts(p.e, number, view.dtype)):
            _fill_all(p, view.part(k), part)
        return
    _fill_all(p, view, p.stored_number(number, view))


def _fill_all(p: Lowering, view: View, value: Value) -> None:
    if not view.rank:
        p.e.store(value, view, ())
        return
    draft = Draft(p.e)
    draft.emit([draft.leaf(Number(NumpyScalar(view.element_dtype), value))], [view])


MAKING: Mapping[Any, Rule] = {
    np.zeros: _made(0.0), np.ones: _made(1.0), np.empty: _made(None), np.ndarray: _made(None), np.full: _full,
    np.zeros_like: _made_like(0.0), np.ones_like: _made_like(1.0), np.empty_like: _made_like(None),
}  # fmt: skip
