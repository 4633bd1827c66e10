"""Draw random arguments for each function of the table.

A ufunc takes as many operands as NumPy says. Any other function is drawn from its NumPy signature: `PARAMETERS` has one
recipe for each parameter name. `OWN` has the few functions whose arguments depend on each other, `LEFT_OUT` those that
are not drawn, with the reason. A new function of the table needs no change here if its parameters have known names;
otherwise `test_recipes.py` fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from weft.frontend.numpy.functions import FUNCTIONS

from .choosing import MISSING, SIZES, Choice
from .program import Ref, SizeOf, callable_of

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Recipe = Callable[[Choice, Any], Any]

LEFT_OUT: Mapping[str, str] = {
    name: reason
    for names, reason in (
        (
            {n for n in FUNCTIONS if not hasattr(np, n.partition(".")[0])},
            "NumPy has no such function: the language has, and tests/math",
        ),
        (
            {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"},
            "NumPy takes the elements before a tracer is asked",
        ),
        ({"empty", "empty_like"}, "NumPy leaves the numbers open"),
        ({"einsum", "vecmat"}, "shapes hardly ever fit by chance: tests/products draws them"),
    )
    for name in names & FUNCTIONS.keys()
}
# Of a scalar that is NaN NumPy gives NaN, of an array without dimensions the initial number.
OPEN = frozenset((("nanmin", "initial"), ("nanmax", "initial")))
OPERANDS = frozenset(("a", "A", "b", "f", "x", "arr", "m", "ary", "array", "val", "v", "y", "z", "values", "x1", "x2"))


def draw(choice: Choice, name: str) -> Arguments | None:
    """Draw arguments for a NumPy function; None if the values so far do not suit."""
    if name in OWN:
        return OWN[name](choice)
    function = callable_of(f"np.{name}")
    if isinstance(function, np.ufunc):
        first = choice.any_value()
        rest = [choice.partner(first) for _ in range(function.nin - 1)]
        operands = [first, *rest]
        choice.rng.shuffle(operands)
        return tuple(operands), {"dtype": choice.dtype()} if choice.chance(0.02) else {}
    return _by_signature(choice, name)


def _by_signature(choice: Choice, name: str) -> Arguments:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    first: Any = None
    for parameter in parameters(name):
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [choice.any_value() for _ in range(choice.integer(1, 2))]
            continue
        optional = parameter.default is not parameter.empty
        if parameter.name in OPERANDS and not optional:
            found = choice.any_value() if first is None else choice.partner(first)
            first = found if first is None else first
        elif _is_drawn(choice, name, parameter):
            found = PARAMETERS[parameter.name](choice, first)
        else:
            continue
        if found is MISSING:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY or optional:
            kwargs[parameter.name] = found
        else:
            args.append(found)
    return tuple(args), kwargs


def _is_drawn(choice: Choice, name: str, parameter: inspect.Parameter) -> bool:
    if (name, parameter.name) in OPEN or parameter.name not in PARAMETERS:
        return False
    likely = _likely(parameter.name)
    return parameter.default is parameter.empty or choice.chance(
        max(likely, 0.5) if choice.eager and likely else likely
    )


@cache
def parameters(name: str) -> tuple[inspect.Parameter, ...]:
    """The parameters of a NumPy function."""
    return tuple(inspect.signature(callable_of(f"np.{name}")).parameters.values())


def without_recipe(name: str) -> str | None:
    """Return why a function can't be drawn, if so."""
    if name in LEFT_OUT or name in OWN or isinstance(callable_of(f"np.{name}"), np.ufunc):
        return None
    for parameter in parameters(name):
        variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variable and parameter.name not in {*OPERANDS, *PARAMETERS}:
            return f"no recipe for the parameter '{parameter.name}' of np.{name}"
    return None


def _likely(name: str) -> float:
    return {"axis": 0.8, "keepdims": 0.3, "out": 0.0, "dtype": 0.15, "where": 0.15, "initial": 0.15}.get(name, 0.3)


# -- parameters


def _rank(choice: Choice, ref: Any) -> int:
    return int(np.ndim(choice.actual(ref)))


def _shape(choice: Choice, ref: Any) -> tuple[int, ...]:
    return tuple(np.shape(choice.actual(ref)))


def _axis(choice: Choice, first: Any) -> Any:
    rank = _rank(choice, first)
    roll = choice.rng.random()
    if roll < 0.2:
        return None
    return choice.axes(rank) if roll < 0.35 else choice.axis(rank)


def _one_axis(choice: Choice, first: Any) -> int:
    return choice.axis(_rank(choice, first))


def _index_array(choice: Choice, first: Any) -> Any:
    """Choose integers that may be positions, if some value has any; else a list."""
    found = choice.value(lambda x: x.dtype.kind in "iu" and x.size and x.min() >= 0 and x.max() < 2 and x.ndim < 3)
    return found if found is not None and choice.chance(0.5) else [0, -1, 0][: choice.integer(1, 3)]


