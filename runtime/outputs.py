"""Allocate a graph's outputs before native code runs, and wrap them for the caller afterwards.

A function that modifies its arguments has outputs that are written to them; an argument that can't be modified as
NumPy would is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.dtypes import DType, from_numpy
from ..ir.errors import ShapeProblem, TraceProblem, TypeProblem, ValueProblem, type_of
from ..ir.graph import Value
from ..ir.orders import lies_in
from ..ir.source import Built, Structure
from .arguments import CallArgument
from .compiler import Lowered
from .memory import empty

Array = np.ndarray[Any, Any]
MAX_WORK = 10_000  # the effort to find out whether two arrays share memory; beyond it they count as sharing


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
        if given is not None and not may_fail and not _overlaps(given, others):
            memory[value] = lambda shape, given=given: given
        elif given is not None:
            memory[value] = lambda shape, given=given: np.empty_like(given)
        else:
            order, dtype = orders[k] if _is_permuted(orders[k]) else None, value.type.dtype.numpy
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
        if _overlaps(x, others) or not x.flags.writeable or not lies_in(order, x.shape, x.strides):
            copy = _fresh(x.shape, from_numpy(x.dtype), order)
            copy = copy if x.dtype.isnative else copy.view(x.dtype)
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
                outputs[k] = _fresh(x.shape, from_numpy(x.dtype), orders[k])
                outputs[k][...] = x


def _fresh(shape: tuple[int, ...], dtype: DType, order: tuple[int, ...]) -> Array:
    """Allocate an array whose axes have this order in memory."""
    return empty(shape, dtype.numpy, order if _is_permuted(order) else None)


def _is_permuted(order: tuple[int, ...]) -> bool:
    """Tell whether axes are in another order than C's."""
    return order != tuple(range(len(order)))


def _overlaps(out: Array, others: Sequence[Array]) -> bool:
    """Tell whether writing to `out` could change data that is still to be read."""
    return any(np.may_share_memory(out, x) for x in others)


# -- the caller's `out`


def as_outputs(out: Any, count: int) -> tuple[Array | None, ...]:
    """Turn the `out` argument into one array (or None) for each result."""
    given = out if isinstance(out, (tuple, list)) else (out,)
    if len(given) != count:
        raise ValueProblem(f"out must have one array for each result: {count}, not {len(given)}")
    for x in given:
        if x is not None and type(x) not in (np.ndarray, np.memmap):
            raise TypeProblem(f"out must be an array, not {type_of(x)}")
        if x is not None and not x.flags.writeable:
            raise ValueProblem("out must be writable", hint="pass another array, or omit out")
    return tuple(given)


def check_out(out: Array, shape: tuple[int, ...], dtype: DType, nth: int, count: int) -> None:
    """Refuse an `out` of the wrong shape or dtype before anything is computed."""
    which = f"out[{nth}]" if count > 1 else "out"
    if out.shape != shape:
        raise ShapeProblem(f"{which} must have the shape {shape} of the result, not {out.shape}")
    if out.dtype != dtype.numpy:
        raise TypeProblem(f"{which} must have the dtype {dtype.numpy} of the result, not {out.dtype}")


def copied_to(out: Any, result: Any) -> Any:
    """Copy results that Python made, which may be views of arguments, into the caller's arrays, and return those."""
    is_single = not isinstance(result, (tuple, list))
    parts = (result,) if is_single else result
    outs = as_outputs(out, len(parts))
    moves: list[tuple[Array, Array]] = []
    for k, (given, part) in enumerate(zip(outs, parts, strict=True)):
        if given is None:
            continue
        if not isinstance(part, (np.ndarray, np.generic, bool, int, float, complex)):
            raise TypeProblem(f"out is for arrays and numbers, but the result is {type_of(part)}")
        copy = np.array(part)  # it may be a view of another array in `out`
        check_out(given, copy.shape, from_numpy(copy.dtype), k, len(parts))
        moves.append((given, copy))
    for given, copy in moves:
        given[...] = copy
    found = [part if given is None else given for given, part in zip(outs, parts, strict=True)]
    if is_single:
        return found[0]
    return type(result)(*found) if hasattr(result, "_fields") else type(result)(found)


# -- arguments that a function changes


def changed_arrays(
    built: Built, names: Sequence[str], arguments: Sequence[CallArgument], out: Any
) -> list[Array | None]:
    """Return, for each output, the argument that it is written to after the call, or None."""
    if out is not None:
        raise TypeProblem(
            f"out= can't be used with a function that changes its argument '{names[built.updates[0][0]]}'"
        )
    found: list[Array | None] = [None] * len(built.graph.outputs)
    for index, output in built.updates:
        found[output] = _changed(names, arguments, built.hidden, index)
    return found


def _changed(names: Sequence[str], arguments: Sequence[CallArgument], hidden: Sequence[Array], index: int) -> Array:
    name, given = names[index], arguments[index].given
    if not isinstance(given, np.ndarray):
        raise TypeProblem(f"the function changes argument '{name}', which must be an array, not {type_of(given)}")
    if not given.flags.writeable:
        raise ValueProblem(f"argument '{name}' must be writable, because the function changes it")
    others = [(n, a.array) for k, (n, a) in enumerate(zip(names, arguments, strict=True)) if k != index]
    for other, array in (*others, *(("an array from outside", x) for x in hidden)):
        if _share_memory(given, array):
            raise TraceProblem(
                f"argument '{name}' must not share memory with {other!r}, because the function changes it",
                hint="pass a copy of one of them",
            )
    return given


def _share_memory(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
