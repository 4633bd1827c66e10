"""Offer loops and branches for traced functions.

    def escape(c, limit):
        def goes_on(state):
            z, k = state
            return (k < limit) & (abs(z) <= 2)
        z, k = weft.while_loop(goes_on, lambda state: (state[0] ** 2 + c, state[1] + 1), (0j, 0))
        return k

Every element of the state runs for itself, with what the step reads broadcast to it, and leaves the loop when its own
condition is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import TraceProblem
from .frontend.tracing import element_flow
from .frontend.tracing.locate import here

__all__ = ["cond", "fori_loop", "while_loop"]


def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    """The state, one value or a tuple, after `state = body(state)` as long as `cond(state)` is true."""
    single = not isinstance(state, (tuple, list))
    values = (state,) if single else tuple(state)

    def packed(found: tuple[Any, ...]) -> Any:
        return found[0] if single else found

    def step(*given: Any) -> tuple[Any, ...]:
        found = body(packed(given))
        return (found,) if single else tuple(found)

    trace = element_flow.trace_of(values) or element_flow.trace_of(cond(packed(values)), step(*values))
    if trace is None:
        raise _untraced("while_loop")
    return packed(tuple(element_flow.while_loop(trace, lambda *given: cond(packed(given)), step, values, here())))


def fori_loop(lo: Any, hi: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """The state after `state = body(i, state)` for i from `lo` to `hi - 1`."""
    single = not isinstance(state, (tuple, list))
    values = (state,) if single else tuple(state)

    def step(given: tuple[Any, ...]) -> tuple[Any, ...]:
        i, end, *rest = given
        found = body(i, rest[0] if single else tuple(rest))
        return (i + 1, end, *((found,) if single else found))

    _, _, *last = while_loop(lambda given: given[0] < given[1], step, (lo, hi, *values))
    return last[0] if single else tuple(last)


def cond(pred: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """`then(*operands)` where `pred` is true, else `otherwise(*operands)`, for every element."""
    trace = element_flow.trace_of(pred, operands)
    if trace is None:
        raise _untraced("cond")
    found = element_flow.cond(trace, pred, then, otherwise, operands, here())
    return found[0] if len(found) == 1 else tuple(found)


def _untraced(name: str) -> TraceProblem:
    hint = "call it in a function under weft.jit, on its arguments"
    return TraceProblem(f"'{name}' needs at least one traced value", here(), hint)
