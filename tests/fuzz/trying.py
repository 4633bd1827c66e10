"""Try a program with the oracle and give its `Failure` if it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .checking import NARROW, Failure, Oracle, Out, levels
from .program import Program


def failure(program: Program, oracle: Oracle, widths: Sequence[int] | None = None) -> Failure | None:
    """Return what is wrong with a program, called once and then with arguments of other sizes."""
    args = program.arguments()
    try:
        again = [[x.make() for x in second]] if (second := program.second()) else []
        oracle.check(program.function, args, outs(program, args), again, widths)
    except Failure as found:
        return found
    except Exception as error:  # the oracle itself must not fail: what it can't judge is a finding too
        return Failure("oracle", f"{type(error).__name__}: {error}")
    return None


def widths_for(number: int) -> tuple[int, ...]:
    """Return the machines that a program is compiled for: every thirty-second for all, the others in turn.

    Each is compared bit for bit with the reference, and so with the others; most of the time goes into compiling.
    """
    every = (*levels(), NARROW)
    return every if number % 32 == 0 else (every[number % len(every)],)


def outs(program: Program, args: Sequence[Any]) -> Any:
    """The `out` argument of the call."""
    if program.out is None:
        return None
    passed = [k for k, x in enumerate(program.inputs) if x.kind != "captured"]
    found = tuple(args[passed.index(int(h.split()[1]))] if h.startswith("input") else Out(h) for h in program.out)
    return found if len(found) > 1 else found[0]
