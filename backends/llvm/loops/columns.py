"""Emit one walk over the columns of a row: its loops, the blocks of reduction trees, and the values of scans."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.ops import POSITIONS
from ....ir.records import record
from ....ir.tuples import NamedTuple
from ....ir.types import integer
from ..code.frame import Frame
from ..code.memory import Memory
from ..code.scopes import Nest
from ..code.text import Val
from ..functions import STOPPED, FrameWord
from ..reductions.accumulators import Accumulators, has_order
from ..reductions.argminmax import WATCHED, Watched
from ..reductions.argminmax_lanes import Lanes
from ..reductions.extremes import Extremes, has_extreme
from ..reductions.scan import Running
from .vector_loops import LONG, LoopPlace, lane_mask, lane_masks, next_line, whole_steps

Reduction = Accumulators | Extremes | Watched | Lanes
Column = tuple[str, Size, Size]  # the variable of a loop, and its range
EXACT_STEPS = 16  # steps of a block whose elements may be combined in any order
LONG_ROW = 16  # vectors of a row whose sums begin at a cache line; below, the masked vectors cost more than they save
STRETCH = 1 << 20  # elements of a running sum between two questions whether to stop: some milliseconds


class TreeBlocks(NamedTuple):
    """The blocks from `begin` to `end`, counted over all runs of the innermost group."""

    begin: Val
    end: Val


@record(eq=False)
class StageCode:
    """Emits what one step computes.

    `visit` stores what the walk writes, unless it is told not to, and returns the operands of some reductions at the
    vectors of some offsets; `fetch` prefetches. `scanned` returns the operands of a scan in a row, and `set_scanned`
    takes its results. `positions` tells where elements are among all that are reduced together: a number, or one for
    each lane.
    """

    visit: Callable[[list[Node], list[int], bool], dict[Node, list[Val]]]
    positions: Callable[[list[int]], list[Val]]
    fetch: Callable[[], None] = lambda: None
    scanned: Callable[[Node, list[int], int], list[Val]] = lambda scan, offsets, down: []
    set_scanned: Callable[[Node, list[int], int, list[Val]], None] = lambda scan, offsets, down, made: None


@record(eq=False)
class ColumnLoops:
    """The loops of a walk, outermost first; `offsets` are those of the vectors in a step.

    Vectors run along the innermost loop (`is_across`) or across rows. `rows` are walked together. `number` computes the
    ends of ranges. With `in_order` the walk meets elements in the order of their positions, in ranges from 0 on, and
    may visit some again. With `is_whole` there is nothing but this walk. It may stop as soon as its result is known
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


