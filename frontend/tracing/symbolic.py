"""Represent sizes in a trace: integers from `x.shape` that a function can compute with.

Arithmetic stays symbolic. A comparison is decided by the current call and guarded, so that the graph serves all sizes
on the same side. If Python needs the number itself, the trace is specialised on it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size, never_negative
from ...ir.errors import Unsupported
from ..sizes import guard_at_least
from .locate import here
from .protocols import ufunc_call

if TYPE_CHECKING:
    from .tracer import Recorder


def _arithmetic(function: Callable[[Any, Any], Any]) -> Any:
    def method(self: TracedSize, other: object) -> Any:
        return self._combine(function, self, other)

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Any:
    def method(self: TracedSize, other: object) -> Any:
        return self._combine(function, other, self)

    return method


class TracedSize:
    """A size of a traced array: an integer that is only known in a call."""

    __slots__ = ("_trace", "dim")

    def __init__(self, trace: Recorder, dim: Dim) -> None:
        self._trace = trace
        self.dim = dim

    def __repr__(self) -> str:
        return str(self.dim)

    def __format__(self, spec: str) -> str:
        """Format the number and specialise on it, because code may depend on the text; `repr` shows the name."""
        known = self._trace.builder.facts.number(self.dim) is not None
        return format(self.__index__(), spec) if known else format(str(self.dim), spec)

    def __str__(self) -> str:
        return format(self)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Pretend to be an `int` for `isinstance`."""
        return int

    __add__, __radd__ = _arithmetic(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _arithmetic(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _arithmetic(operator.mul), _reflected(operator.mul)
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _arithmetic(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _arithmetic(operator.pow), _reflected(operator.pow)
    __truediv__, __rtruediv__ = _arithmetic(operator.truediv), _reflected(operator.truediv)
    __divmod__, __rdivmod__ = _arithmetic(divmod), _reflected(divmod)

    def _combine(self, function: Callable[[Any, Any], Any], left: object, right: object) -> Any:
        a, b = _size(left), _size(right)
        if a is None or b is None:
            if (
                function in (operator.truediv, operator.floordiv, operator.mod, divmod)
                and _is_a(left, float)
                and not right
            ):
                raise ZeroDivisionError("float division by zero")
            if _is_a(left, (float, complex, bool)) or _is_a(right, (float, complex, bool)):
                return self._trace.apply(function, (left, right), {})
            return NotImplemented
        if function is operator.truediv:
            if not right:  # a size of 0 in this call; other calls are guarded
                raise ZeroDivisionError("division by zero")
            return self._trace.apply(function, (left, right), {})
        return _exact(self._trace, function, a, b)

    def __neg__(self) -> Any:
        return sized(self._trace, -self.dim)

    def __pos__(self) -> TracedSize:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __index__(self) -> int:
        """Return the number, because Python needs it, and specialise the graph on it."""
        number = self._trace.builder.facts.specialize(self.dim)
        if number is None:
            raise _unknown(self.dim)
        return number

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __bool__(self) -> bool:
        return self != 0

    def __eq__(self, other: object) -> bool:
        b = _size(other)
        if b is None:
            return self.__index__() == other if _is_a(other, float) else NotImplemented
        facts = self._trace.builder.facts
        gap = facts.number(self.dim - b)
        if facts.same(self.dim, b):
            return True
        if isinstance(facts.canonical(self.dim - b), int):
            return False
        if gap is None:
            raise _unknown(self.dim)
        if gap == 0:
            facts.assume_equal(self.dim, b)
            return True
        guard_at_least(facts, self.dim - b if gap > 0 else b - self.dim, 1)
        return False

    def __lt__(self, other: object) -> bool:
        return self._ordered(other, lambda a, b: not _decide(self._trace, a, b), operator.lt)

    def __le__(self, other: object) -> bool:
        return self._ordered(other, lambda a, b: _decide(self._trace, b, a), operator.le)

    def __gt__(self, other: object) -> bool:
        return self._ordered(other, lambda a, b: not _decide(self._trace, b, a), operator.gt)

    def __ge__(self, other: object) -> bool:
        return self._ordered(other, lambda a, b: _decide(self._trace, a, b), operator.ge)

    def _ordered(self, other: object, decide: Callable[[Size, Size], bool], plain: Callable[[Any, Any], bool]) -> bool:
        b = _size(other)
        if b is not None:
            return decide(self.dim, b)
        return plain(self.__index__(), other) if _is_a(other, float) else NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return the number for NumPy, which asks for it in calls such as `np.arange(n)`."""
        return np.asarray(self.__index__(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc_call(self._trace, ufunc, method, inputs, kwargs)


def sized(trace: Recorder, size: Size) -> Any:
    """Return a size for the user: a number if it is known."""
    size = trace.builder.facts.canonical(size)
    return TracedSize(trace, size) if isinstance(size, Dim) else size


def _size(x: object) -> Size | None:
    if isinstance(x, TracedSize):
        return x.dim
    return x if isinstance(x, int) and _is_a(x, int) and not isinstance(x, bool) else None


def _is_a(x: object, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether it really is of this type: a traced size only pretends to be for `isinstance`."""
    return issubclass(type(x), kinds)


def _exact(trace: Recorder, function: Callable[[Any, Any], Any], a: Size, b: Size) -> Any:
    """Do integer arithmetic on sizes; a divisor or exponent must be a number."""
    if function in (operator.add, operator.sub, operator.mul):
        return sized(trace, function(a, b))
    if isinstance(b, Dim):
        b = TracedSize(trace, b).__index__()
    if isinstance(a, int):
        return function(a, b)
    if function is operator.pow and 0 <= b <= 8:
        return sized(trace, dims.product([a] * b))
    if function is operator.pow or b <= 0:
        return function(TracedSize(trace, a).__index__(), b)
    quotient = dims.floordiv(a, b)
    parts = sized(trace, quotient), sized(trace, a - quotient * b)
    if function is divmod:
        return parts
    return parts[0] if function is operator.floordiv else parts[1]


def _decide(trace: Recorder, a: Size, b: Size) -> bool:
    """Tell whether `a >= b`, and guard the answer, so that the graph serves calls on the same side."""
    facts = trace.builder.facts
    gap = facts.canonical(a - b)
    if never_negative(gap):
        return True
    if never_negative(-1 - gap):
        return False
    number = facts.number(gap)
    if number is None:
        raise _unknown(gap)
    return guard_at_least(facts, a, b) if number >= 0 else not guard_at_least(facts, b, a + 1)


def _unknown(size: Size) -> Unsupported:
    return Unsupported(
        f"the size '{size}' must be a known number here", here(), "call the function with arrays; types are not enough"
    )


def new_symbols(name: str, shape: Sequence[int], sizes: dict[str, int]) -> tuple[Size, ...]:
    """New symbols for the sizes of an array, added to `sizes`: `x0`, `x1`, ... for one called x. 1 stays the number."""
    found: list[Size] = []
    for axis, number in enumerate(shape):
        if number == 1:
            found.append(1)
            continue
        unique = f"{name}{axis}"
        while unique in sizes:
            unique += "_"
        sizes[unique] = number
        found.append(dims.symbol(unique))
    return tuple(found)
