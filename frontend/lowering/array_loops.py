"""Lower a `for` or `while` of a kernel to a `loop` over whole arrays.

The state holds the outer variables that the body assigns, and the index of a `for`. Their types are found by lowering
the body until nothing changes: a variable that starts from a literal is weak until something strong is assigned to it,
and no variable may change its shape. `break` and `continue` become bools: `live` tells whether the rest of a block
counts, `keep` whether there is another step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Dim, Size
from ...ir.dtypes import BOOL
from ...ir.errors import ShapeProblem, Span, TypeProblem
from ...ir.graph import Value
from ...ir.loops import loop
from ...ir.ops import TABLE
from ...ir.rules import shown
from ...ir.types import TensorType
from ..language import syntax
from ..maker import Maker
from ..weak import Operand, dtype_of, take
from .branches import BranchLowering
from .early_returns import RESULT, leave
from .element_loops import AT, KEEP, LIVE
from .element_types import Cell
from .frame import Environment, Variable
from .jumps import assigned, inside, returns
from .lazy_operands import guarded

LESS, ADD, AND = (TABLE[name] for name in ("lt", "add", "logical_and"))
Loop = syntax.For | syntax.While


class _State:
    """The variables of a loop by name, with their dtypes and their fixed shapes."""

    def __init__(self, statement: Loop, frame: Environment) -> None:
        names = assigned(statement.body.statements)
        if returns(statement.body.statements):
            names |= {name for name in frame.variables if name.startswith(RESULT)}
        self.shapes: dict[str, tuple[Size, ...]] = {}
        self.cells: dict[str, Cell] = {}
        for name, variable in frame.variables.items():
            if name in names:
                self.shapes[name] = shape_of(variable.value)
                self.cells[name] = Cell(f"'{name}'")
                self.cells[name].meet(dtype_of(variable.value), statement.span)

    def dtypes(self) -> Hashable:
        return tuple(cell.dtype for cell in self.cells.values())


def shape_of(x: Operand) -> tuple[Size, ...]:
    return x.type.shape if isinstance(x, Value) else ()


class ArrayLoops:
    """Lowers the loops of one kernel and of everything inlined into it."""

    def __init__(self, lowering: BranchLowering) -> None:
        self._lowering = lowering
        self._known: dict[Hashable, _State] = {}

    @property
    def _builder(self) -> Builder:
        return self._lowering.expressions.builder

    def lower(self, statement: Loop, frame: Environment) -> None:
        """Add the loop, and assign its final state to the variables."""
        span = statement.span
        state = self._state(statement, frame)
        outer, maker = self._builder, Maker(self._builder, span)
        start = {
            name: cell.take(maker, frame.variables[name].value) for name, cell in state.cells.items() if name != AT
        }
        bounds: tuple[Value, ...] = ()
        if isinstance(statement, syntax.For):
            cell = state.cells[AT]
            bounds = tuple(cell.take(maker, b) for b in self._bounds(statement, frame))
            start[AT] = bounds[0]
        before = self._seen(state, start, frame, statement)
        go = self._goes_on(statement, before, start.get(AT), bounds)
        step = Builder("loop", outer.facts)
        with self._lowering.expressions.building(step):
            first = {name: step.input(name.removeprefix("%"), value.type) for name, value in start.items()}
            inner = self._step(statement, state, first, frame)
            maker = Maker(step, span)
            after = {n: c.take(maker, inner.variables[n].value) for n, c in state.cells.items() if n != AT}
            if AT in start:
                one = take(maker, 1, first[AT].type.dtype)
                after[AT] = maker.op(ADD, first[AT], one)
            again = self._goes_on(statement, inner, after.get(AT), bounds, at_end=True)
        results = loop(outer, [*start.values()], step, go, [again, *(after[n] for n in start)], span)
        ended = dict(zip(start, results, strict=True))
        maker = Maker(outer, span)
        for name, cell in state.cells.items():
            if name != AT:
                frame.variables[name] = Variable(cell.read(maker, ended[name]), frame.variables[name].type)
        if returns(statement.body.statements):
            leave(maker, frame)

    # -- types

    def _state(self, statement: Loop, frame: Environment) -> _State:
        """Find the types of the state, in rounds: each round may change what the next one finds."""
        found = _State(statement, frame)
        read = tuple((n, _form(v.value)) for n, v in frame.variables.items())
        key = (statement, read)
        if key in self._known:
            return self._known[key]
        if isinstance(statement, syntax.For):
            found.shapes[AT], found.cells[AT] = (), self._index_cell(statement, frame)
        if not found.cells:
            hint = "assign to a variable that is declared before the loop"
            raise TypeProblem("this loop changes nothing", statement.span, hint)
        before = None
        while found.dtypes() != before:
            before = found.dtypes()
            self._probe(statement, found, frame)
        for cell in found.cells.values():
            cell.settle()
        self._known[key] = found
        return found

    def _index_cell(self, statement: syntax.For, frame: Environment) -> Cell:
        cell = Cell(f"'{statement.index.name}'")
        for bound, value in zip((statement.start, statement.stop), self._bounds(statement, frame), strict=True):
            if shape_of(value):
                raise ShapeProblem(
                    f"a loop bound must be a number, not an array of shape {shown(shape_of(value))}", bound.span
                )
            dtype = dtype_of(value)
            if dtype.kind not in ("int", "uint"):
                raise TypeProblem(f"a loop bound must be an integer, not {dtype}", bound.span, "convert it: i64(...)")
            cell.join(dtype, bound.span)
            if cell.dtype is not None and cell.dtype.kind == "float":
                raise TypeProblem("no integer type can hold both bounds", bound.span, "convert one of them: i64(...)")
        return cell

    def _probe(self, statement: Loop, state: _State, frame: Environment) -> None:
        """Run one round: lower the body for the types known so far."""
        span, scratch = statement.span, Builder("types", self._builder.facts)
        with self._lowering.expressions.building(scratch):
            maker, inner = Maker(scratch, span), frame.inner()
            for name, cell in state.cells.items():
                value = cell.probe(maker)
                if isinstance(value, Value):
                    value = Value(TensorType(value.type.dtype, state.shapes[name]), name="unknown")
                self._see(name, value, inner, statement)
            if isinstance(statement, syntax.While):
                self._lowering.expressions.condition(statement.condition, inner)
            self._run(statement, inner)
        for name, cell in state.cells.items():
            if name == AT:
                continue
            value, have = inner.variables[name].value, state.shapes[name]
            made = shape_of(value)
            if len(have) != len(made) or not all(map(self._agree, have, made)):
                raise ShapeProblem(
                    f"'{name}' must keep its shape in a loop, but a step turns {shown(have)} into {shown(made)}",
                    _assignment(statement, name),
                    "start from an array of the final shape, such as zeros(...)",
                )
            cell.meet(dtype_of(value), _assignment(statement, name))

    def _agree(self, have: Size, made: Size) -> bool:
        """Tell whether sizes are equal.

        Forms of one symbol, such as `m` and `max(0, m - 1) + min(1, m)`, get a guard.
        """
        facts = self._builder.facts
        if facts.same(have, made):
            return True
        number = facts.number(have)
        if number is None or number != facts.number(made) or dims.symbols(have) != dims.symbols(made):
            return False
        facts.assume_equal(have, made)
        return True

    # -- one step

    def _seen(self, state: _State, values: Mapping[str, Value], frame: Environment, statement: Loop) -> Environment:
        """Make a frame whose variables are these values of the state."""
        inner = frame.inner()
        maker = Maker(self._builder, statement.span)
        for name, value in values.items():
            self._see(name, state.cells[name].read(maker, value), inner, statement)
        return inner

    def _see(self, name: str, value: Operand, frame: Environment, statement: Loop) -> None:
        if name == AT:
            assert isinstance(statement, syntax.For)
            frame.variables[statement.index.name] = Variable(value)
        else:
            frame.variables[name] = Variable(value, frame.variables[name].type)

    def _step(self, statement: Loop, state: _State, first: Mapping[str, Value], frame: Environment) -> Environment:
        inner = self._seen(state, first, frame, statement)
        self._run(statement, inner)
        return inner

    def _run(self, statement: Loop, frame: Environment) -> None:
        frame.variables[LIVE] = frame.variables[KEEP] = Variable(True)
        with self._lowering.expressions.level(statement.span):
            self._lowering.block(statement.body.statements, frame)

    def _goes_on(
        self, statement: Loop, frame: Environment, at: Value | None, bounds: Sequence[Value], at_end: bool = False
    ) -> Value:
        """Compute whether there is another step; after a `break` the condition is not evaluated."""
        span, expressions = statement.span, self._lowering.expressions

        def ask() -> Value:
            maker = Maker(expressions.builder, span)
            if isinstance(statement, syntax.While):
                return take(maker, expressions.condition(statement.condition, frame), BOOL)
            assert at is not None
            return maker.op(LESS, at, bounds[1])

        keep = frame.variables[KEEP].value if at_end else True
        if keep is True:
            return ask()
        go = guarded(expressions, keep, ask, span)
        maker = Maker(expressions.builder, span)
        return maker.op(AND, take(maker, keep, BOOL), take(maker, go, BOOL))

    def _bounds(self, statement: syntax.For, frame: Environment) -> tuple[Operand, Operand]:
        operand: Callable[[syntax.Expr, Environment], Operand] = self._lowering.expressions.operand
        return operand(statement.start, frame), operand(statement.stop, frame)


def _assignment(statement: Loop, name: str) -> Span:
    """Find the last assignment to a variable in a loop."""
    found = [s for s in inside(statement.body.statements) if isinstance(s, syntax.Assign)]
    named = (s.span for s in reversed(found) if isinstance(s.target, syntax.Name) and s.target.name == name)
    return next(named, statement.span)


def _form(x: Operand) -> Hashable:
    """Return the inputs that can change the types of a loop's state."""
    return dtype_of(x), shape_of(x), x if isinstance(x, (bool, int, float, complex, Dim)) else None