def _smooth(*items: Any) -> Recipe:
    return lambda choice, first: choice.one_of(items)


PARAMETERS: Mapping[str, Recipe] = {
    "axis": _axis, "axis1": _one_axis, "axis2": _one_axis, "source": _one_axis, "destination": _one_axis,
    "start": _one_axis, "keepdims": _smooth(True, False), "dtype": lambda choice, first: choice.dtype(),
    "initial": _smooth(0, 1, 2, -3, 0.5, float("inf")), "where": lambda choice, first: choice.mask(first),
    "ddof": _smooth(0, 1, 2), "correction": _smooth(0, 1), "order": _smooth("C", "F", "K", "A"),
    "decimals": _smooth(0, 0, 1, 2, -1), "k": _smooth(0, 1, -1, 2, -3), "offset": _smooth(0, 1, -1, 2),
    "n": _smooth(0, 1, 2), "shift": _smooth(0, 1, -1, 3, 7, -40), "repeats": _smooth(0, 1, 2, 3),
    "reps": _smooth(1, 2, (2,), (1, 2), (2, 1, 2)), "indices": _index_array, "axes": lambda choice, first: MISSING,
    "fill_value": lambda choice, first: choice.number(), "nan": _smooth(0.0, 5.0, -0.0),
    "posinf": _smooth(7.0, 1e30), "neginf": _smooth(-7.0, -1e30), "deg": _smooth(True, False),
    "include_initial": _smooth(True, False), "shape": lambda choice, first: choice.small_shape(),
    "N": lambda choice, first: choice.one_of(SIZES[:10]), "M": lambda choice, first: choice.one_of(SIZES[:10]),
    "ord": _smooth(None, 1, 2, 0, float("inf"), -float("inf"), 3), "mode": _smooth("wrap", "clip", "raise"),
    "indices_or_sections": _smooth(1, 2, 3, [1], [1, 2], [0, 5]),
    "dimensions": lambda choice, first: choice.small_shape(),
    "to_end": _smooth(1, 2), "to_begin": _smooth(0), "device": lambda choice, first: MISSING, "copy": _smooth(True),
}  # fmt: skip


# -- functions whose arguments depend on each other


def _where(choice: Choice) -> Arguments:
    first = choice.any_value()
    condition = choice.mask(first) if choice.chance(0.7) else first
    return (condition, first, choice.partner(first)) if choice.chance(0.5) else (
        condition, choice.partner(first), first), {}  # fmt: skip


def _clip(choice: Choice) -> Arguments:
    first = choice.any_value()
    limits = [None if choice.chance(0.15) else choice.partner(first) for _ in range(2)]
    return (first, *limits), {}


