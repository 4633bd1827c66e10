"""Define what a library is in a benchmark, with NumPy and Weft as the first two."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ..compiling import jit
from ..ir.records import record
from .row import Case, Function, Row


class Unable(Exception):
    """Raised when a library can't compute a row; the message says why."""


@record
class TimedCall:
    """A call to time: `run(n)` calls n times and returns the seconds, `result()` calls once and returns the result."""

    run: Callable[[int], float]
    result: Callable[[], Any]


class BenchLibrary(Protocol):
    """NumPy, Weft or a peer."""

    name: str

    def calls(self, case: Case) -> list[TimedCall]:
        """Return the ways in which the library may compute a case; the fastest counts."""

    def fresh(self, row: Row) -> Function:
        """Return the row as a function of NumPy arrays for which nothing is compiled yet."""


def timed(function: Function, args: tuple[Any, ...], finish: Callable[[Any], Any] | None = None) -> TimedCall:
    """Make a timed call with these arguments; `finish` waits for its result if the call is asynchronous."""
    if finish is None:
        return TimedCall(_loop(function, args), lambda: function(*args))

    def run(count: int) -> float:
        start = perf_counter()
        for _ in repeat(None, count):
            finish(function(*args))
        return perf_counter() - start

    return TimedCall(run, lambda: finish(function(*args)))


def _loop(function: Function, args: tuple[Any, ...]) -> Callable[[int], float]:
    """Generate the loop as a user writes it; unpacking a tuple would take as long as a short call."""
    if len(args) == 1:
        (only,) = args

        def one(count: int) -> float:
            start = perf_counter()
            for _ in repeat(None, count):
                function(only)
            return perf_counter() - start

        return one
    if len(args) == 2:
        a, b = args

        def two(count: int) -> float:
            start = perf_counter()
            for _ in repeat(None, count):
                function(a, b)
            return perf_counter() - start

        return two

    def many(count: int) -> float:
        start = perf_counter()
        for _ in repeat(None, count):
            function(*args)
        return perf_counter() - start

    return many


def written(call: Callable[[Any, Any, Any], Any], case: Case) -> TimedCall:
    """Make a timed call of `call(a, b, out)`; its result is `out`."""
    a, b, out = case.args

    def result() -> Any:
        out.fill(np.nan)
        call(a, b, out)
        return out

    return TimedCall(timed(call, case.args).run, result)


def written_by_name(call: Callable[..., Any], case: Case) -> TimedCall:
    """Make a timed call of `call(a, b, out=out)`."""
    a, b, out = case.args

    def run(count: int) -> float:
        start = perf_counter()
        for _ in repeat(None, count):
            call(a, b, out=out)
        return perf_counter() - start

    def result() -> Any:
        out.fill(np.nan)
        return call(a, b, out=out)

    return TimedCall(run, result)


class NumPy:
    """NumPy itself, which defines the right result."""

    name = "NumPy"

    def calls(self, case: Case) -> list[TimedCall]:
        if case.row.into is not None:
            return [written_by_name(case.row.into, case)]
        bare = [] if case.row.ufunc is None else [timed(case.row.ufunc, case.args)]
        return [timed(case.row.make(np), case.args), *bare]

    def fresh(self, row: Row) -> Function:
        raise Unable("compiles nothing")


class Weft:
    """The row's function under `weft.jit`, one for all sizes and dtypes, or the kernel that the row names."""

    name = "Weft"

    def __init__(self) -> None:
        self._row: Row | None = None
        self._kernel: Any = None

    def calls(self, case: Case) -> list[TimedCall]:
        if case.row is not self._row:
            self._row, self._kernel = case.row, self.fresh(case.row)
        kernel = self._kernel
        return [timed(kernel, case.args) if case.row.into is None else written_by_name(kernel, case)]

    def fresh(self, row: Row) -> Function:
        return row.kernel or jit(row.make(np))
