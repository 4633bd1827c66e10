"""Inline a kernel that is called with traced values into their trace.

The kernel is bound as in a call with arrays, so that a wrong argument gives the same error. Sizes that must be equal
become guards of the trace.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ir.dims import Size
from ...ir.errors import Span, Unsupported, WeftError
from ...ir.graph import Graph, Value, graph_guards
from ...ir.loops import body_of, walk
from ...ir.ops import LOOP, NUMPY
from ...ir.records import record
from ...ir.source import ArgType, Binding, KernelSource, taken_by
from ...ir.support.pickles import token
from ...ir.types import TensorType
from ..maker import Maker
from ..numpy.shapes import broadcast_to
from .symbolic import TracedSize
from .tracer import Tracer

if TYPE_CHECKING:
    from .trace import Trace


@record
class KernelCall:
    """A call of a kernel that a trace can apply; the arguments are in the order of its parameters."""

    source: KernelSource

    def __dask_tokenize__(self) -> Any:
        return token(self.source)


def inline(trace: Trace, source: KernelSource, args: Sequence[Any], span: Span | None) -> Any:
    """Inline a kernel into a trace and return its results."""
    maker = Maker(trace.builder, span)
    names, _, sizes = taken_by(source)
    operands = [
        _sized(maker, x) if name in sizes else maker.lift(trace.operand(x, True, span))
        for name, x in zip(names, args, strict=True)
    ]
    try:
        binding = source.bind([_argument(trace, value) for value in operands])
        operands = [maker.cast(v, t.dtype) for v, t in zip(operands, binding.types, strict=True)]
        built = source.build(_placed(trace, binding, operands), None)
    except WeftError as error:
        error.span = error.span or span
        raise
    if built.hidden:
        raise Unsupported(
            f"'{source.name}' reads arrays from outside and can't be inlined",
            span,
            "call it outside the function, or pass the arrays as arguments",
        )
    first = trace.add_calls(built.calls)
    results = [Tracer(trace, value) for value in _spliced(trace, built.graph, operands, first, span)]
    return results[0] if len(results) == 1 else tuple(results)


def _sized(maker: Maker, x: Any) -> Value:
    """Return an array for a size that was passed as a number; nothing reads its elements."""
    size = x.dim if isinstance(x, TracedSize) else operator.index(x)
    return broadcast_to(maker, maker.lift(False), (size,))


def _argument(trace: Trace, value: Value) -> ArgType:
    """Return the argument that a value stands for; unknown sizes count as equal."""
    numbers = [trace.builder.facts.number(size) for size in value.type.shape]
    return ArgType(value.type.dtype, tuple(0 if n is None else n for n in numbers))


def _placed(trace: Trace, binding: Binding, operands: Sequence[Value]) -> Binding:
    """Translate the binding to the sizes of the trace; sizes with the same name in the kernel become one."""
    facts = trace.builder.facts
    named: dict[Size, Size] = {}
    for declared, value in zip(binding.types, operands, strict=True):
        for size, ours in zip(declared.shape, value.type.shape, strict=True):
            wanted = size if isinstance(size, int) else named.setdefault(size, ours)
            if not facts.same(wanted, ours):
                facts.assume_equal(wanted, ours)
    types = (TensorType(v.type.dtype, tuple(map(facts.canonical, v.type.shape))) for v in operands)
    return Binding(tuple(types), trace.sizes)


def _number_calls(body: Graph, first_call: int) -> None:
    """Renumber the calls in a loop's body, which is reused in the new graph."""
    for node in walk(body):
        if node.op is NUMPY and isinstance(number := node.attrs.get("call"), int):
            node.attrs = {**node.attrs, "call": first_call + number}


def _spliced(trace: Trace, graph: Graph, operands: Sequence[Value], first_call: int, span: Span | None) -> list[Value]:
    builder = trace.builder
    for left, right in graph_guards(graph):
        builder.facts.assume_equal(left, right)
    values = dict(zip(graph.inputs, operands, strict=True))
    for node in graph:
        attrs = dict(node.attrs)
        if node.op is NUMPY and isinstance(number := attrs.get("call"), int):
            attrs["call"] = first_call + number
        if node.op is LOOP:
            _number_calls(body_of(node), first_call)
        inputs = [values[v] for v in node.operands]
        made = builder.node(node.op, inputs, attrs, node.span or span, node.body, tuple(r.type for r in node.results))
        values.update(zip(node.results, made.results, strict=True))
    return [values[v] for v in graph.outputs]
