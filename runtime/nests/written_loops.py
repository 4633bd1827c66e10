"""Compile and run the loops of `.weft` kernels that change elements of arrays.

The graph around it calls a loop, from Python or by a recipe, and the loop has recipes of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...frontend.lowering.as_python import PLACE, function_of
from ...frontend.programs.kinds import Kind, Known, NumpyScalar, PythonNumber, kind_of
from ...frontend.programs.lower import lower_piece
from ...frontend.programs.planning.pieces import (
    Cut,
    FreshInput,
    FreshResult,
    NumberResult,
    Piece,
    Result,
    SameResult,
    TupleResult,
)
from ...ir.errors import TraceProblem, TypeProblem, Unsupported
from ...ir.support.forking import lock
from ...ir.types import TensorType
from ..calling import Called, native_class
from ..native.call import CallForm
from ..native.callables import is_native
from ..native.dispatch import Chain
from ..native.nest_calls import NestCallForm, NestSource
from .pieces import GuardBroken, LoopPiece, compile_piece

if TYPE_CHECKING:
    from ...frontend.lowering.element_stores import WrittenLoop
    from ...ir.kernels import KernelLookup

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
MOST_PIECES = 32  # compiled for other dtypes, sizes of 1, or relations between sizes


def lowered_loop(loop: WrittenLoop, kinds: Mapping[str, Kind], values: Mapping[str, Any]) -> Piece:
    """Lower a loop to a nest for operands of these kinds; guards hold for these values."""
    constants = dict(loop.constants)

    def named(name: str) -> Kind | None:
        if name in constants:
            return PythonNumber(type(constants[name]).__name__, constants[name])
        found = function_of(name)
        return None if found is None else Known(found)

    found = lower_piece(loop.statements, kinds, [name for name, _ in loop.outputs], named, values, name=loop.name)
    if isinstance(found, Cut):
        span = getattr(found.node, PLACE, loop.span)
        raise Unsupported(f"this can't be part of a loop that changes elements: {found.reason}", span)
    return found


class RunningLoop(Called):
    """A loop with the nests that were compiled for it. It returns the values of the variables that it changes.

    `kinds` and `returned` tell a recipe what to pass and what is returned (`native/outside_calls.py`).
    """

    takes_out = True  # calls have positional arguments only

    def __init__(self, loop: WrittenLoop, lookup: KernelLookup) -> None:
        self.loop, self._lookup = loop, lookup
        self.__name__ = loop.name
        self.chain = Chain()
        self.kinds = tuple("number" if weak else "array" if type.rank else "scalar" for _, weak, type in loop.inputs)
        self.returned = tuple, tuple(np.ndarray if t.rank else t.dtype.numpy.type for _, t in loop.outputs)
        self._pieces: dict[Any, list[LoopPiece]] = {}
        self._changed = frozenset(name for name, type in loop.outputs if type.rank)
        self._lock = lock()

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        raise TraceProblem("a loop of a kernel can't be part of another trace")

    def served(self, form: CallForm, operands: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> tuple[Any, ...]:
        """Run the loop on its operands; the arrays that it changes are copied first."""
        given = zip(self.loop.inputs, operands, strict=True)
        values = {name: self._value(weak, x) for (name, weak, _), x in given}
        kinds = {name: kind_of(x) for name, x in values.items()}
        copies = {name: x.copy() for name, x in values.items() if name in self._changed}
        piece, made = self._run(kinds, values | copies)
        pairs = zip(self.loop.outputs, made, strict=True)
        found = tuple(self._checked(name, x, type.dtype.numpy) for (name, type), x in pairs)
        if is_native(self):
            self._learn(piece, form, values)
        return found

    def _value(self, weak: str | None, x: Any) -> Any:
        array = np.asarray(x)
        if weak is not None:
            return _PYTHON[weak](array)
        return np.ascontiguousarray(array) if array.ndim else array[()]

    def _run(self, kinds: dict[str, Kind], values: dict[str, Any]) -> tuple[LoopPiece, tuple[Any, ...]]:
        key = tuple(kinds.items())
        for piece in self._pieces.get(key, ()):
            try:
                return piece, piece.run(values)
            except GuardBroken:
                continue  # another piece may be compiled for these sizes
        with self._lock:
            piece = self._compiled(kinds, values)
            if sum(map(len, self._pieces.values())) >= MOST_PIECES:
                self._pieces.clear()
            self._pieces.setdefault(key, []).append(piece)
        return piece, piece.run(values)

    def _learn(self, piece: LoopPiece, form: CallForm, values: Mapping[str, Any]) -> None:
        """Make a recipe for calls like this one, if all results already have the declared types."""
        pairs = zip(self.loop.outputs, piece.piece.results, strict=True)
        results = [self._declared(piece.piece, name, type, result) for (name, type), (_, result) in pairs]
        if None in results:
            return
        sources = {name: NestSource(k) for k, name in enumerate(values)}
        call = NestCallForm(form, sources, values, piece.piece.meant)
        piece.learn(self, self.chain, call, TupleResult(tuple(filter(None, results))), self._changed)

    def _declared(self, piece: Piece, name: str, type: TensorType, result: Result) -> Result | None:
        """Return how a recipe converts a result to the declared type, or None if it can't.

        A number becomes a NumPy scalar.
        """
        if isinstance(result, SameResult):
            return result if result.path == (name,) and name in self._changed else None
        if isinstance(result, NumberResult) and piece.nest.inputs[result.buffer].type.dtype == type.dtype:
            return NumberResult(result.buffer, NumpyScalar(type.dtype))
        if isinstance(result, FreshResult) and result.view is None:
            made = piece.inputs[result.buffer]
            return result if isinstance(made, FreshInput) and made.dtype == type.dtype else None
        return None

    def _compiled(self, kinds: dict[str, Kind], values: dict[str, Any]) -> LoopPiece:
        return compile_piece(lowered_loop(self.loop, kinds, values), self._lookup)

    def _checked(self, name: str, x: Any, dtype: np.dtype[Any]) -> Any:
        if not np.can_cast(np.result_type(x), dtype, "same_kind"):
            raise TypeProblem(
                f"'{name}' must keep its dtype in a loop, but becomes {np.result_type(x)}", self.loop.span
            )
        found = np.asarray(x, dtype)
        return found if found.ndim else found[()]


CallableRunningLoop = native_class(RunningLoop)
