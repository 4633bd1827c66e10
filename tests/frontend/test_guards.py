"""Test that a graph serves every call for which its guards hold: built for some sizes, run on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.ir import dims
from weft.ir.errors import WeftError
from weft.ir.graph import graph_guards

from .tracing import execute, prepare, same

FUNCTIONS = {
    "index": lambda x: x[2] + x[-2],
    "size_index": lambda x: x[x.shape[0] - 3],
    "size_slice": lambda x: x[x.shape[0] - 4 : x.shape[0] - 1],
    "halves": lambda x: x[: x.shape[0] // 2],
    "shifted": lambda x: x[2:] + x[:-2] * x[1:-1],
    "squeeze": lambda x: np.squeeze(x[2:]),
    "reshape": lambda x: x.reshape(2, -1).sum(axis=0),
    "extreme": lambda x: x[1:].max(axis=0),
    "branch": lambda x: x[:3] if x.shape[0] > 4 else x * 2,
    "unequal": lambda x: x if x.shape[0] != 5 else -x,
    "parity": lambda x: x.sum() if x.shape[0] % 2 else x,
    "range": lambda x: sum(x[i] * i for i in range(x.shape[0])),
    "shapes": lambda x: x[1:] if x.shape == (4, 2) else x.T,
}


def holds(graph: Any, sizes: dict[str, int]) -> bool:
    return all(dims.evaluate(a, sizes) == dims.evaluate(b, sizes) for a, b in graph_guards(graph))


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=60, deadline=None)
@given(first=st.integers(2, 9), second=st.sampled_from([0, 2, 3, 4, 5, 6, 7, 8, 9]))
def test_sound(name: str, first: int, second: int) -> None:
    function = FUNCTIONS[name]
    try:
        built, _ = prepare(function, np.ones((first, 2)))
    except WeftError:
        with pytest.raises((IndexError, ValueError)):
            function(np.ones((first, 2)))
        return
    assert holds(built.graph, {"x0": first, "x1": 2})
    if holds(built.graph, {"x0": second, "x1": 2}):
        x = np.arange(second * 2.0).reshape(second, 2)
        same(execute(built, (x,)), function(x))
