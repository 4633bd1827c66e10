"""Define numexpr's kinds of values: which there are, how they rank, and which dtype each one computes in.

An expression is typed by kinds, not by NumPy's promotion: an `int8` array is an `int` (32 bits), a `float16` array is a
`float` (32 bits), a Python float is a `double`, and the result has the higher kind of its operands.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..ir.errors import type_of

RANKED: Final = ("bool", "int", "long", "float", "double", "complex")
"""The kinds of numbers, lowest first; `bytes` stands apart."""

CODES: Final = {"bool": "b", "int": "i", "long": "l", "float": "f", "double": "d", "complex": "c", "bytes": "s"}
"""One letter for each kind, as in the names of numexpr's operations (`add_ddd`)."""

DTYPES: Final = {
    "bool": np.dtype(bool), "int": np.dtype(np.int32), "long": np.dtype(np.int64), "float": np.dtype(np.float32),
    "double": np.dtype(np.float64), "complex": np.dtype(np.complex128),
}  # fmt: skip

TYPES: Final[dict[Any, str]] = {
    bool: "bool", np.bool_: "bool", np.int32: "int", np.int64: "long", int: "long", float: "float", np.float32: "float",
    np.float64: "double", complex: "complex", np.complex128: "complex", bytes: "bytes", str: "bytes",
}  # fmt: skip
"""What the type in a signature means. Python's `float` is the 32-bit one, as in numexpr."""

MIN_INT, MAX_INT = -(2**31), 2**31 - 1


def kind_of_dtype(dtype: np.dtype[Any]) -> str:
    """Return the kind that arrays of a dtype are computed in."""
    letter, size = dtype.kind, dtype.itemsize
    if letter == "b":
        return "bool"
    if letter == "i" or letter == "u":
        return "int" if size < 4 or (size == 4 and letter == "i") else "long"
    if letter == "f":
        return "float" if size <= 4 else "double"
    if letter == "c":
        return "complex"
    if letter == "S":
        return "bytes"
    if letter == "U":
        raise ValueError("arrays of str are not supported; encode them to bytes, for example with np.char.encode")
    raise ValueError(f"unknown type {dtype.name}; arrays hold bools, numbers or bytes")


def kind_of_constant(value: Any) -> str:
    """Return the kind of a number or a text that stands in an expression."""
    if isinstance(value, (bytes, str)):
        return "bytes"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, np.float32):
        return "float"
    if isinstance(value, (float, np.floating)):
        return "double"
    if isinstance(value, (complex, np.complexfloating)):
        return "complex"
    if isinstance(value, (np.int64, np.uint32, np.uint64)):
        return "long"
    if isinstance(value, (int, np.integer)):
        return "int" if MIN_INT <= int(value) <= MAX_INT else "long"
    raise TypeError(f"{type_of(value)} can't stand in an expression")


def common_kind(kinds: list[str]) -> str:
    """Return the kind of an operation on operands of these kinds."""
    if "bytes" in kinds:
        if any(kind != "bytes" for kind in kinds):
            raise TypeError("strings can only be combined with strings")
        return "bytes"
    return max(kinds, key=RANKED.index)
