"""Check the attributes of a node.

An op names the attributes that it needs; a node may carry more, which passes leave for one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .affine import access_problem
from .composites import recognise
from .demands import ERRORS
from .dims import Dim
from .dtypes import DType
from .graph import Node
from .ops import (
    ACCESS,
    BROADCAST,
    CAST,
    CONCATENATE,
    CONSTANT,
    DEMAND,
    DIAGONAL,
    GATHER,
    IOTA,
    LOOP,
    POSITIONS,
    REDUCTIONS,
    RESHAPE,
    SCAN,
    SIZE,
    SLICE,
    TRANSPOSE,
    WHILE,
    OpDef,
)
from .types import Attr, Sizes, ints, normalize_axes, sizes
from .windows import product_in_sum

Check = Callable[[Attr], bool]


def attribute_problem(node: Node) -> str | None:
    """What is wrong with the attributes, for a message behind the node's name."""
    for name, attr in node.attrs.items():
        if not (isinstance(name, str) and name) or not _is_attr(attr):
            return f"attribute {name!r} is {attr!r}, which has no text form"
    if problem := missing_attribute(node.op, node.attrs):
        return problem
    special = _SPECIAL.get(node.op)
    return special(node) if special else None


def missing_attribute(op: OpDef, attrs: Mapping[str, Attr]) -> str | None:
    """What an op needs before its rules can tell any types."""
    for name, (check, meaning) in _NEEDED.get(op, {}).items():
        if name not in attrs:
            return f"attribute '{name}' is missing"
        if not check(attrs[name]):
            return f"attribute '{name}' is {attrs[name]!r}, not {meaning}"
    return None


def _is_attr(attr: object) -> bool:
    if isinstance(attr, Sizes):
        return _are_sizes(attr)
    if isinstance(attr, tuple):
        return all(type(a) is int for a in attr) or all(type(a) is str for a in attr)
    return isinstance(attr, (bool, int, float, complex, str, DType))


def _are_sizes(attr: Attr) -> bool:
    return isinstance(attr, Sizes) and all(isinstance(s, Dim) or type(s) is int for s in attr)


def _are_ints(attr: Attr) -> bool:
    return type(attr) is tuple and all(type(a) is int for a in attr)


def _is_dtype(attr: Attr) -> bool:
    return isinstance(attr, DType)


def _is_strong(attr: Attr) -> bool:
    return isinstance(attr, DType) and not attr.weak


def _is_whole(attr: Attr) -> bool:
    return type(attr) is int


def _is_text(attr: Attr) -> bool:
    return isinstance(attr, str)


def _is_number(attr: Attr) -> bool:
    return isinstance(attr, (bool, int, float, complex))


_SIZES = (_are_sizes, "sizes")
_INTS = (_are_ints, "whole numbers")
_AXIS = (_is_whole, "an axis")
_COUNT = (_is_whole, "how many operands change")
_NEEDED: Mapping[OpDef, Mapping[str, tuple[Check, str]]] = {
    CAST: {"to": (_is_strong, "a dtype")},
    DEMAND: {"error": (lambda attr: attr in ERRORS, "an error"), "message": (_is_text, "text")},
    CONSTANT: {"value": (_is_number, "a number"), "dtype": (_is_dtype, "a dtype")},
    SIZE: {"size": _SIZES},
    TRANSPOSE: {"order": _INTS},
    SLICE: {"starts": _SIZES, "steps": _INTS, "sizes": _SIZES},
    RESHAPE: {"shape": _SIZES},
    DIAGONAL: {"axes": _INTS, "starts": _SIZES, "size": _SIZES},
    ACCESS: {"shape": _SIZES, "starts": _SIZES, "steps": _SIZES},
    BROADCAST: {"shape": _SIZES},
    IOTA: {"shape": _SIZES, "axis": _AXIS},
    CONCATENATE: {"axis": _AXIS},
    GATHER: {"axes": _INTS},
    WHILE: {"carried": _COUNT},
    LOOP: {"carried": _COUNT},
    SCAN: {"combine": (_is_text, "the name of an op"), "axis": _AXIS},
    **{op: {"axes": _INTS} for op in (*REDUCTIONS, *POSITIONS)},
}


