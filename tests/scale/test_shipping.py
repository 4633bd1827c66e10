"""Test the carriers of pieces, natively and without dask: text travels, machine code does not."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.dtypes import from_numpy
from weft.ir.source import ArgType
from weft.runtime.chunks.jobs import Job, job_of
from weft.runtime.chunks.plan import ChunkPlan, plan_chunks
from weft.runtime.chunks.settling import threads_for
from weft.runtime.chunks.shipping import ShippedKernel
from weft.runtime.compiler import Options
from weft.settings import lookup

from tests.scale.local import run_chunked


def standardize(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def planned(function: Any, x: Any, chunks: Any, free: bool = False) -> ChunkPlan:
    jitted: Any = weft.jit(function)
    source, _ = jitted._source.select((x,), {})
    return plan_chunks(source, [ArgType(from_numpy(x.dtype), x.shape)], [chunks], lookup, Options(), free)


def test_shipped_pieces_have_the_bits_of_one_native_call() -> None:
    x = np.random.default_rng(0).normal(size=(200, 70))
    plan = planned(standardize, x, ((48, 48, 0, 64, 40), (30, 40)))
    (many,) = run_chunked(plan, [x], lambda piece: pickle.loads(pickle.dumps(ShippedKernel.of(piece.graph))).run)
    assert plan.split.same_bits and many.tobytes() == weft.jit(standardize)(x).tobytes()


LONG = 16384  # the length of a part of composites of f64


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_composites_take_one_pass_with_the_bits_of_one_machine() -> None:
    cases = [
        (softmax, (3, 17 * LONG + 5), ((2, 1), (2 * LONG, 3 * LONG, 12 * LONG, 5)), 1),
        (lambda x: (x.mean(), x.std()), (700, 1024), ((256, 0, 256, 188), (1024,)), 1),
        (softmax, (3, 17 * LONG), ((3,), (LONG - 1, 16 * LONG + 1)), 1),
        (lambda x: x.std(axis=0), (64, 30), ((32, 32), (20, 10)), 2),
        (lambda x: (x.std(axis=0), x.mean(axis=0)), (2700, 30), ((1280, 0, 896, 524), (20, 10)), 1),
        (standardize, (2048, 9), ((128, 384, 1536), (9,)), 1),
    ]
    for function, shape, chunks, stages in cases:
        x = np.random.default_rng(0).normal(size=shape)
        one = weft.jit(function)(x)
        for free in (False, True):
            plan = planned(function, x, chunks, free)
            many = run_chunked(plan, [x], lambda piece: ShippedKernel.of(piece.graph).run)
            pairs = list(zip(one if isinstance(one, tuple) else (one,), many, strict=True))
            is_same = all(np.asarray(a).tobytes() == b.tobytes() for a, b in pairs)
            aligned = chunks[-1][0] != LONG - 1
            assert len(plan.split.stages) == (1 if free else stages) and plan.split.same_bits == (aligned and not free)
            assert is_same or not plan.split.same_bits
            assert all(np.allclose(a, b, rtol=1e-13, atol=0) for a, b in pairs)


def jobs(function: Any, rows: int = 64) -> list[Job]:
    plan = planned(function, np.ones((rows, 5)), ((16,) * (rows // 16), (5,)))
    return [job_of(part, plan.split, {}) for part in (*plan.split.stages, *plan.split.finishes)]


def test_jobs_are_small_and_named_by_what_they_compute() -> None:
    made = jobs(standardize)
    again = [pickle.loads(pickle.dumps(job)) for job in jobs(standardize)]
    assert [j.__dask_tokenize__() for j in made] == [j.__dask_tokenize__() for j in again]
    assert all(len(pickle.dumps(j)) < 12_000 for j in made)

    def scaled(k: float) -> Any:
        return lambda x: x * k

    tokens = {str([j.__dask_tokenize__() for j in jobs(scaled(k))]) for k in (2.0, 3.0, 2.0)}
    assert len(tokens) == 2


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    monkeypatch.delitem(sys.modules, "weft.runtime.chunks.dask_arrays", raising=False)
    for name in ("apply", "align", "explain"):
        monkeypatch.delitem(vars(weft.dask), name, raising=False)
        with pytest.raises(weft.errors.ImportProblem, match=r"weft\[dask\]"):
            getattr(weft.dask, name)


def test_threads_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads_for(4) == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads_for(1 << 20) == 1
