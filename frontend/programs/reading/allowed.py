"""Decide from their syntax, and from what their names mean, which statements of a function can be compiled.

A `PythonScope` knows the function's own variables and looks the other names up when the function is first called.
Anything that is not known to be harmless is a `Cut`, which Python runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ....ir.source import ABSENT
from ..planning.pieces import Cut
from . import purity
from .meanings import Meanings, places
from .names import bound_names, parameters, walk_own
from .source import FunctionSource, NoSource, read_source

SIMPLE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Compare, ast.Tuple, ast.List, ast.Dict, ast.Slice,
          ast.Subscript, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)  # fmt: skip
LITERAL_STEPS = 16  # a loop over a literal range is unrolled up to so many steps
NESTED_STEPS = 64  # loops inside one another are, too: a trace has the body so many times
DEPTH = 8  # calls of user functions inside one another
KNOWN = (ModuleType, FunctionType, type, np.ufunc, type(np.sum), type(len), np.dtype, type(None), str, bool)
CONSTANT_MODULES = frozenset(("numpy", "math", "cmath", "sys"))
LIST_METHODS = frozenset(("append", "extend"))
LocalFunction = ast.FunctionDef | ast.Lambda


class PythonScope:
    """What the names of a function mean."""

    def __init__(self, function: FunctionType, source: FunctionSource) -> None:
        code = function.__code__
        self.function, self.source = function, source
        self.meanings = Meanings()  # of names that stand for themselves, and attributes of modules
        self.outer = _outer_names(source.tree)
        self.locals = (
            bound_names(source.body) | frozenset(code.co_varnames) | frozenset(code.co_cellvars)
        ) - self.outer
        self.functions: dict[str, LocalFunction | None] = dict(_local_functions(source.tree))

    def inside(self, node: LocalFunction) -> PythonScope:
        """The scope of a function that this one defines."""
        made = PythonScope(self.function, self.source)
        body, given = node.body if isinstance(node.body, list) else [], parameters(node.args)
        made.meanings, made.locals = self.meanings, self.locals | given | bound_names(body)
        made.functions = {**self.functions, **dict.fromkeys(given), **_local_functions(node)}
        return made

    def value(self, name: str) -> Any:
        """Return what a name from outside means now, or `ABSENT`."""
        if name in self.locals:
            return ABSENT
        guards = places(self.function, name)
        found = guards[-1].expected
        if found is not ABSENT and is_known(found):
            self.meanings.update(guards)
        return found

    def meaning(self, node: ast.expr, inner: frozenset[str] = frozenset()) -> Any:
        """Return what a dotted name means if it leads through modules only, or `ABSENT`."""
        if isinstance(node, ast.Name):
            return ABSENT if node.id in inner else self.value(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value, inner)
            if isinstance(owner, ModuleType):
                self.meanings.attribute(owner, node.attr)
            if isinstance(owner, ModuleType) or (isinstance(owner, np.ufunc) and node.attr in purity.UFUNC_METHODS):
                return getattr(owner, node.attr, ABSENT)
            if is_own(owner):  # Weft's objects whose attributes are kernels and ops
                return getattr(owner, node.attr, ABSENT)
        return ABSENT


@lru_cache(maxsize=256)
def _outer_names(tree: ast.AST) -> frozenset[str]:
    """The names that a function declares as global or nonlocal."""
    found = (node for node in ast.walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return frozenset(name for node in found for name in node.names)


@lru_cache(maxsize=256)
def _local_functions(tree: ast.AST) -> Mapping[str, LocalFunction]:
    """The functions that a function defines, by `def` or by binding a `lambda`, each by a name of its own."""
    found: dict[str, LocalFunction] = {}
    for node in walk_own(*ast.iter_child_nodes(tree)):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            found.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
    return found


def is_own(value: Any) -> bool:
    """Whether a value is one of Weft's objects: a kernel, a module of kernels, the ops."""
    return value is not ABSENT and type(value).__module__.partition(".")[0] == "weft"


def is_known(value: Any) -> bool:
    """Whether a value from outside stands for itself: a module, a function, a class. Other values are inputs."""
    return isinstance(value, KNOWN) or is_own(value)


