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
from weft.frontend.programs.kinds import Kind, kind_of
from weft.frontend.programs.lower import lower_piece
from weft.frontend.programs.planning.pieces import ArrayInput, Cut, FreshInput, Piece
from weft.ir import dims
from weft.ir.nest.verify import verify_nest
from weft.runtime.nests import pieces as loop_pieces

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


def run_piece(piece: Piece, values: Mapping[str, Any], run: Run = nests.run) -> Any:
    """Return what a piece returns; raise `Failed` if it gives up, with all arguments unchanged."""
    env = {symbol: abs(loop_pieces._at(values, path)) for symbol, path in piece.sizes}
    for given, buffer in zip(piece.inputs, piece.nest.inputs, strict=True):
        if isinstance(given, ArrayInput):
            pairs = zip(buffer.type.shape, loop_pieces._at(values, given.path).shape, strict=False)
            env.update((str(size), number) for size, number in pairs if dims.is_symbol(size))
    if any(not 0 <= env[symbol] < 2**31 for symbol, _ in piece.sizes) or not nests.holds(
        piece.nest.attrs.get("guards", ()), env
    ):
        raise Failed("guards")
    pairs = zip(piece.inputs, piece.nest.inputs, strict=True)
    arrays = [_array(given, buffer.type.dtype.numpy, values, env) for given, buffer in pairs]
    buffers = [loop_pieces._buffer(given, array) for given, array in zip(piece.inputs, arrays, strict=True)]
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
    return None if piece.returned is None else loop_pieces._result(piece.returned, arrays, values, env)


def _array(given: Any, dtype: Any, values: Mapping[str, Any], env: Mapping[str, int]) -> Any:
    array = loop_pieces._array(given, dtype, values, env)
    if isinstance(given, FreshInput):
        array.fill(77)  # memory that nobody has written to
    return array


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
