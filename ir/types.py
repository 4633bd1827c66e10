"""Define the type of a value: an element type and a shape whose sizes may be symbolic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from .dims import Size
from .dtypes import DType
from .records import record


class Sizes(tuple[Size, ...]):
    """A tuple of sizes that may be symbolic, as an attribute of an op."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"#weft.dims<{', '.join(map(str, self))}>"


class AxisGroups(tuple[tuple[int, ...], ...]):
    """Loops from the outside in, each a group of collapsed axes: `["0+1", "2"]` in text."""

    __slots__ = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple("+".join(map(str, group)) for group in self)


class Guards(tuple[tuple[Size, Size], ...]):
    """Equalities between sizes under which a graph is valid: `["n == m"]` in text.

    `solved` holds what follows from them once that was computed, so that it is not computed again for every pass.
    """

    solved: tuple[Any, ...] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(f"{left} == {right}" for left, right in self)


Attr = Union[bool, int, float, complex, str, DType, Sizes, AxisGroups, Guards, tuple[int, ...], tuple[str, ...]]


@record
class TensorType:
    """An array (or, without dimensions, a scalar) of one element type. Weak types have no dimensions.

    In loop nests a `memref` is memory for loads and stores, and a `vector` holds the lanes of a reduction.
    """

    dtype: DType
    shape: tuple[Size, ...] = ()
    kind: str = "tensor"

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]" if self.shape else str(self.dtype)

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)


def normalize_axis(axis: int, rank: int) -> int | None:
    """Count an axis from the front, or return None if there is no such axis."""
    return axis % rank if -rank <= axis < rank else None


def normalize_axes(axes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """Sort axes and count them from the front, or return None if one is missing or named twice."""
    found = [normalize_axis(a, rank) for a in axes]
    if None in found or len(set(found)) != len(found):
        return None
    return tuple(sorted(a for a in found if a is not None))


def integer(attrs: Mapping[str, Attr], name: str) -> int:
    """An attribute that is a whole number."""
    found = attrs[name]
    assert isinstance(found, int), name
    return found


def ints(attrs: Mapping[str, Attr], name: str) -> tuple[int, ...]:
    """An attribute that is a list of numbers."""
    found = attrs[name]
    assert isinstance(found, tuple) and all(isinstance(i, int) for i in found), name
    return tuple(i for i in found if isinstance(i, int))


def texts(attrs: Mapping[str, Attr], name: str) -> tuple[str, ...]:
    """An attribute that is a list of names, empty if it is missing."""
    found = attrs.get(name, ())
    assert isinstance(found, tuple), name
    return tuple(str(text) for text in found)


def axis_groups(attrs: Mapping[str, Attr], name: str) -> tuple[tuple[int, ...], ...]:
    """An attribute of loops, each a group of axes."""
    found = attrs[name]
    assert isinstance(found, AxisGroups), name
    return found


def sizes(attrs: Mapping[str, Attr], name: str) -> Sizes:
    """An attribute that is a list of sizes."""
    found = attrs[name]
    assert isinstance(found, Sizes), name
    return found
