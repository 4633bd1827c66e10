"""Collect statements into one piece: what it computes, what it needs, and what Python does before and after it.

A statement is taken whole or in part: for `a[k] = x * 2 + 1` the piece computes the value, and Python stores it. A
piece ends with the statement that Python finishes.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from ....ir.source import ABSENT
from ..reading import purity
from ..reading.allowed import Checker, PythonScope
from ..reading.freshness import is_fresh, work
from ..reading.names import binds, bound_names, reads
from .inputs import Inputs
from .pieces import Cut

Guards = list[tuple[ast.expr, Any]]  # an object, and the class that it must have, or a set of them
PARTED = "parted"


class Collected:
    """A piece that statements are added to."""

    def __init__(self, scope: PythonScope, inputs: Inputs, taken: frozenset[str]) -> None:
        self.scope, self.known, self._taken = scope, inputs, taken
        self.originals: list[ast.stmt] = []
        self.statements: list[ast.stmt] = []  # of the piece's own function
        self.inputs: dict[str, ast.expr] = {}  # its parameters, with what the plan passes
        self.before: list[tuple[str, ast.expr]] = []  # what the plan computes first, by variable of the plan
        self.guards: Guards = []
        self.defined: dict[str, bool] = {}  # variables that it binds, and whether the value is fresh
        self.renamed: dict[str, str] = {}  # variables that are numbers, with the parameter that holds them now
        self.aliases: list[ast.stmt] = []  # statements that bind views or the arrays themselves
        self.temporaries: dict[str, ast.expr] = {}  # values for the rest of the last statement, with their source
        self.rest: ast.stmt | None = None  # what Python does at the end, if the last statement was taken in part
        self.work = 0
        self.cut: Cut | None = None  # why the last statement was not taken

    def copied(self) -> Collected:
        made = copy.copy(self)
        for name in (
            "originals",
            "statements",
            "inputs",
            "before",
            "guards",
            "defined",
            "renamed",
            "aliases",
            "temporaries",
        ):
            setattr(made, name, copy.copy(getattr(self, name)))
        return made

    # -- statements

    def take(self, node: ast.stmt) -> bool:
        """Add a statement, whole or in part. If this returns False, the piece is damaged: use a copy."""
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            self.originals.append(node)
            return True
        done = self._taken_whole(node) or self._taken_in_part(node)
        if done:
            self.originals.append(node)
        return done

    def _taken_whole(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.AugAssign):
            return isinstance(node.target, ast.Name) and self._updated(node, node.target.id)
        targets: list[ast.expr] = list(node.targets) if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if len(targets) != 1 or not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            return False
        target = targets[0]
        if isinstance(target, ast.Name):
            return self._bound(node, target.id, node.value)
        if isinstance(target, ast.Tuple) and all(isinstance(t, ast.Name) for t in target.elts):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            names = [t.id for t in target.elts if isinstance(t, ast.Name)]
            if not all(is_fresh(v, self.scope) and self._admit(v) for v in values) or not self._may_bind(names):
                return False
            if any(map(self._is_run_by_numpy, values)):
                return False
            self._add(ast.Assign([target], node.value), node)
            self.defined |= dict.fromkeys(names, True)
            return True
        return False

    def _bound(self, node: ast.stmt, name: str, value: ast.expr) -> bool:
        if not self._may_bind([name]):
            return False
        if self.known.is_numeric(value) and name in self.known.numeric:
            self.renamed[name] = self._hoisted(value, list(self.known.guards(value)))
            self.defined.pop(name, None)
            return True
        if not self._admit(value) or self._is_run_by_numpy(value):
            return False
        fresh = is_fresh(value, self.scope)
        if not fresh and not (isinstance(value, (ast.Subscript, ast.Attribute, ast.Name, ast.Call))):
            return False
        self._add(ast.Assign([ast.Name(name, ast.Store())], value), node)
        self.defined[name] = fresh
        self.renamed.pop(name, None)
        if not fresh:
            self.aliases.append(node)
        return True

    def _updated(self, node: ast.AugAssign, name: str) -> bool:
        if name in self.known.numeric and self.known.is_numeric(node.value):
            value = ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value), node)
            return self._bound(node, name, ast.fix_missing_locations(value))
        if not self.defined.get(name, False) or not self._may_bind([name]) or not self._admit(node.value):
            return False
        self._add(ast.AugAssign(ast.Name(name, ast.Store()), node.op, node.value), node)
        return True

    def _may_bind(self, names: list[str]) -> bool:
        """Whether variables can be bound here, although Python evaluates the aliases only after the piece, in the new
        state.
        """
        used = {n for s in self.aliases for n in (*reads(s), *binds(s))}
        return used.isdisjoint(names)

    # -- statements of which Python does the rest

    def _taken_in_part(self, node: ast.stmt) -> bool:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)) and node.value is not None:
            made = self._outlined(node.value)
            return made is not None and self._left(node, value=made)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            made = self._outlined_call(node.value)
            return made is not None and self._left(node, value=made)
        if isinstance(node, ast.If) and is_fresh(node.test, self.scope) and work(node.test, self.scope):
            made = self._outlined(node.test)
            return made is not None and self._left(node, test=made)
        return False

    def _left(self, node: ast.stmt, **changes: ast.expr) -> bool:
        rest = copy.copy(node)
        for name, value in changes.items():
            setattr(rest, name, value)
        self.rest = rest
        return True

    def _outlined(self, node: ast.expr) -> ast.expr | None:
        """Replace the parts of an expression that the piece computes by temporaries; None if there are none."""
        if self.known.is_number(node):
            return None
        if is_fresh(node, self.scope) and work(node, self.scope) and self._admit(node):
            return self._temporary(node)
        if isinstance(node, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in node.elts):
            made = [self._outlined(item) for item in node.elts]
            if not any(made) or not all(
                m is not None or self._is_quiet(n) for m, n in zip(made, node.elts, strict=True)
            ):
                return None
            items = [m or n for m, n in zip(made, node.elts, strict=True)]
            return ast.copy_location(type(node)(items, ast.Load()), node)
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
            made = [self._outlined(item) for item in node.values]
            if not any(made) or not all(
                m is not None or self._is_quiet(n) for m, n in zip(made, node.values, strict=True)
            ):
                return None
            return ast.copy_location(
                ast.Dict(node.keys, [m or n for m, n in zip(made, node.values, strict=True)]), node
            )
        return self._outlined_call(node) if isinstance(node, ast.Call) else None

    def _outlined_call(self, node: ast.Call) -> ast.expr | None:
        """Let the piece compute arguments of a call that Python makes."""
        if not isinstance(node.func, (ast.Name, ast.Attribute)) or not self._is_quiet(node.func):
            return None
        given = [*node.args, *(k.value for k in node.keywords)]
        made = [self._outlined(item) for item in given]
        if not any(made) or not all(m is not None or self._is_quiet(n) for m, n in zip(made, given, strict=True)):
            return None
        values = [m or n for m, n in zip(made, given, strict=True)]
        count = len(node.args)
        named = [ast.keyword(k.arg, v) for k, v in zip(node.keywords, values[count:], strict=True)]
        return ast.copy_location(ast.Call(node.func, values[:count], named), node)

    def _is_quiet(self, node: ast.expr) -> bool:
        """Whether Python may evaluate an expression after the piece instead of before it."""
        if isinstance(node, ast.Starred):
            return self._is_quiet(node.value)
        if isinstance(node, ast.Attribute):
            return self._is_quiet(node.value)
        return isinstance(node, (ast.Name, ast.Constant)) or self._admit(node)

    def _temporary(self, node: ast.expr) -> ast.expr:
        name = self._unique("result")
        self._add(ast.Assign([ast.Name(name, ast.Store())], node), node)
        self.temporaries[name] = node
        return ast.copy_location(ast.Name(plan_name(name), ast.Load()), node)

    # -- expressions

    def _admit(self, node: ast.expr) -> bool:
        checker = Checker(self.scope, is_input=self._is_input)
        cut = checker.expression(node) or self._position(node)
        if cut is None:
            return True
        self.cut = self.cut or cut
        return False

    def _position(self, node: ast.AST) -> Cut | None:
        """Find a part of an array that the piece itself makes, at a position for which the piece would be compiled."""
        summed = {id(n.args[0]) for n in ast.walk(node) if isinstance(n, ast.Call) and self._is_sum(n)}
        for n in ast.walk(node):
            if isinstance(n, ast.Subscript) and not self._is_input(n) and self.known.has_position(n):
                return Cut("a position that is a number is looked up in Python", n)
            if isinstance(n, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)) and id(n) not in summed:
                return Cut("a function or comprehension is left to Python", n)
        return None

    def _is_sum(self, node: ast.Call) -> bool:
        """Whether this is `sum(... for k in ...)`, which a trace can unroll, and `k` is used for nothing else."""
        if len(node.args) != 1 or not isinstance(node.args[0], (ast.ListComp, ast.GeneratorExp)):
            return False
        inner = node.args[0]
        parts = [n for n in ast.walk(inner) if n is not inner]
        if any(isinstance(n, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.Subscript)) for n in parts):
            return False
        own = bound_names(g.target for g in inner.generators)
        taken = own & (frozenset(self.scope.locals) | frozenset(self.defined) | frozenset(self.inputs))
        return not taken and self.scope.meaning(node.func) is sum and all(self.scope.value(n) is ABSENT for n in own)

    def _is_input(self, node: ast.AST) -> bool:
        outer = self._is_outer
        if isinstance(node, (ast.Attribute, ast.Subscript)) and self.known.is_path(node):
            return all(outer(n) for n in reads(node))
        return self.known.is_part(node, outer) or (
            isinstance(node, ast.expr)
            and not isinstance(node, ast.Name)
            and any(True for _ in reads(node))  # literals such as -1 are known when the piece is compiled
            and not self.known.is_fixed(node)
            and self.known.is_numeric(node)
        )

    def _is_run_by_numpy(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and purity.is_run_by_numpy(self.scope.meaning(node.func))

    def _is_early(self, node: ast.AST) -> bool:
        """Whether Python calls a NumPy function before the piece, on values that exist then."""
        return self._is_run_by_numpy(node) and all(self._is_outer(n) for n in reads(node))

    def _is_outer(self, name: str) -> bool:
        return name not in self.defined

    def _add(self, statement: ast.stmt, place: ast.AST) -> None:
        """Add a statement to the piece's function, with its inputs in place of what Python evaluates."""
        made = _Rewriter(self).visit(copy.deepcopy(statement))
        self.statements.append(ast.fix_missing_locations(ast.copy_location(made, place)))
        self.work += sum(work(n, self.scope) for n in ast.iter_child_nodes(made) if isinstance(n, ast.expr))
        self.work += isinstance(made, ast.AugAssign)

    def _hoisted(self, node: ast.expr, guards: Guards | None = None) -> str:
        """Let the plan evaluate an expression before the piece; return the parameter that gets its value."""
        made = _Renamer(self.renamed).visit(copy.deepcopy(node))
        for name, known in self.before:
            if ast.dump(known) == ast.dump(made):
                return name
        name = self._unique("input")
        self.before.append((name, made))
        self.inputs[name] = ast.copy_location(ast.Name(plan_name(name), ast.Load()), node)
        self.guards += [(_Renamer(self.renamed).visit(copy.deepcopy(n)), kind) for n, kind in guards or ()]
        return name

    def _unique(self, base: str) -> str:
        count = len(self.before) + len(self.temporaries)
        while (name := f"{base}{count}") in self._taken or name in self.inputs or name in self.temporaries:
            count += 1
        return name


