"""Find the function that is measured under a name and a dtype."""

from __future__ import annotations

from collections.abc import Iterator

from .complexes import COMPLEX_FUNCTIONS
from .formats import FORMATS, Format
from .functions import FUNCTIONS, Function

NAMES = tuple(dict.fromkeys([*FUNCTIONS, *COMPLEX_FUNCTIONS]))


def find(name: str, dtype: str) -> Function:
    return (COMPLEX_FUNCTIONS if FORMATS[dtype].is_complex else FUNCTIONS)[name]


def rows() -> Iterator[tuple[Function, Format]]:
    """Return everything that is measured, in the order of the table."""
    for name in NAMES:
        for format in FORMATS.values():
            if name in (COMPLEX_FUNCTIONS if format.is_complex else FUNCTIONS):
                yield find(name, format.name), format
