"""Make a recipe from a call that Python has served, if such calls can have one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.dtypes import BF16, F16, DType
from ...ir.graph import Graph, Node, Value
from ...ir.layouts import C, classify
from ...ir.ops import CONCATENATE, LOOP, NUMPY, REGION, RESHAPE
from ...ir.source import Guard
from ...ir.walking import graphs
from .call import CallForm, Input, NativeCall, Out, leaves_of
from .dispatch import Chain

if TYPE_CHECKING:
    from ..arguments import CallArgument
    from ..compiler import Lowered
    from .recipe import Recipe

HALVES = (F16, BF16)
MOST_LEAVES = 1000  # in the containers of a call, whose registers lie on the stack


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
    those that were fixed when it was traced. Without `guards` nothing could show whether the graph is still valid, so
    there is no recipe.
    """
    leaves = {leaf for x in fixed.values() for leaf in leaves_of(x)}
    if guards is None or None in leaves or len(leaves) > MOST_LEAVES:
        return
    places = dict(zip(parameters, range(form.positional), strict=False))
    if not places.keys().isdisjoint(form.names):  # an argument of `**kwargs` is called like a positional-only one
        return
    places |= {name: form.positional + k for k, name in enumerate(form.names)}
    where = {name: name if name in leaves else places.get(name) for name in arguments}
    inputs = [Input(a.given, a.array, a.layout, where[name]) for name, a in arguments.items()]
    inputs += [Input(x, x, classify(x.shape, x.strides, x.itemsize), None) for x in lowered.built.hidden]
    outs = _outs(out, places.get("out"), len(lowered.graph.outputs))
    if outs is None:
        return
    for index, output in lowered.built.updates:
        changed = inputs[index]
        if type(changed.given) is not np.ndarray or changed.place is None:
            return
        outs[output] = Out(changed.given, changed.place)
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


def build_recipe(lowered: Lowered, call: NativeCall) -> Recipe | None:
    """Return the recipe for an example of a call, if it can have one."""
    from .arguments import can_check
    from .recipe import Unserved
    from .serving import Serving

    inputs = zip(lowered.built.graph.inputs, call.inputs, strict=True)
    if not all(_readable(value.type.dtype, given) for value, given in inputs):
        return None
    if not can_check(call.guards) or not _is_served(lowered, call):
        return None
    try:
        return Serving(lowered, call).write()
    except Unserved:
        return None


def _readable(dtype: DType, given: Input) -> bool:
    """Accept arrays in the machine's byte order, NumPy scalars that hold their value, and Python numbers."""
    kind = type(given.given)
    if given.is_size:
        return kind is int
    if kind is np.ndarray:
        return given.given is given.array and given.array.dtype is dtype.numpy
    if kind in (int, float):
        return dtype.kind in ("int", "uint", "float") and (kind is int or dtype.kind == "float") and dtype not in HALVES
    return given.array.dtype == dtype.numpy and (kind in (bool, complex) or issubclass(kind, (np.number, np.bool)))


# -- which calls can be native


def _is_served(lowered: Lowered, call: NativeCall) -> bool:
    """Tell whether a graph can be called natively in this way: the memory order of all results must be known."""
    from .serving import is_known

    by_blas = _products_of(lowered) if lowered.launcher.calls else set()
    own = {n for n in lowered.graph if n.op is NUMPY and ("call" in n.attrs or is_known(n))}
    nodes_ok = all(_is_native(graph, by_blas | own) for graph in graphs(lowered.graph))
    plain = _returns_all(lowered)
    written = lowered.writes_all_outputs or _writes_dense_outputs(lowered, call, by_blas | own)
    fresh = written and not lowered.any_order and (not lowered.repeats_outputs or _copies_outputs(lowered, call))
    return nodes_ok and plain and fresh


def _copies_outputs(lowered: Lowered, call: NativeCall) -> bool:
    """Tell whether a recipe can copy results that are the same value: all of them are its own new arrays."""
    return not lowered.launcher.calls and not lowered.built.updates and all(out is None for out in call.outs)


def _returns_all(lowered: Lowered) -> bool:
    """Tell whether every output is part of what the function returns, or is written to an argument."""
    structure = lowered.built.structure
    if structure is None or structure.kind != "tree":
        return not lowered.built.updates
    from .trees import places_of

    changed = {output for _, output in lowered.built.updates}
    return changed.union(places_of(structure.tree)) == set(range(len(lowered.scalars)))


def _products_of(lowered: Lowered) -> set[Node]:
    """Return the matrix products that BLAS computes."""
    from .products import is_gemm  # the first call of most graphs does without

    return {n for n in lowered.graph if is_gemm(n, lowered.launcher.calls)}


def _is_native(graph: Graph, calls: set[Node]) -> bool:
    """Tell whether a graph or the body of a loop has only kernels, some calls, and reshapes that share memory."""
    dense = _dense_reshapes(graph) if any(n.op is RESHAPE for n in graph) else set()
    return all(n.op in (REGION, CONCATENATE, LOOP) or n in dense or n in calls for n in graph)


def _dense_reshapes(graph: Graph) -> set[Node]:
    from ...ir.accesses import value_layouts  # the first call of a stored graph does without the builder

    layouts = value_layouts(graph)
    return {n for n in graph if n.op is RESHAPE and layouts[n.operands[0]] == C}


def _writes_dense_outputs(lowered: Lowered, call: NativeCall, calls: set[Node]) -> bool:
    """Tell whether kernels, BLAS or functions make every output, possibly in another shape, as `tile` does."""
    if lowered.options.backend != "llvm":
        return False
    for value, order, out in zip(lowered.graph.outputs, lowered.orders, call.outs, strict=True):
        if value.node in calls and order == tuple(range(len(order))):
            continue
        made = _unshaped(value, lowered)
        if made is None or (made is not value and (out is not None or order != tuple(range(len(order))))):
            return False
    return True


def _unshaped(value: Value, lowered: Lowered) -> Value | None:
    """Return the value behind reshapes if a kernel writes it to its own memory, else None."""
    while value.node is not None and value.node.op is RESHAPE:
        value = value.node.operands[0]
        if value in lowered.graph.outputs or value in lowered.launcher.places:
            return None
    return value if value.node is not None and value.node.op in (REGION, CONCATENATE) else None
