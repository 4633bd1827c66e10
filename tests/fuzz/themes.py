"""Define the themes of random programs: weights of steps, sizes, dtypes and numbers.

With two hundred functions, fifteen dtypes and a dozen layouts, a program about everything rarely combines a given pair.
A theme keeps to one subject, so that such pairs meet soon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .choosing import SIZES

FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SOME = (1, 1, 9, 7, 6, 6, 6, 4, 2)  # weights of the moods, in the order of `inputs.MOODS`
STRANGE = (1, 1, 2, 2, 8, 8, 8, 3, 1)
SPECIAL = (0, 0, 1, 1, 6, 4, 12, 2, 0)
SMALL_NUMBERS = (1, 1, 9, 4, 3, 1, 0, 0, 1)


@dataclass(frozen=True)
class Theme:
    """How often a theme is chosen, and what its programs consist of."""

    weight: int
    steps: Mapping[str, int]  # weights of the methods of `steps.Steps`
    count: tuple[int, int] = (1, 5)
    ranks: tuple[int, ...] = (0, 1, 1, 2, 2, 2, 3)
    sizes: tuple[int, ...] = SIZES
    long: float = 0.1  # how often one axis is long
    dtypes: tuple[str, ...] = ()  # besides all of them
    moods: tuple[int, ...] = SOME
    outputs: int = 3
    eager: bool = False  # whether most optional arguments are given


THEMES: Mapping[str, Theme] = {
    "everything": Theme(
        20,
        {"elementwise": 30, "reduction": 10, "shaping": 12, "operator": 22, "index": 9, "method": 9, "ufunc_method": 3,
         "normalised": 4, "again": 2, "mirrored": 2, "negated": 2, "chosen": 2, "back": 2},
    ),
    "algebra": Theme(
        26,
        {"neutral": 36, "operator": 8, "again": 2, "mirrored": 6, "negated": 6, "chosen": 6, "compared": 8,
         "extreme": 6},
        count=(8, 14), ranks=(1, 1, 1, 2), sizes=(3, 17, 40, 40), long=0, dtypes=FLOATS, moods=SPECIAL, outputs=14,
    ),
    "views": Theme(
        18,
        {"viewed": 60, "index": 6, "shaping": 26, "operator": 8, "again": 2, "reduction": 3},
        count=(4, 8), ranks=(1, 2, 3, 3, 3), sizes=(2, 4, 5, 7, 8, 9, 16, 17), long=0.05, moods=SMALL_NUMBERS,
    ),
    "reductions": Theme(
        18,
        {"reduction": 20, "normalised": 22, "operator": 8, "costly": 10, "running": 6, "ufunc_method": 4, "method": 4,
         "viewed": 3},
        ranks=(1, 2, 2, 2, 3), long=0.25, dtypes=FLOATS,
    ),
    "conversions": Theme(
        12,
        {"back": 14, "converted": 14, "compared": 8, "operator": 4},
        count=(6, 12), ranks=(1, 1, 1, 2), sizes=(3, 17, 40), long=0, moods=SPECIAL, outputs=12,
    ),
    "integers": Theme(
        10,
        {"bits": 20, "elementwise": 12, "operator": 8, "neutral": 8, "compared": 14, "mirrored": 3},
        count=(6, 12), ranks=(1, 1, 1, 2), sizes=(3, 17, 40), long=0, dtypes=INTEGERS, moods=SPECIAL, outputs=12,
    ),
    "functions": Theme(
        11, {"elementwise": 20, "operator": 3}, count=(2, 4), ranks=(1, 2), sizes=(3, 17, 33, 65), long=0,
        dtypes=FLOATS, moods=STRANGE,
    ),
    "options": Theme(  # never by chance: programs of high numbers are about it
        0, {"option": 50, "reduction": 20, "compared": 8, "index": 8, "viewed": 6, "method": 4}, count=(2, 5),
        ranks=(1, 2, 2, 3), sizes=(2, 3, 4, 5, 7), long=0, moods=SMALL_NUMBERS, outputs=6, eager=True,
    ),
}  # fmt: skip
