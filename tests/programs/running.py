"""Lower whole functions as pieces and run them by the interpreter of nests, to compare with plain Python."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from weft.backends import nests
from weft.frontend.programs.kinds import Kind, NumpyScalar, kind_of
from weft.frontend.programs.lower import lower_piece
from weft.frontend.programs.pieces import (
    ArrayInput,
    Cut,
    FreshInput,
    FreshResult,
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
)  # fmt: skip
from weft.ir import dims
from weft.ir.nest.verify import verify_nest

Run = Callable[[Any, Sequence[Any], Mapping[str, int]], None]


class Failed(Exception):
    """Raised when a piece gives up and Python runs the statements."""


def body_of(function: Callable[..., Any]) -> list[ast.stmt]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    return tree.body


def names_of(function: Callable[..., Any]) -> Callable[[str], Kind | None]:
    def find(name: str) -> Kind | None:
        found = inspect.getclosurevars(function) if inspect.isfunction(function) else None
        outside = [found.nonlocals, found.globals] if found is not None else []
        return next((kind_of(where[name]) for where in (*outside, vars(builtins)) if name in where), None)

    return find


def lowered(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Piece | Cut, dict[str, Any]]:
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    values = dict(bound.arguments)
    kinds = {name: kind_of(value) for name, value in values.items()}
    return lower_piece(body_of(function), kinds, [], names_of(function), values, body_of, function.__name__), values


def value_at(values: Mapping[str, Any], path: Path) -> Any:
    value = values[path[0]]
    for part in path[1:]:
        value = value[int(part)]
    return value


def run_piece(piece: Piece, values: Mapping[str, Any], run: Run = nests.run) -> Any:
    """Return what a piece returns; raise `Failed` if it gives up, with all arguments unchanged."""
    env = {symbol: value_at(values, path) for symbol, path in piece.sizes}
    for given, buffer in zip(piece.inputs, piece.nest.inputs, strict=True):
        if isinstance(given, ArrayInput):
            pairs = zip(buffer.type.shape, value_at(values, given.path).shape, strict=False)
            env.update((str(size), number) for size, number in pairs if dims.is_symbol(size))
    if any(not 0 <= env[symbol] < 2**31 for symbol, _ in piece.sizes) or not nests.holds(
        piece.nest.attrs.get("guards", ()), env
    ):
        raise Failed("guards")
    pairs = zip(piece.inputs, piece.nest.inputs, strict=True)
    buffers = [_buffer(given, buffer.type.dtype.numpy, values, env) for given, buffer in pairs]
    if any(np.shares_memory(buffers[a], buffers[b]) for a, b in piece.apart):
        raise Failed("overlap")
    kept = {k: buffers[k].copy() for k in piece.kept}
    before = {k: buffers[k].copy() for k in piece.written}
    try:
        run(piece.nest, buffers, env)
    except Exception as error:
        assert piece.may_fail, "a piece failed that can't"
        for k, content in kept.items():
            buffers[k][...] = content
        for k, content in before.items():
            np.testing.assert_array_equal(buffers[k], content, "a piece failed after it changed an argument")
        raise Failed(str(error)) from error
    for k, given in enumerate(piece.inputs):
        buffers[k] = _whole(buffers[k], isinstance(given, FreshInput) and given.parts)
    return None if piece.returned is None else _result(piece.returned, buffers, values, env)


def _buffer(given: Any, dtype: Any, values: Mapping[str, Any], env: Mapping[str, int]) -> Any:
    if isinstance(given, ArrayInput):
        return _parts(value_at(values, given.path), given.parts)
    if isinstance(given, NumberInput):
        return np.array(value_at(values, given.path), dtype)
    if isinstance(given, FreshInput):
        fresh = np.full([dims.evaluate(size, env) for size in given.shape], 77, given.dtype.numpy)
        return _parts(fresh, given.parts)
    return np.zeros((), dtype)


def _parts(array: Any, in_parts: bool) -> Any:
    """A complex array as floats, its real and imaginary parts along a last axis."""
    return array[..., None].view(array.real.dtype) if in_parts else array


def _whole(buffer: Any, in_parts: bool) -> Any:
    return buffer.view(np.result_type(buffer.dtype, np.complex64))[..., 0] if in_parts else buffer


def _result(result: Result, buffers: Sequence[Any], values: Mapping[str, Any], env: Mapping[str, int]) -> Any:
    if isinstance(result, NumberResult):
        number = buffers[result.buffer][()]
        return number if isinstance(result.kind, NumpyScalar) else getattr(builtins, result.kind.name)(number)
    if isinstance(result, FreshResult):
        return _viewed(buffers[result.buffer], result.view, env)
    if isinstance(result, SameResult):
        return value_at(values, result.path)
    if isinstance(result, ViewResult):
        return _viewed(value_at(values, result.path), result.view, env)
    if isinstance(result, TupleResult):
        return tuple(_result(item, buffers, values, env) for item in result.items)
    assert isinstance(result, KnownResult)
    return result.value


def _viewed(array: Any, view: ViewOf | None, env: Mapping[str, int]) -> Any:
    if view is None:
        return array
    shape = [dims.evaluate(size, env) for size in view.shape]
    strides = [sum(row[k] * s for row, s in zip(view.steps, array.strides, strict=True)) for k in range(len(shape))]
    first = tuple(slice(k, k + 1) for k in (dims.evaluate(size, env) for size in view.starts))
    return np.lib.stride_tricks.as_strided(array[first], shape, strides) if 0 not in shape else np.zeros(shape)


def assert_same(wanted: Any, found: Any, tolerance: float = 1e-12) -> None:
    """The same types, dtypes and values; sums may differ in the last bits."""
    assert type(found) is type(wanted), (wanted, found)
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(wanted, found, strict=True):
            assert_same(a, b, tolerance)
    elif isinstance(wanted, (np.ndarray, np.generic, float, complex)):
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        tolerance = 2e-6 if np.asarray(wanted).dtype in (np.float32, np.complex64) else tolerance
        np.testing.assert_allclose(found, wanted, tolerance, tolerance)
    else:
        assert found == wanted


def check_piece(function: Callable[..., Any], *args: Any, may_fail: bool = False, run: Run = nests.run) -> Piece:
    """Compares a function, as one piece, with Python: what it returns and leaves in its arguments."""
    plain, given = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        wanted = function(*plain)
    piece, values = lowered(function, given)
    assert isinstance(piece, Piece), f"{piece.reason}: {ast.unparse(piece.node)}"
    verify_nest(piece.nest)
    try:
        found = run_piece(piece, values, run)
    except Failed:
        if not may_fail:
            raise
        return piece
    assert_same(wanted, found)
    assert_same(tuple(plain), tuple(given))
    return piece


def cut_of(function: Callable[..., Any], *args: Any) -> str:
    """Return why a function is not one piece."""
    piece, _ = lowered(function, args)
    assert isinstance(piece, Cut), "not cut"
    return piece.reason
