"""Test that AVX2, AVX-512 and the reference, which runs the lowered graph in plain Python, give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .arrays import LAYOUTS, random, specials
from .comparing import Everywhere
from .programs import PROGRAMS

SHAPES = ((3, 5), (7, 100), (130, 33), (3, 2100), (1100, 5))
STRANGE = ("F", "rows with gaps", "negative", "repeated columns")


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes(name: str) -> None:
    everywhere = Everywhere(PROGRAMS[name])
    for shape in SHAPES:
        everywhere.check(random("float32", shape, 5))
    everywhere.check(random("float64", (9, 130), 6))


@pytest.mark.parametrize("name", PROGRAMS)
def test_layouts(name: str) -> None:
    everywhere = Everywhere(PROGRAMS[name])
    for layout in STRANGE:
        try:
            everywhere.check(LAYOUTS[layout](random("float32", (19, 70), 7)))
        except AssertionError as error:
            raise AssertionError(f"{layout}: {error}") from error


def test_special_numbers() -> None:
    """Zeros of both signs, infinities, NaN and subnormal numbers on every path of the trees."""

    def everything(x: Any) -> Any:
        parts = [(x.sum(axis=a), x.prod(axis=a), x.min(axis=a), x.max(axis=a), x.any(axis=a)) for a in (0, 1, None)]
        return tuple(r for part in parts for r in part)

    for dtype in ("float32", "float64"):
        everywhere = Everywhere(everything)
        few = specials(dtype)
        for numbers in (few[:3], few[-3:], few, np.array([0.0, -0.0], dtype), np.array([-0.0], dtype)):
            x = np.resize(numbers, (13, 37))
            everywhere.check(x)
            everywhere.check(np.asfortranarray(x))


def test_conversions() -> None:
    def convert(x: Any) -> Any:
        return (
            x.astype(np.int32), x.astype(np.int64), x.astype(np.float32), x.astype(np.float64), x.astype(bool),
            np.minimum(x, x[::-1]), np.maximum(x, 0.0), x.sum(), x.astype(np.int32).sum(), x[::2].max(),
        )  # fmt: skip

    for dtype in ("float32", "float64", "int32", "int64"):
        Everywhere(convert).check(specials(dtype))


def test_three_dimensions() -> None:
    def every_axis(x: Any) -> Any:
        e = np.exp(x * 0.1)
        return tuple(e.sum(axis=a) for a in (0, 1, 2, (0, 1), (0, 2), (1, 2), None))

    everywhere = Everywhere(every_axis)
    x = random("float32", (5, 18, 67), 9)
    for layout in ("C", "F", "axes turned", "negative inner"):
        everywhere.check(LAYOUTS[layout](x))
