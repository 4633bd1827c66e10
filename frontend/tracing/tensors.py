"""Make a kernel source from an expression of named tensors and NumPy calls.

    x = tensor("x", "f32[n, m]")
    kernel = ExpressionKernel(np.tanh(x) + 1)

The calls are recorded, and replayed on a trace for the types of each call, so that a dimension of 1 broadcasts as in
NumPy. The arguments are in the order in which the expression first uses their tensors, read from left to right, unless
the caller gives another order. Types are inferred at once if that needs no arrays, so that an error points at the line
of the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.errors import Span, TypeProblem, UnknownName, Unsupported, ValueProblem, nearest
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.records import record
from ...ir.source import ArgType, Binding, Built, Evaluate
from ...ir.support.pickles import token
from ...ir.types import TensorType
from .locate import here
from .outputs import finish
from .symbolic import TracedSize, sized
from .trace import Trace
from .tracer import Error, Tracer
from .type_text import bound, parsed


@record(eq=False)
class TensorLeaf:
    """A named tensor."""

    name: str
    type: TensorType
    span: Span | None


@record(eq=False)
class Applied:
    """A recorded call on expressions."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    span: Span | None


@record(eq=False)
class TensorPart:
    """The record behind an expression: a whole record, or one result of a call with several."""

    of: TensorLeaf | Applied
    index: int | None = None


def tensor(name: str, type: str) -> Tracer:
    """Make a tensor called `name`; `type` is text such as `f32[n, m]`, or `f32` for a scalar."""
    span = here()
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueProblem(
            f"the name of a tensor must be an identifier, not {name!r}", span, "choose a name such as 'x'"
        )
    found = parsed(type, span)
    return Tracer(_RECORDER, Value(found, name=name), f"the tensor '{name}'", TensorPart(TensorLeaf(name, found, span)))


