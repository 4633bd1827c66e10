"""Turn the return value of a traced function into the graph's outputs and their structure.

The graph's attribute `results` tells for each output whether NumPy would return a scalar or an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.builder import is_number_result, is_scalar_result
from ...ir.dtypes import F64
from ...ir.errors import Span, TraceProblem, type_of
from ...ir.graph import Graph, Node, Value
from ...ir.ops import BROADCAST, CAST, GATHER, NUMPY
from ...ir.source import Place, Structure, rebuilt
from ..maker import Maker
from .symbolic import TracedSize
from .trace import Trace
from .tracer import READ_ONLY, VIEW, Tracer, viewed

FIXED = (str, bytes, type, np.dtype, np.iinfo, np.finfo, slice, range, type(...))  # results that never change
Updates = tuple[tuple[int, int], ...]


def finish(
    trace: Trace, arguments: Sequence[Tracer], returned: Any, span: Span | None, strict: bool = False
) -> tuple[Graph, Structure, Updates]:
    """Finish a trace: return its graph, the structure of its results, and the outputs that change arguments.

    With `strict`, results that share memory are refused, and Python's numbers stay Python's.
    """
    pairs: list[tuple[Value, str]] = []
    changed: dict[int, Place] = {}  # by the tracer of the argument
    updates: list[tuple[int, int]] = []
    for k, (argument, given) in enumerate(zip(arguments, trace.builder.inputs, strict=False)):
        if argument.value is not given:
            changed[id(argument)] = Place(len(pairs))
            updates.append((k, len(pairs)))
            pairs.append((argument.value, "array"))

    bases: set[Any] = {pairs[place][0] for _, place in updates}  # what results may not share memory with

    def leaf(part: Any) -> Any:
        if part is None or (issubclass(type(part), FIXED) if strict else isinstance(part, FIXED)):
            return part
        if strict and type(part) in (bool, int, float, complex):
            return part
        if id(part) in changed:
            return changed[id(part)]
        if strict and isinstance(part, Tracer):
            _refuse_shared(trace, part, bases, span)
        value, kind = _output(trace, part, span)
        is_own = strict and (_is_python_number(part) or _is_python_complex(trace, value))
        pairs.append((value, "number" if is_own else kind))
        return Place(len(pairs) - 1)

    tree = rebuilt(returned, leaf)
    trace.builder.attrs["results"] = tuple(kind for _, kind in pairs)
    trace.close()
    structure = Structure("tree", tree) if updates else _structure(tree)
    return trace.builder.finish([value for value, _ in pairs]), structure, tuple(updates)


def _structure(tree: Any) -> Structure:
    if isinstance(tree, Place):
        return Structure()
    flat = type(tree) is tuple and tree and all(isinstance(item, Place) for item in tree)
    return Structure("tuple") if flat else Structure("tree", tree)


def _output(trace: Trace, part: Any, span: Span | None) -> tuple[Value, str]:
    """Return a value of strong dtype, and what NumPy would return: an array, a scalar, or a Python number."""
    if not isinstance(part, (Tracer, TracedSize, np.ndarray, np.generic, bool, int, float, complex)):
        raise TraceProblem(
            f"the function must return arrays and numbers, not {type_of(part)}", span,
            "tuples, lists and dicts of them work too",
        )  # fmt: skip
    number = not isinstance(part, (Tracer, np.ndarray))
    maker = Maker(trace.builder, span)
    value = trace.owned(part, span) if isinstance(part, Tracer) else maker.lift(trace.operand(part, False, span))
    if is_number_result(value):
        return value, "number"
    scalar = number or value.type.dtype.weak or is_scalar_result(value)
    return maker.cast(value, value.type.dtype.strong), "scalar" if scalar else "array"


def _is_python_complex(trace: Trace, value: Value) -> bool:
    """Tell whether Python itself computes a number, as in `1j * x.sum()`: an np.float64 is a float to Python's
    complex.
    """
    while value.node is not None and value.node.op is CAST and value not in trace.numpys:
        value = value.node.operands[0]
    node = None if value in trace.numpys else value.node
    if node is None or node.op.name not in ("add", "sub", "mul") or value.type.rank:
        return False
    left, right = (operand.type.dtype for operand in node.operands)
    if not (left.weak and left.kind == "complex") and not _is_python_complex(trace, node.operands[0]):
        return False
    is_scalar = right == F64 and is_scalar_result(node.operands[1])
    return is_scalar or right.weak or _is_python_complex(trace, node.operands[1])


def refuse_same_containers(trace: Trace, outside: Iterable[Any], returned: Any, span: Span | None) -> None:
    """Refuse a result with a list, tuple or dict from outside, or with one twice: the call would return copies."""
    known = {id(each) for each in _containers(tuple(outside))}
    for each in _containers(returned):
        if id(each) in known:
            trace.refuse(TraceProblem(f"the result has {type_of(each)} that is used elsewhere, too", span))
        known.add(id(each))


def _containers(tree: Any) -> Iterator[Any]:
    """List nested lists, tuples and dicts. There is only one empty tuple."""
    if type(tree) in (list, dict) or (issubclass(type(tree), tuple) and len(tree)):
        yield tree
        for item in tree.values() if type(tree) is dict else tree:
            yield from _containers(item)


def _refuse_shared(trace: Trace, part: Tracer, bases: set[Any], span: Span | None) -> None:
    """Refuse a result that shares memory with an argument, or with another result."""
    value = part.value
    if not value.type.rank and (value.type.dtype.weak or is_scalar_result(value)):
        return
    if part._shared == READ_ONLY:
        trace.refuse(TraceProblem("the result is read-only", span))
    chain = viewed(value) if part._shared == VIEW else [value]
    node = chain[-1].node
    is_outer = node is None or (part._shared == VIEW and (node.op is NUMPY or _is_part(node)))
    if is_outer or chain[-1] in bases or any(v.node is not None and v.node.op is BROADCAST for v in chain[:-1]):
        trace.refuse(TraceProblem("the result shares memory with an argument or another result", span))
    bases.add(chain[-1])


def _is_part(node: Node) -> bool:
    """Tell whether NumPy makes a view here: `x[n]` for a number that is not known when tracing."""
    return node.op is GATHER and not any(index.type.rank for index in node.operands[1:])


def _is_python_number(part: Any) -> bool:
    """Tell whether Python would return one of its own numbers."""
    if issubclass(type(part), TracedSize):
        return True
    return isinstance(part, Tracer) and (part.value.type.dtype.weak or part.__class__ is bool)
