"""Define `access`, a view that reads another array at affine indices.

Element (j0, j1, ...) is `x[starts[a] + sum over b of steps[a, b]*j_b, for each axis a of x]`. `steps` has a row for
each axis of x and a column for each axis of the result: `x[2*i + k]` over (i, k) has the start 0 and the steps 2, 1.
The code that makes one has proved that every index is in range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .dims import Size
from .errors import ShapeProblem, quantity
from .facts import Facts
from .rules import Attrs, Shapes
from .types import Sizes, sizes


def accessed(facts: Facts, shapes: Shapes, attrs: Attrs) -> Shapes:
    shape, starts, steps = (sizes(attrs, name) for name in ("shape", "starts", "steps"))
    rank = len(shapes[0])
    if len(starts) != rank or len(steps) != rank * len(shape):
        raise ShapeProblem(
            f"access has {quantity(len(starts), 'start')} and {quantity(len(steps), 'step')}, "
            f"but the array has {quantity(rank, 'dimension')} and the result {len(shape)}"
        )
    return [tuple(shape)]


def access(x: Any, shape: tuple[int, ...], starts: tuple[int, ...], steps: tuple[int, ...]) -> Any:
    indices = []
    for axis, start in enumerate(starts):
        index = np.full((1,) * len(shape), start)
        for along, step in enumerate(steps[axis * len(shape) : (axis + 1) * len(shape)]):
            numbers = step * np.arange(shape[along])
            index = index + numbers.reshape([-1 if k == along else 1 for k in range(len(shape))])
        indices.append(np.broadcast_to(index, shape))
    return np.asarray(x)[tuple(indices)] if indices else np.broadcast_to(x, shape)


def steps_of(attrs: Attrs, axis: int) -> tuple[Size, ...]:
    """Return by how much each axis of the result moves the index along one axis of the operand."""
    rank = len(sizes(attrs, "shape"))
    return tuple(sizes(attrs, "steps")[axis * rank : (axis + 1) * rank])


def accessed_index(attrs: Attrs, index: Sequence[Size]) -> tuple[Size, ...]:
    """The operand index of the element at an index of the result."""
    found: list[Size] = []
    for axis, at in enumerate(sizes(attrs, "starts")):
        for step, i in zip(steps_of(attrs, axis), index, strict=True):
            at = at + step * i if step != 0 else at
        found.append(at)
    return tuple(found)


def access_problem(attrs: Attrs, operand: tuple[Size, ...]) -> str | None:
    """Describe what is wrong with an access to an array of this shape. Symbolic sizes are not checked."""
    shape, starts, steps = (sizes(attrs, name) for name in ("shape", "starts", "steps"))
    if len(starts) != len(operand) or len(steps) != len(operand) * len(shape):
        counts = f"{quantity(len(starts), 'start')} and {quantity(len(steps), 'step')}"
        return f"has {counts}, but the operand has {quantity(len(operand), 'axis', 'axes')} and the result {len(shape)}"
    if 0 in shape:
        return None
    for axis, (start, whole) in enumerate(zip(starts, operand, strict=True)):
        low = high = start
        for step, size in zip(steps_of(attrs, axis), shape, strict=True):
            if step == 0:
                continue
            if not (isinstance(step, int) and isinstance(size, int)):
                break
            low, high = low + min(0, step * (size - 1)), high + max(0, step * (size - 1))
        else:
            if isinstance(low, int) and low < 0:
                return f"axis {axis} is read from {low} on, before its first element"
            if isinstance(high, int) and isinstance(whole, int) and high >= whole:
                return f"axis {axis} is read up to {high}, but has {quantity(whole, 'element')}"
    return None


def composed(outer: Attrs, inner: Attrs) -> tuple[Sizes, Sizes]:
    """Compose two accesses into one. It returns the starts and steps of the access that reads `outer` of `inner`."""
    columns = range(len(sizes(outer, "shape")))
    between = range(len(sizes(inner, "shape")))
    starts, steps = list[Size](), list[Size]()
    for axis, start in enumerate(sizes(inner, "starts")):
        own = steps_of(inner, axis)
        for k in between:
            start = start + own[k] * sizes(outer, "starts")[k]
        starts.append(start)
        for b in columns:
            total: Size = 0
            for k in between:
                total = total + own[k] * steps_of(outer, k)[b]
            steps.append(total)
    return Sizes(starts), Sizes(steps)
