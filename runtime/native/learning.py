"""Make a recipe from a call that Python has served, where there can be one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.layouts import classify
from ...ir.source import Guard
from .call import CallForm, Input, NativeCall, Out
from .dispatch import Chain

if TYPE_CHECKING:
    from ..arguments import CallArgument
    from ..compiler import Lowered

FIXED = (type(None), bool, int, float, complex, str, bytes, type, np.dtype)  # the same object is the same value


def learn(
    instance: Any,
    chain: Chain,
    form: CallForm,
    lowered: Lowered,
    arguments: Mapping[str, CallArgument],
    out: Any,
    parameters: Sequence[str],
    fixed: Mapping[str, Any],
    guards: Sequence[Guard] | None,
) -> None:
    """Make a recipe for calls of `instance` like this one.

    `parameters` are the names of the places in a call, `arguments` the parameters that the graph reads, and `fixed`
    those that were fixed when it was traced. Without `guards` nothing could tell whether the graph is still right, so
    there is no recipe.
    """
    if guards is None or not all(isinstance(x, FIXED) for x in fixed.values()):
        return
    places = dict(zip(parameters, range(form.positional), strict=False))
    places |= {name: form.positional + k for k, name in enumerate(form.names)}
    inputs = [Input(a.given, a.array, a.layout, places.get(name)) for name, a in arguments.items()]
    inputs += [Input(x, x, classify(x.shape, x.strides, x.itemsize), None) for x in lowered.built.hidden]
    outs = _outs(out, places.get("out"), len(lowered.graph.outputs))
    if outs is None:
        return
    checked = [(places[name], x) for name, x in fixed.items() if name in places]
    chain.add(instance, lowered, NativeCall(form, inputs, outs, checked, guards))


def _outs(out: Any, place: int | None, count: int) -> list[Out | None] | None:
    if out is None or place is None:
        return [None] * count if out is None and place is None else None
    if isinstance(out, np.ndarray):
        return [Out(out, place)]
    if type(out) is not tuple or not all(type(x) is np.ndarray for x in out):
        return None
    return [Out(x, place, k) for k, x in enumerate(out)]
