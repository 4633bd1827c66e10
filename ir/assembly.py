"""Define the ops that number, concatenate, gather and scan elements: their rules and NumPy meanings.

`iota` numbers the elements along an axis, `concatenate` joins arrays along an axis, `gather` looks elements up by index
arrays, `scan` combines each element with all before it, `argmin` and `argmax` return the position of the smallest or
largest one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .dims import Size
from .dtypes import I64
from .errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem, quantity
from .facts import Facts
from .rules import Attrs, DTypeRule, DTypes, promote, reduced
from .types import ints, normalize_axis
from .types import sizes as sizes_of

if TYPE_CHECKING:
    from .ops import OpDef

Shapes = list[tuple[Size, ...]]


# -- iota


def index_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Return i64 for positions, whatever the array's dtype."""
    return tuple(d.strong for d in operands), (I64,)


def numbered(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    shape = tuple(sizes_of(attrs, "shape"))
    _axis(attrs, len(shape))
    return [shape]


def iota(shape: tuple[int, ...], axis: int) -> Any:
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis]).reshape(along), shape)


# -- concatenate


def joined_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Promote the pieces together."""
    if not operands:
        raise ValueProblem("need at least one array to concatenate")
    dtype = promote(operands)
    return (dtype,) * len(operands), (dtype,)


def joined(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    first = shapes[0]
    axis = _axis(attrs, len(first))
    for k, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise ShapeProblem(
                "all the input array dimensions except for the concatenation axis must match exactly, but the array at "
                f"index 0 has {len(first)} dimension(s) and the array at index {k} has {len(shape)} dimension(s)"
            )
        for other, (a, b) in enumerate(zip(first, shape, strict=True)):
            if other != axis:
                _must_match(facts, a, b, other, k)
    total: Size = 0
    for shape in shapes:  # once all that must match is known to
        total = total + facts.canonical(shape[axis])
    return [tuple(total if k == axis else facts.canonical(size) for k, size in enumerate(first))]


def _must_match(facts: Facts, a: Size, b: Size, axis: int, position: int) -> None:
    if facts.same(a, b):
        return
    left, right = facts.number(a), facts.number(b)
    differ = left is not None and right is not None and left != right
    if differ or facts.strict or (isinstance(a, int) and isinstance(b, int)):
        raise ShapeProblem(
            "all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
            f"{axis}, the array at index 0 has size {a if left is None else left} and the array at index {position} "
            f"has size {b if right is None else right}"
        )
    facts.assume_equal(a, b)


# -- gather


def looked_up_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Keep the dtype of the array; indices become i64."""
    dtype = operands[0].strong
    if not all(d.is_integer for d in operands[1:]):
        raise IndexProblem("arrays used as indices must be of integer (or boolean) type")
    return (dtype, *(I64,) * (len(operands) - 1)), (dtype,)


def looked_up(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    axes, (shape, *indices) = ints(attrs, "axes"), shapes
    if not axes or axes != tuple(range(axes[0], axes[0] + len(indices))) or axes[0] < 0 or axes[-1] >= len(shape):
        raise IndexProblem(
            f"{quantity(len(indices), 'index array')} for the axes {axes} "
            f"of an array with {quantity(len(shape), 'dimension')}",
            hint="give one index array for each axis; the axes must be adjacent and in order",
        )
    return [(*shape[: axes[0]], *facts.broadcast(indices), *shape[axes[-1] + 1 :])]


def gather(x: Any, *indices: Any, axes: tuple[int, ...], named: tuple[str, ...] = ()) -> Any:
    """Index as NumPy does. If the array and the indices have names, negative indices are an error."""
    for axis, name, index in zip(axes, named[1:], indices, strict=False):
        size = np.shape(x)[axis]
        wrong = np.asarray(index)[(np.asarray(index) < 0) | (np.asarray(index) >= size)]
        if wrong.size:
            message = f"'{name}' is {wrong.flat[0]}, outside of axis {axis} of '{named[0]}', which has size {size}"
            raise IndexProblem(message, hint="an index must be at least 0 and below the size; it does not wrap around")
    found = np.broadcast_shapes(*map(np.shape, indices))
    outer = (*np.shape(x)[: axes[0]], *found)
    if 0 in outer:  # no index is looked at
        return np.empty((*outer, *np.shape(x)[axes[-1] + 1 :]), np.asarray(x).dtype)
    return np.asarray(x)[(slice(None),) * axes[0] + indices]


# -- scan


def scan_dtypes(find: Callable[[str], OpDef | None]) -> DTypeRule:
    """Keep the dtype; `find` looks up the combining op by name, which must keep it too."""

    def rule(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
        name, dtype = str(attrs["combine"]), operands[0].strong
        op = find(name)
        if op is None or op.arity != 2:
            raise TypeProblem(f"unknown op of two numbers '{name}'")
        if op.dtypes((dtype, dtype), {}) != ((dtype, dtype), (dtype,)):
            raise TypeProblem(
                f"'{name}' of two {dtype} does not return {dtype}", hint="convert with .astype(...) first"
            )
        return (dtype,), (dtype,)

    return rule


def scanned(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    _axis(attrs, len(shapes[0]))
    return [shapes[0]]


def scan(x: Any, function: Callable[[Any, Any], Any], axis: int) -> Any:
    """Combines each element with the result for the element before it."""
    result = np.array(x)
    along = np.moveaxis(result, axis, 0)
    for k in range(1, along.shape[0]):
        along[k] = function(along[k - 1], along[k])
    return result


# -- argmin, argmax


def positions(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    """Raise NumPy's error for a search along an axis that is certainly empty."""
    result = reduced(facts, shapes, attrs)
    if any(facts.canonical(shapes[0][a]) == 0 for a in ints(attrs, "axes")):
        raise ValueProblem("attempt to get the position of an extreme of an empty sequence")
    return result


def position(function: Callable[..., Any]) -> Callable[..., Any]:
    """`argmin` or `argmax` over several axes, counted in C order."""

    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        x = np.asarray(x)
        kept = [a for a in range(x.ndim) if a not in axes]
        rows = np.transpose(x, [*kept, *axes]).reshape([*(x.shape[a] for a in kept), _count(x, axes)])
        found = function(rows, axis=-1)
        return found.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdims else found

    return meaning


def _count(x: Any, axes: tuple[int, ...]) -> int:
    return int(np.prod([x.shape[a] for a in axes], dtype=int))


def _axis(attrs: Attrs, rank: int) -> int:
    axis = attrs["axis"]
    assert isinstance(axis, int)
    if axis != normalize_axis(axis, rank):
        raise IndexProblem(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis
