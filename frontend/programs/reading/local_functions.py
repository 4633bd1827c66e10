"""Find functions that are defined inside a function, and that pieces may inline where the definition has
certainly run.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from .names import bound_names, reads


class LocalFunctions:
    """The functions that some statements define, by `def` or `name = lambda`, each by a name that nothing else binds.

    A piece has such a definition among its own statements. That is safe because a definition does nothing else: the
    function reads the variables around it when it is called.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        parts = [node for statement in body for node in ast.walk(statement)]
        changed = {name for node in parts if isinstance(node, (ast.Nonlocal, ast.Global)) for name in node.names}
        # `del f`, `f = g` and stores to attributes of a function all make it another one
        changed |= {owner for node in parts if (owner := _changed_owner(node)) is not None}
        counts = Counter(name for statement in body for name in _bindings(statement))
        self._once = {name for name, count in counts.items() if count == 1} - changed
        self._known: dict[str, ast.stmt] = {}

    def is_definition(self, statement: ast.stmt) -> bool:
        """Whether a statement defines such a function."""
        return _defined(statement) in self._once

    def mark(self) -> dict[str, ast.stmt]:
        """Save which definitions have run."""
        return dict(self._known)

    def reset(self, mark: dict[str, ast.stmt]) -> None:
        self._known = mark

    def passed(self, statements: Sequence[ast.stmt]) -> None:
        """Note the definitions among statements that have run where the following ones do."""
        for statement in statements:
            name = _defined(statement)
            if name in self._once and name is not None:
                self._known[name] = statement

    def used_by(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the definitions that statements need, in the order of the text."""
        found: dict[str, ast.stmt] = {}
        own, todo = bound_names(statements), list(statements)
        while todo:
            for name in reads(todo.pop()):
                if name in self._known and name not in own and name not in found:
                    found[name] = self._known[name]
                    todo.append(found[name])
        return sorted(found.values(), key=lambda s: s.lineno)


def _defined(statement: ast.stmt) -> str | None:
    """Return the name of the function that a statement defines without any other effect."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name if not statement.decorator_list and _has_literal_defaults(statement.args) else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Lambda):
        return None
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return None
    return target.id if _has_literal_defaults(statement.value.args) else None


def _has_literal_defaults(given: ast.arguments) -> bool:
    return all(value is None or isinstance(value, ast.Constant) for value in (*given.defaults, *given.kw_defaults))


def _bindings(node: ast.AST) -> list[str]:
    """List the names that a statement binds, once for each time it does so."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    direct = [*bound_names([node])] if isinstance(node, (ast.alias, ast.ExceptHandler, ast.pattern, ast.Lambda)) else []
    return direct + [name for child in ast.iter_child_nodes(node) for name in _bindings(child)]


def _changed_owner(node: ast.AST) -> str | None:
    """Return the variable whose attribute is assigned or deleted."""
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
        return None
    return node.value.id if isinstance(node.value, ast.Name) else None
