"""Test that every function of the table is drawn or has a reason not to be, and that programs are reproducible."""

from __future__ import annotations

from collections import Counter

import pytest
from weft.frontend.numpy.functions import FUNCTIONS

from . import recipes
from .choosing import DTYPES
from .drawing import draw
from .program import Program

PROGRAMS = 4000


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [draw(11, number) for number in range(PROGRAMS)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_recipe(name: str) -> None:
    assert recipes.without_recipe(name) is None


def test_every_function_is_drawn(programs: list[Program]) -> None:
    """A function that NumPy always refuses, as drawn, would never be tested."""
    drawn = Counter(step.call for p in programs for step in p.steps)
    assert [n for n in FUNCTIONS if n not in recipes.LEFT_OUT and not drawn[f"np.{n}"]] == []


def test_every_native_dtype_is_drawn(programs: list[Program]) -> None:
    drawn = Counter(x.dtype for p in programs for x in p.inputs)
    assert all(drawn[dtype] > PROGRAMS // 100 for dtype in DTYPES)


def test_programs_are_of_every_kind(programs: list[Program]) -> None:
    """Check sizes 0 and 1, long rows, several outputs, every kind of argument, and `out` with and without overlap."""
    sizes = {n for p in programs for x in p.inputs for n in x.shape}
    assert {0, 1, 17, 1025} <= sizes
    assert {x.kind for p in programs for x in p.inputs} == {"array", "captured", "scalar", "number"}
    assert {len(p.outputs) for p in programs} >= {1, 2, 3, 4}
    outs = {how.split()[0] for p in programs for how in p.out or ()}
    assert outs >= {"C", "F", "strided", "input"}
    assert sum(p.resized is not None for p in programs) > PROGRAMS // 3


def test_a_program_follows_from_its_seed_and_number() -> None:
    assert [draw(5, n) for n in range(50)] == [draw(5, n) for n in range(50)]
    assert draw(5, 1) != draw(6, 1)
