"""Say what is known of a Python variable before a piece runs: its kind, which is also the key of a compiled piece.

Kinds are equal if one compiled piece may serve both. They never hold sizes, which are symbols. Only a size of 1 is part
of a kind, because it broadcasts. Kinds of numbers are never merged: a Python float, an `np.float64` and an array
without dimensions behave differently in NumPy's promotion, in division by zero and as results.

    kind_of(3)                      PythonNumber("int")
    kind_of(np.float32(1))          NumpyScalar(f32)
    kind_of(np.zeros((3, 1)))       Array(f64, (None, 1), "C", True)
    kind_of((1, np.zeros(3)))       Tuple((PythonNumber("int"), Array(f64, (None,), "C", True)))
    kind_of(np)                     Known(numpy)
"""

from __future__ import annotations

import types
from typing import Any, Union

import numpy as np

from ...ir.dtypes import DType, from_numpy, is_scalar
from ...ir.errors import TypeProblem
from ...ir.layouts import GENERAL, classify
from ...ir.orders import memory_order
from ...ir.records import record

LONG = 2**63


@record
class Array:
    """A plain `np.ndarray`, views included. `ones` has 1 for each axis of size 1 and None for the others.

    `order` has the axes from outermost to innermost in memory, if the layout class does not say it. Overlapping arrays
    need no separate kind: a piece lists which of its arrays must not overlap.
    """

    dtype: DType
    ones: tuple[int | None, ...]
    layout: str  # a class of `ir/layouts.py`
    writeable: bool = True
    order: tuple[int, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.ones)


@record
class NumpyScalar:
    """A NumPy number, such as `np.float32(1)` or an element of an array."""

    dtype: DType


@record
class PythonNumber:
    """An `int` in 64 bits, a `float`, a `bool` or a `complex` of Python. With a `value` it is known at compile time.

    Negative ints of the caller are a kind of their own, because indices then count from the end.
    """

    name: str
    value: bool | int | float | complex | None = None
    is_negative: bool = False


@record
class Tuple:
    """A plain tuple."""

    items: tuple[Kind, ...]


@record
class FixedSlice:
    """A slice of ints or None, which are known at compile time."""

    start: int | None
    stop: int | None
    step: int | None


@record(eq=False)
class Known:
    """An object that is known at compile time, by identity: a module, a function, a ufunc, a dtype, None, a string."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and _is_same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, (str, np.dtype)) else id(self.value)


@record
class Unknown:
    """Anything else; a piece that needs it is cut."""

    type_name: str


Kind = Union[Array, NumpyScalar, PythonNumber, Tuple, FixedSlice, Known, Unknown]

KNOWN_TYPES = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype, type, str,
    type(None), type(Ellipsis), type(np.sum), type(np.mgrid), type(np.ogrid),
)  # fmt: skip


def kind_of(value: object) -> Kind:
    """The kind of a value. Subclasses of arrays and numbers, which have their own meaning, are unknown."""
    kind = type(value)
    if kind is np.ndarray:
        assert isinstance(value, np.ndarray)
        return _array(value)
    if kind in (bool, float, complex):
        return PythonNumber(kind.__name__)
    if kind is int and isinstance(value, int) and -LONG < value < LONG:
        return PythonNumber("int", None, value < 0)
    if isinstance(value, np.generic) and is_scalar(value):
        return _or_unknown(value.dtype, value, NumpyScalar)
    if kind is tuple and isinstance(value, tuple):
        return Tuple(tuple(map(kind_of, value)))
    if isinstance(value, slice) and all(x is None or type(x) is int for x in (value.start, value.stop, value.step)):
        return FixedSlice(value.start, value.stop, value.step)
    if isinstance(value, KNOWN_TYPES) or jitted_function(value) is not None:
        return Known(value)
    return Unknown(kind.__name__)


def jitted_function(value: object) -> types.FunctionType | None:
    """Return the plain function behind one that `weft.jit` made."""
    if type(value).__name__ != "JitFunction" or type(value).__module__ != "weft.function":
        return None
    found = getattr(value, "__wrapped__", None)
    return found if isinstance(found, types.FunctionType) else None


def _array(array: np.ndarray[Any, Any]) -> Kind:
    if not array.flags.aligned or not array.dtype.isnative:
        return Unknown("array that is not aligned, or has another byte order,")
    ones = tuple(1 if n == 1 else None for n in array.shape)
    layout = classify(array.shape, array.strides, array.itemsize)
    order = memory_order(array.shape, array.strides) if layout == GENERAL and array.ndim > 1 else None
    return _or_unknown(array.dtype, array, lambda dtype: Array(dtype, ones, layout, array.flags.writeable, order))


def _or_unknown(dtype: np.dtype[Any], value: object, make: Any) -> Kind:
    try:
        made: Kind = make(from_numpy(dtype))
    except TypeProblem:
        return Unknown(f"{type(value).__name__} of {dtype}")
    return made


def _is_same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (str, np.dtype)) and a == b)
