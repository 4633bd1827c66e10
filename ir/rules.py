"""Define the dtype rules and shape rules of ops.

A dtype rule maps operand dtypes to the dtypes that the op computes in and those of its results. For ufuncs it asks
NumPy itself, so promotion is always NumPy's. A shape rule maps operand shapes to result shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from . import dims
from .dims import Size
from .dtypes import BOOL, F32, F64, I64, U64, WEAK, DType, from_numpy, python_type
from .errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem, quantity
from .facts import Facts
from .types import Attr, ints, normalize_axes
from .types import sizes as sizes_of

DTypes = tuple[DType, ...]
Attrs = Mapping[str, Attr]
Shapes = list[tuple[Size, ...]]
DTypeRule = Callable[[DTypes, Attrs], tuple[DTypes, DTypes]]
ShapeRule = Callable[[Facts, list[tuple[Size, ...]], Attrs], list[tuple[Size, ...]]]


# -- dtype rules


def ufunc_dtypes(ufunc: np.ufunc) -> DTypeRule:
    """The dtypes of NumPy's loop for these operands. If all are Python numbers, the result stays weak."""

    return lambda operands, attrs: _resolved(ufunc, operands)


@cache
def _resolved(ufunc: np.ufunc, operands: DTypes) -> tuple[DTypes, DTypes]:
    weak = all(d.weak for d in operands)
    asked = tuple(python_type(d) if d.weak and not weak else d.numpy for d in operands)
    try:
        found = ufunc.resolve_dtypes((*asked, *(None,) * ufunc.nout))
    except TypeError as error:
        raise _refused(ufunc.__name__, operands) from error
    loop = tuple(from_numpy(d) for d in found)
    results = loop[ufunc.nin :]
    if weak:
        results = tuple(map(_weakened, results))
    return loop[: ufunc.nin], results


def _weakened(dtype: DType) -> DType:
    """The weak kind of a dtype, if it has one; a bit count is always u8."""
    weak = WEAK.get(dtype.kind)
    return weak if weak is not None and weak.strong == dtype else dtype


