"""Define NumPy's functions that join and split arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ...ir import dims
from ...ir.dims import Size
from ...ir.errors import DivisionByZero, ShapeProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.rules import promote
from ..fixed import fixed_int, known
from ..maker import Maker, Operand, as_dtype, static_size
from ..memory import converted, laid_out, turned
from ..sizes import guard_divides
from .arrays import array_of, joined, stacked, strong_array
from .axes import axis_of, ordered_axes
from .choosing import wrapped
from .conversion import demand_cast
from .elementwise import Make
from .indexing import index
from .shapes import at_least, at_least_3d, part, ravel

Arrays = Value | Sequence[object]


def sequence(m: Maker, arrays: Arrays, name: str) -> list[Value]:
    """List the arrays of a tuple, or those along the first axis of one array."""
    return [strong_array(m, x) for x in _items(m, arrays, name)]


def _check_axis(m: Maker, arrays: Arrays, axis: object, name: str) -> None:
    """Refuse `concatenate(x, y)`, where the second array would be the axis."""
    if isinstance(arrays, Value) and isinstance(axis, Value) and axis.type.rank:
        raise TypeProblem(f"'{name}' takes its arrays in one tuple", m.span, f"write {name}((x, y))")


def _items(m: Maker, arrays: Arrays, name: str) -> Sequence[object]:
    """List the items of a sequence; Python numbers stay as they are."""
    if isinstance(arrays, Value):
        if not arrays.type.rank:
            raise TypeProblem(f"'{name}' needs a sequence of arrays, not a number", m.span, f"{name}((a, b))")
        return list(unstack(m, arrays))
    if not isinstance(arrays, (tuple, list)):
        raise TypeProblem(f"'{name}' needs a sequence of arrays", m.span, f"write {name}((a, b))")
    if not arrays:
        raise ValueProblem("need at least one array to concatenate", m.span)
    return arrays


def _in_dtype(m: Maker, values: Sequence[Value], dtype: object, casting: str) -> list[Value]:
    """Convert values that are to be joined to one dtype, as far as the casting rule allows."""
    wanted = as_dtype(dtype, m.span)
    for value in values:
        demand_cast(m, value.type.dtype, wanted, casting)
    return [converted(m, value, wanted) for value in values]


def _join(m: Maker, values: Sequence[Value], axis: object, dtype: object = None, casting: str = "same_kind") -> Value:
    """Join values as `concatenate` does."""
    if axis is None:
        values, axis = [ravel(m, value) for value in values], 0
    if any(not value.type.rank for value in values):
        raise ValueProblem("zero-dimensional arrays cannot be concatenated", m.span, "use stack(...) to join scalars")
    wanted = promote(tuple(value.type.dtype for value in values)) if dtype is None else dtype
    values = _in_dtype(m, values, wanted, casting)
    return joined(m, values, axis_of(m, axis, values[0].type.rank))


def concatenate(m: Maker, arrays: Arrays, /, axis: object = 0, out: None = None, *, dtype: object = None,
                casting: str = "same_kind") -> Value:  # fmt: skip
    _check_axis(m, arrays, axis, "concatenate")
    items = _items(m, arrays, "concatenate")
    if axis is None and dtype is None:  # the one place in which Python numbers take the dtype of the arrays beside them
        values = [array_of(m, x) for x in items]  # type: ignore[arg-type]
        common = promote(tuple(value.type.dtype for value in values)).strong
        items = [m.cast(wrapped(m, x, common), common) if x.type.dtype.weak else x for x in values]
    return _join(m, [strong_array(m, x) for x in items], axis, dtype, casting)


def stack(m: Maker, arrays: Arrays, axis: object = 0, out: None = None, *, dtype: object = None,
          casting: str = "same_kind") -> Value:  # fmt: skip
    _check_axis(m, arrays, axis, "stack")
    values = sequence(m, arrays, "stack")
    wanted = promote(tuple(value.type.dtype for value in values)) if dtype is None else dtype
    values = _in_dtype(m, values, wanted, casting)
    return stacked(m, values, axis_of(m, axis, values[0].type.rank + 1))


def hstack(m: Maker, tup: Arrays, *, dtype: object = None, casting: str = "same_kind") -> Value:
    values = [at_least(m, x, 1) for x in sequence(m, tup, "hstack")]
    return _join(m, values, 0 if values[0].type.rank == 1 else 1, dtype, casting)


def vstack(m: Maker, tup: Arrays, *, dtype: object = None, casting: str = "same_kind") -> Value:
    return _join(m, [at_least(m, x, 2) for x in sequence(m, tup, "vstack")], 0, dtype, casting)


def dstack(m: Maker, tup: Arrays) -> Value:
    return _join(m, [at_least_3d(m, x) for x in sequence(m, tup, "dstack")], 2)


def column_stack(m: Maker, tup: Arrays) -> Value:
    values = sequence(m, tup, "column_stack")
    return _join(m, [turned(m, at_least(m, x, 2)) if x.type.rank < 2 else x for x in values], 1)


def append(m: Maker, arr: Operand, values: Operand, axis: object = None) -> Value:
    pair = [strong_array(m, x) for x in (arr, values)]
    return _join(m, pair, axis)


def block(m: Maker, arrays: object) -> Value:
    depth = _depth(m, arrays)
    rank = max(depth, *(x.type.rank for x in _leaves(m, arrays)))

    def built(part: object, level: int) -> Value:
        if not isinstance(part, (tuple, list)):
            return at_least(m, strong_array(m, part), rank)
        return _join(m, [built(item, level + 1) for item in part], rank - depth + level)

    return built(arrays, 0) if depth else laid_out(m, built(arrays, 0), "C")


def _depth(m: Maker, part: object) -> int:
    if not isinstance(part, (tuple, list)):
        return 0
    found = {_depth(m, item) for item in part}
    if not found:
        raise ValueProblem("a list given to 'block' is empty", m.span, "put at least one array into each list")
    if len(found) > 1:
        raise ValueProblem(
            "lists given to 'block' are nested to different depths", m.span, "nest all lists to the same depth"
        )
    return found.pop() + 1


def _leaves(m: Maker, part: object) -> list[Value]:
    if not isinstance(part, (tuple, list)):
        return [strong_array(m, part)]
    return [leaf for item in part for leaf in _leaves(m, item)]


# -- splitting


def unstack(m: Maker, x: Operand, /, *, axis: object = 0) -> tuple[Value, ...]:
    value = array_of(m, x)
    if not value.type.rank:
        raise ValueProblem("Input array must be at least 1-d.", m.span)
    # A tuple of one axis is fine, because NumPy moves the axis to the front.
    axes = ordered_axes(m, axis, value.type.rank)
    if len(axes) != 1:
        raise ValueProblem(f"'unstack' takes one axis, not {len(axes)}", m.span)
    along = axes[0]
    count = known(m, value.type.shape[along], "unstack")
    before = (slice(None),) * along
    return tuple(index(m.builder, value, (*before, i), m.span) for i in range(count))


def split(m: Maker, ary: Operand, indices_or_sections: object, axis: object = 0) -> tuple[Value, ...]:
    return _split(m, ary, indices_or_sections, axis, "split")


def array_split(m: Maker, ary: Operand, indices_or_sections: object, axis: object = 0) -> tuple[Value, ...]:
    return _split(m, ary, indices_or_sections, axis, "array_split")


def _split(m: Maker, ary: Operand, indices_or_sections: object, axis: object, name: str) -> tuple[Value, ...]:
    x = array_of(m, ary)
    along = axis_of(m, axis, x.type.rank)
    if isinstance(indices_or_sections, (tuple, list)):
        return _cut(m, x, indices_or_sections, along)
    count, size = _sections(m, indices_or_sections, name), m.builder.facts.canonical(x.type.shape[along])
    edges = _equal_edges(m, size, count) if name == "split" else _uneven_edges(size, count)
    return tuple(part(m, x, along, a, b - a) for a, b in pairwise(edges))


def _equal_edges(m: Maker, size: Size, count: int) -> list[Size]:
    if not guard_divides(m.builder.facts, count, size):
        number = m.builder.facts.number(size)
        raise ShapeProblem(
            "array split does not result in an equal division",
            m.span,
            f"{size if number is None else number} elements can't be split into {count} equal parts; use array_split",
        )
    each = dims.floordiv(size, count)
    return [each * k for k in range(count + 1)]


def _uneven_edges(size: Size, count: int) -> list[Size]:
    each = dims.floordiv(size, count)
    longer = size - each * count  # the first parts have one element more until none is left over
    return [each * k + dims.minimum(k, longer) for k in range(count)] + [size]


def _sections(m: Maker, sections: object, name: str) -> int:
    if isinstance(sections, Value) and sections.type.rank:
        raise m.refuse("splitting at positions from an array")
    count = fixed_int(m, sections, "indices_or_sections")
    if count == 0 and name == "split":
        raise DivisionByZero("integer modulo by zero", m.span, "split into at least one part")
    if count <= 0:
        raise ValueProblem("number sections must be larger than 0.", m.span)
    return count


def _cut(m: Maker, x: Value, places: Sequence[object], axis: int) -> tuple[Value, ...]:
    """Slice between positions, which may count from the end or be out of range."""
    before = (slice(None),) * axis
    edges = [0, *(static_size(place, "indices", m.span) for place in places), None]
    return tuple(index(m.builder, x, (*before, slice(start, stop), ...), m.span) for start, stop in pairwise(edges))


def _split_along(name: str, axis: int) -> Make:
    """Make `hsplit`, `vsplit` or `dsplit`."""

    def make(m: Maker, ary: Operand, indices_or_sections: object) -> tuple[Value, ...]:
        x = array_of(m, ary)
        needed = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
        if x.type.rank < needed:
            raise ValueProblem(f"{name} only works on arrays of {needed} or more dimensions", m.span)
        return split(m, x, indices_or_sections, min(axis, x.type.rank - 1))

    return make


ASSEMBLING: Mapping[str, Make] = {
    "concatenate": concatenate, "stack": stack, "hstack": hstack, "vstack": vstack, "dstack": dstack,
    "column_stack": column_stack, "append": append, "block": block, "split": split, "array_split": array_split,
    "hsplit": _split_along("hsplit", 1), "vsplit": _split_along("vsplit", 0), "dsplit": _split_along("dsplit", 2),
    "unstack": unstack,
}  # fmt: skip
ALIASES = {"concat": "concatenate"}
LISTS = frozenset(("split", "array_split", "hsplit", "vsplit", "dsplit"))  # NumPy gives a list, not a tuple
