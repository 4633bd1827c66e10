"""Lower a checked kernel to a graph for the types of its arguments.

Calls of functions and other kernels are inlined. An `if` becomes a select for each variable that a branch assigns, and
a loop in a kernel becomes a `loop` over whole arrays (`array_loops`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.dims import Dim, Size
from ...ir.errors import ShapeProblem, Span, TypeProblem, nearest, quantity
from ...ir.facts import Facts
from ...ir.flow import close, each
from ...ir.graph import Value
from ...ir.kernels import OpSource
from ...ir.rules import shown
from ...ir.source import Binding, Built
from ...ir.types import TensorType
from ..language import syntax
from ..language.declared import Declared, DimSpec, Parameter, declare, parameter, result
from ..language.modules import LoadedDefinition
from ..language.syntax import Expr
from ..maker import Maker
from ..weak import Operand, Weak, dtype_of, take, weakened
from .array_loops import ArrayLoops
from .binding import split
from .branches import branch
from .conform import conform
from .defaults import defaults_of
from .early_returns import EarlyReturns, returns_early
from .element_functions import Flow, probe_frame
from .element_loops import LIVE, jump, lower_in_order
from .element_stores import ElementStores, stores
from .element_types import Cells
from .expressions import Expressions, as_operand
from .externs import ExternCalls
from .frame import Environment, Thing, Variable
from .jumps import is_plain, loops


def lower(definition: LoadedDefinition, binding: Binding, ops: OpSource | None = None) -> Built:
    """Build the graph of a kernel for these arguments; `ops` are the ops it may call by name."""
    item = definition.item
    assert isinstance(item, syntax.Function)
    builder = Builder(item.name.name, Facts(sizes=binding.sizes, strict=True))
    lowering = _Lowering(builder, ops)
    frame = Environment(definition.unit, False, {}, {})
    params = [*map(parameter, item.params)]
    for param, type in zip(params, binding.types, strict=False):
        value = builder.input(param.name, type)
        if not param.type.is_size:
            frame.variables[param.name] = Variable(value)
        for spec, size in _aligned(param.type, type.shape):
            if isinstance(spec, str):
                frame.sizes[spec] = size
            elif isinstance(spec, int):
                builder.facts.assume_equal(size, spec)
    defaults = defaults_of(item.params, definition.unit)
    for param in params[len(binding.types) :]:  # of an op, whose operands are the parameters without defaults
        lowering.pass_argument(item.name.name, param, defaults[param.name], frame, item.name.span)
    outputs = lowering.body(definition, frame)
    span = item.body.statements[-1].span if item.body.statements else item.span
    graph = builder.finish([_strong(Maker(builder, span), x) for x in outputs])
    return Built(graph, calls=tuple(lowering.calls.made))


def _strong(maker: Maker, x: Operand) -> Value:
    return take(maker, x, dtype_of(x).strong)


def _aligned(declared: Declared, shape: Sequence[Size]) -> list[tuple[DimSpec, Size]]:
    """Pair the written dimensions, except `...`, with their sizes."""
    specs = declared.dims or ()
    before, taken = split(specs, len(shape))
    after = specs[before + 1 :]
    return [*zip(specs[:before], shape, strict=False), *zip(after, shape[before + taken :], strict=True)]


class _Lowering:
    """Lowers one kernel and everything inlined into it."""

    def __init__(self, builder: Builder, ops: OpSource | None) -> None:
        self.calls = ExternCalls()
        self.expressions = Expressions(builder, self._inline, ops)
        self._stores = ElementStores(None if ops is None else ops.compile_loop, self.calls.made)
        self._array_loops = ArrayLoops(self)
        self._returns: tuple[syntax.Function, EarlyReturns] | None = None
        self._cells: dict[Hashable, Cells] = {}
        self._loops: dict[LoadedDefinition, bool] = {}

    @property
    def _builder(self) -> Builder:
        return self.expressions.builder

    def body(self, definition: LoadedDefinition, frame: Environment) -> list[Operand]:
        """Lower a body and return its results in their declared types."""
        item = definition.item
        assert isinstance(item, syntax.Function)
        if isinstance(item, syntax.Extern):
            given = [_strong(Maker(self._builder, item.span), frame.variables[p.name].value) for p in item.params]
            return [*self.calls.add(self._builder, definition, given, frame.sizes, item.span)]
        if not item.is_kernel and self._has_flow(item):
            return self._flow(definition, frame)
        if item.is_kernel and returns_early(item):
            return self._early(item, frame)
        *statements, last = item.body.statements
        assert isinstance(last, syntax.Return)
        self.block(statements, frame)
        return self._returned(item, last, frame)

    def _early(self, item: syntax.Function, frame: Environment) -> list[Operand]:
        """Lower a kernel that returns inside a loop or a branch: once to find the types of its results, then again."""
        before, self._returns = self._returns, (item, EarlyReturns())
        try:
            probed = frame.inner()
            probed.variables[LIVE] = Variable(True)
            with self.expressions.building(Builder("types", self._builder.facts)):
                self.block(item.body.statements, probed)
            made = self._returns[1]
            made.start(self._builder, frame, item.name.span)
            self.block(item.body.statements, frame)
            return made.results(Maker(self._builder, item.name.span), frame)
        finally:
            self._returns = before

    def _returned(self, item: syntax.Function, last: syntax.Return, frame: Environment) -> list[Operand]:
        """Lower the values of a `return`, in their declared types."""
        values = [self.expressions.operand(value, frame) for value in last.values]
        if item.outputs is None:
            return values
        found: list[Operand] = []
        for value, expr, output in zip(values, last.values, map(result, item.outputs), strict=True):
            what = f"the result '{output.name}'" if output.name else "the result"
            found.append(self._conform(value, output.type, what, frame, expr.span))
        return found

    # -- statements

    def block(self, statements: Sequence[syntax.Statement], frame: Environment) -> None:
        def lower_rest(live: Any, rest: Sequence[syntax.Statement], span: Span) -> None:
            branch(self, live, rest, (), frame, span)

        lower_in_order(statements, frame, self._statement, lower_rest)

    def _statement(self, statement: syntax.Statement, frame: Environment) -> None:
        if not frame.elements and stores(statement):
            self._stores.lower(statement, self._builder, frame)
            return
        match statement:
            case syntax.Let():
                self._let(statement, frame)
            case syntax.Assign():
                self._assign(statement, frame)
            case syntax.If():
                condition = self.expressions.condition(statement.condition, frame)
                branch(self, condition, statement.then.statements, statement.otherwise, frame, statement.condition.span)
            case syntax.Definition():
                self._define(statement, frame)
            case syntax.For() | syntax.While():
                self._array_loops.lower(statement, frame)
            case syntax.Jump():
                jump(statement, frame)
            case syntax.Return():
                assert self._returns is not None
                item, returns = self._returns
                values = self._returned(item, statement, frame)
                returns.take(values, self._builder.facts, Maker(self._builder, statement.span), frame, statement.span)

    def _let(self, let: syntax.Let, frame: Environment) -> None:
        found = self.expressions.value(let.value, frame)
        if len(let.names) == 1:
            type = declare(let.type, computed=True) if let.type else None
            value = as_operand(found, let.value.span)
            if type is not None:
                value = self._conform(value, type, f"'{let.names[0].name}'", frame, let.value.span)
            frame.variables[let.names[0].name] = Variable(value, type)
            return
        count = len(found) if isinstance(found, tuple) else 1
        if count != len(let.names):
            raise TypeProblem(f"{quantity(len(let.names), 'name')} for {quantity(count, 'value')}", let.span)
        for name, one in zip(let.names, found, strict=True):
            frame.variables[name.name] = Variable(as_operand(one, let.value.span))

    def _define(self, statement: syntax.Definition, frame: Environment) -> None:
        from ..indices.definition import defined

        value, name = defined(statement, frame, self.expressions, self._stores), statement.name.name
        type = declare(statement.type, computed=True) if statement.type else None
        if type is not None:
            value = self._conform(value, type, f"'{name}'", frame, statement.value.span)
        frame.variables[name] = Variable(value, type)

    def _assign(self, assign: syntax.Assign, frame: Environment) -> None:
        name, new = self.expressions.assigned(assign, frame, self._conform)
        frame.variables[name] = new

    def _conform(self, value: Operand, type: Declared, what: str, frame: Environment, span: Span) -> Value:
        def size_of(spec: DimSpec) -> Size:
            if isinstance(spec, int):
                return spec
            expr = spec if isinstance(spec, Expr) else syntax.Name(type.span, str(spec))
            return self.expressions.size(expr, frame)

        return conform(Maker(self._builder, span), value, type, what, None if frame.elements else size_of)

    # -- calls

    def _inline(
        self, definition: LoadedDefinition, args: Sequence[Thing], kwargs: Mapping[str, Thing], span: Span
    ) -> Thing:
        item = definition.item
        assert isinstance(item, syntax.Function)
        given = _matched(item, defaults_of(item.params, definition.unit), args, kwargs, span)
        frame = Environment(definition.unit, not item.is_kernel, {}, {})
        for param in item.params:
            if item.is_kernel:
                self.pass_argument(item.name.name, parameter(param), given[param.name], frame, span)
                continue
            value = as_operand(given[param.name], span)
            if param.type is not None:
                value = self._conform(value, declare(param.type), f"'{param.name}'", frame, span)
            frame.variables[param.name] = Variable(value)
        with self.expressions.level(span):
            outside = not self.expressions.has_bodies and not item.is_kernel
            outputs = (self._each if outside and self._find_loops(definition) else self.body)(definition, frame)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    # -- functions with control flow

    def _find_loops(self, definition: LoadedDefinition) -> bool:
        """Find out whether a function has loops, and remember it."""
        if definition not in self._loops:
            self._loops[definition] = loops(definition)
        return self._loops[definition]

    def _has_flow(self, item: syntax.Function) -> bool:
        """Tell whether a function has control flow that selects can't express."""
        if not is_plain(item):
            return True
        return self.expressions.has_bodies and any(isinstance(s, syntax.If) for s in item.body.statements)

    def _flow(self, definition: LoadedDefinition, frame: Environment) -> list[Operand]:
        item = definition.item
        assert isinstance(item, syntax.Function)
        key = (definition, *(_form(frame.variables[p.name].value) for p in item.params))
        if key not in self._cells:
            self._cells[key] = self._probe(item, frame)
        return Flow(self.expressions, self._conform, item, self._cells[key], False).run(frame)

    def _probe(self, item: syntax.Function, frame: Environment) -> Cells:
        """Find the dtypes of a function's variables, in rounds: each round may change what the next one finds."""
        cells, before = Cells(), None
        while before is None or cells.state() != before:
            before = cells.state()
            scratch = Builder("types", Facts())
            with self.expressions.building(scratch):
                probed = probe_frame(frame)
                Flow(self.expressions, self._conform, item, cells, True).run(probed)
        cells.settle()
        return cells

    def _each(self, definition: LoadedDefinition, frame: Environment) -> list[Operand]:
        """Lower a function with a loop to one op over the arrays, whose body computes one element."""
        item, outer = definition.item, self._builder
        body, given = Builder(item.name.name, Facts()), list[Value]()
        maker = Maker(outer, item.name.span)
        for name, variable in frame.variables.items():
            value = variable.value
            if isinstance(value, (Dim, Weak)):
                given.append(_strong(maker, value))
                number = body.input(name, TensorType(given[-1].type.dtype))
                value = weakened(Maker(body, item.name.span), dtype_of(value), number)
            elif isinstance(value, Value):
                given.append(value)
                value = body.input(name, TensorType(value.type.dtype))
            frame.variables[name] = Variable(value, variable.type)
        with self.expressions.building(body, has_bodies=True):
            found = self.body(definition, frame)
            strong = [_strong(Maker(body, item.name.span), x) for x in found]
        graph, others = close(body, strong)
        results = each(outer, [*given, *others], graph, item.name.span)
        return [weakened(maker, dtype_of(x), v) if dtype_of(x).weak else v for x, v in zip(found, results, strict=True)]

    def pass_argument(self, kernel: str, param: Parameter, given: Thing, frame: Environment, span: Span) -> None:
        """Give a parameter of an inlined kernel its value."""
        if not param.type.is_size:
            value = self._whole(kernel, param, as_operand(given, span), frame, span)
            frame.variables[param.name] = Variable(value)
            return
        what = f"{kernel}: argument '{param.name}'"
        if not isinstance(given, Dim) and type(given) is not int:
            hint = "pass an integer, a dimension or a formula of them"
            raise TypeProblem(f"{what} must be a size that is known when the kernel is compiled", span, hint)
        size: Size = given
        known = frame.sizes.setdefault(param.name, size)
        if not self._builder.facts.same(known, size):
            raise ShapeProblem(f"{what} is declared size: expected {known}, got {size}", span)

    def _whole(self, kernel: str, param: Parameter, x: Operand, frame: Environment, span: Span) -> Value:
        """Check an argument of a kernel that another kernel calls; its type must be the declared one."""
        maker, declared = Maker(self._builder, span), param.type
        what = f"{kernel}: argument '{param.name}'"
        if not dtype_of(x).weak and not declared.accepts(dtype_of(x)):
            hint = f"convert it: {declared.name}(...)" if declared.dtype else None
            raise TypeProblem(f"{what} is declared {declared}: expected {declared.name}, got {dtype_of(x)}", span, hint)
        value = conform(maker, x, declared, what, None)
        shape, facts, specs = value.type.shape, self._builder.facts, declared.dims or ()
        if len(shape) < len(specs) - (... in specs) or (... not in specs and len(shape) > len(specs)):
            raise ShapeProblem(f"{what} is declared {declared}: got shape {shown(shape)}", span)
        for spec, size in _aligned(declared, shape):
            known: Size = frame.sizes.setdefault(spec, size) if isinstance(spec, str) else int(str(spec))
            if not facts.same(known, size):
                same = isinstance(spec, str) and isinstance(known, Dim) and isinstance(size, Dim)
                hint = f"'{known}' and '{size}' are different dimensions" if same else None
                raise ShapeProblem(
                    f"{what} is declared {declared}: expected size {known} for '{spec}', got {size}", span, hint
                )
        return value


def _form(x: Operand) -> Hashable:
    """Return the inputs that can change the dtypes of variables."""
    return dtype_of(x), isinstance(x, (bool, int, float, complex, Dim))


def _matched(
    item: syntax.Function, defaults: Mapping[str, Thing], args: Sequence[Thing], kwargs: Mapping[str, Thing], span: Span
) -> Mapping[str, Thing]:
    """Match the arguments of a call to the names of the parameters."""
    names = [p.name for p in item.params]
    usage = f"{item.name.name}({', '.join(names)})"
    if len(args) > len(names):
        raise TypeProblem(f"{usage} takes {quantity(len(names), 'argument')}, not {len(args)}", span)
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeProblem(f"{usage} has no parameter '{name}'", span, nearest(name, names) or "leave it out")
        if name in given:
            raise TypeProblem(f"{usage} got '{name}' twice", span)
        given[name] = value
    missing = [name for name in names if name not in given and name not in defaults]
    if missing:
        hint = "pass a value for each parameter without a default"
        raise TypeProblem(f"{usage} is missing the argument '{missing[0]}'", span, hint)
    return {**defaults, **given}
