"""Test that a compile makes collections rare, and leaves the collector as the user wants it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from weft.ir.limits import limiter
from weft.ir.support.garbage import OBJECTS


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 11, 12)
    yield 700, 11, 12
    gc.set_threshold(*before)


def test_collections_are_rare_during_a_compile(usual: tuple[int, int, int]) -> None:
    with limiter.compiling():
        with limiter.compiling():
            assert gc.get_threshold() == (OBJECTS, 11, 12)
        assert gc.get_threshold() == (OBJECTS, 11, 12) and gc.isenabled()
    assert gc.get_threshold() == usual


@pytest.mark.parametrize("first", [0, OBJECTS + 1])
def test_what_the_user_sets_stays(usual: tuple[int, int, int], first: int) -> None:
    with limiter.compiling():
        gc.set_threshold(first, 5, 6)
    assert gc.get_threshold() == (first, 5, 6)
    with pytest.raises(ZeroDivisionError), limiter.compiling():
        assert gc.get_threshold() == (first, 5, 6)
        raise ZeroDivisionError
    assert gc.get_threshold() == (first, 5, 6)
