"""Compile and run the loops of `.weft` kernels that change elements of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..frontend.lowering.as_python import PLACE, function_of
from ..frontend.programs.kinds import Kind, Known, PythonNumber, kind_of
from ..frontend.programs.lower import lower_piece
from ..frontend.programs.pieces import Cut
from ..ir.errors import TypeProblem, Unsupported, ValueProblem
from ..ir.forking import lock
from .loop_pieces import LoopPiece, compile_piece

if TYPE_CHECKING:
    from ..frontend.lowering.element_stores import WrittenLoop
    from ..ir.kernels import KernelLookup

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
MOST_PIECES = 32  # compiled for other dtypes, sizes of 1, or relations between sizes


class RunningLoop:
    """A loop with the nests that were compiled for it."""

    def __init__(self, loop: WrittenLoop, lookup: KernelLookup) -> None:
        self.loop, self._lookup = loop, lookup
        self._pieces: dict[Any, list[LoopPiece]] = {}
        self._changed = frozenset(name for name, _ in loop.outputs)
        self._constants = dict(loop.constants)
        self._lock = lock()

    def run(self, *operands: Any) -> tuple[Any, ...]:
        """Run the loop on its operands, and return the values of the variables that it changes."""
        given = zip(self.loop.inputs, operands, strict=True)
        values = {name: self._value(name, weak, x) for (name, weak), x in given}
        kinds = {name: kind_of(x) for name, x in values.items()}
        made = self._run(kinds, values)
        pairs = zip(self.loop.outputs, made, strict=True)
        return tuple(self._checked(name, x, dtype.numpy) for (name, dtype), x in pairs)

    def _value(self, name: str, weak: str | None, x: Any) -> Any:
        array = np.asarray(x)
        if weak is not None:
            return _PYTHON[weak](array)
        if not array.ndim:
            return array[()]
        return np.array(array, order="C") if name in self._changed else np.ascontiguousarray(array)

    def _run(self, kinds: dict[str, Kind], values: dict[str, Any]) -> tuple[Any, ...]:
        key = tuple(kinds.items())
        for piece in self._pieces.get(key, ()):
            try:
                return piece.run(values)
            except ValueProblem as error:
                if "relations between sizes" not in error.message:
                    raise
        with self._lock:
            piece = self._compiled(kinds, values)
            if sum(map(len, self._pieces.values())) >= MOST_PIECES:
                self._pieces.clear()
            self._pieces.setdefault(key, []).append(piece)
        return piece.run(values)

    def _compiled(self, kinds: dict[str, Kind], values: dict[str, Any]) -> LoopPiece:
        outputs = [name for name, _ in self.loop.outputs]
        found = lower_piece(self.loop.statements, kinds, outputs, self._named, values, name=self.loop.name)
        if isinstance(found, Cut):
            span = getattr(found.node, PLACE, self.loop.span)
            raise Unsupported(f"this can't be part of a loop that changes elements: {found.reason}", span)
        return compile_piece(found, self._lookup)

    def _named(self, name: str) -> Kind | None:
        if name in self._constants:
            number = self._constants[name]
            return PythonNumber(type(number).__name__, number)
        found = function_of(name)
        return None if found is None else Known(found)

    def _checked(self, name: str, x: Any, dtype: np.dtype[Any]) -> Any:
        if not np.can_cast(np.result_type(x), dtype, "same_kind"):
            raise TypeProblem(
                f"'{name}' must keep its dtype in a loop, but becomes {np.result_type(x)}", self.loop.span
            )
        return np.asarray(x, dtype)
