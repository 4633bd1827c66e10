"""Compile and run pieces that were lowered to nests: check a call, run the machine code, bind the results.

A piece succeeds or changes nothing. What can fail is checked before the nest runs, and arrays that it may leave half
written are copied first and restored if it ends with an error.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...frontend.programs.kinds import NumpyScalar, PythonNumber
from ...frontend.programs.planning.pieces import (
    SIZE_END,
    ArrayInput,
    ComplexResult,
    EitherResult,
    FreshInput,
    FreshResult,
    Input,
    KnownResult,
    NumberInput,
    NumberResult,
    Path,
    Piece,
    ReshapedResult,
    Result,
    SameResult,
    ShortenedResult,
    TupleResult,
    ViewOf,
    ViewResult,
)
from ...ir import dims
from ...ir.errors import ValueProblem
from ...ir.graph import Graph
from ...ir.kernels import KernelLookup
from ...ir.support.progress import part
from ...ir.types import Attr, Guards
from ..memory import empty
from ..native.dispatch import Chain, is_paused
from ..native.nest_calls import NestCallForm
from .compiling import compile_nest, overlaps_itself

Array = np.ndarray[Any, Any]
MOST_SIZES = 64  # sets of sizes whose checks are remembered


class GuardBroken(ValueProblem):
    """Raised when a piece was called with sizes for which it was not compiled."""


def compile_piece(piece: Piece, lookup: KernelLookup) -> LoopPiece:
    """Run the passes of nests on a piece and compile it."""
    from ...backends.llvm.engine.target import host

    nest = transformed(piece, lookup, host().vector_bytes)
    part("LLVM")
    return LoopPiece(piece, compile_nest(nest), nest.attrs.get("guards", Guards()))


def transformed(piece: Piece, lookup: KernelLookup, vector_bytes: int) -> Graph:
    """Return the nest of a piece after the passes of nests."""
    from ...passes.nest_pipeline import nest_pipeline

    nest = piece.nest
    for step in nest_pipeline(lookup, vector_bytes):
        part(f"the pass '{step.name}'")
        nest = step.run(nest)
    return nest


def interpret_piece(piece: Piece) -> LoopPiece:
    """Run a piece with the interpreter of nests, as the reference backend does."""
    return LoopPiece(piece, Interpreted(piece.nest), piece.nest.attrs.get("guards", Guards()))


class Interpreted:
    """A nest that Python runs, one element at a time."""

    def __init__(self, nest: Graph) -> None:
        self._nest = nest

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int]) -> None:
        from ...backends import nests

        nests.run(self._nest, buffers, numbers)


class LoopPiece:
    """A compiled piece. `run` takes the values of its live-in variables by name."""

    def __init__(self, piece: Piece, native: Any, guards: Attr) -> None:
        self.piece, self._native = piece, native
        self._guards = guards  # of the nest that was compiled: passes add some
        self._types = [buffer.type.dtype.numpy for buffer in piece.nest.inputs]
        self._known: dict[Any, dict[str, int]] = {}
        self._unserved: set[tuple[Chain, Any]] = set()  # kinds of calls that can have no recipe

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Whether the guards hold for some values. Everything else that may be wrong is reported by `run`."""
        try:
            self._sizes(values)
        except GuardBroken:
            return False
        except ValueProblem:
            pass
        return True

    def run(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the live-out values, or the returned value alone in a tuple; raise an error if it can't run."""
        piece = self.piece
        env = self._sizes(values)
        arrays = [_array(given, dtype, values, env) for given, dtype in zip(piece.inputs, self._types, strict=True)]
        buffers = [_buffer(given, array) for given, array in zip(piece.inputs, arrays, strict=True)]
        for a, b in piece.apart:
            if np.may_share_memory(buffers[a], buffers[b]) and np.shares_memory(buffers[a], buffers[b]):
                raise ValueProblem("arrays overlap, and one of them is written")
        for k in piece.written:
            if overlaps_itself(buffers[k]):
                raise ValueProblem("elements of an array that is written overlap")
        kept = [(buffers[k], buffers[k].copy()) for k in piece.kept]
        numbers = {symbol: env[symbol] for symbol, _ in piece.sizes}
        try:
            self._native.run(buffers, numbers)
        except BaseException:
            for buffer, content in kept:
                buffer[...] = content
            raise
        if piece.returned is not None:
            return (_result(piece.returned, arrays, values, env),)
        return tuple(_result(result, arrays, values, env) for _, result in piece.results)

    def learn(
        self,
        instance: Any,
        chain: Chain,
        call: NestCallForm,
        result: Result,
        copied: frozenset[str] = frozenset(),
    ) -> bool:
        """Make a recipe for calls of `instance` like this one, which return `result`; tell whether there is one.

        The arrays of the variables in `copied` stay as they are: the nest changes copies of them.
        """
        kind = call.kind
        if is_paused() or isinstance(self._native, Interpreted) or (chain, kind) in self._unserved:
            return False
        if chain.has(self, kind):
            return True
        from ..native.nest_serving import ServedNest, build_nest_recipe

        piece, guards = self.piece, self._guards
        assert isinstance(guards, Guards)
        highest = {symbol: SIZE_END - 1 for symbol, _ in piece.sizes}
        types = [buffer.type for buffer in piece.nest.inputs]
        nest = ServedNest(
            self._native, types, piece.inputs, dict(piece.sizes), highest, guards, piece.apart, piece.kept,
            piece.written, result, copied,
        )  # fmt: skip
        if chain.put(instance, self, kind, lambda: build_nest_recipe(nest, call)):
            return True
        if len(self._unserved) < MOST_SIZES:
            self._unserved.add((chain, kind))
        return False

    def _sizes(self, values: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers of all sizes, after the guards were checked for them."""
        piece = self.piece
        numbers = [abs(_at(values, path)) for _, path in piece.sizes]
        arrays = [_at(values, given.path) for given in piece.inputs if isinstance(given, ArrayInput)]
        key = (*numbers, *(a.shape for a in arrays))
        found = self._known.get(key)
        if found is not None:
            return found
        if not all(0 <= number < SIZE_END for number in numbers):
            raise ValueProblem("a number that ends a loop is negative or too large")
        env = dict(zip((symbol for symbol, _ in piece.sizes), numbers, strict=True))
        for given, buffer in zip(piece.inputs, piece.nest.inputs, strict=True):
            if isinstance(given, ArrayInput):
                shape = zip(buffer.type.shape, _at(values, given.path).shape, strict=False)
                env.update((str(size), number) for size, number in shape if dims.is_symbol(size))
        guards = self._guards
        assert isinstance(guards, Guards)
        if not all(dims.evaluate(a, env) == dims.evaluate(b, env) for a, b in guards):
            raise GuardBroken("the sizes of this call break a guard of the compiled piece")
        if len(self._known) >= MOST_SIZES:
            self._known.clear()
        self._known[key] = env
        return env


def _at(values: Mapping[str, Any], path: Path) -> Any:
    value = values[path[0]]
    for place in path[1:]:
        value = value[int(place)]
    return value


def _array(given: Input, dtype: Any, values: Mapping[str, Any], env: Mapping[str, int]) -> Array:
    """Return the array behind a buffer: one of the caller, or new memory."""
    if isinstance(given, ArrayInput):
        found: Array = _at(values, given.path)
        return found
    if isinstance(given, NumberInput):
        number = _at(values, given.path)
        return np.array(number if given.part is None else number.imag if given.part else number.real, dtype)
    return _fresh(given, env) if isinstance(given, FreshInput) else np.zeros((), dtype)


def _buffer(given: Input, array: Array) -> Array:
    """Return an array as the nest sees it: in the order of its memory, complex numbers as two floats."""
    if isinstance(given, FreshInput):
        array = array.transpose(given.order)
    in_parts = isinstance(given, (ArrayInput, FreshInput)) and given.parts
    return array[..., None].view(array.real.dtype) if in_parts else array


def _fresh(given: FreshInput, env: Mapping[str, int]) -> Array:
    """Allocate a result, in the order that it has in NumPy."""
    shape = tuple(dims.evaluate(size, env) for size in given.shape)
    axes = tuple(range(len(shape)))
    if given.order == axes:
        return empty(shape, given.dtype.numpy)
    if given.order == axes[::-1]:
        return np.empty(shape, given.dtype.numpy, order="F")
    memory = np.empty(tuple(shape[axis] for axis in given.order), given.dtype.numpy)
    return np.empty_like(memory.transpose(np.argsort(given.order)), order="K")


def _result(result: Result, buffers: Sequence[Array], values: Mapping[str, Any], env: Mapping[str, int]) -> Any:
    if isinstance(result, NumberResult):
        number = buffers[result.buffer][()]
        if isinstance(result.kind, NumpyScalar):
            return number
        assert isinstance(result.kind, PythonNumber)
        return getattr(builtins, result.kind.name)(number)
    if isinstance(result, EitherResult):
        return _result(result.first if buffers[result.is_first][()] else result.second, buffers, values, env)
    if isinstance(result, ComplexResult):
        made = complex(buffers[result.real][()], buffers[result.imag][()])
        return result.kind.dtype.numpy.type(made) if isinstance(result.kind, NumpyScalar) else made
    if isinstance(result, FreshResult):
        return _viewed(buffers[result.buffer], result.view, env)
    if isinstance(result, ShortenedResult):
        ends = (None if k is None else int(buffers[k][()]) for k in result.sizes)
        return buffers[result.buffer][tuple(map(slice, ends))].copy(order="K")
    if isinstance(result, SameResult):
        return _at(values, result.path)
    if isinstance(result, ViewResult):
        return _viewed(_at(values, result.path), result.view, env)
    if isinstance(result, ReshapedResult):
        return _at(values, result.path).reshape([dims.evaluate(size, env) for size in result.shape])
    if isinstance(result, TupleResult):
        items = [_result(item, buffers, values, env) for item in result.items]
        return items if result.is_list else tuple(items)
    assert isinstance(result, KnownResult)
    return result.value


def _viewed(array: Array, view: ViewOf | None, env: Mapping[str, int]) -> Array:
    """Make a view by indexing and transposing, so that its base is what it would be in NumPy."""
    if view is None:
        return array
    if view.part is not None:
        array = array.imag if view.part else array.real
    shape = [dims.evaluate(size, env) for size in view.shape]
    index: list[int | slice] = []
    axes: list[int] = []  # of the view, for each axis of the array that it keeps
    for start, row in zip((dims.evaluate(size, env) for size in view.starts), view.steps, strict=True):
        moving = [axis for axis, step in enumerate(row) if step]
        if not moving:
            index.append(start if 0 not in shape else 0)
            continue
        (axis,) = moving
        end = start + shape[axis] * row[axis]
        index.append(slice(start, None if end < 0 else end, row[axis]) if shape[axis] else slice(0, 0))
        axes.append(axis)
    if 0 in shape and 0 in array.shape:
        return array[tuple(slice(0, 0) for _ in array.shape)].reshape(shape)
    made = array[(*index, ...)]
    order = [axes.index(axis) for axis in sorted(axes)]
    if order != sorted(order):
        made = made.transpose(order)
    if len(axes) != len(shape):
        made = made[tuple(slice(None) if axis in axes else None for axis in range(len(shape)))]
    return made if made.shape == tuple(shape) else np.broadcast_to(made, shape)