class ExpressionRecorder:
    """Records calls. Each call is tried on a separate trace to find the types of its results."""

    @property
    def builder(self) -> Builder:
        """A fresh builder: sizes are not known before a call, and nothing is kept."""
        return Builder("expression", Facts())

    def noted(self, error: Error) -> Error:
        """Return the error as it is: an expression does not depend on how the user handles it."""
        return error

    def apply(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Record a call; the types of its results stay open if only NumPy can find them."""
        record = Applied(function, args, kwargs, here())
        trace = Trace(self.builder, {})
        try:
            made = trace.apply(function, *_mapped((args, dict(kwargs)), lambda x: _tried(trace, x)))
        except Unsupported:
            return Tracer(self, None, record=TensorPart(record))
        if isinstance(made, (tuple, list)):
            return type(made)(Tracer(self, t.value, t._shared, TensorPart(record, i)) for i, t in enumerate(made))
        return Tracer(self, made.value, made._shared, TensorPart(record))

    def is_python_bool(self, value: Value) -> bool:
        return False

    def need(self, value: Value) -> None:
        """Do nothing: an expression has no call whose numbers could be fixed."""

    def leave_store(self, target: Any, value: Any, is_fine: bool) -> None:
        """Do nothing: an expression changes no array."""

    def leave_text(self) -> None:
        """Do nothing: the text of an expression is its type."""

    def leave_numbers(self, function: Callable[..., Any], value: Any) -> None:
        """Do nothing: an expression's numbers are arrays without dimensions."""

    @property
    def changes_arguments(self) -> bool:
        return False


_RECORDER = ExpressionRecorder()


def _tried(trace: Trace, x: Any) -> Any:
    """Make an operand for a trace that only infers types."""
    if isinstance(x, Tracer) and x._record is not None:
        return Tracer(trace, x.value, x._shared)
    return TracedSize(trace, x.dim) if isinstance(x, TracedSize) else x


class ExpressionKernel:
    """An expression, or a tuple, list or dict of them, as a `KernelSource`."""

    def __init__(
        self,
        expression: Any,
        name: str = "expression",
        evaluate: Evaluate | None = None,
        arguments: Sequence[str | Tracer] | None = None,
    ) -> None:
        self.name = name
        self.expression = expression
        self.evaluate = evaluate
        self._records = _ordered(_roots(expression))
        self._leaves = _leaves(self._records)
        if arguments is not None:
            self._leaves = _arranged(self._leaves, arguments)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self._leaves)

    @property
    def shown_parameters(self) -> tuple[str, ...]:
        """The arguments with their types, such as `x: f32[n]`."""
        return tuple(f"{name}: {leaf.type}" for name, leaf in self._leaves.items())

    def __reduce__(self) -> Any:
        """Reduce to the list of records, in which tensors stand for one another by number: no recursion."""
        records = self._records + [leaf for leaf in self._leaves.values() if leaf not in self._records]
        numbers = {record: k for k, record in enumerate(records)}

        def flat(x: Any) -> Any:
            if isinstance(x, TracedSize):
                return _PickledSize(x.dim)
            if not isinstance(x, Tracer) or x._record is None:
                return x
            return _PickledTensor(numbers[x._record.of], x._record.index)

        listed = [
            r if isinstance(r, TensorLeaf) else (r.function, *_mapped((r.args, dict(r.kwargs)), flat), r.span)
            for r in records
        ]
        return _unpickled, (listed, _mapped(self.expression, flat), self.name, self.evaluate, self.parameters)

    def __dask_tokenize__(self) -> Any:
        listed, expression, *rest = self.__reduce__()[1]
        records = [(r.name, str(r.type)) if isinstance(r, TensorLeaf) else r[:3] for r in listed]
        return token(records, expression, *rest)

    def captures(self) -> tuple[Any, ...]:
        """Return nothing: an expression reads nothing from outside."""
        return ()

    def bind(self, args: Sequence[ArgType]) -> Binding:
        return bound(self.name, {name: leaf.type for name, leaf in self._leaves.items()}, args)

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        sizes = dict(binding.sizes)
        builder = Builder(self.name, Facts(sizes if args is not None else None))
        trace = Trace(builder, sizes, self.evaluate)
        inputs: dict[str, Tracer] = {}
        known: dict[str, Size] = {}
        for i, (leaf, type_) in enumerate(zip(self._leaves.values(), binding.types, strict=True)):
            scalar = args is not None and isinstance(args[i].value, np.generic)
            value = builder.input(leaf.name, type_, scalar)
            inputs[leaf.name] = Tracer(trace, value)
            known.update(zip(map(str, leaf.type.shape), type_.shape, strict=True))
            if args is not None and args[i].value is not None:
                trace.know(value, args[i].value)
        made = _replayed(trace, self._records, inputs, known)
        graph, structure, _ = finish(trace, (), _mapped(self.expression, made), None)
        return Built(graph, tuple(trace.hidden), trace.calls, structure, lazy=tuple(trace.lazy))


@record
class _PickledTensor:
    """An expression in a pickle: the number of its record, and which of its results."""

    number: int
    index: int | None


@record
class _PickledSize:
    """A size in a pickle."""

    dim: Any


def _unpickled(
    listed: list[Any], expression: Any, name: str, evaluate: Evaluate | None, parameters: tuple[str, ...]
) -> ExpressionKernel:
    records: list[TensorLeaf | Applied] = []

    def made(x: Any) -> Any:
        if isinstance(x, _PickledSize):
            return TracedSize(_RECORDER, x.dim)
        if isinstance(x, _PickledTensor):
            return Tracer(_RECORDER, None, record=TensorPart(records[x.number], x.index))
        return x

    for each in listed:
        if isinstance(each, TensorLeaf):
            records.append(each)
            continue
        function, args, kwargs, span = each
        records.append(Applied(function, _mapped(args, made), _mapped(kwargs, made), span))
    leaves = {leaf.name: leaf for leaf in records if isinstance(leaf, TensorLeaf)}
    arguments = [Tracer(_RECORDER, None, record=TensorPart(leaves[each])) for each in parameters]
    return ExpressionKernel(_mapped(expression, made), name, evaluate, arguments)


def _replayed(
    trace: Trace, records: list[TensorLeaf | Applied], inputs: Mapping[str, Tracer], known: Mapping[str, Size]
) -> Callable[[Any], Any]:
    """Replay the recorded calls and return the value of an expression."""
    results: dict[TensorLeaf | Applied, Any] = {}

    def become(x: Any) -> Any:
        if type(x) is TracedSize:
            return sized(trace, dims.substitute(x.dim, known))
        if type(x) is not Tracer or x._record is None:
            return x
        found = results[x._record.of]
        return found if x._record.index is None else found[x._record.index]

    for each in records:
        if isinstance(each, TensorLeaf):
            results[each] = inputs[each.name]
            continue
        args, kwargs = _mapped((each.args, dict(each.kwargs)), become)
        trace.at = each.span
        results[each] = trace.apply(each.function, args, kwargs)
    trace.at = None
    return become


