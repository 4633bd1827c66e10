"""Check the attributes of a node against its operands, its types and one another.

The op's schema (`schemas.py`) checks each attribute by itself; `plans.py` checks the plans of regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..affine import access_problem
from ..complexes import FUNCTIONS
from ..composites import SUM, TOTAL, is_exact, recognise
from ..dims import Dim
from ..dtypes import F32, F64, DType, in_range
from ..errors import quantity
from ..graph import Node
from ..ops import (
    ACCESS,
    COMPLEX_FUNCTION,
    CONSTANT,
    DIAGONAL,
    GATHER,
    LOOP,
    NUMPY,
    POSITIONS,
    REDUCTIONS,
    SLICE,
    TABLE,
    WHILE,
    OpDef,
)
from ..schemas import AttributeProblem, Stage, schema_of, schema_problem
from ..types import AxisGroups, Guards, Sizes, integer, ints, normalize_axes, sizes
from ..windows import product_in_sum

Problem = AttributeProblem


def attribute_problem(
    node: Node, stage: Stage = Stage.BUILT, table: Mapping[str, OpDef] = TABLE
) -> AttributeProblem | None:
    """Describes what is wrong with the attributes of a node, for a message after the node's name."""
    for name, attr in node.attrs.items():
        if not (isinstance(name, str) and name) or not _is_attr(attr):
            return Problem(name, f"attribute {name!r} can't be {attr!r}, which has no text form")
    if problem := schema_problem(schema_of(node.op, node.attrs, table), node.attrs, stage):
        return problem
    if "follows" in node.attrs and integer(node.attrs, "follows") >= len(node.operands):
        return Problem(
            "follows",
            f"attribute 'follows' is {node.attrs['follows']}, but the op has {quantity(len(node.operands), 'operand')}",
        )
    special = _SPECIAL.get(node.op)
    return special(node) if special else None


def _is_attr(attr: object) -> bool:
    if isinstance(attr, Sizes):
        return all(isinstance(s, Dim) or type(s) is int for s in attr)
    if isinstance(attr, tuple) and not isinstance(attr, (AxisGroups, Guards)):
        return all(type(a) is int for a in attr) or all(type(a) is str for a in attr)
    return isinstance(attr, (bool, int, float, complex, str, DType, AxisGroups, Guards))


def _constant_problem(node: Node) -> Problem | None:
    value, dtype = node.attrs["value"], node.attrs["dtype"]
    assert isinstance(dtype, DType) and isinstance(value, (bool, int, float, complex))
    allowed: dict[str, tuple[type, ...]] = {
        "bool": (bool,), "int": (int,), "uint": (int,), "float": (int, float), "complex": (int, float, complex),
    }  # fmt: skip
    if type(value) not in allowed[dtype.kind]:
        return Problem("value", f"the value {value!r} is not a {dtype}")
    if dtype.is_integer and not dtype.weak and isinstance(value, int) and not in_range(value, dtype):
        return Problem("value", f"the value {value} does not fit {dtype}")
    return None


def _slice_problem(node: Node) -> Problem | None:
    starts, steps, counts = sizes(node.attrs, "starts"), ints(node.attrs, "steps"), sizes(node.attrs, "sizes")
    shape = node.operands[0].type.shape
    for name, given in (("starts", starts), ("steps", steps), ("sizes", counts)):
        if len(given) != len(shape):
            entries, axes = quantity(len(given), "entry", "entries"), quantity(len(shape), "axis", "axes")
            return Problem(name, f"attribute '{name}' has {entries}, but the operand has {axes}")
    for axis, (start, step, count, size) in enumerate(zip(starts, steps, counts, shape, strict=True)):
        if step == 0:
            return Problem("steps", f"the step of axis {axis} must not be 0")
        if not (isinstance(start, int) and isinstance(count, int) and isinstance(size, int)) or count == 0:
            continue
        last = start + step * (count - 1)
        if not (0 <= start < size and 0 <= last < size):
            name = "sizes" if 0 <= start < size else "starts"
            return Problem(name, f"axis {axis} is read from {start} to {last}, but has {quantity(size, 'element')}")
    return None


def _diagonal_problem(node: Node) -> Problem | None:
    axes, starts, (count,) = ints(node.attrs, "axes"), sizes(node.attrs, "starts"), sizes(node.attrs, "size")
    shape = node.operands[0].type.shape
    if len(axes) != 2 or normalize_axes(axes, len(shape)) != tuple(sorted(axes)):
        return Problem("axes", f"attribute 'axes' must be two of the {len(shape)} axes, not {axes}")
    if len(starts) != 2:
        return Problem("starts", f"attribute 'starts' must have 2 sizes, not {len(starts)}")
    for axis, first in zip(axes, starts, strict=True):
        whole = shape[axis]
        if not (isinstance(first, int) and isinstance(count, int) and isinstance(whole, int)) or count == 0:
            continue
        if first < 0 or first + count > whole:
            name = "starts" if first < 0 else "size"
            return Problem(
                name, f"axis {axis} is read from {first} to {first + count - 1}, but has {quantity(whole, 'element')}"
            )
    return None


