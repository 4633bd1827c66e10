"""Decide from their syntax which statements may become part of a nest.

Only the kinds of the variables show what a nest can really do. This leaves out what no nest can ever do, so that a
`print` or `try` between two loops does not keep either of them from being compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from ....ir.source import ABSENT
from ..kinds import jitted_function
from ..library import LOOPS
from . import purity
from .allowed import DEPTH, PythonScope, has_positional_out, is_own
from .names import walk_own
from .source import FunctionSource, NoSource, read_source

STATEMENTS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Return, ast.Assert, ast.Expr,
)  # fmt: skip
INSIDE_LOOPS = (ast.Break, ast.Continue)
REFUSED = (
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.JoinedStr, ast.Await,
    ast.Yield, ast.YieldFrom, ast.Dict, ast.Set, ast.Starred,
)  # fmt: skip
METHODS = purity.METHODS | frozenset(("fill", "sort", "item", "tolist", "at"))
LIGHT = frozenset(("fill", "sum", "mean", "min", "max", "any", "all", "copy", "astype", "conj"))
WRITING = frozenset(("copyto", "putmask", "place", "put", "fill_diagonal"))


def may_be_lowered(node: ast.stmt, scope: PythonScope, in_loop: bool = False) -> bool:
    """Whether a statement may be part of a nest."""
    if isinstance(node, INSIDE_LOOPS):
        return in_loop
    if isinstance(node, ast.FunctionDef):
        return _is_simple_function(node, scope)
    if not isinstance(node, STATEMENTS):
        return False
    inside = in_loop or isinstance(node, (ast.For, ast.While))
    for name, part in ast.iter_fields(node):
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, ast.stmt):
                if not may_be_lowered(item, scope, inside if name == "body" else in_loop):
                    return False
            elif isinstance(item, ast.AST) and not _is_allowed(item, scope):
                return False
    return True


def _is_simple_function(node: ast.FunctionDef, scope: PythonScope) -> bool:
    """Whether calls of a function that is defined here may be inlined."""
    annotated = [a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg)]
    if node.decorator_list or getattr(node, "type_params", []) or not _is_quiet(node.returns, scope):
        return False
    if not all(_is_quiet(part, scope) for part in annotated) or not _is_allowed(node.args, scope):
        return False
    inside = scope.inside(node)
    return all(may_be_lowered(statement, inside) for statement in node.body)


def _is_quiet(annotation: ast.expr | None, scope: PythonScope) -> bool:
    """Whether evaluating an annotation does nothing: it is a literal, or leads through modules to a class."""
    return annotation is None or isinstance(annotation, ast.Constant) or scope.meaning(annotation) is not ABSENT


def _is_allowed(node: ast.AST, scope: PythonScope) -> bool:
    summed = [id(part.args[0]) for part in walk_own(node) if _is_sum(part, scope)]
    for part in walk_own(node):
        if isinstance(part, REFUSED) and id(part) not in summed:
            return False
        if isinstance(part, ast.Lambda) and not _is_allowed(part.body, scope.inside(part)):
            return False
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in scope.outer:
            return False
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            return False
        if isinstance(part, ast.Call) and not _is_callable(part, scope):
            return False
    return True


def _is_sum(node: ast.AST, scope: PythonScope) -> TypeGuard[ast.Call]:
    """Whether it is `sum(... for k in ...)`, which is a loop."""
    if (
        not isinstance(node, ast.Call)
        or not node.args
        or not isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
    ):
        return False
    return scope.meaning(node.func) is sum and not any(g.is_async for g in node.args[0].generators)


def _is_callable(node: ast.Call, scope: PythonScope) -> bool:
    if isinstance(node.func, ast.Name) and node.func.id in scope.functions:
        return True  # defined here, or given to a function that is
    function = scope.meaning(node.func)
    if function is ABSENT:
        return isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
    function = jitted_function(function) or function
    if is_own(function):
        return False
    is_known = purity.is_pure(function) or isinstance(function, FunctionType) or function is np.ndarray
    return is_known or _writes(function)


def _writes(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    return (name in WRITING and getattr(np, name, None) is function) or (isinstance(owner, np.ufunc) and name == "at")


def is_store(node: ast.AST, scope: PythonScope) -> bool:
    """Whether a statement changes an array in place."""
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Subscript) for t in node.targets)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, (ast.Subscript, ast.Name))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        function = scope.meaning(call.func)
        if any(k.arg == "out" for k in call.keywords) or _writes(function) or has_positional_out(call, function):
            return True
        return isinstance(call.func, ast.Attribute) and call.func.attr in ("fill", "sort")
    return False


def has_loops_or_stores(
    node: ast.AST,
    scope: PythonScope,
    seen: frozenset[FunctionType] = frozenset(),
    numeric: frozenset[str] = frozenset(),
) -> bool:
    """Whether a statement, or a function with source that it calls, has a loop or changes an array in place.

    Variables that are `numeric` are numbers, which `+=` does not change in place.
    """
    if isinstance(node, ast.FunctionDef):
        return False
    for part in walk_own(node):
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id in numeric:
            continue
        if isinstance(part, (ast.For, ast.While)) or is_store(part, scope) or _is_sum(part, scope):
            return True
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            own = scope.functions.get(part.func.id)
            if isinstance(own, ast.FunctionDef) and _has_loops(own, scope, seen):
                return True
        if isinstance(part, ast.Call) and _calls_loops(scope.meaning(part.func), seen):
            return True
    return False


def _has_loops(function: ast.FunctionDef, scope: PythonScope, seen: frozenset[FunctionType]) -> bool:
    inside = scope.inside(function)
    inside.functions = {name: own for name, own in inside.functions.items() if own is not function}
    return any(has_loops_or_stores(s, inside, seen) for s in function.body)


def calls_written_loops(function: Any, source: FunctionSource | NoSource) -> bool:
    """Whether a function calls a NumPy function that is written as loops here because they are faster."""
    if isinstance(source, NoSource) or not isinstance(function, FunctionType):
        return False
    return any(called is known for called in _called(function, source) for known in LOOPS)


def calls_numpy(function: Any, source: FunctionSource | NoSource) -> bool:
    """Whether a function calls one that only NumPy can run. Python does that better than a compiled graph."""
    if isinstance(source, NoSource) or not isinstance(function, FunctionType):
        return False
    return any(map(purity.is_run_by_numpy, _called(function, source)))


def _called(function: FunctionType, source: FunctionSource) -> Iterator[Any]:
    """Yield the functions that a function calls, as far as they are known."""
    scope = PythonScope(function, source)
    return (scope.meaning(n.func) for part in source.body for n in ast.walk(part) if isinstance(n, ast.Call))


def changes_parameters(function: Any, source: FunctionSource | NoSource) -> bool:
    """Whether a function changes a parameter in place by what loops do best: elementwise operations and reductions."""
    if isinstance(source, NoSource) or not isinstance(function, FunctionType):
        return False
    scope, parameters = PythonScope(function, source), {a.arg for a in _all_arguments(source.tree.args)}
    parts = [part for statement in source.body for part in ast.walk(statement)]
    return any(_changes(part, parameters) for part in parts) and not any(_is_heavy(part, scope) for part in parts)


def _all_arguments(given: ast.arguments) -> list[ast.arg]:
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _changes(node: ast.AST, parameters: set[str]) -> bool:
    """Whether a statement changes one of these variables in place."""
    if isinstance(node, ast.AugAssign):
        target = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        return isinstance(target, ast.Name) and target.id in parameters
    if isinstance(node, ast.Assign):
        changed = [t.value for t in node.targets if isinstance(t, ast.Subscript)]
        return any(isinstance(t, ast.Name) and t.id in parameters for t in changed)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        of = node.value.func.value
        return node.value.func.attr == "fill" and isinstance(of, ast.Name) and of.id in parameters
    return False


def _is_heavy(node: ast.AST, scope: PythonScope) -> bool:
    """Whether a separate kernel serves an operation better than a loop: products, sorting, unknown functions."""
    if isinstance(node, ast.MatMult):
        return True
    if not isinstance(node, ast.Call):
        return False
    function = scope.meaning(node.func)
    if function is ABSENT:
        return not (isinstance(node.func, ast.Attribute) and node.func.attr in LIGHT)
    if isinstance(function, np.ufunc):
        return function.signature is not None
    name = getattr(function, "__name__", "")
    return function is not abs and not (name in LIGHT | {"where", "clip"} and getattr(np, name, None) is function)


def _calls_loops(function: Any, seen: frozenset[FunctionType]) -> bool:
    function = jitted_function(function) or function
    if any(function is known for known in LOOPS):
        return True
    if not purity.is_users(function) or function in seen or len(seen) >= DEPTH:
        return False
    source = read_source(function)
    if isinstance(source, NoSource):
        return False
    inside = PythonScope(function, source)
    return any(has_loops_or_stores(s, inside, seen | {function}) for s in source.body)
