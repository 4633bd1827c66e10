"""Look up NumPy's functions by name and call them on values of the graph.

    call(builder, "mean", (x,), {"axis": -1}, span)

Arguments are values or Python constants. An unsupported argument raises `Unsupported`. The language shows this error to
the user; tracing leaves the call to NumPy.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ...ir.builder import Builder
from ...ir.dims import Dim
from ...ir.errors import Span, TypeProblem, UnknownName, nearest
from ...ir.graph import Value
from ...ir.records import record
from ..maker import Maker
from . import arrangements, elementwise, reductions
from .argminmax import POSITIONS
from .axes import flag
from .cumulative import CUMULATIVE
from .elementwise import Make
from .nan_aware import NAN_AWARE
from .norms import NORMS
from .powers import OPERATOR, raised
from .statistics import STATISTICS
from .take import index
from .ufunc_methods import UFUNC_METHODS, outer_operands

__all__ = ["CONSTANTS", "ELEMENTS", "FUNCTIONS", "NumpyFunction", "call", "index", "is_known"]

_NO_VALUE = getattr(np, "_NoValue", None)
# Keyword arguments of many NumPy functions, with the values that have no effect.
_NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "out": (None, (None,)), "where": (True,), "casting": ("same_kind",), "order": ("K",), "subok": (True,),
    "dtype": (None,), "initial": (), "signature": (None,), "sig": (None,), "axes": (), "mean": (), "device": (None,),
    "keepdims": (), "like": (None,), "copy": (None, True),
}  # fmt: skip


@record
class NumpyFunction:
    """A NumPy function: its name, and the function that makes its nodes."""

    name: str
    make: Make


def _table() -> Mapping[str, NumpyFunction]:
    made = {
        **elementwise.ELEMENTWISE, **reductions.REDUCTIONS, **STATISTICS, **NAN_AWARE, **NORMS, **POSITIONS,
        **CUMULATIVE, **arrangements.ARRANGING,
    }  # fmt: skip
    table = {name: NumpyFunction(name, make) for name, make in made.items()}
    for alias, name in {**elementwise.ALIASES, **reductions.ALIASES, **arrangements.ALIASES}.items():
        table[alias] = table[name]
    return MappingProxyType(table)


FUNCTIONS: Mapping[str, NumpyFunction] = _table()
ELEMENTS = frozenset((*elementwise.ELEMENTWISE, *elementwise.ALIASES))
"""Functions of elements: what a `fn` may call."""
CONSTANTS: Mapping[str, float] = MappingProxyType(
    {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "euler_gamma": 0.5772156649015329}
)
"""NumPy's constants. A variable may have the same name."""
METHODS: Mapping[str, NumpyFunction] = {
    name: NumpyFunction(name, make) for name, make in {**UFUNC_METHODS, OPERATOR: raised}.items()
}
OUTER = ".outer"


def is_known(name: str) -> bool:
    """Tell whether a NumPy function, or a ufunc method such as `add.reduce`, is defined here."""
    known = name in FUNCTIONS or name in METHODS or name == "piecewise"
    return known or name.removesuffix(OUTER) in elementwise.ELEMENTWISE


def call(
    builder: Builder, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], span: Span | None
) -> Value | tuple[Value, ...]:
    """Call a function and return its result, or a tuple if it has several."""
    if name.endswith(OUTER):
        return call(builder, name.removesuffix(OUTER), outer_operands(Maker(builder, span), *args), kwargs, span)
    function = FUNCTIONS.get(name) or METHODS.get(name)
    if function is None:
        raise UnknownName(f"unknown function '{name}'", span, nearest(name, list(FUNCTIONS)))
    maker = Maker(builder, span)
    # A `like` argument must be a traced value, or NumPy would not have passed the call on.
    kept = {key: x for key, x in kwargs.items() if x is not _NO_VALUE and not (key == "like" and isinstance(x, Value))}
    if not kept and len(args) in _plain_counts(function.make):
        return function.make(maker, *args)
    bound = _bound(function, maker, args, kept)
    if bound.arguments.get("out") is not None:
        raise maker.refuse(f"the argument 'out' of '{function.name}'")
    return function.make(*bound.args, **bound.kwargs)


def _bound(
    function: NumpyFunction, maker: Maker, args: Sequence[Any], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    known = _signature(function.make)
    for key in [k for k in kwargs if k not in known.parameters]:
        if key not in _NEUTRAL:
            names = [*list(known.parameters)[1:], *_NEUTRAL]
            hint = "did you mean 'axis'?" if key in ("dim", "dims") and "axis" in names else nearest(key, names)
            raise TypeProblem(f"'{function.name}' has no argument '{key}'", maker.span, hint)
        if not any(_is_same(kwargs[key], same) for same in _NEUTRAL[key]):
            raise maker.refuse(f"the argument '{key}' of '{function.name}'")
        del kwargs[key]
    try:
        bound = known.bind(maker, *args, **kwargs)
    except TypeError as error:
        raise TypeProblem(f"'{function.name}': {error}", maker.span, _usage(function)) from error
    for key, given in bound.arguments.items():
        if isinstance(given, (Value, Dim)) and type(known.parameters[key].default) is bool and key != "where":
            number = maker.builder.facts.specialize(given) if isinstance(given, Dim) else given
            bound.arguments[key] = flag(maker, number, key)
    return bound


@cache
def _plain_counts(make: Make) -> range:
    """Return how many positional arguments need no more than to be passed on: no flags and no `out` among them."""
    given = list(_signature(make).parameters.values())[1:]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    plain = [p.kind in kinds and type(p.default) is not bool and p.name != "out" for p in given]
    needed = [p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in given]
    return range(sum(needed), [*plain, False].index(False) + 1)


def _is_same(given: object, neutral: object) -> bool:
    """Compare an argument with its default; None and bools equal only themselves, as np.dtype("f8") == None is true."""
    return given is neutral or (neutral is not None and type(neutral) is not bool and given == neutral)


def _usage(function: NumpyFunction) -> str:
    names = list(_signature(function.make).parameters.values())[1:]
    return f"{function.name}({', '.join(str(p).split(':')[0] for p in names)})"


@cache
def _signature(make: Make) -> inspect.Signature:
    return inspect.signature(make)
