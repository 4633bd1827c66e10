"""Provide loops and branches for traced functions.

    @weft.jit
    def escape(c, limit):
        def is_inside(state):
            z, k = state
            return (k < limit) & (abs(z) <= 2)
        z, k = weft.while_loop(is_inside, lambda state: (state[0] ** 2 + c, state[1] + 1), (0j, 0))
        return k

Each element of the state iterates on its own and leaves the loop when its own condition becomes false. Arrays that
the step reads are broadcast to the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .frontend.tracing import element_flow
from .frontend.tracing.locate import here
from .ir.errors import OnlyTraced, TraceProblem

__all__ = ["cond", "fori_loop", "while_loop"]


def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    """Repeat `state = body(state)` while `cond(state)` is true, and return the last state.

        n = weft.while_loop(lambda n: n < limit, lambda n: 2 * n, start)

    cond: returns a boolean for a state.
    body: returns the next state, with the same number of values.
    state: the first state: one value or a tuple.

    Each element loops until its own condition is false. At least one value must be traced, so call it under `weft.jit`.
    """
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
    """Run `state = body(i, state)` for i from `lo` to `hi - 1`, and return the last state.

        power = weft.fori_loop(0, 3, lambda i, y: y * x, x)

    lo, hi: the first index and the end, which is excluded; they may be traced.
    body: returns the next state, with the same number of values.
    state: the first state: one value or a tuple.
    """
    single = not isinstance(state, (tuple, list))
    values = (state,) if single else tuple(state)

    def step(given: tuple[Any, ...]) -> tuple[Any, ...]:
        i, end, *rest = given
        found = body(i, rest[0] if single else tuple(rest))
        return (i + 1, end, *((found,) if single else found))

    _, _, *last = while_loop(lambda given: given[0] < given[1], step, (lo, hi, *values))
    return last[0] if single else tuple(last)


def cond(pred: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """Choose between two branches, element by element.

        root = weft.cond(x > 0, lambda v: np.sqrt(v), lambda v: 0 * v, x)

    pred: a boolean, or an array of them.
    then: called with the operands; gives the result where `pred` is true.
    otherwise: called with the operands; gives the result where `pred` is false.
    operands: the values passed to both functions.
    """
    trace = element_flow.trace_of(pred, operands)
    if trace is None:
        raise _untraced("cond")
    found = element_flow.cond(trace, pred, then, otherwise, operands, here())
    return found[0] if len(found) == 1 else tuple(found)


def _untraced(name: str) -> TraceProblem:
    hint = "call it in a function under weft.jit, on its arguments"
    return OnlyTraced(f"'{name}' needs at least one traced value", here(), hint)
