"""Describe a figure of the scoreboard: what is tried, how often, and what failed."""

from __future__ import annotations

from collections.abc import Callable

from weft.ir.records import record

Tick = Callable[[int], None]


@record
class Figure:
    """One line of the scoreboard. `run(count, tick)` tries something `count` times and returns what went wrong."""

    number: int
    name: str
    unit: str  # what is counted
    full: int  # how many in a full run
    sample: int  # how many in `make test`; 0 if other tests already try it there
    run: Callable[[int, Tick], list[str]]


@record
class Outcome:
    """What a run of a figure found."""

    figure: Figure
    count: int
    failures: tuple[str, ...]
    seconds: float