class Columns:
    """One stage of a row. Loops carry the number of blocks, the running values and the totals, in this order."""

    def __init__(
        self, loops: ColumnLoops, reductions: list[Node], scans: list[Node], part: TreeBlocks | None = None
    ) -> None:
        self.loops, self.nest, self.frame, self.memory, self.part = loops, loops.nest, loops.frame, loops.memory, part
        self.offsets, self.width, across = loops.offsets, loops.width, loops.is_across
        # Several rows that are walked together have each their own running values and totals.
        self.together = loops.rows if across else 1
        self.scans = [
            (Running(n, self.nest, self.frame, len(self.offsets), self.width, across), down)
            for n in scans
            for down in range(self.together)
        ]
        self.step = len(self.offsets) * self.width if across else 1
        steps = max([integer(n.attrs, "steps") for n in reductions], default=0) or EXACT_STEPS
        self.block = self.step * steps
        self.may_stop = loops.may_stop and not scans
        self.watched_steps = 1 if self.may_stop else WATCHED
        self.sums = [self._reduction(n) for n in reductions for _ in range(self.together)]
        self.downs = [down for _ in reductions for down in range(self.together)]
        self.blocked = [a for a in self.sums if a.steps]
        self.is_ordered = any(has_order(n) for n in reductions)
        self.watched = [a for a in self.sums if isinstance(a, Watched)]
        in_any_order = not any(isinstance(a, Lanes) or a.steps for a in self.sums)
        is_single = across and len(loops.columns) == 1 and loops.line is not None
        self.may_align = is_single and loops.is_whole and in_any_order
        # Sums can start at a cache line, too: as lanes are joined in pairs that are half of them apart, in the end it
        # does not matter which lane is the first of a vector.
        in_lanes = all(isinstance(a, Accumulators | Extremes) for a in self.sums)
        self.may_turn = is_single and bool(self.blocked) and in_lanes
        self.turn: Val | None = None  # how many elements before the first cache line
        # Elements of sums after the last whole step: one step is faster, single vectors are less code.
        self.has_rest_in_one = self.is_ordered and not scans and (self.may_turn or loops.has_rest_in_one)

    def _reduction(self, node: Node) -> Reduction:
        loops, slots = self.loops, len(self.offsets)
        if has_extreme(node) and loops.is_across:
            return Extremes(node, self.nest, self.frame, slots, self.width)
        if node.op not in POSITIONS:
            return Accumulators(node, self.nest, self.frame, slots, self.width, loops.is_across)
        if loops.is_across and loops.in_order and not self.scans:
            return Watched(node, loops, slots, self.watched_steps)
        return Lanes(node, loops, self._base())

    def _base(self) -> Val | None:
        """The position where the walk starts, if 32 bits hold all positions counted from there."""
        if not self.loops.is_narrow:
            return None
        e = self.nest.e
        return e.const("i64", 0) if self.part is None else e.op("mul", self.part.begin, e.const("i64", self.block))

    def results(self, sums: Reduction, parts: list[Val]) -> list[Val]:
        with self.nest.e.writing(sums.node.result):
            return sums.results(parts)

    def totals(self) -> list[tuple[Reduction, list[Val]]]:
        """Return the totals in the lanes of each reduction after the walk."""
        e, loops = self.nest.e, self.loops
        # The number of blocks on the stack: all that were begun except the last, so -1 before the first.
        start = [e.const("i64", -1), *(v for s, _ in self.scans for v in s.start()), *self.fresh()]
        columns = list(loops.columns)
        if self.may_turn or self.may_align:
            long = LONG_ROW if self.may_turn else LONG
            self.turn = self.next_line(e.const("i64", 0), loops.number(columns[0][2]), long)
        count, _, totals = self.apart(self.outer(columns, start) if self.part is None else self.blocks(columns, start))
        count = e.call("smax", count, e.const("i64", 0))
        return [
            (a, a.finish(t, count) if isinstance(a, Accumulators) else t)
            for a, t in zip(self.sums, totals, strict=True)
        ]

    # -- what loops carry

    def fresh(self) -> list[Val]:
        return [v for sums in self.sums for v in sums.start()]

    def apart(self, carried: list[Val], opened: bool = False) -> tuple[Val, list[Val], list[list[Val]]]:
        """Splits carried values into the number of blocks, the running values, and the totals of each reduction."""
        behind = 1 + sum(s.slots for s, _ in self.scans)
        totals, rest = list[list[Val]](), carried[behind:]
        for a in self.sums:
            size = a.opened if opened else a.held
            totals.append(rest[:size])
            rest = rest[size:]
        return carried[0], carried[1:behind], totals

    def open(self, carried: list[Val]) -> list[Val]:
        """The running values and totals at the start of the steps."""
        _, running, totals = self.apart([self.nest.e.const("i64", 0), *carried])
        return [*running, *(v for a, t in zip(self.sums, totals, strict=True) for v in a.open(t))]

    # -- loops

    def outer(self, columns: list[Column], carried: list[Val]) -> list[Val]:
        """Loops over all columns but the last, which are walked in blocks."""
        number = self.loops.number
        (variable, first, end), *inner = columns
        if not inner:
            return self.innermost(variable, number(first), number(end), carried)
        return self.nest.loop(
            variable, number(first), number(end), 1, carried, lambda at, values: self.outer(inner, values)
        )[1]  # fmt: skip

    def blocks(self, columns: list[Column], carried: list[Val]) -> list[Val]:
        """Loops over the blocks of the part; every run of the innermost loop has the same number of blocks."""
        e, size, part = self.nest.e, self.frame.size, self.part
        assert part is not None
        *outer, (variable, _, extent) = columns
        if not outer:
            begin, end = (e.op("mul", q, e.const("i64", self.block)) for q in (part.begin, part.end))
            return self.innermost(variable, begin, e.call("smin", end, size(extent)), carried)
        in_run = size(dims.floordiv(extent + self.block - 1, self.block))

        def block(number: Val, values: list[Val]) -> list[Val]:
            run = e.op("sdiv", number, in_run)
            at = e.op("mul", e.op("sub", number, e.op("mul", run, in_run)), e.const("i64", self.block))
            for name, place in self.loops.run_at(run).items():
                self.nest.variables[name] = (place, self.nest.scope)
            end = e.call("smin", size(extent), e.op("add", at, e.const("i64", self.block)))
            return self.one_block(variable, at, end, values)

        last = self.nest.loop(None, part.begin, part.end, 1, carried, block)[1]
        for name, *_ in outer:
            del self.nest.variables[name]
        return last

    def innermost(self, variable: str, start: Val, stop: Val, carried: list[Val]) -> list[Val]:
        walk = self._in_stretches if self.scans else self.walk
        return walk(variable, start, stop, carried)

    def _in_stretches(self, variable: str, start: Val, stop: Val, carried: list[Val]) -> list[Val]:
        """Cuts a long walk into stretches, and asks after each whether to stop."""
        e = self.nest.e
        rows = self.together if self.loops.is_across else len(self.offsets) * max(1, self.width)
        length = e.const("i64", self.block * max(1, STRETCH // (self.block * rows)))

        def stretch(values: list[Val]) -> list[Val]:
            at, *before = values
            end = e.call("smin", stop, e.op("add", at, length))
            after = self.walk(variable, at, end, before)
            return [self._unless_stopped(end, stop), *after]

        return self.nest.while_loop([start, *carried], lambda values: e.icmp("slt", values[0], stop), stretch)[1:]

    def _unless_stopped(self, end: Val, stop: Val) -> Val:
        """Where the walk continues: at the end of a stretch, or after the last element if it should stop."""
        e, frame = self.nest.e, self.frame
        question, place = frame.word(FrameWord("question"), "ptr"), frame.reserve(8)
        e.store(end, place, 8)
        e.stops = True

        def ask() -> None:
            told = e.emit(f"call i32 {question.text}(ptr %frame)", "i32", 0)
            e.when(e.icmp("ne", told, e.const("i32", 0)), end_it)

        def end_it() -> None:
            e.store(e.const("i32", STOPPED), Val("%status", "ptr", 0), 4)
            e.store(stop, place, 8)

        is_asked = e.op("and", e.icmp("slt", end, stop), e.icmp("ne", question, Val("null", "ptr", 0)))
        e.when(is_asked, ask)
        return e.load(place, "i64", 0, 8)

    def walk(self, variable: str, start: Val, stop: Val, carried: list[Val]) -> list[Val]:
        """Walks along the innermost loop, in blocks if reductions have them."""
        e = self.nest.e
        if not self.blocked:
            return [carried[0], *self.span(variable, start, stop, carried[1:])]

        def block(at: Val, values: list[Val]) -> list[Val]:
            end = e.call("smin", stop, e.op("add", at, e.const("i64", self.block)))
            return self.one_block(variable, at, end, values)

        return self.nest.loop(None, start, stop, self.block, carried, block)[1]

    def one_block(self, variable: str, at: Val, end: Val, values: list[Val]) -> list[Val]:
        """Pushes the block before this one, if there is one, and walks this one."""
        e = self.nest.e
        count, running, totals = self.apart(values)
        blocks = list(zip(self.sums, totals, strict=True))

        def push() -> None:
            for sums, parts in blocks:
                if isinstance(sums, Accumulators) and sums.steps:
                    with e.writing(sums.node.result):
                        sums.push(parts, count)

        if self.blocked:
            e.when(e.icmp("sge", count, e.const("i64", 0)), push)
        fresh = [v for sums, parts in blocks for v in (sums.start() if sums.steps else parts)]
        return [e.op("add", count, e.const("i64", 1)), *self.span(variable, at, end, [*running, *fresh])]

    def span(self, variable: str, start: Val, stop: Val, carried: list[Val]) -> list[Val]:
        """Runs whole steps, and before and after them single vectors under masks."""
        in_one = not self.watched  # opened once for all vectors
        carried = self.open(carried) if in_one else carried
        if self.turn is not None:
            start, carried = self.up_to_line(variable, start, stop, carried, self.turn)
        end = whole_steps(self.nest.e, start, stop, self.step)
        carried = self.whole_steps(variable, start, end, carried)
        if not self.loops.is_across:
            return carried
        if self.may_stop:
            stop = self.nest.e.select(self.is_final(carried), end, stop)
        opened = carried if in_one else self.open(carried)
        return self.closed(self.tail(variable, end, stop, opened), end)

    def closed(self, carried: list[Val], begin: Val) -> list[Val]:
        """The running values and totals after the steps from `begin` on."""
        _, running, totals = self.apart([begin, *carried], opened=True)
        begin = self.position(begin)
        return [*running, *(v for a, t in zip(self.sums, totals, strict=True) for v in a.close(t, begin))]

    def tail(self, variable: str, end: Val, stop: Val, carried: list[Val]) -> list[Val]:
        """Process the elements from `end` to `stop` in one step, or vector by vector. The slots of sums take turns."""
        e, nest, is_one = self.nest.e, self.nest, self.has_rest_in_one

        def vectors(values: list[Val]) -> list[Val]:
            at, *values = values
            nest.variables[variable] = (at, nest.scope)
            offsets = self.offsets if is_one else [0]
            for offset, mask in zip(offsets, lane_masks(e, self.width, at, stop, offsets), strict=True):
                values = self.turned(self.masked_vector(at, mask, values, offset), 1)
            del nest.variables[variable]
            return [stop if is_one else e.op("add nsw", at, e.const("i64", self.width)), *values]

        at, *carried = nest.while_loop([end, *carried], lambda values: e.icmp("slt", values[0], stop), vectors)
        if not self.is_ordered or is_one or len(self.offsets) == 1:
            return carried

        def is_turned(values: list[Val]) -> Val:
            walked = e.op("and", e.op("sub", values[0], end), e.const("i64", self.step - 1))
            return e.icmp("ne", walked, e.const("i64", 0))

        def turn(values: list[Val]) -> list[Val]:
            return [e.op("add nsw", values[0], e.const("i64", self.width)), *self.turned(values[1:], 1)]

        return e.repeat([at, *carried], is_turned, turn)[1:]

    def turned(self, carried: list[Val], by: int) -> list[Val]:
        """Rotate the totals of sums by some slots, so that another slot is the first.

        Other reductions have no order.
        """
        _, running, totals = self.apart([self.nest.e.const("i64", 0), *carried], opened=True)
        moved = ([*t[by:], *t[:by]] if has_order(a.node) else t for a, t in zip(self.sums, totals, strict=True))
        return [*running, *(v for t in moved for v in t)]

    def masked_vector(self, at: Val, mask: Val, carried: list[Val], offset: int = 0) -> list[Val]:
        """Adds the active lanes of one vector to the first slot of totals."""
        _, running, totals = self.apart([at, *carried], opened=True)
        self.memory.mask = mask
        running = self.scan(at, running, [offset])
        found = self.visit([offset])
        self.memory.mask = None
        sums = zip(self.sums, self.downs, totals, strict=True)
        return [*running, *(v for a, down, t in sums for v in a.add(t, [found[a.node][down]], mask))]

    def up_to_line(self, variable: str, start: Val, stop: Val, carried: list[Val], turn: Val) -> tuple[Val, list[Val]]:
        """Process the elements before the first cache line, `turn` elements on: the last ones of a vector."""
        e, width = self.nest.e, self.width
        first = e.op("add", start, turn)
        has_some = e.icmp("sgt", turn, e.const("i64", 0))
        before = e.select(has_some, e.op("sub", first, e.const("i64", width)), first)

        def vector(at: Val, values: list[Val]) -> list[Val]:
            mask = e.op("and", lane_mask(e, width, at, stop), e.not_(lane_mask(e, width, at, start)))
            return self.turned(self.masked_vector(at, mask, self.turned(values, -1)), 1)

        opened = self.open(carried) if self.watched else carried
        last = self.nest.loop(variable, before, first, width, opened, vector)[1]
        return first, self.closed(last, start) if self.watched else last

    def whole_steps(self, variable: str, start: Val, end: Val, carried: list[Val]) -> list[Val]:
        """Run steps one after another, or a few at a time if they look for an extreme."""
        nest, e = self.nest, self.nest.e
        if not self.watched:
            return nest.loop(variable, start, end, self.step, carried, self.whole_step)[1]
        some_steps = e.const("i64", self.watched_steps * self.step)

        def goes_on(values: list[Val]) -> Val:
            inside = e.icmp("slt", values[0], end)
            return e.op("and", inside, e.not_(self.is_final(values[1:]))) if self.may_stop else inside

        def some(values: list[Val]) -> list[Val]:
            at = values[0]
            stop = e.call("smin", end, e.op("add", at, some_steps))
            _, after = nest.loop(variable, at, stop, self.step, self.open(values[1:]), self.whole_step)
            return [e.op("add nsw", at, some_steps), *self.closed(after, at)]

        return nest.while_loop([start, *carried], goes_on, some)[1:]

    def is_final(self, carried: list[Val]) -> Val:
        """Whether the remaining columns can't change the result."""
        e = self.nest.e
        _, _, totals = self.apart([e.const("i64", 0), *carried])
        found = [a.is_final(t) for a, t in zip(self.watched, totals, strict=True)]
        return reduce(lambda a, b: e.op("and", a, b), found)

    def position(self, at: Val) -> Val:
        """The position, in a walk in C order, of an element of the innermost loop."""
        e, number = self.nest.e, self.loops.number
        *outer, (_, _, extent) = self.loops.columns
        if not outer or not self.watched:
            return at
        run = e.const("i64", 0)
        for name, _, each in outer:
            run = e.op("add", e.op("mul", run, number(each)), self.nest.variables[name][0])
        return e.op("add", e.op("mul", run, number(extent)), at)

    def next_line(self, start: Val, stop: Val, long: int) -> Val:
        """Where whole vectors should begin; walks of less than `long` vectors begin at `start`."""
        place = self.loops.line and self.loops.line()
        return next_line(self.memory, place, start, stop, long) if place is not None else start

    def visit(self, offsets: list[int]) -> dict[Node, list[Val]]:
        return self.loops.code.visit([a.node for a in self.sums], offsets, True)

    def whole_step(self, at: Val, carried: list[Val]) -> list[Val]:
        _, running, totals = self.apart([at, *carried], opened=True)
        running = self.scan(at, running, self.offsets)
        found = self.visit(self.offsets)
        self.loops.code.fetch()
        sums = zip(self.sums, self.downs, totals, strict=True)
        return [*running, *(v for a, down, t in sums for v in self.added(a, t, found[a.node][down :: self.together]))]

    def added(self, sums: Reduction, totals: list[Val], given: list[Val]) -> list[Val]:
        """Adds elements to the totals of a reduction."""
        with self.nest.e.writing(sums.node.result):
            return sums.add(totals, given)

    def scan(self, at: Val, running: list[Val], offsets: list[int]) -> list[Val]:
        """Sets the elements of all scans in this iteration; returns the next running values."""
        after, begin = list[Val](), 0
        for scan, down in self.scans:
            given = self.loops.code.scanned(scan.node, offsets, down)
            with self.nest.e.writing(scan.node.result):
                made, last = scan.step(running[begin : begin + scan.slots], given, at, self.memory.mask)
            self.loops.code.set_scanned(scan.node, offsets, down, made)
            after += last
            begin += scan.slots
        return after
