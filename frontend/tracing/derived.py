"""Tell whether a trace used numbers that were computed from captured arrays, and so would not change with them.

A captured array itself, and a view of it, is read again at each call. But `(W ** 2).sum()` is computed by NumPy while
tracing, and only its result is seen. What can't have come from the function's own constants or from what it
names is taken to have come from the arrays.
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
    """Whether something that a trace used may depend on elements of captured arrays that can change.

    `values` are what the functions name, and `used` are the arrays and numbers that met traced values.
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
    """Whether it is an array whose memory somebody may write into."""
    if not isinstance(x, np.ndarray):
        return False
    base: Any = x
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return base is not None


def _branches_on(code: CodeType, arrays: set[str]) -> bool:
    """Whether a line that names one of the arrays has a condition."""
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
    """What numbers may have come from without any array: the code's constants and names."""

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
        """Whether all elements are some of the numbers, as the array's dtype has them."""
        with np.errstate(all="ignore"):
            known = np.array(self._numbers, np.complex128)
            known = known.astype(array.dtype) if array.dtype.kind == "c" else known.real.astype(array.dtype)
            return bool(np.isin(array, known).all())
