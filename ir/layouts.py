"""Turn a layout class and a shape into symbolic byte strides.

A graph is compiled for one of five layout classes of each array. Strides that a class leaves open are symbols, which
the call fills in.
"""

from __future__ import annotations

from . import dims
from .dims import Size, symbol

SCALAR, C, F, UNIT, GENERAL = CLASSES = "scalar", "C", "F", "unit", "general"


def classify(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> str:
    """The layout class of an array. Axes of size 1 are ignored and C wins ties; `unit` has C's axis order."""
    axes = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    if not shape:
        return SCALAR
    if not axes or any(n == 0 for n, _ in axes) or _contiguous(axes[::-1], itemsize):
        return C
    if _contiguous(axes, itemsize):
        return F
    descending = all(axes[k][1] >= axes[k + 1][1] * axes[k + 1][0] for k in range(len(axes) - 1))
    return UNIT if axes[-1][1] == itemsize and descending else GENERAL


def _contiguous(axes: list[tuple[int, int]], itemsize: int) -> bool:
    for size, stride in axes:
        if stride != itemsize:
            return False
        itemsize *= size
    return True


def byte_strides(layout: str, shape: tuple[Size, ...], itemsize: int, name: str) -> tuple[Size, ...]:
    """The strides of an array; unknown ones are the symbols `name.s0`, `name.s1`, ... (0 where the size is 1)."""
    if layout in (C, SCALAR):
        return tuple(0 if n == 1 else itemsize * dims.product(shape[k + 1 :]) for k, n in enumerate(shape))
    if layout == F:
        return tuple(0 if n == 1 else itemsize * dims.product(shape[:k]) for k, n in enumerate(shape))
    known: list[Size] = [0 if n == 1 else symbol(f"{name}.s{k}") for k, n in enumerate(shape)]
    if layout == UNIT:
        last = max(k for k, n in enumerate(shape) if n != 1)
        known[last] = itemsize
    return tuple(known)


def piece_layout(whole: str, shape: tuple[Size, ...], axis: int) -> str:
    """The layout class of a piece, cut along one axis, of an array of class `whole`."""
    before, after = (all(n == 1 for n in part) for part in (shape[:axis], shape[axis + 1 :]))
    if (whole == C and before) or (whole == F and after):
        return whole
    if whole in (C, UNIT) and not (after and shape[axis] == 1):
        return UNIT
    return GENERAL