def _mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Change the leaves of a tree of arguments."""
    if type(tree) is slice:
        return slice(*(_mapped(part, change) for part in (tree.start, tree.stop, tree.step)))
    if type(tree) in (tuple, list):
        return type(tree)(_mapped(item, change) for item in tree)
    if type(tree) is dict:
        return {key: _mapped(item, change) for key, item in tree.items()}
    return change(tree)


def _expressions(tree: Any) -> Iterator[Tracer]:
    found: list[Tracer] = []
    _mapped(tree, lambda x: found.append(x) if isinstance(x, Tracer) else None)
    yield from found


def _roots(expression: Any) -> list[Tracer]:
    parts = list(expression.values()) if type(expression) is dict else expression
    parts = list(parts) if isinstance(parts, (tuple, list)) else [parts]
    if not parts or not all(isinstance(part, Tracer) and part._record is not None for part in parts):
        raise TypeProblem(
            "expected an expression made from weft.tensor(...), or a tuple, list or dict of expressions", here(),
            "start from x = weft.tensor('x', 'f32[n]'), as in np.tanh(x) + 1",
        )  # fmt: skip
    return parts


def _ordered(roots: list[Tracer]) -> list[TensorLeaf | Applied]:
    """List all records, each after those it needs. This is a loop, because expressions may be deep."""
    done: dict[TensorLeaf | Applied, None] = {}
    stack: list[tuple[TensorLeaf | Applied, bool]] = [(root._record.of, False) for root in reversed(roots)]
    while stack:
        record, expanded = stack.pop()
        if record in done:
            continue
        if expanded or isinstance(record, TensorLeaf):
            done[record] = None
            continue
        stack.append((record, True))
        needed = _expressions((record.args, dict(record.kwargs)))
        stack.extend((x._record.of, False) for x in reversed(list(needed)))
    return list(done)


def _leaves(records: list[TensorLeaf | Applied]) -> dict[str, TensorLeaf]:
    """Collect the tensors by name, in order of first use."""
    found: dict[str, TensorLeaf] = {}
    for leaf in (r for r in records if isinstance(r, TensorLeaf)):
        _same_type(found.setdefault(leaf.name, leaf), leaf)
    return found


def _arranged(leaves: Mapping[str, TensorLeaf], arguments: Sequence[str | Tracer]) -> dict[str, TensorLeaf]:
    """Put the tensors into the caller's order; tensors that the expression does not use are arguments, too."""
    found: dict[str, TensorLeaf] = {}
    for argument in (arguments,) if isinstance(arguments, (str, Tracer)) else arguments:
        leaf = _argument(leaves, argument)
        if leaf.name in found:
            raise ValueProblem(f"'{leaf.name}' appears twice in the arguments", here())
        found[leaf.name] = leaf
    if missing := [name for name in leaves if name not in found]:
        raise ValueProblem(f"the expression uses '{missing[0]}', which is not among the arguments", here())
    return found


def _argument(leaves: Mapping[str, TensorLeaf], argument: object) -> TensorLeaf:
    if isinstance(argument, str):
        if argument not in leaves:
            raise UnknownName(f"the expression has no tensor '{argument}'", here(), nearest(argument, list(leaves)))
        return leaves[argument]
    leaf = argument._record.of if isinstance(argument, Tracer) and argument._record is not None else None
    if not isinstance(leaf, TensorLeaf):
        raise TypeProblem("'arguments' must be tensors or their names", here(), "arguments=('x', 'y')")
    _same_type(leaves.get(leaf.name, leaf), leaf)
    return leaf


def _same_type(first: TensorLeaf, leaf: TensorLeaf) -> None:
    if first.type != leaf.type:
        raise TypeProblem(
            f"two tensors are called '{leaf.name}': {first.type} and {leaf.type}", leaf.span, "rename one of them"
        )
