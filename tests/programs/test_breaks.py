"""Test that what a branch binds before `break` or `continue` is seen behind the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft


def found(x: Any) -> Any:
    at, last, steps = -1, 0.5, 0
    for i in range(len(x)):
        steps += 1
        if x[i] > 5:
            at = i
            break
        if x[i] < 1:
            last = 2.0 * i
            continue
        last = 7.0 * i
    return at, last, steps


def first_above(x: Any) -> Any:
    k, level = 0, 0.5
    while k + 1 < len(x):
        k += 1
        if x[k] > 5:
            level = k * 1.5
            break
        x[k] += 1
    return level, k


def last_of(x: Any) -> Any:
    at = -1
    for i in (0, 2, 1):  # unrolled
        if x[i] > 0.5:
            at = i
            continue
        x[i] += 1
    return at


def first_is_peeled(x: Any) -> Any:
    at, level = -1, 0
    for i in range(len(x)):
        level = level * 0.5 + x[i]
        if x[i] < 5:
            at = i
            continue
        x[i] += 1
    return at, level


@pytest.mark.parametrize("function", [found, first_above, last_of, first_is_peeled])
def test_what_a_loop_binds_before_it_breaks_is_kept(function: Any) -> None:
    jitted = weft.jit(function)
    for _ in range(2):
        for x in (np.arange(10.0), np.zeros(4), np.full(3, 9.0), np.array([0.5, 3.0, 0.5]), np.array([7.0, 1, 2])):
            assert repr(jitted(x.copy())) == repr(function(x.copy()))
    assert jitted.explain().is_whole, jitted.explain()
