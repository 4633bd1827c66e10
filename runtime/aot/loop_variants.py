"""Compile the loops of a kernel that change elements of arrays, as nests that serve every call between them.

In Python such a loop is compiled for the arguments of a call, with guards. A library has nests for every sign of the
numbers that steer the loop and for each range of sizes. The ranges are found by trying sizes that break the guards so
far.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...frontend.programs.kinds import Array, Kind, NumpyScalar, PythonNumber
from ...frontend.programs.planning.pieces import ArrayInput, Piece
from ...ir import dims
from ...ir.dims import Dim, Size, symbol
from ...ir.errors import Unsupported, WeftError
from ...ir.graph import Graph
from ...ir.records import record
from ...ir.types import Guards
from ..nests.pieces import transformed
from ..nests.written_loops import lowered_loop
from .ranges import Numbers, holds, outside

if TYPE_CHECKING:
    from ...frontend.lowering.element_stores import WrittenLoop
    from ...ir.kernels import KernelLookup

MOST_PIECES = 32
SAMPLE = 3  # of a number that steers a loop
SAMPLES: Mapping[str, Any] = {"bool": False, "float": 0.5, "complex": 0.5j}


@record(eq=False)
class CompiledPiece:
    """A piece with its nest after the passes, and the guards of the nest in terms of the kernel's sizes.

    `negative` tells for each number that is not a size whether it is below 0. `meant` expresses the nest's sizes by
    those of the kernel and by the absolute values of these numbers (`size_of`).
    """

    piece: Piece
    nest: Graph
    negative: Mapping[str, bool]
    meant: Mapping[str, Size]
    guards: tuple[tuple[Size, Size], ...]


def key_of(loop: WrittenLoop) -> Any:
    """Return a key that is equal for loops with the same pieces."""
    return tuple(map(ast.dump, loop.statements)), loop.inputs, loop.constants, loop.outputs, loop.sizes


def steering(loop: WrittenLoop) -> list[str]:
    """List the ints that are not sizes of arrays: either sign is possible."""
    return [name for name, weak, _ in loop.inputs if weak == "int" and name not in dict(loop.sizes)]


def size_of(name: str) -> Dim:
    """Return the symbol for the absolute value of an int that is not a size."""
    return symbol(f"|{name}|")


def compile_pieces(
    loop: WrittenLoop, numbers: Numbers, held: frozenset[str], lookup: KernelLookup, vector_bytes: int
) -> list[CompiledPiece]:
    """Find the pieces that a loop needs; `numbers` are sizes to start from, and those in `held` are constant."""
    free, found = steering(loop), list[CompiledPiece]()
    for signs in product((False, True), repeat=len(free)):
        negative = dict(zip(free, signs, strict=True))
        found += _for_signs(loop, negative, numbers, held, lookup, vector_bytes, is_first=not found)
        if len(found) > MOST_PIECES:
            raise Unsupported(
                f"this loop needs code for more than {MOST_PIECES} ranges of sizes and numbers",
                loop.span,
                "replace some sizes by numbers with --types, or pass numbers with a dtype, as in k: i64",
            )
    return found


def _for_signs(
    loop: WrittenLoop,
    negative: Mapping[str, bool],
    numbers: Numbers,
    held: frozenset[str],
    lookup: KernelLookup,
    vector_bytes: int,
    is_first: bool,
) -> list[CompiledPiece]:
    found: list[CompiledPiece] = []
    pending: list[Numbers] = [{**numbers, **{str(size_of(name)): SAMPLE for name in negative}}]
    while pending and len(found) <= MOST_PIECES:
        sample = pending.pop(0)
        if any(holds(each.guards, sample) for each in found):
            continue
        try:
            made = _compiled(loop, negative, sample, lookup, vector_bytes)
        except WeftError:
            if is_first and not found:
                raise
            continue  # the loop can't run for these numbers
        found.append(made)
        pending += outside(made.guards, sample, held)
    return found


def _compiled(
    loop: WrittenLoop, negative: Mapping[str, bool], sample: Numbers, lookup: KernelLookup, vector_bytes: int
) -> CompiledPiece:
    given, sizes = list(_inputs(loop, negative, sample)), dict(loop.sizes)
    piece = lowered_loop(loop, {name: kind for name, kind, _ in given}, {name: value for name, _, value in given})
    nest = transformed(piece, lookup, vector_bytes)
    meant: dict[str, Size] = {s: sizes.get(path[0]) or size_of(path[0]) for s, path in piece.sizes}
    types = {name: type for name, _, type in loop.inputs}
    for buffer, given_as in zip(piece.nest.inputs, piece.inputs, strict=True):
        if isinstance(given_as, ArrayInput):
            shape = types[given_as.path[0]].shape
            axes = zip(buffer.type.shape, shape, strict=False)
            meant.update({str(size): known for size, known in axes if dims.is_symbol(size)})
    guards = nest.attrs.get("guards", Guards())
    assert isinstance(guards, Guards)
    pairs = [(dims.substitute(a, meant), dims.substitute(b, meant)) for a, b in guards]
    return CompiledPiece(piece, nest, negative, meant, tuple(pair for pair in pairs if pair[0] != pair[1]))


def _inputs(loop: WrittenLoop, negative: Mapping[str, bool], sample: Numbers) -> Iterator[tuple[str, Kind, object]]:
    """Yield the name, the kind and an example of each operand."""
    sizes = dict(loop.sizes)
    for name, weak, type in loop.inputs:
        if name in sizes:
            yield name, PythonNumber("int"), dims.evaluate(sizes[name], sample)
        elif weak == "int":
            number = sample[str(size_of(name))]
            yield name, PythonNumber("int", None, negative[name]), -number if negative[name] else number
        elif weak is not None:
            yield name, PythonNumber(weak), SAMPLES[weak]
        elif not type.rank:
            yield name, NumpyScalar(type.dtype), None
        else:
            shape = tuple(dims.evaluate(size, sample) for size in type.shape)
            ones = tuple(1 if size == 1 else None for size in type.shape)
            yield name, Array(type.dtype, ones, "C"), np.broadcast_to(np.zeros((), type.dtype.numpy), shape)
