"""Represent weak values, and convert them once their dtype is known.

Literals, sizes and everything computed only from them are weak: their use decides their dtype. Python numbers stay
Python numbers and sizes stay sizes. A choice between weak values can't be a weak array in the graph, so it is a `Weak`:
a recipe that makes the value once the dtype is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from ..ir.dims import Dim
from ..ir.dtypes import BOOL, WEAK, DType
from ..ir.errors import OverflowProblem, TypeProblem
from ..ir.graph import Value
from ..ir.ops import WHERE
from ..ir.rules import promote
from .maker import Maker, fits


class Weak:
    """A weak value that is not a number yet: its kind, its parts, and how to make it.

    `inner` maps the dtype of the result to the dtype that the parts must have.
    """

    __slots__ = ("_inner", "_made", "_make", "_maker", "_parts", "dtype")

    def __init__(
        self,
        maker: Maker,
        dtype: DType,
        parts: tuple[Operand, ...],
        make: Callable[[DType, Sequence[Value]], Value],
        inner: Callable[[DType], DType] = lambda dtype: dtype,
    ) -> None:
        self.dtype = dtype
        self._maker = maker
        self._parts = parts
        self._make = make
        self._inner = inner
        self._made: dict[DType, Value] = {}

    def take(self, dtype: DType) -> Value:
        """Make the value in this dtype, once. This is a loop, because chains of choices can be long."""
        waiting: list[tuple[Weak, DType]] = [(self, dtype)]
        while waiting:
            weak, wanted = waiting[-1]
            inner = weak._inner(wanted)
            missing = [(p, inner) for p in weak._parts if isinstance(p, Weak) and inner not in p._made]
            if wanted not in weak._made and not missing:
                parts = [p._made[inner] if isinstance(p, Weak) else take(weak._maker, p, inner) for p in weak._parts]
                weak._made[wanted] = weak._make(wanted, parts)
            if wanted in weak._made:
                waiting.pop()
            else:
                waiting += missing
        return self._made[dtype]


Operand = Union[Value, bool, int, float, complex, Dim, Weak]
_ORDER = ("int", "float", "complex")


def is_operand(x: object) -> bool:
    return isinstance(x, (Value, bool, int, float, complex, Dim, Weak))


def dtype_of(x: Operand) -> DType:
    """Return the dtype of an operand; a literal's is weak."""
    if isinstance(x, Value):
        return x.type.dtype
    if isinstance(x, Weak):
        return x.dtype
    if isinstance(x, bool):
        return BOOL
    return WEAK["int" if isinstance(x, (int, Dim)) else "float" if isinstance(x, float) else "complex"]


def is_weak(x: Operand) -> bool:
    return dtype_of(x).weak


def kind_fits(weak: DType, dtype: DType) -> bool:
    """Tell whether a weak kind can take a dtype without falling to a lower kind."""
    if dtype.kind == "bool":
        return False
    kind = "int" if dtype.kind == "uint" else dtype.kind
    return _ORDER.index(weak.kind) <= _ORDER.index(kind)


def take(maker: Maker, x: Operand, dtype: DType) -> Value:
    """Convert an operand: a literal becomes a constant of the dtype, everything else is cast."""
    if isinstance(x, Weak):
        return x.take(dtype)
    if isinstance(x, (Value, Dim)) or not is_weak(x) or dtype.kind == "bool":
        return maker.cast(x, dtype)
    if isinstance(x, int) and dtype.is_integer:
        if not fits(x, dtype):
            raise OverflowProblem(f"{x} does not fit {dtype}", maker.span)
        return maker.builder.constant(x, dtype, maker.span)
    if not kind_fits(dtype_of(x), dtype):
        return maker.cast(x, dtype)
    number = complex(x) if dtype.kind == "complex" else float(x)  # type: ignore[arg-type]
    return maker.builder.constant(number, dtype, maker.span)


def weakened(maker: Maker, weak: DType, value: Value) -> Weak:
    """Make a number weak again, so that it takes the dtype of the operands it meets."""
    return Weak(maker, weak, (), lambda dtype, _: maker.cast(value, dtype))


def settle(maker: Maker, x: Operand, others: tuple[Operand, ...] = ()) -> Union[Value, bool, int, float, complex, Dim]:
    """Make an operand for an op: a `Weak` takes the dtype of the strong operands, or i64, f64 or c128."""
    if not isinstance(x, Weak):
        return x
    strong = [dtype_of(o) for o in others if not is_weak(o)]
    return x.take(promote((x.dtype, *strong)) if strong else x.dtype.strong)


def combine(maker: Maker, make: Callable[..., Any], operands: tuple[Operand, ...]) -> Any:
    """Apply an op to operands of which some are `Weak`; the result is weak if all of them are."""
    probe = make(*(_sample(o) for o in operands)) if all(is_weak(o) for o in operands) else None
    if probe is None or not dtype_of(probe).weak:
        return make(*(settle(maker, o, operands) for o in operands))
    result = dtype_of(probe)

    def inner(dtype: DType) -> DType:
        return dtype if dtype.kind == result.kind or result.kind == "float" else result.strong

    return Weak(maker, result, operands, lambda dtype, parts: maker.cast(make(*parts), dtype), inner)


def _sample(x: Operand) -> Operand:
    """Return a number of an operand's weak kind that every op accepts."""
    return {"int": 1, "float": 1.0, "complex": 1j}[dtype_of(x).kind]


def select(maker: Maker, condition: Operand, then: Operand, other: Operand, what: str) -> Operand:
    """Choose `then` where the condition holds and `other` elsewhere; `what` names them in errors about dtypes."""
    weak_then, weak_other = is_weak(then), is_weak(other)
    if weak_then and weak_other:
        kind = max(dtype_of(then), dtype_of(other), key=lambda d: _ORDER.index(d.kind))
        picked = settle(maker, condition)
        return Weak(maker, kind, (then, other), lambda dtype, parts: maker.op(WHERE, picked, *parts))
    dtype = dtype_of(other if weak_then else then)
    lesser = dtype_of(then if weak_then else other)
    if lesser != dtype and not (lesser.weak and kind_fits(lesser, dtype)):
        raise TypeProblem(
            f"{what} is {dtype_of(then)} on one side and {dtype_of(other)} on the other",
            maker.span,
            f"convert one of them, as in {dtype if not dtype.weak else lesser}(...)",
        )
    return maker.op(WHERE, settle(maker, condition), take(maker, then, dtype), take(maker, other, dtype))
