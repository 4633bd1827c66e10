"""Tell whether a trace used numbers computed from captured arrays, which would not change when the arrays do.

A captured array, or a view of it, is read again at each call. But NumPy computes `(W ** 2).sum()` while tracing, and
the trace only sees the result. A number that can't come from the function's constants or from the values that it names
is assumed to come from the arrays.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .captures import inner_values, nested_codes

_CONVERSIONS = frozenset(("float", "int", "bool", "complex", "item", "tolist", "round"))
_NUMBERS = (bool, int, float, complex, np.bool_, np.number)


def is_derived(values: list[tuple[str, Any]], functions: Iterable[FunctionType], used: Iterable[Any]) -> bool:
    """Tell whether a trace used something that may depend on elements of captured arrays that can change.

    `values` are the values that the functions name; `used` are the arrays and numbers combined with traced values.
    """
    named = [x for _, value in values for x in inner_values(value)]
    arrays = {name for name, value in values if any(map(_may_change, inner_values(value)))}
    if not arrays:
        return False
    codes = [code for function in functions for code in nested_codes(function.__code__)]
    names = {name for code in codes for name in code.co_names}
    if names & _CONVERSIONS or any(_branches_on(code, arrays) for code in codes):
        return True
    known = _Known(named, names, [x for x in (0, 1, *_constants(codes), *named) if _is_short(x)])
    return not all(map(known.explains, used))


def _may_change(x: Any) -> bool:
    """Tell whether it is an array whose memory may be written to."""
    if not isinstance(x, np.ndarray):
        return False
    base: Any = x
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return base is not None


def _branches_on(code: CodeType, arrays: set[str]) -> bool:
    """Tell whether a line that names one of the arrays has a condition."""
    named: set[int] = set()
    decided: set[int] = set()
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = instruction.starts_line or line
        if instruction.opname.startswith("LOAD_") and instruction.argval in arrays:
            named.add(line)
        if "JUMP" in instruction.opname and "_IF_" in instruction.opname:
            decided.add(line)
    return bool(named & decided)


def _constants(codes: Iterable[CodeType]) -> Iterator[Any]:
    for code in codes:
        for constant in code.co_consts:
            yield from constant if isinstance(constant, tuple) else (constant,)


def _is_short(x: Any) -> bool:
    return isinstance(x, _NUMBERS) and (type(x) is not int or x.bit_length() < 64)


class _Known:
    """The numbers that need no array: those in the code's constants and names."""

    def __init__(self, named: list[Any], names: set[str], numbers: list[Any]) -> None:
        self._objects, self._names, self._numbers = {id(x) for x in named}, names, numbers

    def explains(self, x: Any) -> bool:
        base = x
        while base is not None:  # a view changes with its array
            if id(base) in self._objects:
                return True
            base = getattr(base, "base", None)
        if isinstance(x, np.ndarray):
            return not x.size
        if isinstance(x, np.generic) and type(x).__name__ not in self._names:
            return False
        return self._are_numbers(np.asarray(x))

    def _are_numbers(self, array: np.ndarray[Any, Any]) -> bool:
        """Tell whether every element is one of the numbers, rounded to the array's dtype."""
        with np.errstate(all="ignore"):
            known = np.array(self._numbers, np.complex128)
            known = known.astype(array.dtype) if array.dtype.kind == "c" else known.real.astype(array.dtype)
            return bool(np.isin(array, known).all())
