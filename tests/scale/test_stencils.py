"""Test that stencils over chunks have the bits of one machine: their chunks come with margins of their neighbours."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.dtypes import from_numpy
from weft.ir.source import ArgType
from weft.passes.planning import chunk_overlap
from weft.passes.planning.chunk_overlap import Margin
from weft.runtime.chunks.plan import plan_chunks
from weft.settings import lookup

from tests.scale.local import NumpyRunner, run_chunked
from tests.scale.test_split_chunks import OPTIONS, PASSES, both, planned, same

STENCILS: list[Callable[[Any], Any]] = [
    lambda x: x[1:] - x[:-1],
    lambda x: np.gradient(x, axis=0),
    lambda x: (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]) / 4,
    lambda x: np.pad(x, 1, mode="edge")[2:, 1:-1] + np.pad(x, 2)[:-4, 2:-2] - 2 * x,
    lambda x: np.exp(np.diff(x, n=2, axis=0)[1:]) * np.diff(x, n=2, axis=0)[:-1],
    lambda x: np.concatenate([np.zeros((2, x.shape[1])), x[1:] - x[:-1], x[-1:] * 2], axis=0),
    lambda x: (np.diff(x, axis=1).max(), np.argmax(x[2:] - x[:-2], axis=0), x[1:, :-1] * x[:-1, 1:]),
    lambda x: (np.diff(x, axis=0) > 0).sum(axis=0) + np.arange(x.shape[1]),
]


def cut(rng: random.Random, length: int) -> tuple[int, ...]:
    """Random chunks of at least five elements."""
    ends = [0]
    while rng.random() < 0.7 and ends[-1] + 10 <= length:
        ends.append(rng.randint(ends[-1] + 5, length - 5))
    return tuple(b - a for a, b in pairwise([*ends, length]))


def check(function: Callable[[Any], Any], rng: random.Random) -> None:
    shape = rng.choice([(40, 9), (33, 31), (64, 12)])
    x = np.random.default_rng(rng.randrange(100)).normal(size=shape)
    chunks = (cut(rng, shape[0]), cut(rng, shape[1]))
    plan, one, many = both(function, [x], [chunks])
    assert plan.split.same_bits and all(map(same, one, many)), chunks


@pytest.mark.parametrize("case", range(len(STENCILS)))
def test_stencils_have_the_bits_of_one_machine(case: int) -> None:
    rng = random.Random(case)
    for _ in range(4):
        check(STENCILS[case], rng)


def test_a_margin_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("before", "after"):
        with monkeypatch.context() as patch:
            patch.setattr(chunk_overlap.Margin, name, property(lambda margin: 0))
            with pytest.raises((AssertionError, ValueError, weft.errors.WeftError)):
                for seed in range(8):
                    check(STENCILS[1], random.Random(seed))
    assert Margin(1, 2, -1).after == 3


def test_sums_of_stencils_are_close() -> None:
    x = np.random.default_rng(0).normal(size=(70, 9))
    for function in (lambda x: np.diff(x, axis=0).sum(axis=0), lambda x: (x[2:] - x[:-2]).std(axis=0)):
        for chunks in (((32, 38), (9,)), ((30, 40), (4, 5))):
            plan, one, many = both(function, [x], [chunks])
            assert all(np.allclose(a, b, rtol=1e-13, atol=0) for a, b in zip(one, many, strict=True))
            assert not plan.split.same_bits or all(map(same, one, many))


def test_kernels_in_index_notation() -> None:
    text = """kernel heat(v: f64[n], r: f64) -> f64[n] {
        let w[i in 1..n-1] = v[i] + r * (v[i-1] - 2*v[i] + v[i+1]) else v[i]
        return w
    }"""
    x = np.random.default_rng(0).normal(size=50)
    kernel = weft.compile(text).heat
    args = [ArgType(from_numpy(x.dtype), x.shape), ArgType(from_numpy(np.dtype("f8")), ())]
    plan = plan_chunks(kernel._source, args, [((20, 20, 10),), ()], lookup, OPTIONS)
    (many,) = run_chunked(plan, [x, np.float64(0.1)], NumpyRunner(PASSES))
    assert same(kernel(x, 0.1), many)


def test_chunks_shorter_than_a_stencil_are_an_error() -> None:
    with pytest.raises(weft.errors.Unsupported, match="reaches over 4 elements, but x has chunks of 3"):
        planned(lambda x: x[4:] - x[:-4], [np.ones((30, 2))], [((27, 3), (2,))])
