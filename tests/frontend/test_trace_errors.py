"""Test messages about code that can't be traced: golden texts with the line, a caret and a suggestion."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.frontend.tracing.functions import TracedFunction
from weft.ir import errors

from . import mistakes
from .tracing import traced

GOLDEN = Path(__file__).with_name("trace_errors.txt")
MISTAKES = [name for name, f in vars(mistakes).items() if getattr(f, "__module__", "") == mistakes.__name__]


def told(name: str) -> str:
    """Return the error of one mistake, without the parts that depend on the machine or on other lines."""
    function = getattr(mistakes, name)
    with pytest.raises(errors.WeftError) as caught:
        traced(function, np.arange(4.0))
    assert caught.value.span is not None and caught.value.span.file == mistakes.__file__
    text = f"{type(caught.value).__name__}: {caught.value}".replace(mistakes.__file__, "mistakes.py")
    text = re.sub(r"mistakes\.py:\d+:", "mistakes.py:", text)
    return re.sub(r"^ +(?:\d+)? +\|", " |", text, flags=re.MULTILINE)


def golden() -> dict[str, str]:
    parts = GOLDEN.read_text().split("\n== ")[1:]
    return {part.partition(" ==\n")[0]: part.partition(" ==\n")[2].rstrip("\n") for part in parts}


@pytest.fixture(scope="session", autouse=True)
def update(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-goldens"):
        GOLDEN.write_text("\n" + "\n".join(f"== {name} ==\n{told(name)}\n" for name in MISTAKES))


@pytest.mark.parametrize("name", MISTAKES)
def test_golden(name: str) -> None:
    assert told(name) == golden()[name]


def test_every_golden_has_its_mistake() -> None:
    assert list(golden()) == MISTAKES and len(MISTAKES) > 20


def test_a_value_that_outlives_its_trace() -> None:
    kept: list[Any] = []
    with pytest.raises(errors.TraceProblem, match="changes 'kept'"):
        traced(lambda x: kept.append(x) or x, np.ones(3))
    with pytest.raises(errors.TraceProblem, match="used after its trace ended"):
        kept[0] + 1
    with pytest.raises(errors.TraceProblem, match="value of another trace"):
        traced(lambda x: x + kept[0], np.ones(3))


def test_a_branch_on_a_long_computation() -> None:
    def function(x: Any) -> Any:
        y = x[0]
        for _ in range(3000):
            y = y * y
        return x if y > 0 else -x

    with pytest.raises(errors.TraceProblem, match="the truth value of a traced value"):
        traced(function, np.ones(3))


def test_errors_of_numpy_itself_pass_through() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        traced(lambda x: np.linalg.inv(x), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.select((), {}), "add: missing a required argument: 'x'"),
        (lambda s: s.select((1, 2, 3), {}), "add: too many positional arguments"),
        (lambda s: s.select((1,), {"yy": 2}), "did you mean 'y'?"),
        (lambda s: s.select((1, {1, 2}), {}), "argument 'y' is a set, not an array or a number"),
        (lambda s: s.select((1, [{1}]), {}), "argument 'y', a list, must hold only arrays and numbers"),
        (lambda s: s.select((1, mistakes.MASKED), {}), "argument 'y' is a MaskedArray"),
        (lambda s: s.select((1, len), {}), "name it in jit(static=('y',))"),
        (lambda s: TracedFunction(s.function, static=("y",)).select((1, {2}), {}), "static argument 'y' is a set"),
        (lambda s: TracedFunction(s.function, static=("z",)), "has no argument 'z' to make static"),
        (lambda s: TracedFunction(3), "expected a function, not an int"),
        (lambda s: s.bind([]), "add takes 2 arguments, not 0"),
    ],
)
def test_wrong_calls(call: Any, message: str) -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    with pytest.raises(errors.TypeProblem) as caught:
        call(TracedFunction(add))
    assert message in str(caught.value)
