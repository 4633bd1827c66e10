"""Test random calls of functions that arrange arrays, each traced once and run on other sizes as well.

A graph that was built for one call serves every other for which its guards hold. A missing guard gives wrong numbers
here, and errors that depend on sizes must be NumPy's for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.backends import reference
from weft.errors import WeftError
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .arranged import fresh
from .comparing import same

Array = np.ndarray[Any, Any]
Call = Callable[[Any, Any], Any]
SMALL = st.integers(0, 6)
OFFSET = st.integers(-7, 7)
BOUND = st.one_of(st.none(), OFFSET)
AXIS = st.sampled_from((0, 1, -1))
PART = st.builds(slice, BOUND, BOUND, st.sampled_from((None, 1, 2, -1, -2)))
KEY = st.tuples(st.one_of(PART, st.integers(-3, 3)), st.one_of(PART, st.none()))
WIDTHS = st.tuples(SMALL, SMALL)
MODE = st.sampled_from(("constant", "edge", "reflect", "symmetric", "wrap"))

CALLS: dict[str, st.SearchStrategy[Call]] = {
    "slice": st.builds(lambda key: lambda x, y: x[key], KEY),
    "roll": st.builds(lambda k, a: lambda x, y: np.roll(x, k, a), OFFSET, st.one_of(AXIS, st.none())),
    "roll both": st.builds(lambda k, j: lambda x, y: np.roll(x, (k, j), (0, 1)), OFFSET, OFFSET),
    "pad": st.builds(lambda w, v, m: lambda x, y: np.pad(x, (w, v), m), WIDTHS, WIDTHS, MODE),
    "tile": st.builds(lambda k, j: lambda x, y: np.tile(x, (k, j)), st.integers(0, 3), st.integers(0, 3)),
    "repeat": st.builds(lambda k, a: lambda x, y: np.repeat(x, k, a), st.integers(0, 3), st.one_of(AXIS, st.none())),
    "join": st.builds(lambda a: lambda x, y: np.concatenate([x, y[None, : x.shape[1]], x], a), st.just(0)),
    "stack": st.builds(lambda a: lambda x, y: np.stack([x, x[::-1]], a), st.integers(-3, 2)),
    "block": st.just(lambda x, y: np.block([[x, x], [x, x]])),
    "append": st.just(lambda x, y: np.append(x, y)),
    "split": st.builds(lambda k, a: lambda x, y: tuple(np.split(x, k, a)), st.integers(1, 3), AXIS),
    "cut": st.builds(lambda k, j, a: lambda x, y: tuple(np.split(x, [k, j], a)), OFFSET, OFFSET, AXIS),
    "parts": st.builds(lambda k, a: lambda x, y: tuple(np.array_split(x, k, a)), st.integers(1, 5), AXIS),
    "diff": st.builds(lambda n, a: lambda x, y: np.diff(x, n, a), st.integers(0, 4), AXIS),
    "diff with ends": st.builds(lambda k: lambda x, y: np.diff(y, prepend=k, append=y[:1]), OFFSET),
    "gradient": st.builds(lambda a, o: lambda x, y: np.gradient(x, axis=a, edge_order=o), AXIS, st.integers(1, 2)),
    "diagonal": st.builds(lambda k: lambda x, y: x.diagonal(k), OFFSET),
    "diag": st.builds(lambda k: lambda x, y: np.diag(y, k), OFFSET),
    "triangle": st.builds(lambda k: lambda x, y: (np.tril(x, k), np.triu(x, k)), OFFSET),
    "trace": st.builds(lambda k: lambda x, y: np.trace(x, k), OFFSET),
    "rot90": st.builds(lambda k: lambda x, y: np.rot90(x, k), OFFSET),
    "reshape": st.just(lambda x, y: (x.reshape(-1), x.reshape(x.shape[1], -1), x.T.reshape(-1, 1))),
    "squeeze": st.just(lambda x, y: np.squeeze(x[:, None, 1:])),
    "arange": st.builds(
        lambda a, b, s: lambda x, y: np.arange(a, x.shape[0] + b, s, like=x), OFFSET, OFFSET,
        st.sampled_from((1, 2, -1, -3)),
    ),
    "linspace": st.builds(
        lambda e: lambda x, y: np.linspace(0.5, x[0, 0] * 0 + 3, y.shape[0] and 5, endpoint=e), st.booleans()
    ),
    "eye": st.builds(lambda k: lambda x, y: np.eye(*x.shape, k, like=x), OFFSET),
    "take": st.builds(
        lambda i, a, m: lambda x, y: np.take(x, i, a, mode=m), st.lists(OFFSET, min_size=1, max_size=4), AXIS,
        st.sampled_from(("raise", "wrap", "clip")),
    ),
    "looked up": st.builds(lambda i: lambda x, y: x[:, i], st.lists(st.integers(-3, 3), min_size=1, max_size=3)),
    "along": st.builds(lambda a: lambda x, y: np.take_along_axis(x, (x[:, :1] * 0).astype(int), a), AXIS),
    "unstack": st.builds(lambda a: lambda x, y: np.unstack(x, axis=a), AXIS),
    "meshgrid": st.just(lambda x, y: np.meshgrid(y, x[0])),
    "broadcast": st.just(lambda x, y: np.broadcast_to(x[:1], x.shape)),
    "chain": st.builds(
        lambda k, w, key: lambda x, y: np.pad(np.roll(np.concatenate([x, x])[key[0]], k), w), OFFSET, SMALL,
        st.tuples(PART),
    ),
}  # fmt: skip


LOOKUPS = ("take", "looked up")  # where nothing is looked up, NumPy does not always ask what is out of bounds


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=12)
@given(st.data())
def test_other_sizes(name: str, data: st.DataObject) -> None:
    call = data.draw(CALLS[name])
    source = TracedFunction(call, (), lambda graph, inputs: reference.run(graph, inputs))
    kernel = Kernel(source, Registry(), Options(backend="reference"))
    least = 1 if name in LOOKUPS else 0
    sizes = st.tuples(st.integers(least, 7), st.integers(least, 7), st.integers(0, 9))
    for n, m, k in data.draw(st.lists(sizes, min_size=3, max_size=4)):
        _compare(kernel, call, np.arange(1.0, n * m + 1).reshape(n, m), np.arange(float(k)))


def _compare(kernel: Kernel, call: Call, x: Array, y: Array) -> None:
    try:
        expected = call(x, y)
    except (ValueError, IndexError, TypeError) as theirs:
        with pytest.raises((ValueError, IndexError, TypeError)) as ours:
            kernel(x, y)
        assert isinstance(ours.value, WeftError), (repr(theirs), repr(ours.value))
        return
    same(kernel(x, y), fresh(expected))
