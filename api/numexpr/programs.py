"""Run an expression: at once by single operations, and by one compiled kernel when that pays.

A kernel takes some 20 ms to compile. Small or rare expressions never earn that back, so they run one operation at a
time: NumPy computes what it computes with the same bits as compiled code, and a compiled kernel for each function does
the rest. Once an expression has spent `PATIENCE` seconds this way, a thread compiles it and later calls use the kernel.
An expression with much work compiles at its first call.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from ..ir.errors import WeftError
from .expressions import ExpressionNode, OpNode, cast_constant
from .kinds import DTYPES
from .operations import EXACT, EXACT_COMPLEX, OPERATIONS, REDUCED, operate
from .signatures import operand_kinds

PATIENCE = 0.005  # seconds of single operations before the expression is compiled
MUCH_WORK = 8_000_000  # elements times operations

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

    def run(self, arrays: Sequence[Any], call: Callable[..., Any]) -> Any:
        """Run the operations in order; `call` computes one."""
        values = [a if k == "bytes" or a.dtype == DTYPES[k] else a.astype(DTYPES[k])
                  for a, (_, k) in zip(arrays, self.inputs, strict=True)]  # fmt: skip
        values += self.constants
        for step in self.steps:
            operands = [_cast(values[place], kind) for place, kind in zip(step.operands, step.casts, strict=True)]
            values.append(call(step.name, operands, step.kind, step.axis))
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


def run_operation(name: str, operands: list[Any], kind: str, axis: int | None) -> Any:
    """Compute one operation with the bits of compiled code."""
    if name in EXACT if kind != "complex" else name in EXACT_COMPLEX:
        return operate(name, operands, kind, axis)
    if kind in _TEXT_TYPES and name in OPERATIONS:
        shape = np.broadcast_shapes(*map(np.shape, operands))
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in operands]
        return _text_kernel(name, kind, len(flat))(*flat).reshape(shape)
    return _traced_kernel(name, kind, axis, len(operands))(*operands)


_TEXT_TYPES = {"float": "f32", "double": "f64"}


@cache
def _text_kernel(name: str, kind: str, count: int) -> Any:
    """Compile a function of real numbers from text: a kernel of text that is on disk loads without the compiler."""
    from ..compiling import compile

    type_, names = _TEXT_TYPES[kind], ("x", "y")[:count]
    parameters = ", ".join(f"{n}: {type_}[n]" for n in names)
    return compile(f"kernel run({parameters}) -> {type_}[n] {{ return {name}({', '.join(names)}) }}").run


@cache
def _traced_kernel(name: str, kind: str, axis: int | None, count: int) -> Any:
    return _kernel(count, lambda *values: operate(name, list(values), kind, axis), f"{name}_{kind}")


def _kernel(count: int, function: Callable[..., Any], name: str) -> Any:
    from ..function import traced  # the compiler takes longer to import than NumPy
    from ..settings import default_options

    def run(*values: Any) -> Any:
        return function(*values)

    kinds = inspect.Parameter.POSITIONAL_ONLY
    parameters = [inspect.Parameter(f"a{i}", kinds) for i in range(count)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__name__ = run.__qualname__ = name
    return traced(run, (), default_options("llvm", False))


class Runner:
    """Run one program, by single operations at first and by its kernel once that is compiled."""

    def __init__(self, program: ExpressionProgram) -> None:
        self.program = program
        self.kernel: Any = None
        self._spent = 0.0
        self._compiling = program.has_strings or not program.steps or not program.inputs

    def run(self, arrays: Sequence[Array], out: Array | None = None) -> Any:
        """Run on arrays. `out` may be written to or left alone; what is returned has the result."""
        if self.kernel is not None:
            return self.kernel(*arrays) if out is None else self.kernel(*arrays, out=out)
        if not self._compiling:
            if max((a.size for a in arrays), default=0) * len(self.program.steps) >= MUCH_WORK:
                self._compiling = True
                self.kernel = self._make()
                return self.kernel(*arrays)
            if self._spent > PATIENCE:
                self._compiling = True
                threading.Thread(target=self._compile, args=(arrays,), name="weft.numexpr").start()
        began = perf_counter()
        with np.errstate(all="ignore"):
            result = self.program.run(arrays, run_operation)
        self._spent += perf_counter() - began
        return result

    def _make(self) -> Any:
        return _kernel(len(self.program.inputs), lambda *arrays: self.program.run(arrays, operate), "expression")

    def _compile(self, arrays: Sequence[Array]) -> None:
        try:
            kernel = self._make()
            kernel.lower(*arrays)
        except (WeftError, MemoryError):  # beyond a limit: single operations go on
            return
        self.kernel = kernel
