"""Translate routines, written in a small part of Python's syntax, to LLVM text.

    @exported
    def total(list: List, start: i64) -> i64:
        k = 0
        while k < list.count:
            start += load(i64, list.items + 8 * k)
            k += 1
        return start

A value is an `i1`, `i8`, `i16`, `i32`, `i64`, `float`, `double` or `ptr`, or a pointer to a structure, whose fields are
read and written as attributes. Literals take the type of the value that they are combined with; integers are signed,
and `//` and `%` are the processor's division. In conditions `and` and `or` evaluate the right side only if it matters,
elsewhere always. Anything that Python's syntax can't say is a function; `routine_calls.py` has these. `@inline` puts a
routine's code where it is called.

`@step` is for interpreters whose instructions are routines (`runtime/native/steps.py`). A step has the parameters `op`,
`call` and `args`; `op` points to the address of the step itself and to its operands. `return proceed()` jumps to the
step behind it, `return proceed(n)` skips n bytes more, `return jump(p)` goes on at an address, and
`return other()` continues as another step.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .routine_types import SCALARS, Layout, RoutineProblem, is_declared, lowered, marks
from .routine_writer import RoutineWriter


class Routines:
    """A text of routines, with the structures, constants and global variables that it uses."""

    def __init__(
        self,
        text: str,
        structures: Mapping[str, Layout],
        constants: Mapping[str, int | str],
        variables: Mapping[str, str],
    ) -> None:
        self.structures, self.constants, self.variables = structures, constants, variables
        self.tree = ast.parse(text)
        self.routines = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        strange = [node for node in self.tree.body if not isinstance(node, (ast.FunctionDef, ast.Expr))]
        if strange:
            raise RoutineProblem(f"line {strange[0].lineno} is not a routine")

    def llvm(self) -> str:
        """Return the module as LLVM text."""
        lines = [f"@{name} = external global [0 x i8]" for name in self.variables]
        declared: dict[str, str] = {}
        for node in self.routines.values():
            if is_declared(node):
                declared[node.name] = self._declaration(node)
            elif "inline" not in marks(node):
                writer = RoutineWriter(self, node)
                lines += writer.write()
                declared |= writer.e.declared
        return "\n".join([*lines, *declared.values(), ""])

    def _declaration(self, node: ast.FunctionDef) -> str:
        types = ", ".join(lowered(self.type_of(a.annotation)) for a in node.args.args)
        return f"declare {self.result_of(node)} @{node.name}({types})"

    def type_of(self, annotation: ast.expr | None) -> str:
        """Return the type that an annotation names."""
        if isinstance(annotation, ast.Name) and (annotation.id in SCALARS or annotation.id in self.structures):
            return annotation.id
        raise RoutineProblem(f"{ast.unparse(annotation) if annotation else 'nothing'} is not a type")

    def result_of(self, node: ast.FunctionDef) -> str:
        """Return the LLVM type of a routine's result."""
        if "step" in marks(node):
            return "ptr"
        is_void = isinstance(node.returns, ast.Constant) and node.returns.value is None
        return "void" if is_void else lowered(self.type_of(node.returns))

    def parameters(self, node: ast.FunctionDef) -> dict[str, str]:
        """Return the types of a routine's parameters."""
        if "step" in marks(node):
            own = node.name if node.name in self.structures else "ptr"
            return {"op": own, "call": "Call", "args": "ptr"}
        return {a.arg: self.type_of(a.annotation) for a in node.args.args}
