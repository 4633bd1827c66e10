"""Test that every type of error is raised by something, and that some test names it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.ir import errors
from weft.ir.errors import WeftError
from weft.ir.limits import Limits, limiter

TESTS = Path(__file__).parents[1]


def test_every_type_is_named_by_a_test() -> None:
    named: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            named |= {node.attr} if isinstance(node, ast.Attribute) else set()
            named |= {node.id} if isinstance(node, ast.Name) else set()
    types = [x for x in vars(errors).values() if isinstance(x, type) and issubclass(x, WeftError | UserWarning)]
    assert len(types) > 25
    assert {kind.__name__ for kind in types} <= named


def test_a_result_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = weft.compile("kernel k(x: f64[n]) = x + 1").k
    monkeypatch.setattr(limiter, "now", Limits(result_bytes=1 << 20))
    with pytest.raises(errors.MemoryProblem, match=r"Unable to allocate 32 MiB for an array with shape \(4194304,"):
        kernel(np.zeros(1 << 22))


def test_a_split_into_no_parts() -> None:
    """As in NumPy, the error is a ZeroDivisionError."""
    for kind in (errors.DivisionByZero, ZeroDivisionError):
        with pytest.raises(kind, match="integer modulo by zero"):
            weft.compile("kernel k(x: f64[n]) = concatenate(split(x, 0))").k(np.zeros(4))


def test_a_condition_on_plain_numbers() -> None:
    with pytest.raises(errors.OnlyTraced, match="'cond' needs at least one traced value"):
        weft.cond(True, lambda k: k, lambda k: k + 1, 0)
