"""Turn affine indices of an array into a view with an axis for each index in scope."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.dims import Size
from ...ir.graph import Value
from ...ir.ops import ACCESS, SLICE
from ...ir.types import Sizes
from ..maker import Maker
from ..numpy.contraction import turned
from ..numpy.shapes import reshaped
from .affine import Affine
from .scope import IndexScope


def is_slice(indices: Sequence[Affine]) -> bool:
    """Tell whether each index has its own axis, and each axis at most one index, with a number as its step."""
    names = [name for index in indices for name in index.steps]
    steps = [step for index in indices for step in index.steps.values()]
    alone = len(set(names)) == len(names) and all(len(index.steps) < 2 for index in indices)
    return alone and all(isinstance(step, int) for step in steps)


def viewed(m: Maker, array: Value, indices: Sequence[Affine], scope: IndexScope) -> Value:
    """Return the elements at affine indices: as a slice with its axes in order if possible."""
    if is_slice(indices):
        return placed(m, *sliced(m, array, indices, scope), scope)
    names = {name for index in indices for name in index.steps}
    starts = Sizes(index.first(scope) for index in indices)
    steps = Sizes(index.steps.get(i.name, 0) for index in indices for i in scope.indices)
    return m.builder.op(ACCESS, array, span=m.span, shape=Sizes(scope.shape(names)), starts=starts, steps=steps)


def sliced(
    m: Maker, array: Value, indices: Sequence[Affine | None], scope: IndexScope
) -> tuple[Value, list[str | None]]:
    """Make a slice, and return it with the index along each axis; an axis without a formula stays whole."""
    names: list[str | None] = [next(iter(index.steps), None) if index else None for index in indices]
    starts: list[Size] = []
    steps: list[int] = []
    sizes: list[Size] = []
    for index, name, size in zip(indices, names, array.type.shape, strict=True):
        step = index.steps[name] if index and name else 1
        assert isinstance(step, int)
        starts.append(index.first(scope) if index else 0)
        steps.append(step)
        sizes.append(size if index is None else scope.indices[scope.axis(name)].size if name else 1)
    whole = all(map(m.builder.facts.same, sizes, array.type.shape))
    if whole and all(start == 0 for start in starts) and all(step == 1 for step in steps):
        return array, names
    taken = m.builder.op(
        SLICE, array, span=m.span, starts=Sizes(starts), steps=tuple(steps), sizes=Sizes(sizes)
    )  # fmt: skip
    return taken, names


def placed(m: Maker, x: Value, names: Sequence[str | None], scope: IndexScope) -> Value:
    """Rearrange a value whose axes run along these indices to have an axis for each index in the scope."""
    if not names:
        return x
    order = sorted(range(len(names)), key=lambda axis: scope.axis(name) if (name := names[axis]) else -1)
    return reshaped(m, turned(m, x, order), scope.shape({name for name in names if name}))
