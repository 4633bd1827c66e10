"""Find the attributes and items that are inputs of a piece of loops: `p.pos[i]` in a loop reads `p.pos` before it.

Nothing in such a piece can change what an object refers to. The classes of the objects on the way are checked before
each call, because a property could do anything.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..reading.names import FUNCTIONS, Names, bound_names, own_names
from .inputs import Inputs


class Paths:
    """The attributes and items in some statements that Python looks up before it runs them.

    `inputs` has their expressions by the names that the piece gives them, and `names` has these names by the identity
    of each node. `guards` are the objects on the way, with their classes.
    """

    def __init__(self, statements: Sequence[ast.stmt], known: Inputs) -> None:
        self.inputs: dict[str, ast.expr] = {}
        self.names: dict[int, str] = {}
        self.guards: list[tuple[ast.expr, type]] = []
        self._owners: set[str] = set()
        self._others: set[str] = set()
        self._bound, self._known = bound_names(statements), known
        self._texts: dict[str, str] = {}
        for statement in statements:
            self._collect(statement)

    def without_owners(self, names: Names) -> Names:
        """Leave out the objects of which nothing else is used."""
        return names - (self._owners - self._others)

    def _collect(self, node: ast.AST) -> None:
        if isinstance(node, FUNCTIONS):  # its own variables hide those around it
            outer, self._bound = self._bound, self._bound | own_names(node)
            for part in ast.iter_child_nodes(node):
                self._collect(part)
            self._bound = outer
            return
        if isinstance(node, (ast.Attribute, ast.Subscript)) and self._is_path(node):
            name = self._texts.setdefault(ast.dump(node), f".path{len(self._texts)}")
            self.names[id(node)] = name
            self.inputs[name] = node
            self.guards += self._known.path_types(node)
            self._owners |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            return
        if isinstance(node, ast.Name):
            self._others.add(node.id)
        for part in ast.iter_child_nodes(node):
            self._collect(part)

    def _is_path(self, node: ast.Attribute | ast.Subscript) -> bool:
        if not isinstance(node.ctx, ast.Load) or not self._known.is_path(node):
            return False
        return not any(isinstance(n, ast.Name) and n.id in self._bound for n in ast.walk(node))