def plan_name(name: str) -> str:
    """Return the plan's variable for a parameter or a temporary of a piece. Users can't write such a name."""
    return f".{name}"


class _Renamer(ast.NodeTransformer):
    """Replaces numbers that the plan has already computed by their variables."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self._renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self._renamed.get(node.id)
        return ast.copy_location(ast.Name(plan_name(found), ast.Load()), node) if found else node


class _Rewriter(ast.NodeTransformer):
    """Replaces what Python evaluates by parameters of the piece."""

    def __init__(self, piece: Collected) -> None:
        self._piece = piece

    def visit(self, node: ast.AST) -> Any:
        piece, known = self._piece, self._piece.known
        if (
            isinstance(node, (ast.Attribute, ast.Subscript))
            and isinstance(node.ctx, ast.Load)
            and piece._is_input(node)
        ):
            is_path = known.is_path(node)
            guards: Guards = list(known.path_types(node)) if is_path else [(node.value, PARTED)]
            return self._parameter(node, piece._hoisted(node, guards))
        if isinstance(node, ast.expr) and piece._is_input(node):
            return self._parameter(node, piece._hoisted(node, list(known.guards(node))))
        if isinstance(node, ast.Call) and piece._is_early(node):
            return self._parameter(node, piece._hoisted(node))
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        piece = self._piece
        if not isinstance(node.ctx, ast.Load) or node.id in piece.defined:
            return node
        if (found := piece.renamed.get(node.id)) is not None:
            return self._parameter(node, found)
        if node.id in piece.scope.locals or node.id in piece.scope.outer or _is_captured(piece.scope, node.id):
            piece.inputs[node.id] = ast.copy_location(ast.Name(node.id, ast.Load()), node)
        return node

    def _parameter(self, node: ast.expr, name: str) -> ast.expr:
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _is_captured(scope: PythonScope, name: str) -> bool:
    from .inputs import is_input_value

    return is_input_value(scope.value(name))
