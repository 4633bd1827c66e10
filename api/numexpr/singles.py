"""Run an expression one operation at a time, with the bits of its compiled kernel.

NumPy computes the operations for which it gives the same bits. A kernel for each function does the rest. Kernels of
real numbers are written as text, because a kernel of text that is on disk loads without the compiler. Long arrays go
through all operations block by block, so that intermediate results stay in the cache.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .kinds import DTYPES
from .operations import EXACT, EXACT_COMPLEX, OPERATIONS, REDUCED, operate

if TYPE_CHECKING:
    from .programs import ExpressionProgram, Step

Array = np.ndarray[Any, Any]

_TEXT_TYPES = {"float": "f32", "double": "f64"}
_BLOCK = 16_384  # elements


def _without_warnings() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


_QUIET = _without_warnings()  # running in a copy costs a tenth of `np.errstate`


class SingleOperations:
    """The operations of a program: the function for each, its operands, its dtype, and the values that end there."""

    def __init__(self, program: ExpressionProgram) -> None:
        self._constants = list(program.constants)
        if program.steps:  # NumPy takes arrays faster than numbers
            self._constants = [c if isinstance(c, bytes) else np.asarray(c) for c in program.constants]
        self._result = program.result
        first = len(program.inputs) + len(program.constants)
        last = {place: i for i, step in enumerate(program.steps) for place in step.operands if place >= first}
        ending: list[list[int]] = [[] for _ in program.steps]
        for place, i in last.items():
            ending[i].append(place)
        self._steps = [
            (_computing(step), _reading(step.operands), DTYPES.get(step.kind), places)
            for step, places in zip(program.steps, ending, strict=True)
        ]
        self._dtype = DTYPES.get(program.kind)
        reduces = any(step.name in REDUCED for step in program.steps)
        self._takes_blocks = len(program.steps) > 1 and not reduces and not program.has_strings

    def run(self, arrays: Sequence[Array]) -> Any:
        if self._takes_blocks and _are_long(arrays):
            return _QUIET.copy().run(self._run_blocks, arrays)
        return _QUIET.copy().run(self._run_whole, arrays)

    def _run_whole(self, arrays: Sequence[Array]) -> Any:
        values = [*arrays, *self._constants]
        for function, reading, dtype, ending in self._steps:
            result = function(*reading(values))
            values.append(result if result.dtype is dtype or dtype is None else result.astype(dtype))
            for place in ending:
                values[place] = None  # the next operation can have its memory
        return values[self._result]

    def _run_blocks(self, arrays: Sequence[Array]) -> Any:
        """Run all operations on one block of elements after the other."""
        shape = max((a.shape for a in arrays), key=len)
        flat = [a.reshape(-1) if a.ndim else a for a in arrays]
        result = np.empty(shape, self._dtype)
        elements = result.reshape(-1)
        for start in range(0, elements.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            elements[block] = self._run_whole([a[block] if a.ndim else a for a in flat])
        return result


def _are_long(arrays: Sequence[Array]) -> bool:
    """Whether all arrays, apart from single numbers, have one shape, are in C order and fill several blocks."""
    if not any(a.size > 2 * _BLOCK for a in arrays):
        return False
    full = [a for a in arrays if a.ndim]
    return all(a.shape == full[0].shape and (a.ndim == 1 or a.flags.c_contiguous) for a in full)


def _reading(places: list[int]) -> Callable[[list[Any]], Any]:
    """Return a function that takes the values at these places from a list."""
    return itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))


def _computing(step: Step) -> Callable[..., Any]:
    """Return the function that computes an operation. Its operands may have lower kinds than the operation."""
    function = _function(step.name, step.kind, step.axis, len(step.operands))
    if step.casts.count(None) == len(step.casts):
        return function
    dtypes = [None if kind is None else DTYPES[kind] for kind in step.casts]

    def run(*operands: Any) -> Any:
        return function(*[x if t is None else x.astype(t) for x, t in zip(operands, dtypes, strict=True)])

    return run


def _function(name: str, kind: str, axis: int | None, count: int) -> Callable[..., Any]:
    if name in (EXACT if kind != "complex" else EXACT_COMPLEX) and name in OPERATIONS:
        return OPERATIONS[name]
    if name in ("min", "max") or (name in REDUCED and kind in ("int", "long")):  # no order of integers shows
        return lambda x: operate(name, [x], kind, axis)
    if kind in _TEXT_TYPES:
        return _on_axes(name, kind, axis) if name in REDUCED else _on_elements(name, kind, count)
    kernel: Callable[..., Any] = _traced_kernel(name, kind, axis, count)
    return kernel


def _on_elements(name: str, kind: str, count: int) -> Callable[..., Any]:
    """Return a function of real numbers that runs on arrays of any shapes that broadcast."""
    kernel: Callable[..., Any] = _text_kernel(name, kind, count)

    def unary(x: Any) -> Any:
        return kernel(x) if x.ndim == 1 else kernel(x.reshape(-1)).reshape(x.shape)

    def binary(x: Any, y: Any) -> Any:
        if x.ndim == 1 and x.shape == y.shape:
            return kernel(x, y)
        shape = np.broadcast_shapes(x.shape, y.shape)
        return kernel(*[np.broadcast_to(v, shape).reshape(-1) for v in (x, y)]).reshape(shape)

    return unary if count == 1 else binary


def _on_axes(name: str, kind: str, axis: int | None) -> Callable[..., Any]:
    """Return a sum or a product of real numbers over one axis or all."""
    kernels: dict[int, Any] = {0: lambda x: operate(name, [x], kind, axis)}

    def run(x: Any) -> Any:
        kernel = kernels.get(x.ndim)
        if kernel is None:
            kernel = kernels[x.ndim] = _text_reduction(name, kind, axis, x.ndim)
        return kernel(x)

    return run


@cache
def _text_kernel(name: str, kind: str, count: int) -> Any:
    from ..compiling import compile

    type_, names = _TEXT_TYPES[kind], ("x", "y")[:count]
    parameters = ", ".join(f"{n}: {type_}[n]" for n in names)
    return compile(f"kernel run({parameters}) -> {type_}[n] {{ return {name}({', '.join(names)}) }}").run


@cache
def _text_reduction(name: str, kind: str, axis: int | None, rank: int) -> Any:
    from ..compiling import compile

    type_, sizes = _TEXT_TYPES[kind], [f"n{i}" for i in range(rank)]
    kept = [] if axis is None else sizes[:axis] + sizes[axis + 1 :]
    result = f"{type_}[{', '.join(kept)}]" if kept else type_
    call = f"{name}(x)" if axis is None else f"{name}(x, axis={axis})"
    return compile(f"kernel run(x: {type_}[{', '.join(sizes)}]) -> {result} {{ return {call} }}").run


@cache
def _traced_kernel(name: str, kind: str, axis: int | None, count: int) -> Any:
    return expression_kernel(count, lambda *values: operate(name, list(values), kind, axis), f"{name}_{kind}")


def expression_kernel(count: int, function: Callable[..., Any], name: str) -> Any:
    """Return the kernel of a function of `count` arrays; it compiles when it is first called."""
    from ..function import traced  # the compiler takes longer to import than NumPy
    from ..settings import default_options

    def run(*values: Any) -> Any:
        return function(*values)

    kinds = inspect.Parameter.POSITIONAL_ONLY
    parameters = [inspect.Parameter(f"a{i}", kinds) for i in range(count)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__name__ = run.__qualname__ = name
    return traced(run, (), default_options("llvm", False))
