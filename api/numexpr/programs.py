"""Run an expression: at once by single operations, and by one compiled kernel when that pays.

A kernel takes some 20 ms to compile, and the first one of a process 100 ms. Small or rare expressions never earn that
back, so they run one operation at a time. Once an expression has spent `PATIENCE` seconds this way, a thread compiles
it and later calls use the kernel. An expression with much work compiles at its first call.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..ir.errors import WeftError
from .expressions import ExpressionNode, OpNode, cast_constant
from .kinds import DTYPES
from .operations import REDUCED, operate
from .signatures import operand_kinds
from .singles import SingleOperations, expression_kernel

PATIENCE = 0.005  # seconds of single operations before the expression is compiled
COMPILING = 0.02  # seconds that this takes; a kernel on disk loads in 2 ms
FIRST = 0.1  # both of these in a process that has not imported the compiler
TURN = 0.005  # of calls, before the thread that compiles gets as much
OPERATION = 2e-9  # seconds for each element
_COMPILER = f"{__name__.partition('.')[0]}.function"

Array = np.ndarray[Any, Any]


class Step:
    """One operation of a program: which values it takes, as places in the list of all values, and their kinds."""

    __slots__ = ("axis", "casts", "kind", "name", "operands")

    def __init__(self, name: str, kind: str, operands: list[int], casts: list[str | None], axis: int | None) -> None:
        self.name, self.kind, self.operands, self.casts, self.axis = name, kind, operands, casts, axis

    def key(self) -> tuple[Any, ...]:
        return (self.name, self.kind, tuple(self.operands), tuple(self.casts), self.axis)


class ExpressionProgram:
    """An expression as a list of operations without repeats. Values are the inputs, the constants, then the results."""

    def __init__(self, expression: ExpressionNode, inputs: Sequence[tuple[str, str]]) -> None:
        self.inputs = tuple(inputs)
        self.constants: list[Any] = []
        self.steps: list[Step] = []
        self._kinds = [kind for _, kind in inputs]
        self._places: dict[Any, int] = {("variable", name): place for place, (name, _) in enumerate(inputs)}
        self._collect_constants(expression)
        self.result = self._place_all(expression)
        self.kind = self._kinds[self.result]
        self._check_reductions()

    def run(self, arrays: Sequence[Any]) -> Any:
        """Run the operations in order on the arrays of a trace."""
        values = [a if k == "bytes" or a.dtype == DTYPES[k] else a.astype(DTYPES[k])
                  for a, (_, k) in zip(arrays, self.inputs, strict=True)]  # fmt: skip
        values += self.constants
        for step in self.steps:
            operands = [_cast(values[place], kind) for place, kind in zip(step.operands, step.casts, strict=True)]
            values.append(operate(step.name, operands, step.kind, step.axis))
        return values[self.result]

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the shape of the result for inputs of these shapes."""
        whole = np.broadcast_shapes(*shapes)
        last = self.steps[-1] if self.steps else None
        if last is None or last.name not in REDUCED:
            return whole
        return () if last.axis is None else whole[: last.axis] + whole[last.axis + 1 :]

    @property
    def has_strings(self) -> bool:
        return "bytes" in self._kinds

    def _collect_constants(self, expression: ExpressionNode) -> None:
        for node in postorder(expression):
            if node.astType == "constant":
                value = cast_constant(node.value, node.astKind)
                key = ("constant", node.astKind, repr(node.value))
                if key not in self._places:
                    self._places[key] = len(self._kinds)
                    self._kinds.append(node.astKind)
                    self.constants.append(value)

    def _place_all(self, expression: ExpressionNode) -> int:
        places: dict[int, int] = {}
        for node in postorder(expression):
            if node.astType == "variable":
                places[id(node)] = self._places[("variable", node.value)]
            elif node.astType == "constant":
                places[id(node)] = self._places[("constant", node.astKind, repr(node.value))]
            elif id(node) not in places:
                places[id(node)] = self._place(node, [places[id(c)] for c in node.children])
        return places[id(expression)]

    def _place(self, node: ExpressionNode, operands: list[int]) -> int:
        have = [self._kinds[place] for place in operands]
        want = operand_kinds(node.value, node.astKind, have)
        casts = [w if w != h else None for h, w in zip(have, want, strict=True)]
        axis = node.axis if isinstance(node, OpNode) else None
        step = Step(node.value, node.astKind, operands, casts, axis)
        key = ("step", *step.key())
        if key not in self._places:
            self._places[key] = len(self._kinds)
            self._kinds.append(node.astKind)
            self.steps.append(step)
        return self._places[key]

    def _check_reductions(self) -> None:
        for step in self.steps[:-1]:
            if step.name in REDUCED:
                raise RuntimeError(f"{step.name} must be the last operation of an expression")


