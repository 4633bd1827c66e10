"""Resolve every op of a graph to an implementation: what `select-kernels` asks.

A `Resolution` belongs to one compile. It remembers which implementations there were of the ops that it was asked for,
so that a later call can tell whether the graph is still the right one, and collects the Python functions that
run between compiled pieces. An op that no user has touched is settled here, without the machinery of scores.
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
MAX_INSIDE = 64  # implementations whose graphs are built from one another


class Uses:
    """What a compiled graph relies on: the user's implementations of each op that was asked for, then."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.implementations: dict[str, tuple[Implementation, ...]] = {}
        self.chosen: set[Implementation] = set()

    def equals(self) -> list[Implementation]:
        """Those that give the bits of one that was chosen, and could stand in its place at every size."""
        ops = {each.op for each in self.chosen if _is_exchangeable(each)}
        known = [each for op in sorted(ops) for each in self.implementations.get(op, ())]
        return [each for each in known if _is_exchangeable(each) and each not in self.chosen]

    def are_current(self, state: State) -> bool:
        """Whether nothing that matters was registered or unregistered since."""
        if self.generation == state.generation:
            return True
        if any(state.user.get(op, ()) != then for op, then in self.implementations.items()):
            return False
        self.generation = state.generation
        return True


def _is_exchangeable(each: Implementation) -> bool:
    return each.same_bits and each.kind in ("inline", "weft") and not each.depends_on_size


class Resolution:
    """Chooses for one compile. `sizes` are the numbers of the call at hand; none are known without one."""

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
        """`preferred` names an implementation for some ops, instead of one that gives the same bits."""
        self.state, self.sizes, self.uses, self.preferred, self.blas = state, sizes, uses, preferred, blas
        self.calls: list[ExternCall] = []
        self._ask, self._first_call, self._inline = ask, first_call, inline
        self._inside: frozenset[Implementation] = frozenset()

    def choose(
        self, op: str, operands: tuple[TensorType, ...], result: TensorType, attrs: Mapping[str, Attr]
    ) -> Choice:
        """The best implementation for these types."""
        users = self.state.user.get(op, ())
        self.uses.implementations[op] = users
        if self.blas and not users and op == MATMUL.name and result.dtype.name in GEMM:
            score = EXACT * len(operands) + VECTORIZED
            return Choice("library", "hardware-specific", score, "BLAS gemm", call=self.call(blas.matmul))
        if not users and op in TABLE:
            return self._bundled(op, operands, result)
        from .deciding import Decision

        return Decision(self, op, operands, result, attrs).choice()

    def is_replaced(self, op: str, dtypes: tuple[DType, ...]) -> bool:
        """Whether a user has an implementation for these dtypes, that this selection is not inside of."""
        users = self.uses.implementations[op] = self.state.user.get(op, ())
        return any(each.signature.takes(dtypes) for each in users if each not in self._inside)

    def _bundled(self, op: str, operands: tuple[TensorType, ...], result: TensorType) -> Choice:
        """Vector code of our own where there is some for these dtypes, else NumPy."""
        from ...passes.rules.complex_rules import COMPLEX_OPS

        dtypes = [t.dtype.strong for t in (*operands, result)]
        if op not in self._inline or not all(d in NATIVE or op in COMPLEX_OPS for d in dtypes):
            return NUMPY
        return Choice("inline", "vectorized", EXACT * len(operands) + VECTORIZED)

    def ranking(self, op: str, operands: tuple[TensorType, ...], result: TensorType, size: int | None) -> Ranking:
        """Who can compute it, of those that this selection is not inside of."""
        return self._ask(op, operands, result, size, self._inside)

    def inside_of(self, each: Implementation) -> Resolution:
        """What ops mean in the graph of an implementation: never itself."""
        if len(self._inside) >= MAX_INSIDE:
            raise LimitExceeded(
                f"implementations use one another more than {MAX_INSIDE} deep, at last '{each.name}' of '{each.op}'",
                hint="unregister those that are no longer needed",
            )
        inner = Resolution(
            self.state, self._ask, self.sizes, self._first_call, self._inline, self.uses, self.preferred, self.blas
        )
        inner.calls, inner._inside = self.calls, self._inside | {each}
        return inner

    def call(self, function: ExternCall) -> int:
        """The number of a function of Python or of a library that runs between compiled pieces."""
        self.calls.append(function)
        return self._first_call + len(self.calls) - 1
