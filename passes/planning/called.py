"""Find the functions that are emitted once and called, so that compile time does not grow with the number of their
uses.

It also tells whether functions wait for one another. Then more vectors at a time hide their latency.
"""

from __future__ import annotations

from collections import Counter

from ...ir.functions import function_name, functions_in
from ...ir.graph import Graph, Value

OFTEN = 16  # uses in one region; with fewer, code in place is faster, because several vectors run through it together


def called_functions(body: Graph) -> tuple[str, ...]:
    """The functions that a body uses often."""
    return tuple(name for name, count in Counter(functions_in(body)).items() if count >= OFTEN)


def are_chained(body: Graph) -> bool:
    """Whether a function takes the result of another one, in straight-line code without calls."""
    waiting = set[Value]()
    for node in body:
        is_function = function_name(node) is not None
        is_later = any(v in waiting for v in node.operands)
        if is_function and is_later:
            return not called_functions(body)
        if is_function or is_later:
            waiting.update(node.results)
    return False
