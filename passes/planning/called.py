"""Choose the functions whose code is emitted once and called, so that compile time does not grow with their number."""

from __future__ import annotations

from collections import Counter

from ...ir.functions import functions_in
from ...ir.graph import Graph

OFTEN = 16  # uses in one region; with fewer, code in place is faster, because several vectors run through it together


def called_functions(body: Graph) -> tuple[str, ...]:
    """The functions that a body uses often."""
    return tuple(name for name, count in Counter(functions_in(body)).items() if count >= OFTEN)
