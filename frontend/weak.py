"""Weak values and how they take a dtype.

Literals, sizes and what is computed from them alone are weak: their use decides their dtype. Python numbers stay Python
numbers, sizes stay sizes, and a choice between weak values, which as an array could not be weak in the graph, is a
`Weak`: a recipe that makes the value once a dtype is known.
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
    """A weak value that is not a number yet: its weak kind, what it is made of, and how.

    `inner` says in which dtype the parts are needed for a result in a dtype.
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
        """The value in this dtype, made once; a loop, because choices may follow one another in great numbers."""
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
    """The dtype of an operand; that of a literal is weak."""
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
    """Whether a weak kind can take a dtype without a change of kind downwards."""
    if dtype.kind == "bool":
        return False
    kind = "int" if dtype.kind == "uint" else dtype.kind
    return _ORDER.index(weak.kind) <= _ORDER.index(kind)


def take(maker: Maker, x: Operand, dtype: DType) -> Value:
    """The operand in a dtype: a literal becomes one of that dtype, all else is cast."""
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
    """A number that is there already and still takes the dtype of what it meets."""
    return Weak(maker, weak, (), lambda dtype, _: maker.cast(value, dtype))


def settle(maker: Maker, x: Operand, others: tuple[Operand, ...] = ()) -> Union[Value, bool, int, float, complex, Dim]:
    """An operand that ops can take: a `Weak` gets the dtype of the strong ones it meets, or i64, f64 or c128."""
    if not isinstance(x, Weak):
        return x
    strong = [dtype_of(o) for o in others if not is_weak(o)]
    return x.take(promote((x.dtype, *strong)) if strong else x.dtype.strong)


def combine(maker: Maker, make: Callable[..., Any], operands: tuple[Operand, ...]) -> Any:
    """The result of an op on operands of which some are `Weak`: weak again where all of them are weak."""
    probe = make(*(_sample(o) for o in operands)) if all(is_weak(o) for o in operands) else None
    if probe is None or not dtype_of(probe).weak:
        return make(*(settle(maker, o, operands) for o in operands))
    result = dtype_of(probe)

    def inner(dtype: DType) -> DType:
        return dtype if dtype.kind == result.kind or result.kind == "float" else result.strong

    return Weak(maker, result, operands, lambda dtype, parts: maker.cast(make(*parts), dtype), inner)


def _sample(x: Operand) -> Operand:
    """A number of an operand's weak kind that every op takes."""
    return {"int": 1, "float": 1.0, "complex": 1j}[dtype_of(x).kind]


def select(maker: Maker, condition: Operand, then: Operand, other: Operand, what: str) -> Operand:
    """`then` where the condition holds, else `other`; `what` names them for an error about their dtypes."""
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
