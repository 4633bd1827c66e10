"""Allocate a graph's outputs before native code runs, and wrap them for the caller afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.dtypes import from_numpy
from ..ir.graph import Value
from ..ir.source import Structure
from .compiler import Lowered
from .memory import empty
from .order import lies_in
from .results import check_out, fresh, is_permuted, overlaps

Array = np.ndarray[Any, Any]


def memory_of(
    lowered: Lowered,
    wanted: Sequence[Array | None],
    inputs: Sequence[Array],
    orders: Sequence[tuple[int, ...]],
) -> dict[Value, Any]:
    """Choose the memory of each output: the caller's array if it can be written directly and nothing can fail."""
    memory: dict[Value, Any] = {}
    may_fail = lowered.launcher.may_fail
    for k, value in enumerate(lowered.graph.outputs):
        given = wanted[k]
        others = [*inputs, *(x for j, x in enumerate(wanted) if j != k and x is not None)]
        if given is not None and not may_fail and not overlaps(given, others):
            memory[value] = lambda shape, given=given: given
        elif given is not None:
            memory[value] = lambda shape, given=given: np.empty_like(given)
        else:
            order, dtype = orders[k] if is_permuted(orders[k]) else None, value.type.dtype.numpy
            memory[value] = lambda shape, dtype=dtype, order=order: empty(shape, dtype, order)
    return memory


def fresh_outputs(
    outputs: list[Array],
    orders: Sequence[tuple[int, ...]],
    inputs: list[Array],
    wanted: Sequence[Array | None],
) -> list[Array]:
    """Copy outputs that share memory with an input or another output, or whose axes are not in NumPy's order."""
    found: list[Array] = []
    for x, order, given in zip(outputs, orders, wanted, strict=True):
        others = [*inputs, *found, *(y for y in wanted if y is not None and y is not x)]
        if x is given:
            found.append(x)
            continue
        if overlaps(x, others) or not x.flags.writeable or not lies_in(order, x.shape, x.strides):
            copy = fresh(x.shape, from_numpy(x.dtype), order).view(x.dtype)
            copy[...] = x
            x = copy
        found.append(x)
    return found


def handed_back(
    lowered: Lowered,
    outputs: list[Array],
    orders: Sequence[tuple[int, ...]],
    wanted: Sequence[Array | None],
) -> Any:
    """Return the results as NumPy would: in the caller's arrays, as scalars or as a tuple."""
    if any(x is not None for x in wanted) or lowered.repeats_outputs:
        _settle(lowered, outputs, orders, wanted)
    if any(lowered.scalars):
        results = zip(outputs, lowered.scalars, wanted, strict=True)
        outputs = [_as_scalar(x, kind) if kind and given is None else x for x, kind, given in results]
    structure = lowered.built.structure or Structure("single" if len(outputs) == 1 else "tuple")
    return structure.pack(outputs)


def _as_scalar(x: Array, kind: int) -> Any:
    return x.item() if kind == 2 else x[()]


def _settle(
    lowered: Lowered,
    outputs: list[Array],
    orders: Sequence[tuple[int, ...]],
    wanted: Sequence[Array | None],
) -> None:
    """Copy outputs into the caller's arrays, and give every other output separate memory."""
    moves = [(k, given) for k, given in enumerate(wanted) if given is not None and outputs[k] is not given]
    for k, given in moves:
        check_out(given, outputs[k].shape, lowered.graph.outputs[k].type.dtype, k, len(wanted))
    for k, given in moves:
        given[...] = outputs[k]
        outputs[k] = given
    if lowered.repeats_outputs:
        for k, x in enumerate(outputs):
            own = not any(x is other for other in (*outputs[:k], *wanted)) and lies_in(orders[k], x.shape, x.strides)
            if wanted[k] is None and not own:
                outputs[k] = fresh(x.shape, from_numpy(x.dtype), orders[k])
                outputs[k][...] = x
