"""Turn calls without an op into `numpy` nodes, which NumPy runs between two compiled pieces.

The dtypes and ranks of the results don't follow from types, so each call runs once at trace time on the values of the
current call. The sizes of its results become new symbols. The callable and its fixed arguments are stored next to the
graph; the node's attribute `call` is their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.builder import is_scalar_result
from ...ir.dims import data_name
from ...ir.dtypes import from_numpy
from ...ir.errors import Span, TraceProblem, TypeProblem, Unsupported, type_of
from ...ir.graph import Graph, Value
from ...ir.ops import NUMPY
from ...ir.records import record, replace
from ...ir.source import Evaluate
from ...ir.types import TensorType
from .callables import Method, dotted
from .symbolic import TracedSize
from .tracer import VIEW, Tracer, share

if TYPE_CHECKING:
    from .trace import Trace

MOST_STEPS = 8  # of a loop with a call of NumPy's that are traced


@record
class Slot:
    """The place of an operand among the arguments of a call."""

    index: int


@record
class NumpyCall:
    """Calls a NumPy function with its fixed arguments on operands, and returns a tuple of arrays."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    kinds: tuple[str, ...]  # what NumPy would see for each operand: "array", "scalar" or "number"
    returned: Any = None  # the classes of what it returned when it was traced: one, or a pair of a class and its items

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        return tuple(np.asarray(part) for part in _parts(self.run(*operands)))

    def run(self, *operands: Any) -> Any:
        """Run the function and return its own result."""
        given = [_as_kind(x, kind) for x, kind in zip(operands, self.kinds, strict=True)]
        with np.errstate(all="ignore"):
            return self.function(*_filled(self.args, given), **_filled(dict(self.kwargs), given))


class Fallback:
    """Makes the `numpy` nodes of a trace, and keeps the values that are known while it runs."""

    def __init__(self, trace: Trace, evaluate: Evaluate | None) -> None:
        self._trace = trace
        self._evaluate = evaluate
        self.known: dict[Value, Any] = {}
        self.failure: Exception | None = None  # the last error of a call, and where it was raised
        self.failed_at: Span | None = None
        self.calls: list[Callable[..., tuple[Any, ...]]] = []
        self._swapped: dict[Value, Value | None] = {}  # results in another byte order, and their native copies
        self._repeated: Counter[Span | None] = Counter()

    @property
    def runs(self) -> bool:
        """Whether the values of the current call are known."""
        return self._evaluate is not None

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], span: Span | None
    ) -> Any:
        """Record a call that NumPy runs, and return its results."""
        name = dotted(function)
        self._demand_few(name, span)
        kwargs = {key: x for key, x in kwargs.items() if key != "overwrite_input"}  # it permits, and asks for nothing
        operands: list[Value] = []
        made = NumpyCall(
            function,
            tuple(self._template(x, operands, span) for x in args),
            {key: self._template(x, operands, span) for key, x in kwargs.items()},
            (),
        )
        made = replace(made, kinds=tuple(map(_kind, operands)))
        try:
            result, is_view = self._first_run(made, name, operands, span)
        except Exception as error:
            self.failure, self.failed_at = error, span
            raise
        parts = _parts(result)
        types = tuple(self._type(part, name, i, span) for i, part in enumerate(parts))
        attrs: dict[str, Any] = {"function": name, "call": len(self.calls), "from_data": True}
        if scalars := tuple(k for k, part in enumerate(parts) if not isinstance(part, np.ndarray)):
            attrs["scalars"] = scalars
        if numbers := tuple(k for k, part in enumerate(parts) if type(part) in (bool, int, float, complex)):
            attrs["numbers"] = numbers
        node = self._trace.builder.node(NUMPY, operands, attrs, span, types=types)
        self.calls.append(replace(made, returned=_classes(result)))
        for value, part in zip(node.results, parts, strict=True):
            self.known[value] = array = np.asarray(part)
            if not array.dtype.isnative:
                self._swapped[value] = None
        if is_view:
            share((args, tuple(kwargs.values())))
        shared = VIEW if is_view else ""
        return _rebuilt(result, iter([Tracer(self._trace, value, shared) for value in node.results]))

    def _demand_few(self, name: str, span: Span | None) -> None:
        """Refuse to trace the many steps of a loop with a call that NumPy runs, if Python can run the loop.

        Each step would be traced, and computed from the beginning because NumPy needs actual values.
        """
        self._repeated[span] += 1
        if self._trace.is_strict and span is not None and self._repeated[span] > MOST_STEPS:
            raise TraceProblem(f"'{name}' is called by NumPy in a loop of more than {MOST_STEPS} steps", span)

    def is_swapped(self, value: Value) -> bool:
        """Tell whether a value is a result of NumPy in another byte order, as of `x.astype(">f8")`."""
        return value in self._swapped

    def native(self, value: Value, span: Span | None) -> Value:
        """Return a value in the machine's byte order, which is the only one that ops give."""
        if value not in self._swapped:
            return value
        found = self._swapped[value]
        if found is None:
            made = self.call(Method("astype"), (Tracer(self._trace, value), value.type.dtype.numpy), {}, span)
            self._swapped[value] = found = made.value
        return found

    def _template(self, x: Any, operands: list[Value], span: Span | None) -> Any:
        """Replace the parts of an argument that are traced or read at each call by slots."""
        if isinstance(x, (Tracer, np.ndarray)):
            value = self._trace.owned(x, span) if isinstance(x, Tracer) else self._trace.capture(x, span)
            if value not in operands:
                operands.append(value)
            return Slot(operands.index(value))
        if isinstance(x, TracedSize):
            return x.__index__()
        if isinstance(x, slice):
            return slice(*(self._template(part, operands, span) for part in (x.start, x.stop, x.step)))
        if isinstance(x, (list, tuple)):
            items = [self._template(item, operands, span) for item in x]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
        if isinstance(x, dict):
            return {key: self._template(item, operands, span) for key, item in x.items()}
        return x

    def _first_run(self, call: NumpyCall, name: str, operands: list[Value], span: Span | None) -> tuple[Any, bool]:
        """Run the call once; return its result and whether it shares memory with an operand."""
        actual = []
        for x in self._values(operands, name, span):
            array = np.asarray(x).view()
            array.flags.writeable = False
            actual.append(array)
        try:
            result = call.run(*actual)
            return result, any(np.may_share_memory(part, x) for part in _parts(result) for x in actual)
        except Exception as error:
            if "read-only" not in str(error) and "readonly" not in str(error):
                raise
            raise TraceProblem(
                f"'{name}' would change a traced value in place",
                span,
                "arrays do not change inside a trace; use np.where",
            ) from error

    def _values(self, wanted: list[Value], name: str, span: Span | None) -> list[Any]:
        """Compute actual values from those that are already known."""
        builder = self._trace.builder
        if self._evaluate is None or any(v not in self.known for v in builder.inputs):
            raise Unsupported(
                f"Weft has no op for '{name}', so the type of its result is only known in a call with arrays", span,
                "call the function with arrays, do this outside of it, or use functions that Weft supports",
            )  # fmt: skip
        missing = [v for v in wanted if v not in self.known]
        if missing:
            needed = _needed(missing, self.known)
            nodes = tuple(node for node in builder.nodes if node in needed)
            graph = Graph(builder.name, tuple(self.known), nodes, tuple(missing))
            found = self._evaluate(graph, list(self.known.values()), calls=self.calls)
            self.known.update(zip(missing, found, strict=True))
        return [self.known[v] for v in wanted]

    def _type(self, part: Any, name: str, position: int, span: Span | None) -> TensorType:
        if not isinstance(part, (np.ndarray, np.generic, bool, int, float, complex)):
            raise TraceProblem(
                f"'{name}' returns {type_of(part)}, which can't be part of a graph",
                span,
                "call it outside the traced function",
            )
        array = np.asarray(part)
        try:
            dtype = from_numpy(array.dtype)
        except TypeProblem as error:
            error.span = error.span or span
            raise
        label = data_name(len(self.calls), f"{name.rpartition('.')[2].strip('_')}_{position}")
        return TensorType(dtype, self._trace.symbols(label, array.shape))


