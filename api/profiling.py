"""Profile a program: the time of each jitted function, kernel and piece, with line numbers, and a trace for
browsers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .function import JitFunction
from .programs.methods import MethodProgram
from .programs.pieces import LoopProgram, PieceProgram
from .programs.program import Program
from .runtime.calling import Called
from .runtime.profiling import Profile, Timed, measuring


@contextmanager
def profile(trace: str | None = None, *, quiet: bool = False) -> Iterator[Profile]:
    """Measure compiled code while the block runs, then print the times and write a Chrome trace file.

    While it runs, calls go through Python and take some microseconds more, so the times of short calls are too high.
    """
    made = Profile()
    try:
        with measuring(made, ((JitFunction, _function), (Called, _other))):
            yield made
    finally:
        if trace is not None:
            made.save(trace)
        if not quiet:
            print(made, file=sys.stderr)


def _function(called: Any) -> Timed:
    program = called._program
    if isinstance(program, PieceProgram):
        return _piece(program, program.function)
    own = program.program if isinstance(program, MethodProgram) else program
    code = getattr(called.__wrapped__, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    return Timed(called.__name__, file, (line, line), not (isinstance(own, Program) and own.is_split))


def _piece(program: Any, function: Any) -> Timed:
    return Timed(f"{function.__name__}: piece", function.__code__.co_filename, program.lines, True)


def _other(called: Any) -> Timed | None:
    if isinstance(called, JitFunction):  # it is measured already
        return None
    if isinstance(called, LoopProgram):
        return _piece(called, called.function)
    return Timed(called.__name__, "", (0, 0), True)