def _constant_problem(node: Node) -> str | None:
    value, dtype = node.attrs["value"], node.attrs["dtype"]
    assert isinstance(dtype, DType) and isinstance(value, (bool, int, float, complex))
    allowed: dict[str, tuple[type, ...]] = {
        "bool": (bool,), "int": (int,), "uint": (int,), "float": (int, float), "complex": (int, float, complex),
    }  # fmt: skip
    if type(value) not in allowed[dtype.kind]:
        return f"the value {value!r} is not a {dtype}"
    if dtype.is_integer and not dtype.weak and isinstance(value, int) and not in_range(value, dtype):
        return f"the value {value} does not fit {dtype}"
    return None


def in_range(value: int, dtype: DType) -> bool:
    """Whether an integer dtype holds a number."""
    low, high = (-(1 << dtype.bits - 1), 1 << dtype.bits - 1) if dtype.kind == "int" else (0, 1 << dtype.bits)
    return low <= value < high


def _size_problem(node: Node) -> str | None:
    return None if len(sizes(node.attrs, "size")) == 1 else "names one size, no more and no less"


def _slice_problem(node: Node) -> str | None:
    starts, steps, counts = sizes(node.attrs, "starts"), ints(node.attrs, "steps"), sizes(node.attrs, "sizes")
    shape = node.operands[0].type.shape
    if not len(starts) == len(steps) == len(counts) == len(shape):
        return f"slices {len(starts)}, {len(steps)} and {len(counts)} axes of {len(shape)}"
    for axis, (start, step, count, size) in enumerate(zip(starts, steps, counts, shape, strict=True)):
        if step == 0:
            return f"the step of axis {axis} is 0"
        if not (isinstance(start, int) and isinstance(count, int) and isinstance(size, int)) or count == 0:
            continue
        last = start + step * (count - 1)
        if not (0 <= start < size and 0 <= last < size):
            return f"axis {axis} is read from {start} to {last}, it has {size} elements"
    return None


def _diagonal_problem(node: Node) -> str | None:
    axes, starts, size = ints(node.attrs, "axes"), sizes(node.attrs, "starts"), sizes(node.attrs, "size")
    if not len(axes) == len(starts) == 2 or len(size) != 1:
        return f"runs along {len(axes)} axes from {len(starts)} starts, with {len(size)} sizes"
    shape = node.operands[0].type.shape
    for axis, start in zip(axes, starts, strict=True):
        if not 0 <= axis < len(shape):
            return f"runs along axis {axis} of {len(shape)}"
        first, count, whole = start, size[0], shape[axis]
        if not (isinstance(first, int) and isinstance(count, int) and isinstance(whole, int)) or count == 0:
            continue
        if first < 0 or first + count > whole:
            return f"axis {axis} is read from {first} to {first + count - 1}, it has {whole} elements"
    return None


def _axes_problem(node: Node) -> str | None:
    axes, rank = ints(node.attrs, "axes"), node.operands[0].type.rank
    if normalize_axes(axes, rank) != axes:
        return f"axes {axes} are not sorted axes of an array with {rank} dimensions"
    if not isinstance(node.attrs.get("keepdims", False), bool):
        return "attribute 'keepdims' is not true or false"
    if "chained" in node.attrs and product_in_sum(node) is None:
        return "attribute 'chained' is for sums of products"
    return _composite_problem(node) if "composite" in node.attrs else None


def _composite_problem(node: Node) -> str | None:
    found, kind = recognise(node), node.attrs["composite"]
    if found is None or found.kind != kind:
        return f"attribute 'composite' is {kind!r}, which this sum is not"
    for name, least in (("chunk", 1), ("cut_from", 0)):
        number = node.attrs.get(name)
        if type(number) is not int or number < least:
            return f"attribute '{name}' is {number!r}, not a whole number from {least} on"
    return None


_SPECIAL: Mapping[OpDef, Callable[[Node], str | None]] = {
    CONSTANT: _constant_problem,
    SIZE: _size_problem,
    SLICE: _slice_problem,
    DIAGONAL: _diagonal_problem,
    ACCESS: lambda node: access_problem(node.attrs, node.operands[0].type.shape),
    **dict.fromkeys((*REDUCTIONS, *POSITIONS), _axes_problem),
}