def _needed(wanted: list[Value], known: Mapping[Value, Any]) -> set[Any]:
    """List the nodes between the known values and the wanted ones."""
    found: set[Any] = set()
    queue = list(wanted)
    while queue:
        value = queue.pop()
        if value in known or value.node is None or value.node in found:
            continue
        found.add(value.node)
        queue.extend(value.node.operands)
    return found


def _kind(value: Value) -> str:
    if value.type.dtype.weak:
        return "number"
    return "scalar" if is_scalar_result(value) else "array"


def _as_kind(x: Any, kind: str) -> Any:
    if kind == "array":
        return np.asarray(x)
    return np.asarray(x)[()] if kind == "scalar" else np.asarray(x).item()


def _filled(tree: Any, operands: list[Any]) -> Any:
    if isinstance(tree, Slot):
        return operands[tree.index]
    if isinstance(tree, slice):
        return slice(*(_filled(part, operands) for part in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, (list, tuple)):
        items = [_filled(item, operands) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {key: _filled(item, operands) for key, item in tree.items()}
    return tree


def _parts(result: Any) -> list[Any]:
    """List the arrays in a result: itself, or the items of a tuple or list."""
    if isinstance(result, (tuple, list)):
        return [part for item in result for part in _parts(item)]
    return [result]


def _classes(result: Any) -> Any:
    """Return the class of a result, and those of its items; None stands for an array in another byte order."""
    if isinstance(result, (tuple, list)):
        return type(result), tuple(map(_classes, result))
    return None if isinstance(result, np.ndarray) and not result.dtype.isnative else type(result)


def _rebuilt(result: Any, tracers: Any) -> Any:
    if isinstance(result, (tuple, list)):
        items = [_rebuilt(item, tracers) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return next(tracers)
