"""Test random loops under `jit` against plain Python, and that mistakes put into the compiler are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.programs.random_loops import LoopWriter
from tests.programs.test_functions import CALLS, QUIET, check

KINDS = (
    *CALLS[2:], ("half", 2), ("complex", 3), ("turned", 2), ("rows", 1), ("locked", 2), ("gaps", 3), ("zero", 2),
    ("shifted", 0),
)  # fmt: skip


OVERLAPS = (("same", 2), ("shifted", 1), ("shifted", 3), ("turned", 2), ("rows", 1))


def check_loops(seed: int, backend: str = "reference", more: Sequence[tuple[str, int]] = ()) -> Any:
    return check(seed, backend, (CALLS[0], CALLS[0], *(more or (KINDS[seed % len(KINDS)],))), LoopWriter)


@QUIET
@pytest.mark.parametrize("part", range(2))
def test_random_loops(part: int) -> None:
    native = sum(check_loops(seed).explain().native_pieces > 0 for seed in range(part * 250, (part + 1) * 250))
    assert native > 150


@QUIET
def test_random_loops_natively() -> None:
    assert sum(check_loops(seed, "llvm").explain().native_pieces > 0 for seed in range(9000, 9012)) > 6
