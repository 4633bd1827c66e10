"""Compile and run pieces that were lowered to nests: check a call, run the machine code, bind the results.

A piece succeeds or changes nothing. What can fail is checked before the nest runs, and arrays that it may leave half
written are copied first and restored if it ends with an error.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..frontend.programs.kinds import NumpyScalar, PythonNumber
from ..frontend.programs.pieces import (
    SIZE_END,
    ArrayInput,
    FreshInput,
    FreshResult,
    Input,
    KnownResult,
    NumberInput,
    NumberResult,
    Path,
    Piece,
    Result,
    SameResult,
    TupleResult,
    ViewOf,
    ViewResult,
)
from ..ir import dims
from ..ir.errors import ValueProblem
from ..ir.graph import Graph
from ..ir.kernels import KernelLookup
from ..ir.types import Attr, Guards
from .memory import empty
from .native.dispatch import Chain, is_paused
from .native.nest_calls import NestCallForm
from .nests import compile_nest, overlaps_itself

Array = np.ndarray[Any, Any]
MOST_SIZES = 64  # sets of sizes whose checks are remembered


def compile_piece(piece: Piece, lookup: KernelLookup) -> LoopPiece:
    """Run the passes of nests on a piece and compile it."""
    from ..backends.llvm.engine.target import host
    from ..passes.nest_pipeline import nest_pipeline

    nest = piece.nest
    for step in nest_pipeline(lookup, host().vector_bytes):
        nest = step.run(nest)
    return LoopPiece(piece, compile_nest(nest), nest.attrs.get("guards", Guards()))


def interpret_piece(piece: Piece) -> LoopPiece:
    """Let the interpreter of nests run a piece: what the reference backend does."""
    return LoopPiece(piece, Interpreted(piece.nest), piece.nest.attrs.get("guards", Guards()))


class Interpreted:
    """A nest that Python runs, one element at a time."""

    def __init__(self, nest: Graph) -> None:
        self._nest = nest

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int]) -> None:
        from ..backends import nests

        nests.run(self._nest, buffers, numbers)


class LoopPiece:
    """A compiled piece. `run` takes the values of its live-in variables by name."""

    def __init__(self, piece: Piece, native: Any, guards: Attr) -> None:
        self.piece, self._native = piece, native
        self._guards = guards  # of the nest that was compiled: passes add some
        self._types = [buffer.type.dtype.numpy for buffer in piece.nest.inputs]
        self._known: dict[Any, dict[str, int]] = {}
        self._unserved: set[tuple[Chain, Any]] = set()  # kinds of calls that can have no recipe

    def run(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the live-out values, or the returned value alone in a tuple; raise an error if it can't run."""
        piece = self.piece
        env = self._sizes(values)
        pairs = zip(piece.inputs, self._types, strict=True)
        buffers = [_buffer(given, dtype, values, env) for given, dtype in pairs]
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
        whole = [
            _whole(b, isinstance(given, FreshInput) and given.parts)
            for b, given in zip(buffers, piece.inputs, strict=True)
        ]
        if piece.returned is not None:
            return (_result(piece.returned, whole, values, env),)
        return tuple(_result(result, whole, values, env) for _, result in piece.results)

    def learn(self, instance: Any, chain: Chain, call: NestCallForm, result: Result) -> bool:
        """Make a recipe for calls of `instance` like this one, which return `result`; tell whether there is one."""
        kind = call.kind
        if is_paused() or isinstance(self._native, Interpreted) or (chain, kind) in self._unserved:
            return False
        if chain.has(self, kind):
            return True
        from .native.nest_serving import ServedNest, build_nest_recipe

        piece, guards = self.piece, self._guards
        assert isinstance(guards, Guards)
        highest = {symbol: SIZE_END - 1 for symbol, _ in piece.sizes}
        types = [buffer.type for buffer in piece.nest.inputs]
        nest = ServedNest(
            self._native, types, piece.inputs, dict(piece.sizes), highest, guards, piece.apart, piece.kept,
            piece.written, result,
        )  # fmt: skip
        if chain.put(instance, self, kind, lambda: build_nest_recipe(nest, call)):
            return True
        if len(self._unserved) < MOST_SIZES:
            self._unserved.add((chain, kind))
        return False

    def _sizes(self, values: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers of all sizes, after the guards were checked for them."""
        piece = self.piece
        numbers = [_at(values, path) for _, path in piece.sizes]
        arrays = [_at(values, given.path) for given in piece.inputs if isinstance(given, ArrayInput)]
        key = (*numbers, *(a.shape for a in arrays))
        found = self._known.get(key)
        if found is not None:
            return found
        if not all(0 <= number < SIZE_END for number in numbers):
            raise ValueProblem("a number that steers a loop is out of range")
        env = dict(zip((symbol for symbol, _ in piece.sizes), numbers, strict=True))
        for given, buffer in zip(piece.inputs, piece.nest.inputs, strict=True):
            if isinstance(given, ArrayInput):
                shape = zip(buffer.type.shape, _at(values, given.path).shape, strict=False)
                env.update((str(size), number) for size, number in shape if dims.is_symbol(size))
        guards = self._guards
        assert isinstance(guards, Guards)
        if not all(dims.evaluate(a, env) == dims.evaluate(b, env) for a, b in guards):
            raise ValueProblem("it was compiled for other relations between sizes")
        if len(self._known) >= MOST_SIZES:
            self._known.clear()
        self._known[key] = env
        return env


def _at(values: Mapping[str, Any], path: Path) -> Any:
    value = values[path[0]]
    for part in path[1:]:
        value = value[int(part)]
    return value


def _buffer(given: Input, dtype: Any, values: Mapping[str, Any], env: Mapping[str, int]) -> Array:
    if isinstance(given, ArrayInput):
        return _parts(_at(values, given.path), given.parts)
    if isinstance(given, NumberInput):
        return np.array(_at(values, given.path), dtype)
    if isinstance(given, FreshInput):
        shape = tuple(dims.evaluate(size, env) for size in given.shape)
        return _parts(empty(shape, given.dtype.numpy), given.parts)
    return np.zeros((), dtype)


def _parts(array: Array, in_parts: bool) -> Array:
    """View a complex array as floats, its real and imaginary parts along a last axis."""
    return array[..., None].view(array.real.dtype) if in_parts else array


def _whole(buffer: Array, in_parts: bool) -> Array:
    """Return the complex array behind a view of its parts."""
    if not in_parts:
        return buffer
    assert isinstance(buffer.base, np.ndarray)
    return buffer.base


def _result(result: Result, buffers: Sequence[Array], values: Mapping[str, Any], env: Mapping[str, int]) -> Any:
    if isinstance(result, NumberResult):
        number = buffers[result.buffer][()]
        if isinstance(result.kind, NumpyScalar):
            return number
        assert isinstance(result.kind, PythonNumber)
        return getattr(builtins, result.kind.name)(number)
    if isinstance(result, FreshResult):
        return _viewed(buffers[result.buffer], result.view, env)
    if isinstance(result, SameResult):
        return _at(values, result.path)
    if isinstance(result, ViewResult):
        return _viewed(_at(values, result.path), result.view, env)
    if isinstance(result, TupleResult):
        return tuple(_result(item, buffers, values, env) for item in result.items)
    assert isinstance(result, KnownResult)
    return result.value


def _viewed(array: Array, view: ViewOf | None, env: Mapping[str, int]) -> Array:
    if view is None:
        return array
    shape = [dims.evaluate(size, env) for size in view.shape]
    strides = [sum(row[k] * s for row, s in zip(view.steps, array.strides, strict=True)) for k in range(len(shape))]
    first = tuple(slice(k, k + 1) for k in (dims.evaluate(size, env) for size in view.starts))
    if 0 in shape:
        return array[tuple(slice(0, 0) for _ in array.shape)].reshape(shape)
    return np.lib.stride_tricks.as_strided(array[first], shape, strides)