class Checker:
    """Finds the first part of a statement or an expression that Python must run."""

    def __init__(
        self,
        scope: PythonScope,
        is_input: Callable[[ast.AST], bool] | None = None,
        callers: tuple[FunctionType, ...] = (),
    ) -> None:
        self.scope, self._is_input = scope, is_input
        self._path = (*callers, scope.function)  # from the function that was called to this one
        self.captured: dict[str, None] = {}  # names from outside that are inputs
        self._times = 1  # how often a trace has the statement that is looked at

    # -- expressions

    def expression(self, node: ast.AST, inner: frozenset[str] = frozenset()) -> Cut | None:
        """Return why an expression can't be compiled, or None. `inner` are names of scopes inside it."""
        if isinstance(node, ast.Constant) or (self._is_input is not None and self._is_input(node)):
            return None
        if isinstance(node, ast.Name):
            return self._name(node, inner)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, inner)
        if isinstance(node, ast.Call):
            return self._call(node, inner)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            own = inner | bound_names(g.target for g in node.generators)
            parts = [part for g in node.generators for part in (g.iter, *g.ifs)]
            made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            return self._first((*parts, *made), own)
        if isinstance(node, ast.Lambda):
            return self.expression(node.body, inner | parameters(node.args))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
            return Cut("the text of a value is made by Python", node)
        if isinstance(node, ast.Compare) and not self._keeps_identity(node, inner):
            return Cut("whether two values are the same object is left to Python", node)
        if isinstance(node, SIMPLE):
            return self._first(ast.iter_child_nodes(node), inner)
        return Cut(f"{_spoken(node)} is left to Python", node)

    def _keeps_identity(self, node: ast.Compare, inner: frozenset[str]) -> bool:
        """Whether `is` compares with objects that a trace keeps: None, `...`, functions. Traced values are different
        objects.
        """
        sides = [node.left, *node.comparators]
        kept = [self._is_kept(side, inner) for side in sides]
        pairs = zip(node.ops, kept, kept[1:], strict=False)
        return all(a or b for op, a, b in pairs if isinstance(op, (ast.Is, ast.IsNot)))

    def _is_kept(self, node: ast.expr, inner: frozenset[str]) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is None or node.value is Ellipsis
        found = self.scope.meaning(node, inner)
        return found is not ABSENT and is_known(found) and not isinstance(found, (bool, str))

    def _first(self, nodes: Iterable[ast.AST], inner: frozenset[str]) -> Cut | None:
        return next((cut for node in nodes if (cut := self.expression(node, inner)) is not None), None)

    def _name(self, node: ast.Name, inner: frozenset[str]) -> Cut | None:
        if node.id in inner or node.id in self.scope.locals:
            return None
        value = self.scope.value(node.id)
        if value is ABSENT:
            return Cut(f"'{node.id}' is not defined", node)
        if not is_known(value):
            self.captured[node.id] = None
        return None

    def _attribute(self, node: ast.Attribute, inner: frozenset[str]) -> Cut | None:
        found = self.scope.meaning(node, inner)
        if found is not ABSENT:
            fixed = isinstance(found, (int, float)) and _root(node, self.scope) in CONSTANT_MODULES
            if is_known(found) or fixed or purity.is_pure(found):
                return None
            return Cut(f"'{ast.unparse(node)}' may change", node)
        if node.attr in purity.ATTRIBUTES:
            return self.expression(node.value, inner)
        return Cut(f"the attribute '{node.attr}' is looked up in Python", node)

    def _call(self, node: ast.Call, inner: frozenset[str]) -> Cut | None:
        given = [*node.args, *(k.value for k in node.keywords)]
        if any(k.arg == "out" for k in node.keywords):
            return Cut("'out=' writes into an array", node)
        if isinstance(node.func, ast.Lambda):
            return self.expression(node.func, inner) or self._first(given, inner)
        function = self.scope.meaning(node.func, inner)
        if function is ABSENT:
            return self._method(node, given, inner)
        if has_positional_out(node, function):
            return Cut("a result is written into an array", node)
        if any(getattr(function, "__wrapped__", function) is caller for caller in self._path):
            return Cut(f"'{ast.unparse(node.func)}' calls itself", node)  # a trace would unroll it for every size
        is_name_of_dtype = function is str and all(isinstance(x, ast.Attribute) and x.attr == "dtype" for x in given)
        if purity.is_pure(function) or is_name_of_dtype:  # the text of another value would be that of a tracer
            return self._first(given, inner)
        if purity.is_users(function):
            return self._helper(node, function) or self._first(given, inner)
        return Cut(f"'{ast.unparse(node.func)}' is called by Python", node)

    def _method(self, node: ast.Call, given: list[ast.expr], inner: frozenset[str]) -> Cut | None:
        # A plan calls methods of dicts itself: the object may be of any class, which no piece would take.
        known = purity.METHODS | (purity.DICT_METHODS if self._is_input is None else frozenset())
        if isinstance(node.func, ast.Attribute) and node.func.attr in known:
            return self._first((node.func.value, *given), inner)
        return Cut(f"'{ast.unparse(node.func)}' is called by Python", node)

    def _helper(self, node: ast.Call, function: FunctionType) -> Cut | None:
        """Return why a user's function can't be part of a piece. It may only compute, from its arguments."""
        shown = ast.unparse(node.func)
        source = read_source(function)
        if isinstance(source, NoSource):
            return Cut(f"'{shown}' is called by Python: {source.reason}", node)
        if len(self._path) > DEPTH:
            return Cut(f"calls of '{shown}' are nested too deeply", node)
        inside = Checker(PythonScope(function, source), callers=self._path)
        cut = inside.body(source)
        self.scope.meanings.function(function)
        self.scope.meanings.update(inside.scope.meanings.guards)
        if cut is not None:
            return Cut(f"'{shown}' is called by Python: {cut.reason}", node)
        if inside.captured:
            return Cut(f"'{shown}' is called by Python: it reads '{next(iter(inside.captured))}' from outside", node)
        return None

    # -- statements of a function that is traced as a whole

    def body(self, source: FunctionSource) -> Cut | None:
        """Return why tracing a whole function would make a difference that can be seen."""
        arguments = source.tree.args
        for name in self.scope.outer:
            return Cut(f"'{name}' is changed outside the function", source.tree)
        defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
        del defaults  # evaluated when the function was defined
        return self._block(source.body)

    def _block(self, statements: Iterable[ast.stmt]) -> Cut | None:
        return next((cut for s in statements if (cut := self.statement(s)) is not None), None)

    def statement(self, node: ast.stmt) -> Cut | None:
        check = _STATEMENTS.get(type(node))
        return check(self, node) if check is not None else Cut(f"{_spoken(node)} is left to Python", node)

    def _assign(self, node: Any) -> Cut | None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if (cut := self._target(target)) is not None:
                return cut
        return None if node.value is None else self.expression(node.value)

    def _target(self, node: ast.expr) -> Cut | None:
        if isinstance(node, (ast.Tuple, ast.List)):
            return next((cut for item in node.elts if (cut := self._target(item)) is not None), None)
        if isinstance(node, ast.Name):
            return None if node.id in self.scope.locals else Cut(f"'{node.id}' is assigned outside the function", node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if node.value.id not in self.scope.locals:
                return Cut(f"'{node.value.id}' is changed outside the function", node)
            return self.expression(node.slice)
        return Cut(f"{_spoken(node)} is assigned by Python", node)

    def _expr(self, node: Any) -> Cut | None:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
        ):
            name, method = call.func.value.id, call.func.attr
            if method in LIST_METHODS and name in self._lists:
                return self._first((*call.args, *(k.value for k in call.keywords)), frozenset())
            if method in ("fill", "sort") and name in self.scope.locals:
                return self._first((*call.args, *(k.value for k in call.keywords)), frozenset())
        return self.expression(call)

    @property
    def _lists(self) -> set[str]:
        """List the variables that are only ever assigned a new list."""
        found: dict[str, bool] = {}
        for node in ast.walk(self.scope.source.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in bound_names([target]):
                        is_list = isinstance(target, ast.Name) and isinstance(node.value, (ast.List, ast.ListComp))
                        found[name] = found.get(name, True) and is_list
            elif isinstance(node, (ast.For, ast.With, ast.AugAssign, ast.NamedExpr)):
                found |= dict.fromkeys(bound_names([node]) - found.keys(), False)
        given = set(self.scope.function.__code__.co_varnames[: _count(self.scope.function)])
        return {name for name, is_list in found.items() if is_list and name not in given}

    def _if(self, node: Any) -> Cut | None:
        return self.expression(node.test) or self._block([*node.body, *node.orelse])

    def _while(self, node: Any) -> Cut | None:
        return Cut("a 'while' loop is left to Python", node)

    def _for(self, node: Any) -> Cut | None:
        if (cut := self._target(node.target) or self._steps(node.iter)) is not None:
            return cut
        around = self._times
        self._times *= self._count(node.iter) or 1
        if around > 1 and self._times > NESTED_STEPS:
            return Cut(f"loops inside one another take {self._times} steps", node)
        cut = self._block(node.body)
        self._times = around
        return cut or self._block(node.orelse)

    def _steps(self, node: ast.expr) -> Cut | None:
        """Return why a loop is not unrolled: only short literal ranges and containers are."""
        if isinstance(node, ast.Call) and self.scope.meaning(node.func) is range:
            count = self._count(node)
            return None if count is not None and count <= LITERAL_STEPS else Cut("the loop's steps are not known", node)
        return self.expression(node)

    def _count(self, node: ast.expr) -> int | None:
        """Count the steps of a loop over a literal range or container; None for other loops."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return len(node.elts)
        if not isinstance(node, ast.Call) or self.scope.meaning(node.func) is not range:
            return None
        try:
            return len(range(*map(ast.literal_eval, node.args)))
        except (ValueError, TypeError):  # not literal, or no range at all
            return None

    def _function(self, node: Any) -> Cut | None:
        if node.decorator_list:
            return Cut("a decorated function is made by Python", node)
        if any(isinstance(n, (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
            return Cut("an inner function that changes variables is left to Python", node)
        inside = Checker(self.scope.inside(node), callers=self._path[:-1])
        cut = inside._block(node.body)
        self.captured |= inside.captured
        return cut

    def _assert(self, node: Any) -> Cut | None:
        return self.expression(node.test) or (self.expression(node.msg) if node.msg is not None else None)

    def _return(self, node: Any) -> Cut | None:
        return None if node.value is None else self.expression(node.value)

    def _nothing(self, node: Any) -> Cut | None:
        return None


_STATEMENTS: Mapping[type, Callable[[Checker, Any], Cut | None]] = {
    ast.Assign: Checker._assign, ast.AnnAssign: Checker._assign, ast.AugAssign: Checker._assign,
    ast.Expr: Checker._expr, ast.If: Checker._if, ast.While: Checker._while, ast.For: Checker._for,
    ast.FunctionDef: Checker._function, ast.Assert: Checker._assert, ast.Return: Checker._return,
    ast.Pass: Checker._nothing, ast.Break: Checker._nothing, ast.Continue: Checker._nothing,
}  # fmt: skip


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def has_positional_out(node: ast.Call, function: Any) -> bool:
    """Whether a call of a ufunc has more arguments than inputs, so that it writes to the last of them."""
    return isinstance(function, np.ufunc) and len(node.args) > function.nin


def _root(node: ast.expr, scope: PythonScope) -> str:
    """The module that a dotted name starts with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    found = scope.value(node.id) if isinstance(node, ast.Name) else None
    return found.__name__ if isinstance(found, ModuleType) else ""


def _count(function: FunctionType) -> int:
    code = function.__code__
    return code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)


def _spoken(node: ast.AST) -> str:
    """Name a kind of syntax as people say it."""
    return _NAMES.get(type(node), f"'{type(node).__name__}'")


_NAMES: Mapping[type, str] = {
    ast.Try: "'try'", ast.With: "'with'", ast.Raise: "'raise'", ast.Import: "'import'", ast.ImportFrom: "'import'",
    ast.Delete: "'del'", ast.While: "'while'", ast.JoinedStr: "an f-string", ast.Yield: "'yield'",
    ast.YieldFrom: "'yield'", ast.Await: "'await'", ast.Global: "'global'", ast.Nonlocal: "'nonlocal'",
    ast.NamedExpr: "':='", ast.ClassDef: "a class", ast.FunctionDef: "a function", ast.Match: "'match'",
    ast.SetComp: "a set", ast.Set: "a set", ast.DictComp: "a dict comprehension", ast.Attribute: "an attribute",
    ast.Subscript: "an item", ast.Assert: "'assert'", ast.For: "'for'", ast.If: "'if'",
}  # fmt: skip
