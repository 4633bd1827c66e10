"""Find the parts of expressions that Python evaluates before a piece runs, so that the piece gets them as inputs.

- Arithmetic on Python's own numbers alone: its integers have any size, and its division raises.
- Plain attributes and items of objects, dicts, lists and tuples (`self.w`, `parameters["w"]`): the class is checked
  before each use, because a property could do anything.
- Parts of arrays at positions that are numbers (`a[i, :k]`): the piece gets the view and serves all positions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ....ir.dtypes import is_scalar
from ....ir.source import ABSENT
from ..reading.allowed import CONSTANT_MODULES, PythonScope, is_known
from ..reading.names import binds

NUMBERS = (bool, int, float, complex)
CONTAINERS = (dict, list, tuple)
NUMERIC_CALLS = (abs, int, float, bool, min, max, round, len)
# Builtin classes have a wrapper of their own around the one usual way to look up an attribute.
PLAIN_LOOKUPS = [kind.__getattribute__ for kind in (object, ModuleType, SimpleNamespace, tuple, list, dict)]


class Inputs:
    """What is known about a function's variables when it is planned. `seen` are the values of its parameters."""

    def __init__(self, scope: PythonScope, seen: Mapping[str, Any]) -> None:
        self.scope, self.seen = scope, seen
        self.numeric = self._numeric_names()

    # -- numbers

    def _numeric_names(self) -> frozenset[str]:
        """List the variables that hold Python's numbers wherever they are bound, as far as one can tell."""
        bindings: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(self.scope.source.tree):
            for name, value in _bound_values(node):
                bindings.setdefault(name, []).append(value)
        given = set(self.seen)
        found = {n for n in bindings if n not in given or type(self.seen[n]) in NUMBERS}
        found |= {n for n, x in self.seen.items() if type(x) in NUMBERS}
        while True:
            self.numeric = frozenset(found)
            wrong = {n for n in found for value in bindings.get(n, ()) if value is None or not self.is_numeric(value)}
            if not wrong:
                return self.numeric
            found -= wrong

    def is_numeric(self, node: ast.AST) -> bool:
        """Whether an expression is computed from Python's numbers alone."""
        if isinstance(node, ast.Constant):
            return type(node.value) in NUMBERS
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return node.id in self.numeric
            return type(self.scope.value(node.id)) in NUMBERS
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.BoolOp, ast.Compare)):
            return all(self.is_numeric(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
        if isinstance(node, ast.Call) and not node.keywords and self._is_numeric_call(node.func):
            return all(map(self.is_numeric, node.args))
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return type(self.path_value(node)) in NUMBERS or self.is_fixed(node)
        return False

    def is_fixed(self, node: ast.AST) -> bool:
        """Whether this is a number of a module, such as `np.pi`. On its own that is no arithmetic of Python's."""
        return isinstance(node, ast.Attribute) and type(self.scope.meaning(node)) in NUMBERS

    def is_number(self, node: ast.AST) -> bool:
        """Whether an expression is certainly a Python number, sizes of arrays included, so that it is no work for a
        piece.
        """
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)):
            return all(self.is_number(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and not node.keywords
            and self.scope.meaning(node.func) is len
        ):
            return isinstance(node.args[0], ast.Name)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return self.is_numeric(node)

    def _is_numeric_call(self, node: ast.expr) -> bool:
        function = self.scope.meaning(node)
        return any(function is known for known in NUMERIC_CALLS)

    def guards(self, node: ast.expr) -> list[tuple[ast.expr, type]]:
        """List the objects whose classes must be checked before Python evaluates an expression early."""
        paths = [n for n in ast.walk(node) if isinstance(n, (ast.Attribute, ast.Subscript))]
        return [pair for n in paths if self.path_value(n) is not ABSENT for pair in self.path_types(n)]

    # -- attributes and items

    def path_value(self, node: ast.AST) -> Any:
        """Follow a chain of plain attributes and constant items from a parameter or a captured object, as seen in this
        call.
        """
        if isinstance(node, ast.Name):
            if node.id in self.scope.locals:
                return self.seen.get(node.id, ABSENT)
            value = self.scope.value(node.id)
            return ABSENT if isinstance(value, ModuleType) and value.__name__ in CONSTANT_MODULES else value
        if isinstance(node, ast.Attribute):
            owner = self.path_value(node.value)
            if owner is ABSENT or not is_plain_attribute(type(owner), node.attr):
                return ABSENT
            return getattr(owner, node.attr, ABSENT)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner = self.path_value(node.value)
            if type(owner) not in CONTAINERS:
                return ABSENT
            try:
                return owner[node.slice.value]
            except (LookupError, TypeError):
                return ABSENT
        return ABSENT

    def is_path(self, node: ast.AST) -> bool:
        """Whether Python looks an attribute or item up before the piece runs."""
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return False
        value = self.path_value(node)
        return value is not ABSENT and (type(value) is np.ndarray or type(value) in NUMBERS or is_scalar(value))

    def path_types(self, node: ast.expr) -> list[tuple[ast.expr, type]]:
        """List the objects on the way to an attribute or item, with the classes that make it plain."""
        found: list[tuple[ast.expr, type]] = []
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
            found.append((node, type(self.path_value(node))))
        return found[::-1]

    # -- parts of arrays

    def is_part(self, node: ast.AST, is_outer: Callable[[str], bool]) -> bool:
        """Whether an item of a variable from before the piece is taken at positions that are not all literal."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or not is_outer(node.value.id):
            return False
        return self.has_position(node)

    def has_position(self, node: ast.Subscript) -> bool:
        """Whether an index consists of numbers, not all of them literal."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [p for i in items for p in ((i.lower, i.upper, i.step) if isinstance(i, ast.Slice) else (i,))]
        given = [p for p in parts if p is not None and not _is_plain_index(p)]
        return any(isinstance(n, ast.Name) for p in given for n in ast.walk(p)) and all(map(self.is_numeric, given))


def _bound_values(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """List the names that a node binds, each with the expression that it is bound to, if there is one."""
    if isinstance(node, ast.Assign):
        found: list[tuple[str, ast.expr | None]] = []
        for target in node.targets:
            pairs = [(target, node.value)]
            if (
                isinstance(target, ast.Tuple)
                and isinstance(node.value, ast.Tuple)
                and len(target.elts) == len(node.value.elts)
            ):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for one, value in pairs:
                found += [(one.id, value)] if isinstance(one, ast.Name) else [(n, None) for n in binds(one)]
        return found
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, node.value)] if node.value is not None else []
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return [(node.target.id, value)]
    if isinstance(node, ast.For):
        call = node.iter
        if isinstance(node.target, ast.Name) and isinstance(call, ast.Call) and ast.unparse(call.func) == "range":
            return [(node.target.id, ast.BoolOp(ast.Or(), call.args))]  # a number if all of them are
        return [(name, None) for name in binds(node.target)]
    if isinstance(
        node, (ast.With, ast.ExceptHandler, ast.NamedExpr, ast.Import, ast.ImportFrom, ast.Match, ast.Delete)
    ):
        return [(name, None) for name in binds(node)]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [(node.name, None)]
    return []


def _is_plain_index(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_plain_index(node.operand)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr == "newaxis")


def is_plain_attribute(kind: type, name: str) -> bool:
    """Whether looking up an attribute runs no code: no property, and no lookup by the class itself."""
    if issubclass(kind, (np.ndarray, np.generic)) or kind.__getattribute__ not in PLAIN_LOOKUPS:
        return False
    if hasattr(kind, "__getattr__"):
        return False
    for owner in kind.__mro__:
        if name in vars(owner):
            found = vars(owner)[name]
            return isinstance(found, MemberDescriptorType) or not hasattr(type(found), "__get__") or _is_field(found)
    return True


def _is_field(found: Any) -> bool:
    """Whether it is a field of a named tuple."""
    return type(found).__name__ == "_tuplegetter"


def is_input_value(value: Any) -> bool:
    """Whether a value from outside is an input of pieces rather than a known object."""
    return value is not ABSENT and not is_known(value)
