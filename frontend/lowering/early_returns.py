"""Lower `return` inside the loops and branches of a kernel.

The results become variables. A first pass, whose nodes are thrown away, finds their types; then they start as zeros,
`return` assigns them and sets `returned`, and what follows counts only where that is not set.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.dtypes import BOOL
from ...ir.errors import ShapeProblem, Span
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.ops import TABLE
from ...ir.rules import shown
from ..language import syntax
from ..maker import Maker
from ..numpy.shapes import broadcast_to
from ..weak import Operand, dtype_of, take
from .element_loops import KEEP, LIVE, RETURNED
from .element_types import Cell
from .frame import Environment, Variable
from .jumps import inside

RESULT = "%return"  # and a number
AND, NOT = TABLE["logical_and"], TABLE["logical_not"]


def returns_early(item: syntax.Function) -> bool:
    """Tell whether a kernel returns anywhere but in its last statement."""
    *before, last = item.body.statements
    return not isinstance(last, syntax.Return) or any(isinstance(s, syntax.Return) for s in inside(before))


class EarlyReturns:
    """The results of one kernel while it is lowered: first their types, then their variables."""

    def __init__(self) -> None:
        self._cells: list[Cell] = []
        self._shapes: list[tuple[Size, ...]] = []
        self._is_probe = True

    def take(self, values: Sequence[Operand], facts: Facts, maker: Maker, frame: Environment, span: Span) -> None:
        """Lower a `return`: remember its values, and leave everything around it."""
        if self._is_probe:
            self._note(values, facts, span)
        else:
            for k, (cell, value) in enumerate(zip(self._cells, values, strict=True)):
                frame.variables[f"{RESULT}{k}"] = Variable(cell.take(maker, value))
            frame.variables[RETURNED] = Variable(True)
        frame.variables[LIVE] = Variable(False)
        if KEEP in frame.variables:
            frame.variables[KEEP] = Variable(False)

    def _note(self, values: Sequence[Operand], facts: Facts, span: Span) -> None:
        for k, value in enumerate(values):
            shape = value.type.shape if isinstance(value, Value) else ()
            if k == len(self._cells):
                self._cells.append(Cell("the result"))
                self._shapes.append(shape)
            have = self._shapes[k]
            if len(have) != len(shape) or not all(map(facts.same, have, shape)):
                hint = "all results must have the same shape"
                raise ShapeProblem(f"the result has shape {shown(have)}, but here {shown(shape)}", span, hint)
            self._cells[k].meet(dtype_of(value), span)

    def start(self, builder: Builder, frame: Environment, span: Span) -> None:
        """Declare the variables, once the types are known."""
        self._is_probe = False
        maker = Maker(builder, span)
        for k, (cell, shape) in enumerate(zip(self._cells, self._shapes, strict=True)):
            cell.settle()
            zero = cell.take(maker, False if cell.dtype == BOOL else 0)
            frame.variables[f"{RESULT}{k}"] = Variable(broadcast_to(maker, zero, shape) if shape else zero)
        frame.variables[RETURNED] = Variable(False)
        frame.variables[LIVE] = Variable(True)

    def results(self, maker: Maker, frame: Environment) -> list[Operand]:
        """Return the values of the variables at the end."""
        found: list[Operand] = []
        for k, cell in enumerate(self._cells):
            value = frame.variables[f"{RESULT}{k}"].value
            found.append(cell.read(maker, cell.take(maker, value)))
        return found


def leave(maker: Maker, frame: Environment) -> None:
    """After a loop that may have returned, let what follows count only if it has not."""
    if RETURNED not in frame.variables:
        return
    going = maker.op(NOT, take(maker, frame.variables[RETURNED].value, BOOL))
    frame.variables[LIVE] = Variable(going)
    if KEEP in frame.variables:
        keep = take(maker, frame.variables[KEEP].value, BOOL)
        frame.variables[KEEP] = Variable(maker.op(AND, keep, going))
