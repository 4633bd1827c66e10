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


def planned(function: Any, x: Any, chunks: Any) -> ChunkPlan:
    jitted: Any = weft.jit(function)
    source, _ = jitted._source.select((x,), {})
    return plan_chunks(source, [ArgType(from_numpy(x.dtype), x.shape)], [chunks], lookup, Options())


def test_shipped_pieces_have_the_bits_of_one_native_call() -> None:
    x = np.random.default_rng(0).normal(size=(200, 70))
    plan = planned(standardize, x, ((48, 48, 0, 64, 40), (30, 40)))
    (many,) = run_chunked(plan, [x], lambda piece: pickle.loads(pickle.dumps(ShippedKernel.of(piece.graph))))
    assert plan.split.same_bits and many.tobytes() == weft.jit(standardize)(x).tobytes()


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
