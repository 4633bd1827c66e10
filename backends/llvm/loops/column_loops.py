"""Describe a walk over the columns of a row to the code that emits it: its loops, and what runs in a step."""

from __future__ import annotations

from collections.abc import Callable

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.records import record
from ..code.frame import Frame
from ..code.memory import Memory
from ..code.scopes import Nest
from ..code.text import Val
from .vector_loops import LoopPlace

Column = tuple[str, Size, Size]  # the variable of a loop, and its range


@record(eq=False)
class StageCode:
    """Emits what one step computes.

    `visit` stores what the walk writes, unless it is told not to, and returns the operands of some reductions at the
    vectors of some offsets; `fetch` prefetches. `scanned` returns the operands of a scan, and `set_scanned` takes its
    results. `positions` tells where elements are among all that are reduced together: a number, or one for each lane.
    """

    visit: Callable[[list[Node], list[int], bool], dict[Node, list[Val]]]
    positions: Callable[[list[int]], list[Val]]
    fetch: Callable[[], None] = lambda: None
    scanned: Callable[[Node, list[int]], list[Val]] = lambda scan, offsets: []
    set_scanned: Callable[[Node, list[int], list[Val]], None] = lambda scan, offsets, made: None


@record(eq=False)
class ColumnLoops:
    """The loops of a walk, outermost first; `offsets` are those of the vectors in a step.

    Vectors run along the innermost loop (`is_across`) or across rows. `rows` are walked together. `number` computes the
    ends of ranges. With `in_order` the walk meets elements in the order of their positions, in ranges from 0 on, and
    may visit some again. The walk is everything there is (`is_whole`), may stop as soon as its result is known
    (`may_stop`), and 32 bits hold its positions (`is_narrow`). Whole vectors begin at a cache line of `line`. The
    elements of sums after the last whole step are one step, not several (`has_rest_in_one`).
    """

    nest: Nest
    frame: Frame
    memory: Memory
    columns: tuple[Column, ...]
    offsets: list[int]
    code: StageCode
    is_across: bool
    number: Callable[[Size], Val]
    rows: int = 1
    in_order: bool = True
    is_whole: bool = False
    may_stop: bool = False
    is_narrow: bool = False
    has_rest_in_one: bool = False
    line: Callable[[], LoopPlace | None] | None = None

    @property
    def width(self) -> int:
        return self.memory.width

    def column_at(self, position: Val) -> tuple[Val, dict[str, Val]]:
        """The place of a position in a walk in C order: the innermost index, and the variables of the outer loops."""
        *outer, (_, _, extent) = self.columns
        if not outer:
            return position, {}
        e, size = self.nest.e, self.number(extent)
        run = e.op("sdiv", position, size)
        return e.op("sub", position, e.op("mul", run, size)), self.run_at(run)

    def run_at(self, run: Val) -> dict[str, Val]:
        """The variables of the loops around the innermost one, in run number `run` of it."""
        e, outer, found = self.nest.e, self.columns[:-1], dict[str, Val]()
        for level, (name, _, extent) in reversed(list(enumerate(outer))):
            runs = self.number(extent)
            above = e.op("sdiv", run, runs) if level else e.const("i64", 0)
            found[name] = e.op("sub", run, e.op("mul", above, runs))
            run = above
        return found


def positions_in(memory: Memory, position: Size) -> Callable[[list[int]], list[Val]]:
    """Emits the positions of elements by a linear expression over the variables of loops."""

    def found(offsets: list[int]) -> list[Val]:
        variable = memory.vector
        wanted = [dims.substitute(position, {variable: dims.symbol(variable) + k}) for k in offsets]
        known = {place: memory.number(place)[0] for place in dict.fromkeys(wanted)}
        return [known[place] for place in wanted]

    return found
