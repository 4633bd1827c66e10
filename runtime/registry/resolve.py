"""Resolve every op of a graph to an implementation, for the pass `select-kernels`.

A `Resolution` belongs to one compile. It records the implementations of the ops it resolved, so that a later call can
tell whether the graph is still valid, and it collects the Python functions that run between compiled pieces. An op
that no user has replaced is resolved here, without computing scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...ir.dtypes import NATIVE
from ...ir.errors import LimitExceeded
from ...ir.kernels import Choice
from ...ir.ops import MATMUL, TABLE
from ...ir.types import Attr, TensorType
from .. import blas
from ..blas import GEMM
from .state import State

if TYPE_CHECKING:
    from ...ir.dtypes import DType
    from ...ir.externs import ExternCall
    from .implementation import Implementation
    from .scores import Ranking

    Ask = Callable[[str, tuple[TensorType, ...], TensorType, int | None, frozenset[Implementation]], Ranking]

NUMPY = Choice("python", "naive", 0)
EXACT, VECTORIZED = 10, 20  # points
MAX_INSIDE = 64  # levels of implementations that use one another


class Uses:
    """What a compiled graph relies on: the user's implementations of each op it resolved, at that time."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.implementations: dict[str, tuple[Implementation, ...]] = {}
        self.chosen: set[Implementation] = set()

    def equals(self) -> list[Implementation]:
        """List the implementations that give the same bits as a chosen one and can replace it at every size."""
        ops = {each.op for each in self.chosen if _is_exchangeable(each)}
        known = [each for op in sorted(ops) for each in self.implementations.get(op, ())]
        return [each for each in known if _is_exchangeable(each) and each not in self.chosen]

    def are_current(self, state: State) -> bool:
        """Tell whether no relevant registration has changed since."""
        if self.generation == state.generation:
            return True
        return all(state.user.get(op, ()) == then for op, then in self.implementations.items())


def _is_exchangeable(each: Implementation) -> bool:
    return each.same_bits and each.kind in ("inline", "weft") and not each.depends_on_size


class Resolution:
    """Resolve ops for one compile. `sizes` holds the numbers of the current call, if there is one."""

    def __init__(
        self,
        state: State,
        ask: Ask,
        sizes: Mapping[str, int],
        first_call: int,
        inline: frozenset[str],
        uses: Uses,
        preferred: Mapping[str, str],
        blas: bool = False,
    ) -> None:
        """Start a resolution; `preferred` names the implementation to use for some ops among those with equal bits."""
        self.state, self.sizes, self.uses, self.preferred, self.blas = state, sizes, uses, preferred, blas
        self.calls: list[ExternCall] = []
        self._ask, self._first_call, self._inline = ask, first_call, inline
        self._inside: frozenset[Implementation] = frozenset()

    def choose(
        self, op: str, operands: tuple[TensorType, ...], result: TensorType, attrs: Mapping[str, Attr]
    ) -> Choice:
        """Return the best implementation for these types."""
        self.note_use(op)
        users = self.state.user.get(op, ())
        if self.blas and not users and op == MATMUL.name and result.dtype.name in GEMM:
            score = EXACT * len(operands) + VECTORIZED
            return Choice("library", "hardware-specific", score, "BLAS gemm", call=self.call(blas.matmul))
        if not users and op in TABLE:
            return self._bundled(op, operands, result)
        from .deciding import Decision

        return Decision(self, op, operands, result, attrs).choice()

    def note_use(self, op: str) -> None:
        """Record that the compiled graph relies on which implementations of this op users have."""
        self.uses.implementations[op] = self.state.user.get(op, ())

    def is_replaced(self, op: str, dtypes: tuple[DType, ...]) -> bool:
        """Tell whether a user has an implementation for these dtypes, other than those being resolved."""
        users = self.state.user.get(op, ())
        return any(each.signature.takes(dtypes) for each in users if each not in self._inside)

    def _bundled(self, op: str, operands: tuple[TensorType, ...], result: TensorType) -> Choice:
        """Return Weft's vector code for these dtypes, or NumPy if there is none."""
        from ...passes.rules.complex_rules import COMPLEX_OPS

        dtypes = [t.dtype.strong for t in (*operands, result)]
        if op not in self._inline or not all(d in NATIVE or op in COMPLEX_OPS for d in dtypes):
            return NUMPY
        return Choice("inline", "vectorized", EXACT * len(operands) + VECTORIZED)

    def ranking(self, op: str, operands: tuple[TensorType, ...], result: TensorType, size: int | None) -> Ranking:
        """Rank the implementations, leaving out those being resolved."""
        return self._ask(op, operands, result, size, self._inside)

    def inside_of(self, each: Implementation) -> Resolution:
        """Resolve the ops inside the graph of an implementation, which can't use itself."""
        if len(self._inside) >= MAX_INSIDE:
            raise LimitExceeded(
                f"implementations that use one another are nested more than {MAX_INSIDE} deep, "
                f"at '{each.name}' of '{each.op}'",
                hint="unregister those that are no longer needed",
            )
        inner = Resolution(
            self.state, self._ask, self.sizes, self._first_call, self._inline, self.uses, self.preferred, self.blas
        )
        inner.calls, inner._inside = self.calls, self._inside | {each}
        return inner

    def call(self, function: ExternCall) -> int:
        """Number a Python or library function that runs between compiled pieces."""
        self.calls.append(function)
        return self._first_call + len(self.calls) - 1