def _cast(value: Any, kind: str | None) -> Any:
    return value if kind is None else value.astype(DTYPES[kind])


def postorder(expression: ExpressionNode) -> list[ExpressionNode]:
    """List the nodes with operands before operations, without recursion: long sums are deep."""
    order: list[ExpressionNode] = []
    pending = [expression]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(node.children)
    return order[::-1]


class Runner:
    """Runs one program, by single operations at first and by its kernel once that is compiled."""

    def __init__(self, program: ExpressionProgram) -> None:
        self.program = program
        self.kernel: Any = None
        self._singles: SingleOperations | None = None
        self._spent = 0.0
        self._compiling: threading.Thread | None = None
        self._compiles = bool(program.steps and program.inputs) and not program.has_strings

    def run(self, arrays: Sequence[Array], out: Array | None = None) -> Any:
        """Run on arrays. `out` may be written to or left alone; the returned array has the result."""
        if self.kernel is not None:
            return self.kernel(*arrays) if out is None else self.kernel(*arrays, out=out)
        if self._singles is None:
            return self._run_first(arrays)
        began = perf_counter()
        result = self._singles.run(arrays)
        self._spent += perf_counter() - began
        if self._spent > TURN and self._compiles:
            self._let_compile(arrays)
        return result

    def _run_first(self, arrays: Sequence[Array]) -> Any:
        """Run the first call, whose time does not count: it loads the kernels of functions."""
        work = len(self.program.steps) * max([a.size for a in arrays], default=0) * OPERATION
        if self._compiles and work > _unless_first(COMPILING):
            self.kernel = self._make()
            return self.kernel(*arrays)
        singles = SingleOperations(self.program)
        result = singles.run(arrays)
        self._singles = singles
        return result

    def _let_compile(self, arrays: Sequence[Array]) -> None:
        """Start the thread that compiles when that is due; then give it as much time as the calls have had.

        A loop of calls holds Python's lock. A thread that imports and compiles releases it a thousand times, for
        instance at each file, and would wait 5 ms each time to get it back.
        """
        if self._compiling is None:
            if self._spent < _unless_first(PATIENCE):
                return
            thread = threading.Thread(target=self._compile, args=(arrays,), name="weft.numexpr")
            try:
                thread.start()
            except RuntimeError:  # too many threads, or the interpreter is about to end
                return
            self._compiling, self._spent = thread, TURN
        self._compiling.join(self._spent)
        self._spent = 0.0

    def _make(self) -> Any:
        return expression_kernel(len(self.program.inputs), lambda *arrays: self.program.run(arrays), "expression")

    def _compile(self, arrays: Sequence[Array]) -> None:
        try:
            kernel = self._make()
            kernel(*arrays)  # all that a first call prepares is ready then, such as the threads
            self.kernel = kernel
        except (WeftError, MemoryError):  # beyond a limit: single operations go on
            self._compiles = False


def _unless_first(seconds: float) -> float:
    return seconds if _COMPILER in sys.modules else FIRST
