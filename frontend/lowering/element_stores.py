"""Lower statements that change elements of an array, as `y[i] = v` in a loop, to one loop nest inside the graph.

The graph has one node for such a statement: it takes the values that the statement reads, and returns those that it
changes. The node calls a nest, which is lowered and compiled for the arrays of the first call
(`runtime/nests/written_loops.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.dims import Dim
from ...ir.errors import Span, TypeProblem, Unsupported
from ...ir.graph import Value
from ...ir.ops import NUMPY
from ...ir.records import record
from ...ir.source import WRITTEN_LOOP
from ...ir.types import Attr, TensorType
from ..language import syntax
from ..maker import Maker
from ..weak import Operand, dtype_of, take
from .as_python import PythonWriter, number_of
from .frame import Environment, Variable
from .jumps import assigned, inside

Number = bool | int | float | complex


@record(eq=False)
class WrittenLoop:
    """Statements to run as a nest.

    `inputs` are the names of the operands. If an operand without dimensions stands for a Python number, it comes with
    that number. `constants` are names with known numbers, and `outputs` the variables to return, with their types.
    `sizes` tells which operands are sizes of arrays.
    """

    name: str
    statements: tuple[ast.stmt, ...]
    inputs: tuple[tuple[str, str | None, TensorType], ...]
    constants: tuple[tuple[str, Number], ...]
    outputs: tuple[tuple[str, TensorType], ...]
    span: Span
    sizes: tuple[tuple[str, Dim], ...] = ()


Compile = Callable[[WrittenLoop], Callable[..., tuple[Any, ...]]]


def stores(statement: syntax.Statement) -> bool:
    """Tell whether a statement changes elements of an array."""
    return any(isinstance(s, syntax.Assign) and isinstance(s.target, syntax.Index) for s in inside([statement]))


def stored(statements: Sequence[syntax.Statement]) -> set[str]:
    """List the variables whose elements are changed."""
    targets = [s.target for s in inside(statements) if isinstance(s, syntax.Assign)]
    return {t.value.name for t in targets if isinstance(t, syntax.Index) and isinstance(t.value, syntax.Name)}


class ElementStores:
    """Lowers the statements with stores of one kernel and of everything inlined into it; `made` are their calls."""

    def __init__(self, compile: Compile | None, made: list[Any]) -> None:
        self._compile, self._made = compile, made

    def lower(self, statement: syntax.Statement, builder: Builder, frame: Environment) -> None:
        """Add a node for a statement, and give the variables that it changes their new values."""
        span = statement.span
        changed = assigned([statement]) | stored([statement])
        outer = [name for name in frame.variables if name in changed]
        tree = PythonWriter(frame.unit).statement(statement)
        outputs = [(name, _settled(frame.variables[name].value)) for name in outer]
        results = self.add([tree], outputs, builder, frame, span)
        for name, value in zip(outer, results, strict=True):
            frame.variables[name] = Variable(value, frame.variables[name].type)

    def add(
        self,
        statements: Sequence[ast.stmt],
        outputs: Sequence[tuple[str, TensorType]],
        builder: Builder,
        frame: Environment,
        span: Span,
    ) -> list[Value]:
        """Add a node that runs statements and returns the variables `outputs`, which have these types."""
        if self._compile is None:
            raise Unsupported("loops that change elements need a registry to be compiled", span)
        maker, operands = Maker(builder, span), list[Value]()
        inputs, constants = list[tuple[str, str | None, TensorType]](), list[tuple[str, Number]]()
        named_sizes = list[tuple[str, Dim]]()
        for name in _read(statements):
            value = _meaning(name, frame)
            if value is None or (name in dict(outputs) and name not in frame.variables):
                continue
            if isinstance(value, (bool, int, float, complex)) and name not in dict(outputs):
                constants.append((name, value))
                continue
            if isinstance(value, Dim):
                named_sizes.append((name, value))
            weak = dtype_of(value).kind if dtype_of(value).weak else None
            strong = take(maker, value, dtype_of(value).strong)
            operands.append(strong)
            inputs.append((name, weak, strong.type))
        types = tuple(type for _, type in outputs)
        attrs: dict[str, Attr] = {"function": WRITTEN_LOOP, "call": len(self._made)}
        if scalars := tuple(k for k, t in enumerate(types) if not t.shape):
            attrs["scalars"] = scalars
        node = builder.node(NUMPY, operands, attrs, span, types=types)
        loop = WrittenLoop(
            WRITTEN_LOOP, tuple(statements), tuple(inputs), tuple(constants), tuple(outputs), span, tuple(named_sizes)
        )
        self._made.append(self._compile(loop))
        return list(node.results)


def _read(statements: Sequence[ast.stmt]) -> list[str]:
    """List the names in statements, in the order in which they are written."""
    return list(dict.fromkeys(n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)))


def _meaning(name: str, frame: Environment) -> Operand | None:
    """Return the value of a name before the statements, if it has one."""
    if name in frame.variables:
        value: Operand = frame.variables[name].value
        return value
    if name in frame.sizes:
        size = frame.sizes[name]
        return size if isinstance(size, Dim) else int(size)
    return number_of(name)


def _settled(value: Operand) -> TensorType:
    """Return the type that a variable keeps."""
    if isinstance(value, Value):
        return TensorType(value.type.dtype.strong, value.type.shape)
    return TensorType(dtype_of(value).strong)


def check_store(target: syntax.Index, scope: dict[str, str]) -> None:
    """Check that a variable is indexed; only a `var` can change."""
    array = target.value
    if not isinstance(array, syntax.Name):
        raise TypeProblem(
            "only elements of a variable can be assigned to", target.span, "name the array by 'var' first"
        )
    what = scope.get(array.name)
    if what not in (None, "var"):
        hint = "declare it with 'var'" if what == "let" else f"copy it first: var y = {array.name}"
        raise TypeProblem(f"'{array.name}' is not a 'var', so its elements can't change", array.span, hint)
