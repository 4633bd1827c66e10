"""Test that kernels split over chunks have the bits of one machine, without dask."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.ir.dtypes import from_numpy
from weft.ir.ops import TRANSPOSE
from weft.ir.source import ArgType
from weft.ir.text.printer import print_graph
from weft.passes.manager import run_pipeline
from weft.passes.planning import chunk_pieces
from weft.passes.planning.chunk_axes import links
from weft.runtime.chunks import states as chunk_states
from weft.runtime.chunks import tasks as chunk_tasks
from weft.runtime.chunks.plan import ChunkPlan, plan_chunks
from weft.runtime.chunks.states import nodes_of
from weft.runtime.chunks.tasks import Blocks, _with_rest
from weft.runtime.compiler import Options, passes_for
from weft.settings import lookup

from tests.scale.local import NumpyRunner, run_chunked

OPTIONS = Options(backend="reference")
PASSES = passes_for(lookup, OPTIONS)[:-2]  # up to `lower-reductions`, which chooses the trees
Function = Callable[..., Any]
argument = Blocks.argument


def chunks_of(length: int, every: int) -> tuple[int, ...]:
    return tuple(min(every, length - k) for k in range(0, length, every)) or (0,)


def planned(function: Function, arrays: Sequence[Any], chunks: Sequence[Any]) -> ChunkPlan:
    jitted: Any = weft.jit(function)
    source, _ = jitted._source.select(tuple(arrays), {})
    args = [ArgType(from_numpy(x.dtype), x.shape) for x in arrays]
    return plan_chunks(source, args, chunks, lookup, OPTIONS)


def whole(plan: ChunkPlan) -> Any:
    """The graph as one machine runs it."""
    return run_pipeline(plan.begun.graph, PASSES).graph


def both(function: Function, arrays: Sequence[Any], chunks: Sequence[Any]) -> tuple[ChunkPlan, list[Any], list[Any]]:
    """The plan, what one machine computes, and what the chunks give."""
    plan = planned(function, arrays, chunks)
    one = reference.run(whole(plan), [*arrays, *plan.built.hidden])
    return plan, list(one), run_chunked(plan, arrays, NumpyRunner(PASSES))


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def several(x):
    return x.sum(axis=1), x.max(), np.argmax(x, axis=0), np.argmin(x), (x > 0).any(axis=0), x.sum(axis=0)


CAPTURED = np.linspace(0, 1, 1700)
CASES: list[tuple[Function, tuple[int, int], tuple[int, int]]] = [
    (lambda x: np.sin(x) * 2 + x**3, (100, 33), (7, 5)),
    (lambda x: (x - x.mean(axis=0)) / x.std(axis=0), (100, 1700), (16, 100)),
    (lambda x: (x - x.mean(axis=0)) / x.std(axis=0), (500, 8), (48, 3)),
    (lambda x: (x.var(axis=0), x.max(axis=0), (x * x).std(axis=0), x.sum(axis=0)), (2605, 5), (336, 3)),
    (lambda x: x + x.T, (64, 64), (16, 7)),
    (softmax, (20, 1700), (7, 512)),
    (softmax, (20, 1700), (7, 5000)),
    (several, (100, 70), (16, 70)),
    (lambda x: x.sum(), (100, 512), (3, 512)),
    (lambda x: (x * x + 1).sum(), (1000, 77), (512, 77)),
    (lambda x: np.prod(x, axis=1, keepdims=True) + x, (3, 1700), (2, 1024)),
    (lambda x: x - np.arange(x.shape[1]) + np.arange(x.shape[0])[:, None], (33, 20), (5, 3)),
    (lambda x: (x * np.arange(x.shape[0])[:, None]).sum(axis=0), (100, 20), (16, 3)),
    (lambda x: x @ np.ones((x.shape[1], 4)), (33, 20), (5, 20)),
    (lambda x: np.concatenate([x, x * 2], axis=1).sum(axis=0), (100, 20), (16, 20)),
    (lambda x: np.sqrt(x * x).sum(axis=1) / x.shape[1] + CAPTURED[: x.shape[0]], (30, 1700), (3, 1536)),
    (lambda x: x * CAPTURED, (30, 1700), (3, 100)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_chosen_kernels_have_the_bits_of_one_machine(case: int) -> None:
    function, shape, every = CASES[case]
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(case).normal(size=shape).astype(dtype)
        chunks = [tuple(chunks_of(n, e * (8 // x.itemsize)) for n, e in zip(x.shape, every, strict=True))]
        plan, one, many = both(function, [x], chunks)
        assert plan.split.same_bits, plan.split.reasons
        assert all(map(same, one, many))


# -- random graphs


def draw(rng: random.Random) -> tuple[Function, bool]:
    """A random function of a matrix, a row and a number, in steps that keep or reduce axes; whether it uses f32."""
    steps = [rng.choice(STEPS) for _ in range(rng.randint(1, 5))]
    ends = [rng.choice(ENDS) for _ in range(rng.randint(1, 2))]

    def function(x: Any, y: Any, a: Any) -> Any:
        for step in steps:
            x = step(x, y, a)
        found = tuple(end(x, y, a) for end in ends)
        return found if len(found) > 1 else found[0]

    return function, STEPS[-1] in steps


STEPS: list[Function] = [
    lambda x, y, a: x + y,
    lambda x, y, a: x * a - y,
    lambda x, y, a: np.where(x > 0, x, -0.5 * x),
    lambda x, y, a: np.exp(-np.abs(x)),
    lambda x, y, a: x - x.max(axis=1, keepdims=True),
    lambda x, y, a: x - x.mean(axis=0),
    lambda x, y, a: x / (1 + np.abs(x).sum(axis=1, keepdims=True)),
    lambda x, y, a: x + x.min(axis=0) * a,
    lambda x, y, a: x + np.arange(x.shape[1]),
    lambda x, y, a: x + np.arange(x.shape[0])[:, None],
    lambda x, y, a: (x + y).T.copy().T,
    lambda x, y, a: x / (1 + x.sum() ** 2),
    lambda x, y, a: np.sqrt(np.abs(x)).astype(np.float32),
]
ENDS: list[Function] = [
    lambda x, y, a: x,
    lambda x, y, a: x.T * 2,
    lambda x, y, a: x.sum(axis=0),
    lambda x, y, a: x.sum(axis=1),
    lambda x, y, a: x.sum(),
    lambda x, y, a: x.max(axis=1) - x.min(axis=1),
    lambda x, y, a: np.argmax(x, axis=0),
    lambda x, y, a: np.argmin(x, axis=1),
    lambda x, y, a: (x > 0).sum(axis=0),
    lambda x, y, a: (x > 0).all() | (x < 1).any(),
    lambda x, y, a: x.std(axis=0),
    lambda x, y, a: x.prod(axis=1),
    lambda x, y, a: x[:, None, :] * a,
]


def cut(rng: random.Random, length: int, every: int) -> tuple[int, ...]:
    """Random chunks of an axis; boundaries are multiples of `every`, and some chunks are empty."""
    places = sorted(rng.randrange(0, length + 1, every) for _ in range(rng.choice((0, 1, 1, 2, 5))))
    ends = [0, *places, length]
    return tuple(b - a for a, b in pairwise(ends))


def close(one: Any, many: Any, scale: float, narrow: bool) -> bool:
    """Within a few ULP of the largest value that was added up."""
    one, many = np.asarray(one), np.asarray(many)
    if one.shape != many.shape or one.dtype != many.dtype:
        return False
    if one.dtype.kind != "f":
        return same(one, many)
    finite = np.isfinite(one) & np.isfinite(many)
    one, many = one[finite], many[finite]
    bound = 64 * np.finfo(np.float32 if narrow else one.dtype).eps * max(scale, float(np.max(np.abs(one), initial=1.0)))
    return bool(np.all(np.abs(one - many) <= bound))


def check_random(seed: int, chunkings: int) -> Counter[str]:
    """One random graph with several chunkings."""
    rng = random.Random(seed)
    (function, narrow), numbers = draw(rng), np.random.default_rng(seed)
    shape = rng.choice([(40, 9), (100, 40), (9, 1100), (70, 600), (1, 50), (64, 64)])
    dtype = rng.choice((np.float64, np.float32))
    narrow = narrow or dtype is np.float32  # a sum may be f32 and the result f64, by steps with whole numbers
    x, y = numbers.normal(size=shape).astype(dtype), numbers.normal(size=shape[1]).astype(dtype)
    a, runner, seen = numbers.normal(size=()).astype(dtype), NumpyRunner(PASSES), Counter[str]()
    one: Sequence[Any] = ()
    for _ in range(chunkings):
        rows, columns = cut(rng, shape[0], rng.choice((1, 16))), cut(rng, shape[1], rng.choice((1, 512)))
        plan = planned(function, [x, y, a], [(rows, columns), (columns,), ()])
        one = one or reference.run(whole(plan), [x, y, a, *plan.built.hidden])
        many = run_chunked(plan, [x, y, a], runner, seed)
        is_same = all(map(same, one, many))
        assert is_same or not plan.split.same_bits, (seed, rows, columns)
        assert is_same or all(close(o, m, x.size * 1e3, narrow) for o, m in zip(one, many, strict=True)), (
            seed,
            rows,
            columns,
        )
        seen["same bits" if plan.split.same_bits else "close"] += 1
    return seen


@pytest.mark.parametrize("part", range(4))
def test_random_graphs_and_chunkings(part: int) -> None:
    """Together with `test_random_kernels.py` at least 500 chunkings."""
    seen = sum((check_random(seed, 6) for seed in range(17 * part, 17 * part + 17)), Counter[str]())
    assert seen["same bits"] > 40 and seen.total() == 102


def _lost_rest(partial: Any, block: Any, rest: Any) -> Any:
    return _with_rest(partial, block, rest * 0)


def _wrong_nodes(first: int, last: int) -> list[tuple[int, int]]:
    return [(level, number ^ (level > 0)) for level, number in nodes_of(first, last)]


def _single_blocks_late(first: int, last: int) -> list[tuple[int, int]]:
    return [(0, number + first % 2) for number in range(first, last)]


def _at_zero(self: Any, source: Any, *cut: Any) -> Any:
    return 0 if source.kind == "offset" else argument(self, source, *cut)


def _turned(node: Any, env: Any) -> Any:
    return tuple(row[::-1] for row in links(node, env)) if node.op is TRANSPOSE else links(node, env)


def _from_left(op: str, lanes: Any) -> Any:
    return np.add.accumulate(lanes, -1)[..., -1]


FAULTS: dict[str, tuple[Any, str, Any]] = {
    "the last elements are lost": (chunk_tasks, "_with_rest", _lost_rest),
    "nodes are in the wrong place": (chunk_tasks, "nodes_of", _wrong_nodes),
    "blocks are off by one": (chunk_tasks, "nodes_of", _single_blocks_late),
    "lanes are added from left to right": (chunk_states, "across", _from_left),
    "the later of two positions wins": (chunk_states, "_better", lambda p, a, b: b),
    "minimum in place of maximum": (chunk_states, "COMBINE", {**chunk_states.COMBINE, "max": "minimum"}),
    "every chunk begins at 0": (Blocks, "argument", _at_zero),
    "a view of the wrong axis": (chunk_pieces, "links", _turned),
}


def check_indices() -> None:
    """A kernel that uses the numbers of rows and columns."""
    body = "let c[i, j] = x[i, j] * i + j; return c, sum(c, axis=0)"
    text = f"kernel f(x: f64[n, m]) -> (a: f64[n, m], b: f64[m]) {{ {body} }}"
    x = np.random.default_rng(0).normal(size=(70, 9))
    args = [ArgType(from_numpy(x.dtype), x.shape)]
    plan = plan_chunks(weft.compile(text).f._source, args, [((32, 0, 38), (4, 5))], lookup, OPTIONS)
    one, many = reference.run(whole(plan), [x]), run_chunked(plan, [x], NumpyRunner(PASSES))
    assert plan.split.same_bits and all(map(same, one, many))


def test_indices_are_those_of_the_whole() -> None:
    check_indices()


def test_outputs_computed_apart_may_add_in_another_order() -> None:
    """A row that both outputs add keeps the sum's two axes apart; alone, the second output adds them as one."""

    def scaled(x: Any, y: Any) -> Any:
        z = x / (1 + x.sum() ** 2) + y
        return z, z[:, None, :] * 2.0

    rng = np.random.default_rng(31415000018)
    arrays = [rng.normal(size=(9, 1100)), rng.normal(size=1100)]
    plan, one, many = both(scaled, arrays, [((9,), (1100,)), ((1100,),)])
    assert not plan.split.same_bits and np.allclose(one[1], many[1], rtol=1e-12, atol=0)
    assert not np.array_equal(one[1], many[1])


