"""Test that the fuzzer finds faults: each is put into Weft alone, and one of the graphs of `test_graphs.py` must fail.

Without the fault the same graph must pass, so that other failures do not count. The graph that found the fault before
(`finders.json`) is tried first, then those with the fault's theme, then the others; `--update-goldens` looks again. A
fault in the front end or a pass is looked for without native code: comparing the graph before and after the passes
shows it, in a quarter of the time.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from . import faults, frontend_faults
from .checking import Failure, Oracle
from .drawing import FIRST_OF_OPTIONS, OPTIONS, draw, theme_of
from .faults import IN_CODE, IN_PASSES, Fault
from .frontend_faults import IN_FRONT_END
from .test_graphs import COUNT, OF_OPTIONS, SEED
from .trying import failure, widths_for

FINDERS = Path(__file__).with_name("finders.json")
FILES = (faults.__file__, frontend_faults.__file__)


def tried(number: int, oracle: Oracle) -> Failure | None:
    return failure(draw(SEED, number), oracle, widths_for(number)[:1])


def first_failure(fault: Fault, theme: str, runs: bool, hint: int | None = None) -> tuple[int, Failure]:
    """Return the first graph that fails only with the fault, and how."""
    numbers = sorted(range(COUNT), key=lambda number: theme_of(SEED, number) != theme)
    if theme == OPTIONS:
        numbers = list(range(FIRST_OF_OPTIONS, FIRST_OF_OPTIONS + OF_OPTIONS))
    if hint is not None:
        numbers.insert(0, hint)
    oracle: Oracle | None = None
    for number in numbers:
        with fault():
            oracle = oracle or Oracle(runs)
            found = tried(number, oracle)
        if found is not None and tried(number, without_fault(runs)) is None:
            return number, found
    pytest.fail("no graph finds it")


def demand_found(fault: Fault, theme: str, runs: bool, update: bool) -> None:
    known: dict[str, int] = json.loads(FINDERS.read_text())
    number, found = first_failure(fault, theme, runs, None if update else known.get(fault.__name__))
    if update:
        FINDERS.write_text(json.dumps({**known, fault.__name__: number}, indent=1, sort_keys=True) + "\n")
    # A patch that breaks down itself has put no fault in.
    assert found.link != "oracle", found
    assert not any(frames[-1].filename in FILES for frames in _tracebacks(found)), found


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@cache
def without_fault(runs: bool) -> Oracle:
    return Oracle(runs)


def _tracebacks(error: BaseException | None) -> Iterator[list[traceback.FrameSummary]]:
    """Return the lines where an error and each of its causes were raised."""
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        if frames:
            yield list(frames)
        error = error.__cause__ or error.__context__


def each(table: Mapping[str, tuple[Fault, ...]]) -> list[object]:
    return [pytest.param(fault, theme, id=fault.__name__) for theme, some in table.items() for fault in some]


@pytest.mark.parametrize(("fault", "theme"), each(IN_PASSES))
def test_faults_in_passes(fault: Fault, theme: str, update: bool) -> None:
    demand_found(fault, theme, runs=False, update=update)


@pytest.mark.parametrize(("fault", "theme"), each(IN_FRONT_END))
def test_faults_in_the_front_end(fault: Fault, theme: str, update: bool) -> None:
    demand_found(fault, theme, runs=False, update=update)


@pytest.mark.parametrize(("fault", "theme"), each(IN_CODE))
def test_faults_in_code(fault: Fault, theme: str, update: bool) -> None:
    demand_found(fault, theme, runs=True, update=update)


def test_there_are_enough() -> None:
    assert len(each(IN_PASSES)) + len(each(IN_CODE)) >= 20 and len(each(IN_FRONT_END)) >= 12
