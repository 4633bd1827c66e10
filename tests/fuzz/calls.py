"""Check one traced call on actual operands against NumPy.

The tolerance follows from the nodes that the call made. Exact nodes must give every bit, except where NumPy itself
leaves it open. One mathematical op has its own bound. If sums or several functions are involved, the bound is the
rounding of that many operations on numbers of that size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from weft.backends import stated
from weft.frontend.tracing.callables import Method
from weft.ir.graph import Node, Value
from weft.ir.ops import CAST, NUMPY, SCAN, Trait

from ..differential.comparing import same_numbers
from . import bounds
from .meanings import ACCUMULATING, is_inexact
from .recording import Call

Array = np.ndarray[Any, Any]
# Of two equal zeros NumPy takes one or the other, by the path that it runs on.
ZEROS = frozenset(("minimum", "maximum", "min", "max", "fmin", "fmax", "reduce_fmin", "reduce_fmax"))
ROUNDINGS = 64  # of a few functions in a row


def check_call(call: Call, known: Mapping[Value, Any], sizes: Mapping[str, int]) -> None:
    """Check that NumPy gives the same as Weft for the operands that Weft has."""
    if any(n.op is NUMPY for n in call.nodes):
        return  # it is NumPy's own result
    name = getattr(call.function, "__name__", getattr(call.function, "name", "call"))
    expected = call.run(known, sizes)
    assert len(expected) == len(call.results), f"{name} gives {len(call.results)} values for {len(expected)}"
    for value, numpys in zip(call.results, expected, strict=True):
        found = np.asarray(known[value])
        try:
            _compare(call, value, found, numpys, known)
        except AssertionError as error:
            operands = [_shown(known[v]) for v in _values(call)]
            raise AssertionError(f"{name} of {', '.join(operands)}: {error}") from error


def _compare(call: Call, value: Value, found: Array, numpys: Any, known: Mapping[Value, Any]) -> None:
    expected = np.asarray(numpys)
    assert found.dtype == expected.dtype.newbyteorder("="), f"dtype {found.dtype} for {expected.dtype}"
    assert found.shape == expected.shape, f"shape {found.shape} for {expected.shape}"
    inexact = [n for n in call.nodes if _is_inexact(n)]
    if not inexact or found.dtype.kind in "biu":
        if any(_loses_range(n) for n in call.nodes):
            _same_in_range(call, found, expected, known)
        else:
            same_numbers(found, expected, zero_signs=not any(_chooses(n) for n in call.nodes))
        return
    if len(inexact) == 1 and isinstance(inexact[0].op.numpy, np.ufunc) and inexact[0].result is value:
        node = inexact[0]
        compute, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
        if all(v in known for v in node.operands):
            operands = [np.asarray(known[v]).astype(d.numpy) for v, d in zip(node.operands, compute, strict=True)]
            assert isinstance(node.op.numpy, np.ufunc)
            bounds.check_function(node.op.numpy, operands, found)
            return
    _near(call, found, expected, known)


def _is_inexact(node: Node) -> bool:
    if Trait.ELEMENTWISE in node.op.traits:
        return is_inexact(node.op, tuple(v.type.dtype for v in node.operands), node.result.type.dtype)
    accumulates = node.op.name in (*ACCUMULATING, "matmul")
    accumulates |= node.op is SCAN and node.attrs["combine"] in ("add", "mul")
    return accumulates and node.result.type.dtype.kind in ("float", "complex")


def _chooses(node: Node) -> bool:
    return (str(node.attrs["combine"]) if node.op is SCAN else node.op.name) in ZEROS


def _loses_range(node: Node) -> bool:
    """Tell whether a float may be out of range for an integer, in which case NumPy may give anything."""
    given = node.operands[0].type.dtype.kind if node.op is CAST else ""
    return given in ("float", "complex") and node.result.type.dtype.is_integer


def _same_in_range(call: Call, found: Array, expected: Array, known: Mapping[Value, Any]) -> None:
    """Compare with Weft's stated rule if the call is only a conversion, else only where everything is in range.

    The mean of an empty array is NaN, which is never in range.
    """
    values = _values(call)
    name = call.function.name if isinstance(call.function, Method) else getattr(call.function, "__name__", "")
    if name == "astype" and len(values) == 1:
        expected = stated.cast(np.asarray(known[values[0]]), found.dtype)
    elif any(not np.size(known[v]) or np.any(~(np.abs(np.asarray(known[v])) < 100)) for v in values):
        return
    same_numbers(found, np.asarray(expected))


def _near(call: Call, found: Array, expected: Array, known: Mapping[Value, Any]) -> None:
    """Check that results are within the rounding of as many operations as there are elements of that size."""
    with np.errstate(all="ignore"):
        floats = [np.abs(np.asarray(known[v])).astype(np.longdouble) for v in _values(call)]
        largest = max((x.max(initial=0, where=np.isfinite(x)) for x in floats), default=np.longdouble(0))
        count = max((x.size for x in floats), default=1)
        info = np.finfo(np.float32 if found.dtype.itemsize == 2 else found.dtype)
        eps = info.eps if found.dtype.itemsize > 2 else 2.0**-8
        a, b = (x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) for x in (found, expected))
        reach, limit = np.maximum(count * largest, largest**2), np.sqrt(np.longdouble(info.max))
        scale = np.maximum(np.abs(b), reach)
        wrong = (scale < limit) & np.isfinite(b) & ~(np.abs(a - b) <= (count + ROUNDINGS) * eps * scale)
        if any(n.op.name == "prod" or n.attrs.get("combine") == "mul" for n in call.nodes):
            # A product of large and small numbers may leave the range on the way or not, as the order of steps has it.
            spread = sum(np.abs(np.log2(x, where=x > 0, out=np.zeros_like(x))).sum() for x in floats)
            wrong &= spread < info.maxexp - 4
            limit = limit if spread < info.maxexp - 4 else np.longdouble(0)
        # Where nothing is infinite or becomes so on the way, NaN comes from operands and not from the order of steps.
        if reach < limit and not any(np.isinf(x).any() for x in floats):
            wrong |= np.isnan(a) != np.isnan(b)
    if wrong.any():
        at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))
        raise AssertionError(f"first at {at}: {np.atleast_1d(found)[at]!r} for {np.atleast_1d(expected)[at]!r}")


def _values(call: Call) -> list[Value]:
    """The values that a call reads."""
    found: list[Value] = []

    def search(tree: Any) -> None:
        if isinstance(tree, Value) and tree not in found:
            found.append(tree)
        elif isinstance(tree, (tuple, list)):
            for x in tree:
                search(x)
        elif isinstance(tree, dict):
            search(tuple(tree.values()))

    search((call.args, dict(call.kwargs)))
    return found


def _shown(x: Any) -> str:
    if isinstance(x, (np.ndarray, np.generic)):
        return f"{x.dtype}{list(x.shape)}"
    return repr(x)