def _reshape(choice: Choice) -> Arguments:
    first = choice.any_value()
    shape = list(_shape(choice, first))
    sizes: list[Any] = [choice.size(first, axis) for axis in range(len(shape))]
    for _ in range(choice.integer(1, 2)):
        roll = choice.rng.random()
        if roll < 0.3 and len(sizes) > 1:
            at = choice.integer(0, len(sizes) - 2)
            merged = shape[at] * shape[at + 1]
            sizes[at : at + 2], shape[at : at + 2] = [merged], [merged]
        elif roll < 0.55:
            at = choice.integer(0, len(sizes))
            sizes.insert(at, 1)
            shape.insert(at, 1)
        elif sizes:
            at = choice.integer(0, len(sizes) - 1)
            parts = [d for d in (2, 3, 5, 7) if shape[at] and shape[at] % d == 0]
            if parts:
                part = choice.one_of(parts)
                sizes[at : at + 1], shape[at : at + 1] = [part, shape[at] // part], [part, shape[at] // part]
    if sizes and choice.chance(0.5):
        sizes[choice.integer(0, len(sizes) - 1)] = -1
    wanted: Any = tuple(sizes) if len(sizes) != 1 or choice.chance(0.5) else sizes[0]
    return (first, wanted), {"order": "F"} if choice.chance(0.4 if choice.eager else 0.1) else {}


def _broadcast_to(choice: Choice) -> Arguments:
    first = choice.any_value()
    shape = [
        choice.size(first, axis) if n != 1 or choice.chance(0.5) else choice.integer(0, 5)
        for axis, n in enumerate(_shape(choice, first))
    ]
    return (first, (*(choice.integer(0, 3) for _ in range(choice.integer(0, 1))), *shape)), {}


def _transpose(choice: Choice) -> Arguments:
    first = choice.any_value()
    return (first,) if choice.chance(0.4) else (first, choice.order(_rank(choice, first))), {}


def _joined(stacks: bool) -> Callable[[Choice], Arguments]:
    """Choose arrays of one shape to stack, or arrays that differ along one axis to concatenate."""

    def draw(choice: Choice) -> Arguments:
        first = choice.any_value()
        shape = _shape(choice, first)
        parts = [first]
        for _ in range(choice.integer(1, 2)):
            alike = choice.value(lambda x: x.shape == shape if stacks else x.ndim == len(shape))
            parts.append(alike or first)
        kwargs = {"axis": choice.axis(len(shape) + stacks)} if choice.chance(0.7) else {}
        return (parts if choice.chance(0.5) else tuple(parts),), kwargs

    return draw


def _without_axis(draw: Callable[[Choice], Arguments]) -> Callable[[Choice], Arguments]:
    return lambda choice: (draw(choice)[0], {})


def _counted(choice: Choice) -> Arguments:
    """Draw arguments of `arange`: numbers, or a size."""
    first = choice.value(lambda x: x.ndim > 0)
    if first is not None and choice.chance(0.5):
        return (SizeOf(first.index, 0),), {}
    return tuple(sorted(choice.integer(-3, 9) for _ in range(choice.integer(1, 2)))), {}


def _spaced(choice: Choice) -> Arguments:
    endpoint = {"endpoint": False} if choice.chance(0.3) else {}
    return (choice.integer(1, 3), choice.one_of((5, 2.5, 7)), choice.integer(0, 9)), endpoint


def _blocks(choice: Choice) -> Arguments:
    """Draw arguments of `block`: a row of arrays, or two rows."""
    (row,), _ = _joined(True)(choice)
    return ([list(row)] * choice.integer(1, 2),), {}


def _full(choice: Choice) -> Arguments:
    return (choice.small_shape(), choice.number()), {}


def _selected(choice: Choice) -> Arguments:
    first = choice.any_value()
    count = choice.integer(1, 2)
    masks = [choice.mask(first) for _ in range(count)]
    if not all(isinstance(m, Ref) for m in masks):
        return ([], []), {}
    return (masks, [choice.partner(first) for _ in range(count)]), {}


def _average(choice: Choice) -> Arguments:
    first = choice.any_value()
    shape = _shape(choice, first)
    weights = choice.value(lambda x: x.shape == shape) if choice.chance(0.6) else None
    kwargs = {"axis": _axis(choice, first)} if choice.chance(0.6) else {}
    return (first,), {**kwargs, **({} if weights is None else {"weights": weights})}


def _looked_up(choice: Choice) -> Arguments:
    first = choice.any_value()
    kwargs = {"axis": _one_axis(choice, first)} if choice.chance(0.8) else {}
    mode = {"mode": choice.one_of(("wrap", "clip"))} if choice.chance(0.8 if choice.eager else 0.2) else {}
    beyond = [-9, 11, 6, [3, -7], [8, 0]] if mode and choice.eager else []
    return (first, choice.one_of((0, -1, _index_array(choice, first), *beyond))), {**kwargs, **mode}


def _pad(choice: Choice) -> Arguments:
    first = choice.any_value()
    widths = tuple((choice.integer(0, 3), choice.integer(0, 3)) for _ in range(_rank(choice, first)))
    mode = choice.one_of(("constant", "constant", "edge", "reflect", "symmetric", "wrap"))
    kwargs = {"constant_values": choice.number()} if mode == "constant" and choice.chance(0.5) else {}
    return (first, choice.one_of((choice.integer(0, 2), widths))), {"mode": mode, **kwargs}


def _piecewise(choice: Choice) -> Arguments:
    first = choice.any_value()
    shape = _shape(choice, first)
    mask = choice.value(lambda x: x.dtype == bool and x.shape == shape)
    return (first, [first if mask is None else mask], [choice.number(), choice.number()]), {}


def _along(choice: Choice) -> Arguments | None:
    """Draw arguments of `take_along_axis`: positions with the array's number of dimensions."""
    first = choice.any_value()
    rank = _rank(choice, first)
    positions = choice.value(lambda x: x.dtype.kind in "iu" and x.ndim == rank)
    return None if positions is None else ((first, positions, choice.axis(rank)), {})


OWN: Mapping[str, Callable[[Choice], Arguments | None]] = {
    "where": _where, "clip": _clip, "reshape": _reshape, "broadcast_to": _broadcast_to, "transpose": _transpose,
    "permute_dims": _transpose, "concatenate": _joined(False), "concat": _joined(False), "stack": _joined(True),
    "hstack": _without_axis(_joined(False)), "vstack": _without_axis(_joined(True)),
    "dstack": _without_axis(_joined(True)), "column_stack": _without_axis(_joined(True)), "block": _blocks,
    "arange": _counted, "linspace": _spaced, "logspace": _spaced, "geomspace": _spaced, "full": _full,
    "select": _selected, "average": _average, "take": _looked_up, "take_along_axis": _along, "pad": _pad,
    "piecewise": _piecewise, "astype": lambda choice: ((choice.any_value(), choice.dtype()), {}),
}  # fmt: skip
