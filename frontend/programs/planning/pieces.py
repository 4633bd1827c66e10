"""Describe a piece of a function that was lowered to a nest: how to call it, and what to do with its results.

A call of a piece works like this:

1. `inputs` say what each buffer of the nest is: an array of the caller, a number in a buffer without dimensions, fresh
   memory for an array that the piece makes, or a buffer without dimensions for a number that it returns.
2. `sizes` are symbols that no array has: the absolute values of Python ints that steer loops and indices, which must
   be in `[0, SIZE_END)`. The sign of an int is part of its kind.
3. `guards` of the nest, `sizes` in their range and `apart` arrays are checked before it runs. If a check fails, the
   original statements run. So they do if the nest ends with an error, after the arrays in `kept` got their
   contents back, which were copied before the call.
4. `results` say what each live-out variable is bound to, and `returned` what the function returns, if it ends here.
"""

from __future__ import annotations

import ast
from typing import Union

from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.graph import Graph, Node
from ....ir.nest import ops
from ....ir.ops import CAST, CONSTANT, SIZE
from ....ir.records import record
from ....ir.source import Guard
from ..kinds import Kind

SIZE_END = 2**31  # so that products of two sizes do not overflow
Path = tuple[str, ...]
"""Where a live-in value is: the name of a variable, then the positions in nested tuples (`("xs", "0")`)."""


@record
class ArrayInput:
    """An array of the caller.

    A complex array is passed as `a[..., None].view(float)` (`parts`), with both parts along the last axis.
    """

    path: Path
    parts: bool = False


@record
class NumberInput:
    """A number of the caller, converted to the buffer's dtype: a Python int is i64, a float f64, a bool bool.

    With a `part`, it is the real (0) or imaginary (1) part of a complex number.
    """

    path: Path
    part: int | None = None


@record
class FreshInput:
    """An uninitialised array that the caller allocates for a result of the piece.

    `order` are its axes from outermost to innermost. The piece gets it with its axes in that order, so that it lies in
    C order. A complex one is passed with `parts`, as an `ArrayInput`.
    """

    dtype: DType
    shape: tuple[Size, ...]
    parts: bool
    order: tuple[int, ...]


@record
class NumberOutput:
    """A buffer without dimensions for a number that the piece computes."""

    dtype: DType


Input = Union[ArrayInput, NumberInput, FreshInput, NumberOutput]


@record
class NumberResult:
    """The number in a buffer, converted to its kind: a NumPy scalar, or a Python int, float, bool or complex."""

    buffer: int
    kind: Kind


@record
class EitherResult:
    """A number that has one of two kinds: the number in a buffer tells which."""

    first: NumberResult
    second: NumberResult
    is_first: int


@record
class ComplexResult:
    """The complex number whose parts are in two buffers, converted to its kind."""

    real: int
    imag: int
    kind: Kind


@record
class FreshResult:
    """An array that the piece made, or a part of one."""

    buffer: int
    view: ViewOf | None = None


@record
class ShortenedResult:
    """A copy of the first part of an array that the piece made.

    `sizes` are buffers with its size along each axis, or None along axes that are kept whole.
    """

    buffer: int
    sizes: tuple[int | None, ...]


@record
class SameResult:
    """The object that was passed in."""

    path: Path


@record
class ViewOf:
    """How a view lies in its base: the size of each axis of the view, and a start for each axis of the base.

    Element `(i, j)` of the view is the base's element whose index on axis k is `starts[k] + sum of steps[k][a] * index
    of the view on axis a`. With a `part`, the base are the real (0) or imaginary (1) parts of a complex array.
    """

    shape: tuple[Size, ...]
    starts: tuple[Size, ...]
    steps: tuple[tuple[int, ...], ...]
    part: int | None = None


@record
class ViewResult:
    """A view of an array of the caller."""

    path: Path
    view: ViewOf


@record
class ReshapedResult:
    """A view, in another shape, of a whole array of the caller that is in C order."""

    path: Path
    shape: tuple[Size, ...]


@record
class KnownResult:
    """An object that was known at compile time, such as None or a Python constant."""

    value: object


@record
class TupleResult:
    """A new tuple or list that holds other results."""

    items: tuple[Result, ...]
    is_list: bool = False


Result = Union[
    NumberResult,
    EitherResult,
    ComplexResult,
    FreshResult,
    ShortenedResult,
    SameResult,
    ViewResult,
    ReshapedResult,
    KnownResult,
    TupleResult,
]


@record(eq=False)
class Piece:
    """A lowered piece. `inputs` are in the order of the nest's buffers."""

    nest: Graph
    inputs: tuple[Input, ...]
    sizes: tuple[tuple[str, Path], ...]  # symbol, and the Python int that it stands for
    results: tuple[tuple[str, Result], ...]  # by live-out variable
    returned: Result | None = None  # the value of `return`, if the piece ends with one
    apart: tuple[tuple[int, int], ...] = ()  # pairs of buffers that must not overlap
    kept: tuple[int, ...] = ()  # buffers to copy before the call, and to restore if the nest fails
    may_fail: bool = False  # whether the nest can end with an error
    written: tuple[int, ...] = ()  # buffers of the caller that the nest stores to
    meant: tuple[Guard, ...] = ()  # functions that were inlined, what their names meant, and attributes of modules


FEWEST_OPS = 8  # of a piece without loops and arrays, below which Python is as fast


def is_small(piece: Piece) -> bool:
    """Whether a piece only computes a few numbers, so that Python runs its statements as fast as a call."""
    nodes = list(piece.nest)
    if any(node.body is not None and node.op is not ops.WHEN for node in nodes):
        return False
    inside = [part for node in nodes if node.body is not None for part in node.body]
    if any(part.body is not None for part in inside):
        return False
    work = sum(_work(node) for node in (*nodes, *inside))
    return work < FEWEST_OPS or bool(piece.kept)


def _work(node: Node) -> float:
    """Estimate how much work a node is for Python. Inputs and results are none; Python makes checks of ints anyway."""
    if node.op in (CONSTANT, SIZE, CAST, ops.CHECK, ops.BIND, ops.WHEN, ops.ALLOC):
        return 0
    if node.op in (ops.LOAD, ops.STORE):
        return bool(node.operands[-1].type.shape)
    return 1 if node.result.type.dtype.kind in ("float", "complex") else 0.25


@record(eq=False)
class Cut:
    """The reason why statements can't be one piece, and the node of the source to point at."""

    reason: str
    node: ast.AST
