"""Build expressions by hand: named tensors and NumPy calls on them, as a kernel source.

    x = tensor("x", "f32[n, m]")
    kernel = ExpressionKernel(np.tanh(x) + 1)

The calls are recorded, and made again on a trace for the types of each call, so a dimension that is 1 there broadcasts
as in NumPy. Arguments come in the order in which the expression first uses their tensors, read from left to right, or
as the caller says. Types of parts are inferred at once where that needs no arrays, so that a mistake is shown at its
own line.
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
    """A call on expressions, as it was made."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    span: Span | None


@record(eq=False)
class TensorPart:
    """What an expression is: all of a record, or one of the results of a call that has several."""

    of: TensorLeaf | Applied
    index: int | None = None


def tensor(name: str, type: str) -> Tracer:
    """A tensor called `name`; the type reads `f32[n, m]`, or `f32` for a scalar."""
    span = here()
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueProblem(
            f"the name of a tensor must be an identifier, not {name!r}", span, "choose a name such as 'x'"
        )
    found = parsed(type, span)
    return Tracer(_RECORDER, Value(found, name=name), f"the tensor '{name}'", TensorPart(TensorLeaf(name, found, span)))


class ExpressionRecorder:
    """Records calls. Each is tried on a trace of its own, for the types of its results."""

    @property
    def builder(self) -> Builder:
        """Nothing is known about sizes before a call, and nothing is kept."""
        return Builder("expression", Facts())

    def noted(self, error: Error) -> Error:
        """Nothing of an expression depends on what the user does with an error."""
        return error

    def apply(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The expression for a call; its types are left open where only NumPy can tell them."""
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
        """An expression has no call whose numbers could be fixed."""

    @property
    def changes_arguments(self) -> bool:
        return False


_RECORDER = ExpressionRecorder()


def _tried(trace: Trace, x: Any) -> Any:
    """An operand of a trace that only infers types."""
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
        """The arguments with their types, as `x: f32[n]`."""
        return tuple(f"{name}: {leaf.type}" for name, leaf in self._leaves.items())

    def captures(self) -> tuple[Any, ...]:
        """Nothing outside of the expression guards it."""
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
        return Built(graph, tuple(trace.hidden), trace.calls, structure)


def _replayed(
    trace: Trace, records: list[TensorLeaf | Applied], inputs: Mapping[str, Tracer], known: Mapping[str, Size]
) -> Callable[[Any], Any]:
    """Makes the recorded calls again; gives what an expression has become."""
    results: dict[TensorLeaf | Applied, Any] = {}

    def become(x: Any) -> Any:
        if isinstance(x, TracedSize):
            return sized(trace, dims.substitute(x.dim, known))
        if not isinstance(x, Tracer) or x._record is None:
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
    """A tree of arguments with its leaves changed."""
    if isinstance(tree, slice):
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
    """All records, each after those that it needs; a loop, because expressions may be deep."""
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
    """Tensors by name, in the order of first use."""
    found: dict[str, TensorLeaf] = {}
    for leaf in (r for r in records if isinstance(r, TensorLeaf)):
        _same_type(found.setdefault(leaf.name, leaf), leaf)
    return found


def _arranged(leaves: Mapping[str, TensorLeaf], arguments: Sequence[str | Tracer]) -> dict[str, TensorLeaf]:
    """Tensors in the order that the caller wants; tensors that the expression does not use are arguments too."""
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