def one_result(rule: DTypeRule, part: int) -> DTypeRule:
    """Make the rule for one of a ufunc's several results."""

    def resolve(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
        compute, results = rule(operands, attrs)
        return compute, (results[part],)

    return resolve


def special_dtypes(name: str) -> DTypeRule:
    """Compute in f32 or f64 like SciPy; dtypes that f32 holds exactly are computed in f32."""

    def resolve(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
        (dtype,) = operands
        if dtype.kind == "complex":
            raise TypeProblem(f"'{name}' is not defined for {dtype}", hint="take a real number")
        if dtype.weak:
            return (F64,), (WEAK["float"],)
        compute = F32 if dtype == F32 or dtype.bits <= 16 else F64
        return (compute,), (compute,)

    return resolve


def _refused(name: str, operands: DTypes) -> TypeProblem:
    shown = ", ".join(map(str, operands))
    hint = f"NumPy's {name} refuses these dtypes too"
    if name == "bitwise_xor" and any(dtype.kind == "float" for dtype in operands):
        hint = "write x**2 for a power: ^ combines the bits of integers"
    return TypeProblem(f"'{name}' is not defined for {shown}", hint=hint)


def logical_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Make operands and result bool."""
    return (BOOL,) * len(operands), (BOOL,)


def where_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Take a bool condition, and promote the two values together."""
    result = promote(operands[1:])
    return (BOOL, result, result), (result,)


def promote(operands: DTypes) -> DType:
    """The common dtype of several operands (NEP 50), a strong one."""
    if all(d.weak for d in operands):
        return max((d.strong for d in operands), key=lambda d: ("int", "float", "complex").index(d.kind))
    strong = [d.numpy for d in operands if not d.weak]
    samples = [python_type(d)(0) for d in operands if d.weak]
    try:
        return from_numpy(np.result_type(*strong, *samples))
    except np.exceptions.DTypePromotionError as error:
        shown = " and ".join(map(str, operands))
        raise TypeProblem(f"{shown} have no common dtype", hint="convert one of them, as with .astype(...)") from error


def cast_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    to = attrs["to"]
    assert isinstance(to, DType)
    return operands, (to,)


def same_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Keep the dtype, as views and copies do; a weak scalar that becomes an array is strong."""
    return operands, operands


def own_dtype(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Take the dtype from the attribute `dtype`."""
    dtype = attrs["dtype"]
    assert isinstance(dtype, DType)
    return (), (dtype,)


def whole_power_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Apply the rule of `power` with an exponent of the same dtype."""
    if operands[0].kind == "bool":
        raise _refused("whole_power", operands)
    return operands, operands


def accumulate_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Compute sums and products of small integers in 64 bits."""
    dtype = operands[0].strong
    if dtype.kind in ("bool", "int"):
        dtype = I64
    elif dtype.kind == "uint":
        dtype = U64
    return (dtype,), (dtype,)


def keep_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    dtype = operands[0].strong
    return (dtype,), (dtype,)


def bitwise_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """Accept integers and bools, which have bits."""
    if operands[0].kind not in ("bool", "int", "uint"):
        raise _refused("bitwise reduction", operands)
    return keep_dtypes(operands, attrs)


# -- shape rules


def shown(shape: Sequence[Size]) -> str:
    """A shape as NumPy writes it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def elementwise(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    return [facts.broadcast(shapes)]


def scalar(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    return [()]


def reduced(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    axes, shape = ints(attrs, "axes"), shapes[0]
    found = normalize_axes(axes, len(shape))
    if found is None:
        raise IndexProblem(
            f"axes {axes} are out of bounds or repeated for an array with {quantity(len(shape), 'dimension')}"
        )
    if attrs.get("keepdims"):
        return [tuple(1 if i in found else s for i, s in enumerate(shape))]
    return [tuple(s for i, s in enumerate(shape) if i not in found)]


def ordered(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    """Refuse a reduction without identity over an axis that is certainly empty, as NumPy does."""
    result = reduced(facts, shapes, attrs)
    if any(facts.canonical(shapes[0][a]) == 0 for a in ints(attrs, "axes")):
        raise ValueProblem("zero-size array to reduction operation which has no identity")
    return result


def transposed(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    order, shape = ints(attrs, "order"), shapes[0]
    if sorted(order) != list(range(len(shape))):
        raise IndexProblem(f"axes {order} are not a permutation of {quantity(len(shape), 'dimension')}")
    return [tuple(shape[a] for a in order)]


def sliced(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    sizes = sizes_of(attrs, "sizes")
    if len(sizes) != len(shapes[0]):
        raise ShapeProblem(
            f"a slice of {quantity(len(sizes), 'dimension')} does not fit an array with {len(shapes[0])}"
        )
    return [tuple(sizes)]


def diagonal(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    axes, size = ints(attrs, "axes"), sizes_of(attrs, "size")
    if len(axes) != 2 or normalize_axes(axes, len(shapes[0])) != tuple(sorted(axes)):
        raise IndexProblem(f"axes {axes} are not two axes of an array with {quantity(len(shapes[0]), 'dimension')}")
    return [(*(n for k, n in enumerate(shapes[0]) if k not in axes), *size)]


def diagonal_of(x: np.ndarray, axes: tuple[int, ...], starts: tuple[int, ...], size: int) -> np.ndarray:
    """Replaces two axes by their diagonal, which becomes the last axis."""
    places = dict(zip(axes, starts, strict=True))
    part = x[tuple(slice(places[k], places[k] + size) if k in places else slice(None) for k in range(x.ndim))]
    return np.diagonal(part, 0, *axes)


def reshaped(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    shape = sizes_of(attrs, "shape")
    old, new = (dims.product(map(facts.canonical, sizes)) for sizes in (shapes[0], shape))
    if not facts.same(old, new):
        left, right = facts.number(old), facts.number(new)
        if facts.strict or (left is not None and right is not None and left != right):
            raise ShapeProblem(f"cannot reshape array of size {left or old} into shape {shown(shape)}")
        facts.assume_equal(new, old)
    return [tuple(shape)]


def broadcast_to(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
    shape = sizes_of(attrs, "shape")
    result = facts.broadcast([tuple(shape), shapes[0]])
    if len(result) != len(shape) or not all(_guard_equal(facts, a, b) for a, b in zip(result, shape, strict=True)):
        raise ShapeProblem(f"an array of shape {shown(shapes[0])} can't be broadcast to {shown(shape)}")
    return [tuple(shape)]


def _guard_equal(facts: Facts, a: Size, b: Size) -> bool:
    """Tell whether two sizes are equal: always, or only in the current call, which adds a guard."""
    if facts.same(a, b):
        return True
    number = facts.number(a)
    if facts.strict or number is None or number != facts.number(b):
        return False
    facts.assume_equal(a, b)
    return True