def test_chunks_in_another_memory_order_may_add_in_another_order() -> None:
    """One machine adds along the columns of a result in Fortran order; pieces compute in C order."""
    x = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    plan, one, many = both(lambda x: x.T.copy().T - x.mean(axis=0), [x], [((64,), (64,))])
    assert plan.split.same_bits == np.array_equal(one[0], many[0])


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])

    def is_found(seed: int) -> bool:
        try:
            check_random(seed, 2)
            if not seed:
                check_indices()
        except Exception:
            return True
        return False

    assert any(map(is_found, range(60)))


REFUSED: list[tuple[Function, str]] = [
    (lambda x: np.cumsum(x, axis=0), "scan"),
    (lambda x: x.T @ x, "matmul"),
    (lambda x: x.reshape(-1) * 2, "reshape"),
    (lambda x: x - x[:1], "slice"),
    (lambda x: np.roll(x, 1, axis=0) + x, "slice"),
    (lambda x: x[20:] * 2, "slice"),
    (lambda x: x[::-1], "slice"),
    (lambda x: np.concatenate([x, x]), "concatenate"),
    (lambda x: np.sort(x, axis=0), "sort"),
    (lambda x: np.linalg.solve(x, x), "solve"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_cant_be_split_is_an_error_at_its_line(case: int) -> None:
    function, name = REFUSED[case]
    x = np.ones((32, 32))
    with pytest.raises(weft.errors.Unsupported, match=name) as caught:
        planned(function, [x], [((16, 16), (32,))])
    assert caught.value.hint
    if case < 6:
        assert caught.value.span is not None and caught.value.span.file == __file__


def test_sizes_are_arguments_of_the_pieces() -> None:
    texts = set()
    for rows in (64, 128):
        x = np.ones((rows, 5))
        plan = planned(lambda x: (x - x.mean(axis=0)) / x.std(axis=0), [x], [((32, rows - 32), (5,))])
        pieces = [p for part in (*plan.split.stages, *plan.split.finishes) for p in chunk_tasks.pieces_of(part)]
        texts.add(tuple(print_graph(p.graph) for p in pieces))
    assert len(texts) == 1 and len(pieces) == 3
