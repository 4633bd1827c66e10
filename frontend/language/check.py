"""Check a file's definitions before any types are known.

The checks cover names, assignments, the place of `return`, cycles of calls, and features that are not in the language
yet. Lowering relies on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ...ir.dtypes import BY_NAME, CLASSES
from ...ir.errors import (
    ShapeProblem,
    SyntaxProblem,
    TypeProblem,
    UnknownName,
    Unsupported,
    ValueProblem,
    nearest,
    quantity,
)
from ...ir.kernels import OpSource
from ...ir.opdef import Trait
from ..indices.check import INDEX, REDUCING, bind_indices, check_definition, check_reduction, refuse_indices
from ..lowering.defaults import check_defaults
from ..lowering.element_stores import check_store
from ..lowering.externs import check_extern
from ..lowering.jumps import always_returns, blocks_of, inside
from ..numpy.functions import CONSTANTS, ELEMENTS, FUNCTIONS
from . import syntax
from .declared import SIZE, declare, numpy_name, parameter, result
from .decorators import implementation
from .modules import LoadedDefinition, Unit
from .syntax import Expr, index_name, parts_of

_OTHERS = {
    "len": "the names of dimensions are numbers: with x: f32[n], write n",
    "print": "a kernel can't print; return the value",
    "range": "a loop runs over a range: for i in 0..n { ... }",
    "int": "convert with i64(x)",
    "float": "convert with f64(x)",
    "complex": "convert with c128(x)",
}  # hints for functions of Python
Scope = dict[str, str]  # what each visible name is: "let", "var", "a parameter", "a dimension"


def check(unit: Unit, ops: OpSource | None = None) -> None:
    """Check the definitions of a file; its imports have been checked already. `ops` can be called by name."""
    for found in unit.own.values():
        if isinstance(found.item, syntax.Const):
            _Checker(unit, True, ops).const(found.item)
        else:
            _Checker(unit, not found.item.is_kernel, ops).function(found.item)
    _refuse_cycles(unit)


class _Checker:
    """Checks one definition."""

    def __init__(self, unit: Unit, in_fn: bool, ops: OpSource | None) -> None:
        self._unit = unit
        self._in_fn = in_fn
        self._ops = ops

    def const(self, item: syntax.Const) -> None:
        if item.type is not None and declare(item.type).dims is not None:
            raise ShapeProblem("a const must be a number, not an array", item.type.span, "leave out the dimensions")
        self._expr(item.value, {})

    def function(self, item: syntax.Function) -> None:
        implementation(item)
        scope: Scope = {}
        for param in item.params:
            if param.name in scope:
                raise ValueProblem(f"two parameters are called '{param.name}'", param.span)
            is_size = item.is_kernel and param.type is not None and param.type.name == SIZE
            scope[param.name] = "a dimension" if is_size else "a parameter"
            if param.default is not None:
                self._expr(param.default, {})
        named = [output.name for output in item.outputs or () if output.name]
        for output in item.outputs or ():
            if output.name and named.count(output.name) > 1:
                raise ValueProblem(f"two results are called '{output.name}'", output.span)
        self._signature(item, scope)
        check_defaults(item.params, self._unit)
        if isinstance(item, syntax.Extern):
            check_extern(item)
            return
        self._returns(item)
        self._block(item.body.statements, scope, in_loop=False)

    def _returns(self, item: syntax.Function) -> None:
        """Check that every path returns the declared values."""
        statements = item.body.statements
        what = "kernel" if item.is_kernel else "fn"
        found = [s for s in inside(statements) if isinstance(s, syntax.Return)]
        if not any(s.values for s in found):
            hint = "end it with 'return ...'"
            raise SyntaxProblem(f"the {what} '{item.name.name}' returns nothing", item.name.span, hint)
        refuse_split_lines(statements)
        for statement in found:
            if not statement.values:
                raise SyntaxProblem(
                    "'return' needs a value", statement.span, "a function must give a result for every element"
                )
            _check_count(item, statement, found[0])
        if not always_returns(statements):
            hint = "end it with 'return ...', or return on every path"
            raise SyntaxProblem(f"the {what} '{item.name.name}' does not return on every path", item.name.span, hint)

    def _signature(self, item: syntax.Function, scope: Scope) -> None:
        if not item.is_kernel:
            specs = [p.type for p in item.params if p.type] + [o.type for o in item.outputs or ()]
            for spec in specs:
                if declare(spec).dims is not None:
                    hint = "leave out the dimensions (it maps over arrays by itself), or make it a kernel"
                    raise ShapeProblem(
                        "a fn works on single elements, so its types have no dimensions", spec.span, hint
                    )
            return
        for found in map(parameter, item.params):
            for name in found.type.names:
                if scope.setdefault(name, "a dimension") != "a dimension":
                    hint = "give one of them another name"
                    raise ValueProblem(f"'{name}' is both a parameter and a dimension", found.type.span, hint)
        dims = {name: what for name, what in scope.items() if what == "a dimension"}
        for output in item.outputs or ():
            for name in result(output).type.names:
                if name not in dims:
                    hint = nearest(name, list(dims)) or "a result can only use the dimensions of the parameters"
                    raise UnknownName(f"no parameter has a dimension '{name}'", output.type.span, hint)
            for expr in output.type.dims or ():
                self._expr(expr, dims)

    # -- statements

    def _block(self, statements: tuple[syntax.Statement, ...], scope: Scope, in_loop: bool) -> None:
        for k, statement in enumerate(statements):
            self._statement(statement, scope, in_loop)
            if k + 1 < len(statements) and (always_returns([statement]) or isinstance(statement, syntax.Jump)):
                raise SyntaxProblem("this statement is never reached", statements[k + 1].span, "remove it")

    def _statement(self, statement: syntax.Statement, scope: Scope, in_loop: bool) -> None:
        match statement:
            case syntax.Let():
                self._let(statement, scope)
            case syntax.Assign():
                self._assign(statement, scope)
            case syntax.If():
                self._expr(statement.condition, scope)
                for block in blocks_of(statement):
                    self._block(block.statements, dict(scope), in_loop)
            case syntax.For() | syntax.While():
                self._loop(statement, scope)
            case syntax.Jump():
                if not in_loop:
                    hint = f"move '{statement.what}' into a 'for' or a 'while'"
                    raise SyntaxProblem(f"'{statement.what}' can only be used inside a loop", statement.span, hint)
            case syntax.Return():
                for value in statement.values:
                    self._expr(value, scope)
            case syntax.Definition():
                self._definition(statement, scope)
            case _:
                if isinstance(statement, syntax.Bare):
                    self._expr(statement.value, scope)
                raise ValueProblem("this value is never used", statement.span, "bind it with 'let', or return it")

    def _loop(self, loop: syntax.For | syntax.While, scope: Scope) -> None:
        inner = dict(scope)
        if isinstance(loop, syntax.While):
            self._expr(loop.condition, scope)
        else:
            self._expr(loop.start, scope)
            self._expr(loop.stop, scope)
            self._define(loop.index, inner, "a loop's index")
        self._block(loop.body.statements, inner, in_loop=True)

    def _let(self, let: syntax.Let, scope: Scope) -> None:
        self._expr(let.value, scope)
        if let.type is not None:
            self._declared(let.type, scope)
            if len(let.names) > 1:
                raise SyntaxProblem(
                    "a 'let' with several names can't have a type", let.type.span, "write one 'let' for each name"
                )
            if self._in_fn and let.type.dims is not None:
                why = "a fn works on single elements, so its types have no dimensions"
                raise ShapeProblem(why, let.type.span, "leave out the dimensions")
        for name in let.names:
            self._define(name, scope, "var" if let.mutable else "let")

    def _definition(self, statement: syntax.Definition, scope: Scope) -> None:
        check_definition(statement, scope, self._in_fn)
        inner = bind_indices(statement.indices, scope, self._unit, self._define)
        for item in statement.indices:
            if isinstance(item, syntax.Range):
                self._expr(item.start, scope)
                self._expr(item.stop, scope)
        if statement.type is not None:
            self._declared(statement.type, scope)
        if statement.other is not None:
            self._expr(statement.other, inner)
        self._define(statement.name, scope, "let")
        self._expr(statement.value, {**inner, statement.name.name: "let"})

    def _declared(self, spec: syntax.TypeSpec, scope: Scope) -> None:
        for expr in spec.dims or ():
            if not isinstance(expr, syntax.Literal):
                self._expr(expr, scope)
        declare(spec, computed=True)

    def _define(self, name: syntax.Name, scope: Scope, what: str) -> None:
        if name.name in scope:
            hint = f"it is {_article(scope[name.name])}; choose another name"
            if scope[name.name] == "var" and what != "a loop's index":
                hint = f"assign to it: {name.name} = ..."
            raise ValueProblem(f"'{name.name}' is already defined", name.span, hint)
        scope[name.name] = what

    def _assign(self, assign: syntax.Assign, scope: Scope) -> None:
        target = assign.target
        if isinstance(target, syntax.Index):
            if isinstance(target.value, syntax.Name) and not self._in_fn:
                _demand_variable(target.value, scope)
            for expr in (target, assign.value):
                self._expr(expr, scope)
            check_store(target, scope)
            return
        if not isinstance(target, syntax.Name):
            raise SyntaxProblem("only a variable can be assigned to", target.span, "'==' compares two values")
        if assign.op == "@" and self._in_fn:
            raise _matmul(assign)
        self._expr(assign.value, scope)
        what = _demand_variable(target, scope)
        if what != "var":
            hint = "declare it with 'var'" if what == "let" else f"copy it first: var y = {target.name}"
            raise ValueProblem(f"'{target.name}' is {_article(what)} and can't be assigned to", target.span, hint)

    # -- expressions

    def _expr(self, root: Expr, visible: Mapping[str, str]) -> None:
        waiting: list[tuple[Expr, Mapping[str, str]]] = [(root, visible)]
        while waiting:
            expr, scope = waiting.pop()
            match expr:
                case syntax.Name():
                    self._name(expr, scope)
                case syntax.Call(callee=syntax.Index() as callee):
                    check_reduction(expr, self._in_fn)
                    inner = bind_indices(callee.items, dict(scope), self._unit, self._define)
                    bounds = [item for item in callee.items if isinstance(item, syntax.Range)]
                    waiting += [(e, scope) for bound in bounds for e in (bound.start, bound.stop)]
                    waiting += [(a.value, scope if a.name else inner) for a in expr.arguments]
                    continue
                case syntax.Call():
                    self._callee(expr, scope)
                case syntax.Index() if self._in_fn:
                    hint = "index the array in the kernel, and pass its elements"
                    raise Unsupported("a fn works on single elements, which can't be indexed", expr.span, hint)
                case syntax.Index():
                    refuse_indices(
                        expr.value, scope, "only whole arrays can be indexed", "define it first: let t[i] = ..."
                    )
                case syntax.Range():
                    hint = "write the range where the index is named: let c[i in a..b] = ... or sum[i in a..b](...)"
                    raise SyntaxProblem("a range can't index an array", expr.span, hint)
                case syntax.Binary(op="@") if self._in_fn:
                    raise _matmul(expr)
                case syntax.Binary(op="@"):
                    refuse_indices(expr, scope, "'@' multiplies whole arrays", "write sum[p](a[i, p] * b[p, j])")
                case _:
                    pass
            waiting += ((part, scope) for part in parts_of(expr))

    def _name(self, expr: syntax.Name, scope: Mapping[str, str]) -> None:
        name = expr.name
        found = self._unit.names.get(name)
        if name in scope or name in CONSTANTS or name in BY_NAME or name in CLASSES:
            return
        if found is not None and isinstance(found.item, syntax.Const):
            return
        if found is not None or name in FUNCTIONS:
            raise TypeProblem(f"'{name}' is a function, not a value", expr.span, f"call it: {name}(...)")
        consts = [n for n, d in self._unit.names.items() if isinstance(d.item, syntax.Const)]
        hint = numpy_name(name) or nearest(name, [*scope, *consts, *CONSTANTS, "true", "false", "None"])
        if hint is None and INDEX in scope.values():
            hint = "name an index in brackets: let c[i, j] = ... or sum[p](...)"
        raise UnknownName(f"unknown name '{name}'", expr.span, hint)

    def _callee(self, call: syntax.Call, scope: Mapping[str, str]) -> None:
        callee = call.callee
        if not isinstance(callee, syntax.Name):
            raise TypeProblem("only functions can be called", callee.span)
        name, found = callee.name, self._unit.names.get(callee.name)
        if found is not None and isinstance(found.item, syntax.Const):
            raise TypeProblem(f"'{name}' is a const, not a function", callee.span)
        op = None
        if found is None and name not in FUNCTIONS and name not in BY_NAME:
            op = None if self._ops is None else self._ops.find_op(name)
            if op is None:
                raise self._unknown(callee)
        is_kernel = found is not None and isinstance(found.item, syntax.Function) and found.item.is_kernel
        on_arrays = name not in ELEMENTS if op is None else Trait.ELEMENTWISE not in op.traits
        if not is_kernel and (found is not None or name in BY_NAME or not on_arrays):
            return
        hint = "call it from a kernel"
        if self._in_fn and is_kernel:
            raise TypeProblem(f"a fn works on single elements and can't call the kernel '{name}'", callee.span, hint)
        if self._in_fn:
            raise TypeProblem(f"'{name}' works on whole arrays, but a fn works on single elements", callee.span, hint)
        hint = (
            f"{name}[p](...) reduces over an index 'p'"
            if name in REDUCING
            else "define the array first: let t[i] = ..."
        )
        refuse_indices(call, scope, f"'{name}' works on whole arrays", hint)

    def _unknown(self, callee: syntax.Name) -> UnknownName:
        known = [n for n, d in self._unit.names.items() if isinstance(d.item, syntax.Function)]
        known += [*FUNCTIONS, *BY_NAME, *(() if self._ops is None else self._ops.op_names())]
        hint = _OTHERS.get(callee.name) or nearest(callee.name, known)
        if callable(vars(np).get(callee.name)):
            hint = f"the language has no '{callee.name}'; a function under @weft.jit can call np.{callee.name}"
        hint = numpy_name(callee.name) or hint
        return UnknownName(f"unknown function '{callee.name}'", callee.span, hint)


def refuse_split_lines(statements: Sequence[syntax.Statement]) -> None:
    """Refuse `return x` before a line `+ 1`: the statement ended with its line, which nobody means."""
    for first, second in pairwise(statements):
        if not isinstance(second, syntax.Bare) or not isinstance(second.value, syntax.Unary):
            continue
        if second.value.op in ("+", "-") and isinstance(first, (syntax.Return, syntax.Let, syntax.Assign)):
            hint = "end the line before with the operator, or put the expression in parentheses"
            raise SyntaxProblem("a line break has ended the statement before this operator", second.span, hint)


def _article(what: str) -> str:
    return f"bound by '{what}'" if what in ("let", "var") else what


def _demand_variable(name: syntax.Name, scope: Mapping[str, str]) -> str:
    """Return what an assigned name stands for, or raise an error if it is not declared."""
    if (what := scope.get(name.name)) is not None:
        return what
    near = nearest(name.name, [n for n, w in scope.items() if w == "var"])
    hint = near or f"declare it first: var {name.name} = ..."
    raise UnknownName(f"no variable '{name.name}'", name.span, hint)


def _matmul(node: syntax.SyntaxNode) -> Unsupported:
    return Unsupported("'@' multiplies matrices, but a fn works on single elements", node.span, "use '@' in the kernel")


def _check_count(item: syntax.Function, statement: syntax.Return, first: syntax.Return) -> None:
    """Check that a `return` has as many values as were declared, or as the first `return` has."""
    count, returned = len(item.outputs or first.values), len(statement.values)
    if returned == count:
        return
    if item.outputs is None:
        hint = "return the same number of values on every path"
        raise TypeProblem(
            f"this 'return' has {quantity(returned, 'value')}, but an earlier one has {count}", statement.span, hint
        )
    declared = f"{count} value{'s' * (count != 1)}"
    hint = "return one value for each declared type"
    raise TypeProblem(f"expected {declared}, not {returned}", statement.span, hint)


# -- cycles: calls are inlined and consts substituted, so neither may lead back to itself


def _refuse_cycles(unit: Unit) -> None:
    """Refuse functions that call themselves and consts that use themselves, directly or through others."""
    state: dict[LoadedDefinition, str] = {}
    for root in unit.own.values():
        path: list[tuple[LoadedDefinition, Iterator[syntax.Name]]] = []
        if root not in state:
            state[root] = "open"
            path.append((root, _uses(root)))
        while path:
            current, uses = path[-1]
            name = next(uses, None)
            if name is None:
                state[current] = "done"
                path.pop()
                continue
            used = unit.names.get(name.name)
            if used is None or used.unit is not unit or state.get(used) == "done":
                continue
            if state.get(used) == "open":
                what = "is defined by itself" if used.what == "const" else "calls itself"
                hint = "functions are inlined, so recursion is not supported"
                if used.what == "const":
                    hint = "give one of them a number"
                raise Unsupported(f"'{name.name}' {what}", name.span, hint)
            state[used] = "open"
            path.append((used, _uses(used)))


def _uses(definition: LoadedDefinition) -> Iterator[syntax.Name]:
    """Yield the names that a definition uses but does not define itself."""
    item = definition.item
    local = {p.name for p in item.params} if isinstance(item, syntax.Function) else set()
    waiting: list[syntax.SyntaxNode] = [item.value if isinstance(item, syntax.Const) else item.body]
    while waiting:
        node = waiting.pop()
        match node:
            case syntax.Name() if node.name not in local:
                yield node
            case syntax.Call(callee=syntax.Name() as callee):
                yield callee
                waiting += parts_of(node)
            case syntax.Call(callee=syntax.Index() as callee):
                local |= _index_names(callee.items)
                waiting += parts_of(node)
            case syntax.Expr():
                waiting += parts_of(node)
            case syntax.Block():
                waiting += reversed(node.statements)
            case syntax.Let():
                local |= {n.name for n in node.names}
                waiting.append(node.value)
            case syntax.Definition():
                local |= {node.name.name} | _index_names(node.indices)
                waiting += [item for item in node.indices if isinstance(item, syntax.Range)]
                waiting += [e for e in (node.value, node.other) if e is not None]
            case syntax.If():
                waiting += [b for b in (node.condition, node.then, node.other) if b is not None]
            case syntax.While():
                waiting += [node.condition, node.body]
            case syntax.For():
                local.add(node.index.name)
                waiting += [node.start, node.stop, node.body]
            case syntax.Return():
                waiting += node.values
            case syntax.Assign():
                waiting.append(node.value)


def _index_names(items: Sequence[Expr]) -> set[str]:
    return {name.name for item in items if (name := index_name(item)) is not None}
