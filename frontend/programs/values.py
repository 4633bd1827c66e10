"""Define what the lowering knows of a Python value: a number, a view of memory, an expression or a constant."""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import Signature
from typing import Any, Union

from ...ir.dims import Size
from ...ir.dtypes import BOOL, C64, C128, F32, F64, I64, DType
from ...ir.graph import Value
from ...ir.records import record
from .kinds import Known, NumpyScalar, PythonNumber
from .planning.pieces import Input

NumberKind = Union[NumpyScalar, PythonNumber]
PYTHON_DTYPES = {"int": I64, "float": F64, "bool": BOOL, "complex": C128}


class CutProblem(Exception):
    """Raised for something that can't be part of a piece; it becomes a `Cut`."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


class KindChanges(Exception):
    """Raised when a variable has different kinds at the start and at the end of a step, and no kind fits both."""


class BecomesArray(KindChanges):
    """Raised when a variable is a number before a step of a loop and the array `last` after it."""

    def __init__(self, name: str, last: View) -> None:
        super().__init__(f"'{name}' is a number before a step of a loop and an array after it")
        self.name, self.last = name, last


class TwoKindsResult(CutProblem):
    """Raised for a result that has one of two kinds, if nothing tracks which."""


class TwoKinds(CutProblem):
    """Raised where a number is used that may have two kinds. Peeling a step of the loop around it settles which."""


@record(eq=False)
class Number:
    """A number: in the nest, as a size, or known at compile time (the value of its kind).

    `parts` tells how an int with a size is computed from others, which is used if the size itself need not be known.
    `other` is a second kind that the number may have, with the same value: a variable that is 0 until the first step of
    a loop makes it an `np.float64`. Operations on it must not depend on its kind. `bound` tells whether a variable has
    a value at all, if that depends on data, because a branch or a loop may not have bound it. `is_first` tells whether
    it is of the first of two kinds, where an emitter tracks that for results.
    """

    kind: NumberKind
    value: Value | None = None
    size: Size | None = None
    parts: tuple[str, Number, Number] | None = None
    other: NumberKind | None = None
    pair: tuple[Value, Value] | None = None  # the parts of a complex number, instead of a value
    settle: Callable[[], None] | None = None  # demands what makes it a number of the first kind
    bound: Value | None = None
    is_first: Value | None = None

    @property
    def known(self) -> bool | int | float | complex | None:
        return self.kind.value if isinstance(self.kind, PythonNumber) else None

    @property
    def dtype(self) -> DType:
        return dtype_of(self.kind)

    @property
    def is_python(self) -> bool:
        return isinstance(self.kind, PythonNumber)


def dtype_of(kind: NumberKind) -> DType:
    """The dtype that holds a number of this kind in a nest."""
    return kind.dtype if isinstance(kind, NumpyScalar) else PYTHON_DTYPES[kind.name]


def constant(value: bool | int | float | complex) -> Number:
    """A Python number that is known at compile time."""
    size = value if type(value) is int else None
    return Number(PythonNumber(type(value).__name__, value), size=size)


def plain(kind: NumberKind) -> NumberKind:
    """The kind without a known value."""
    return PythonNumber(kind.name) if isinstance(kind, PythonNumber) else kind


class BufferValue:
    """An array in memory that a nest reads or writes: the caller's, or a local one.

    `origin` is None until a local array turns out to be a result. Complex numbers are two floats along a last axis
    (`parts`), because nests compute with real numbers. `order` lists the axes of a local array from outermost to
    innermost; nests see such memory in C order. `lies` does the same for the caller's memory.
    """

    __slots__ = (
        "layout",
        "lies",
        "order",
        "origin",
        "parts",
        "reshaped",
        "shadow",
        "value",
        "version",
        "writeable",
        "written",
    )

    def __init__(
        self, value: Value, origin: Input | None, writeable: bool = True, layout: str = "C", parts: bool = False,
        order: tuple[int, ...] | None = None, lies: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.value, self.origin, self.writeable, self.written = value, origin, writeable, False
        self.parts = parts
        axes = tuple(range(len(value.type.shape) - parts))
        self.order, self.lies = order or axes, lies or axes
        self.version = 0  # how often it was stored to
        self.layout = layout if value.type.shape else "scalar"
        self.reshaped: BufferValue | None = None  # memory in C order of which NumPy gives a reshaped view instead
        self.shadow: tuple[BufferValue, int] | None = None  # memory that NumPy may share instead of this copy

    @property
    def is_stale(self) -> bool:
        """Whether this is a copy of memory that was stored to since, while NumPy may have a view of it."""
        return self.shadow is not None and self.shadow[0].version != self.shadow[1]


@record(eq=False)
class View:
    """An array: a buffer and an affine map into it.

    Element `k` of the view is the buffer's at `starts[j] + sum(steps[j][a] * k[a])`.
    """

    buffer: BufferValue
    shape: tuple[Size, ...]
    starts: tuple[Size, ...]
    steps: tuple[tuple[int, ...], ...]
    is_part: bool = False  # real or imaginary parts of a complex array
    is_new: bool = False  # an operation made it, so that it is another object than the array, even if it is all of it

    @property
    def dtype(self) -> DType:
        dtype = self.buffer.value.type.dtype
        return dtype if not self.buffer.parts or self.is_part else C64 if dtype == F32 else C128

    @property
    def rank(self) -> int:
        return len(self.shape)

    def at(self, index: tuple[Size, ...]) -> tuple[Size, ...]:
        """Return the index in the buffer of an element of the view."""
        found = []
        for start, steps in zip(self.starts, self.steps, strict=True):
            for step, part in zip(steps, index, strict=True):
                if step:
                    start = start + part * step
            found.append(start)
        return tuple(found)

    @property
    def is_whole(self) -> bool:
        """Whether the view is the whole buffer, in its own order."""
        return self == whole(self.buffer)

    def part(self, k: int) -> View:
        """Return the real (0) or imaginary (1) parts of a complex array, as a view of floats."""
        return View(self.buffer, self.shape, (*self.starts[:-1], k), self.steps, True)

    @property
    def element_dtype(self) -> DType:
        """The dtype in memory."""
        return self.buffer.value.type.dtype

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return False
        mine = (self.buffer, self.shape, self.starts, self.steps, self.is_part)
        return mine == (other.buffer, other.shape, other.starts, other.steps, other.is_part)

    __hash__ = object.__hash__


def whole(buffer: BufferValue) -> View:
    """The view of all of a buffer."""
    memory = buffer.value.type.shape[:-1] if buffer.parts else buffer.value.type.shape
    shape = tuple(memory[buffer.order.index(axis)] for axis in range(len(memory)))
    return View(buffer, shape, *straight(buffer.order, buffer.parts))


def straight(order: tuple[int, ...], parts: bool) -> tuple[tuple[Size, ...], tuple[tuple[int, ...], ...]]:
    """Return the starts and steps of a view of a whole buffer whose axes lie in memory in this order."""
    rank = len(order)
    rows = [tuple(int(a == axis) for a in range(rank)) for axis in order]
    return (0,) * (rank + parts), (*rows, *([(0,) * rank] if parts else []))


@record(eq=False)
class Expression:
    """An array expression that is not computed yet: a value of the current draft."""

    value: Value


@record(eq=False)
class Selected:
    """What a mask selects of an array: the whole array and the mask. Elements outside the mask are never used.

    `versions` says how often the memory had been stored to when a variable was bound to the selection. NumPy makes a
    copy at that point, so the selection must not be used after another store.
    """

    value: View | Expression
    mask: View | Expression
    versions: tuple[tuple[BufferValue, int], ...] = ()

    @property
    def is_stale(self) -> bool:
        return any(buffer.version != version for buffer, version in self.versions)


@record(eq=False)
class TupleValue:
    """A tuple or a list of values. A list counts as a tuple if it is only iterated or unpacked.

    `path` is where the caller has the tuple, if it is one of the caller's.
    """

    items: tuple[Abstract, ...]
    is_list: bool = False
    path: tuple[str, ...] | None = None


@record(eq=False)
class RangeValue:
    """`range(start, stop, step)`."""

    start: Number
    stop: Number
    step: Number


@record(eq=False)
class Iteration:
    """`enumerate`, `zip` or `reversed` of something."""

    name: str
    over: tuple[Abstract, ...]
    start: Number | None = None


@record(eq=False)
class SliceValue:
    """A slice in an index."""

    start: Abstract | None
    stop: Abstract | None
    step: Abstract | None


@record(eq=False)
class MethodValue:
    """A method of a value, not called yet."""

    of: Abstract
    name: str


class FunctionFrame:
    """The variables of one function while its statements are lowered. Those of its caller wait in `env`."""

    __slots__ = ("env", "is_done", "names")

    def __init__(self, names: Callable[[str], Abstract | None]) -> None:
        self.names = names  # finds what is not a variable of the function
        self.env: Environment = {}
        self.is_done = False


@record(eq=False)
class FunctionValue:
    """A function that a `def` or `lambda` in the lowered statements has made.

    The defaults in its signature are values.
    """

    name: str
    node: ast.FunctionDef | ast.Lambda
    signature: Signature
    body: tuple[ast.stmt, ...]
    frame: FunctionFrame  # of the function that made it, whose variables it reads


@record(eq=False)
class Unset:
    """A variable that may have no value here, and why. `kinds` are those of two numbers that can't be one variable."""

    name: str
    kinds: tuple[NumberKind, ...] = ()


Abstract = Union[
    Number, View, Expression, Selected, TupleValue, RangeValue, Iteration, SliceValue, MethodValue, FunctionValue,
    Known, Unset,
]  # fmt: skip
Environment = dict[str, Any]
