"""Keep the labels of pandas' and xarray's arrays: a kernel that gets them returns them.

A kernel computes by position, so all labelled arguments must have the same labels. Aligning them could change their
sizes, which the caller should decide; so other labels are refused. A result with the shape of an argument gets its
labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.errors import ValueProblem
from ..ir.records import record

KINDS = {("pandas", "Series"), ("pandas", "DataFrame"), ("xarray", "DataArray")}


def is_labelled(value: Any) -> bool:
    """Tell whether an argument is an array of pandas or xarray, without importing either."""
    return any((k.__module__.partition(".")[0], k.__name__) in KINDS for k in type(value).__mro__)


@record(eq=False)
class Labels:
    """The labelled arguments of a call, by name."""

    given: dict[str, Any]

    def put_on(self, result: Any) -> Any:
        """Return the results with the labels of the first argument that has their shape."""
        if isinstance(result, tuple):
            return tuple(map(self.put_on, result))
        for value in self.given.values():
            if isinstance(result, np.ndarray) and result.shape == value.shape and result.ndim:
                return self._like(value, result)
        return result

    def _like(self, value: Any, result: Any) -> Any:
        if hasattr(value, "dims"):
            return type(value)(result, coords=value.coords, dims=value.dims, name=self._name())
        if value.ndim == 2:
            return type(value)(result, index=value.index, columns=value.columns)
        return type(value)(result, index=value.index, name=self._name())

    def _name(self) -> Any:
        """The name that all of them have, as in pandas; None if they differ."""
        names = [getattr(value, "name", None) for value in self.given.values()]
        return names[0] if all(name == names[0] for name in names) else None


def labels_of(kernel: str, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Labels | None:
    """Return the labelled arguments of a call, if there are any; they must have the same labels."""
    given = {n: x for n, x in (*zip(names, args, strict=False), *kwargs.items()) if is_labelled(x)}
    if not given:
        return None
    (first, example), *others = given.items()
    for name, value in others:
        if not _agree(example, value):
            raise ValueProblem(
                f"{kernel}: '{first}' and '{name}' have different labels, and kernels compute by position",
                hint=f"align them first: {first}, {name} = {first}.align({name}); or pass arrays: {name}.to_numpy()",
            )
    return Labels(given)


def _agree(one: Any, other: Any) -> bool:
    """Tell whether the labels of two arrays agree.

    An array with fewer axes must agree with an axis of the same length.
    """
    left, right = _axes(one), _axes(other)
    if len(left) == len(right):
        return all(map(_is_same, left, right))
    fewer, more = sorted((left, right), key=len)
    return all(any(_is_same(a, b) for b in more) for a in fewer)


def _axes(value: Any) -> list[Any]:
    """The labels of each axis: an index, or the name of a dimension that has none."""
    if hasattr(value, "dims"):
        return [(dim, value.indexes.get(dim)) for dim in value.dims]
    return [(None, value.index), (None, value.columns)] if value.ndim == 2 else [(None, value.index)]


def _is_same(a: Any, b: Any) -> bool:
    (left, one), (right, other) = a, b
    if left != right and left is not None and right is not None:
        return False
    return one is other or (one is not None and other is not None and bool(one.equals(other)))