def _access_problem(node: Node) -> Problem | None:
    found = access_problem(node.attrs, node.operands[0].type.shape)
    return None if found is None else Problem("steps", found)


def _axes_problem(node: Node) -> Problem | None:
    axes, rank = ints(node.attrs, "axes"), node.operands[0].type.rank
    if normalize_axes(axes, rank) != axes:
        return Problem("axes", f"attribute 'axes' must be sorted axes of an array with {rank} dimensions, not {axes}")
    if node.attrs.get("chained") and product_in_sum(node) is None:
        return Problem("chained", "attribute 'chained' is only for sums of products")
    return _tree_problem(node)


def _tree_problem(node: Node) -> Problem | None:
    """Checks that a tree names each reduced axis once; axes of size 1 may be left out."""
    order, axes = node.attrs.get("order"), ints(node.attrs, "axes")
    if isinstance(order, AxisGroups):
        walked = [axis for group in order for axis in group]
        if len(set(walked)) != len(walked) or not set(walked) <= set(axes):
            return Problem("order", f"attribute 'order' walks along {walked}, but the reduced axes are {axes}")
        if missing := [a for a in axes if a not in walked and node.operands[0].type.shape[a] != 1]:
            return Problem("order", f"attribute 'order' leaves out axis {missing[0]}")
    elif found := _early_choice(node):
        return Problem(found, f"attribute '{found}' needs 'order'")
    if "steps" in node.attrs and (node.attrs["steps"] == 0) != (is_exact(node) or bool(node.attrs.get("chained"))):
        expected = "0: the order can't matter" if is_exact(node) else "above 0: the order matters"
        return Problem("steps", f"attribute 'steps' is {node.attrs['steps']}, but must be {expected}")
    return _composite_problem(node)


def _early_choice(node: Node) -> str | None:
    """Name an attribute that needs `order`. One lane, and parts, may be requested before there is a tree."""
    names = ("lanes", "steps", "chained", "composite")
    return next((n for n in names if n in node.attrs and (n != "lanes" or node.attrs[n] != 1)), None)


def _composite_problem(node: Node) -> Problem | None:
    kind = node.attrs.get("composite")
    if kind is None:
        planned = ("chunk", "cut_from", *(("moment_part",) if "order" in node.attrs else ()))
        stray = next((name for name in planned if name in node.attrs), None)
        return Problem(stray, f"attribute '{stray}' needs 'composite'") if stray else None
    found = recognise(node)
    is_total = kind == TOTAL and node.op is SUM and node.result.type.dtype in (F32, F64)
    if not is_total and (found is None or found.kind != kind):
        return Problem("composite", f"attribute 'composite' is {kind!r}, but this sum does not have that form")
    missing = next((name for name in ("chunk", "cut_from") if name not in node.attrs), None)
    if missing:
        return Problem(missing, f"attribute '{missing}' is missing")
    chunk, part = integer(node.attrs, "chunk"), integer(node.attrs, "moment_part") if "moment_part" in node.attrs else 1
    return (
        Problem("moment_part", f"attribute 'moment_part' is {part}, but must divide 'chunk'") if chunk % part else None
    )


def _gather_problem(node: Node) -> Problem | None:
    named = node.attrs.get("named")
    if named is None or (isinstance(named, tuple) and len(named) == len(node.operands)):
        return None
    return Problem(
        "named", f"attribute 'named' must have one name for each of {quantity(len(node.operands), 'operand')}"
    )


def _function_problem(node: Node) -> Problem | None:
    name = str(node.attrs["function"])
    arity = TABLE[name].arity if name in FUNCTIONS else None
    if arity is None:
        return Problem("function", f"attribute 'function' must be a function of complex numbers, not '{name}'")
    if len(node.operands) != 2 * arity:
        return Problem(
            "function",
            f"'{name}' takes {quantity(2 * arity, 'operand')}, two parts of each number, not {len(node.operands)}",
        )
    return None


def _numpy_problem(node: Node) -> Problem | None:
    if "call" in node.attrs and "op" in node.attrs:
        return Problem("call", "a NumPy function can't have both 'call' and 'op'")
    name = node.attrs.get("op")
    if name is not None and (str(name) not in TABLE or TABLE[str(name)].numpy is None):
        return Problem("op", f"attribute 'op' must be an op that NumPy has, not '{name}'")
    return None


def _carried_problem(node: Node) -> Problem | None:
    count, most = integer(node.attrs, "carried"), len(node.operands) - (node.op is LOOP)
    if 1 <= count <= most:
        return None
    return Problem("carried", f"attribute 'carried' is {count}, but the loop has {quantity(most, 'value')} to carry")


_SPECIAL: Mapping[OpDef, Callable[[Node], Problem | None]] = {
    CONSTANT: _constant_problem,
    SLICE: _slice_problem,
    DIAGONAL: _diagonal_problem,
    ACCESS: _access_problem,
    GATHER: _gather_problem,
    COMPLEX_FUNCTION: _function_problem,
    NUMPY: _numpy_problem,
    WHILE: _carried_problem,
    LOOP: _carried_problem,
    **dict.fromkeys((*REDUCTIONS, *POSITIONS), _axes_problem),
}
