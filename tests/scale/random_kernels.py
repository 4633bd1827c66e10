"""Draw random kernels with stencils, composites, captured arrays, several outputs and keyword arguments.

Each is run on random chunks by the reference, and compared with one machine. `test_split_chunks.py` draws sums and
elementwise work with shorter chunks, empty ones included.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import weft
from weft.backends import reference
from weft.ir.dtypes import from_numpy
from weft.ir.source import ArgType
from weft.runtime.chunks.plan import ChunkPlan, plan_chunks
from weft.settings import lookup

from tests.scale.local import NumpyRunner, run_chunked
from tests.scale.test_split_chunks import OPTIONS, PASSES, close, same, whole

Function = Callable[..., Any]
PART = 1 << 17  # bytes of a part of a composite
LEAST = 14  # elements of a chunk: three stencils reach less far

# Steps take a matrix, a row that is captured, and a number that is a keyword, and keep the shape.
STENCILS: list[Function] = [
    lambda x, row, a: np.gradient(x, axis=0) * a,
    lambda x, row, a: np.pad(x, ((1, 1), (0, 0)), mode="edge")[2:] - x * a,
    lambda x, row, a: np.pad(x, 2)[:-4, 2:-2] + np.pad(x, 2)[2:-2, 4:] - row,
    lambda x, row, a: np.concatenate([x[:1], x[1:] - a * x[:-1]], axis=0),
    lambda x, row, a: np.concatenate([x[:, 1:] * x[:, :-1], x[:, -1:]], axis=1) + row,
]
CHEAP: list[Function] = [  # what may come before a composite
    lambda x, row, a: np.where(x > 0, x, a * x),
    lambda x, row, a: x * 2 + a,
]
OTHERS: list[Function] = [
    *CHEAP,
    lambda x, row, a: x * row + a,
    lambda x, row, a: x - np.arange(x.shape[0])[:, None] * 0.01,
    lambda x, row, a: np.sin(x) * np.arange(x.shape[1]),
]
ENDS: list[Function] = [
    lambda x, row, a: x,
    lambda x, row, a: np.diff(x, axis=0),
    lambda x, row, a: np.diff(x, n=2, axis=1).T,
    lambda x, row, a: (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]) / 4,
    lambda x, row, a: x.max(axis=0) - a,
    lambda x, row, a: np.argmax(x, axis=1),
    lambda x, row, a: (x > a).sum(axis=0),
    lambda x, row, a: x.sum(axis=0) + row,
    lambda x, row, a: np.diff(x, axis=0).min(),
    lambda x, row, a: np.argmin(x[1:] + x[:-1], axis=0),
]
COMPOSITES: list[Function] = [
    lambda x, row, a: x.std(),
    lambda x, row, a: x.var(ddof=1) * a,
    lambda x, row, a: x.mean() + (x * a).std(ddof=2),
    lambda x, row, a: ((x - x.mean()) ** 2).sum(),
    lambda x, row, a: np.log(np.exp(x - x.max()).sum()) + x.max(),
    lambda x, row, a: np.exp2(a * x - (a * x).max()).sum(),
    lambda x, row, a: x.max() - x.min(),
]


def draw(rng: random.Random, row: Any, number: float) -> tuple[Function, bool]:
    """A random kernel of one matrix and a keyword, and whether it has composites."""
    has_composites = rng.random() < 0.4
    steps = [rng.choice(OTHERS) for _ in range(rng.randint(0, 2))]
    if has_composites:
        steps = [rng.choice(CHEAP) for _ in steps]
        ends = [rng.choice(COMPOSITES) for _ in range(rng.randint(1, 3))]
    else:
        steps += [rng.choice(STENCILS) for _ in range(rng.randint(1, 2))]
        ends = [rng.choice(ENDS) for _ in range(rng.randint(1, 3))]
    rng.shuffle(steps)

    def kernel(x: Any, *, a: Any = number) -> Any:
        for step in steps:
            x = step(x, row, a)
        found = tuple(end(x, row, a) for end in ends)
        return found if len(found) > 1 else found[0]

    return kernel, has_composites


def cut(rng: random.Random, length: int, every: int, least: int) -> tuple[int, ...]:
    """Random chunks that begin at multiples of `every` and have at least so many elements."""
    ends = [0]
    while (len(ends) < 2 or rng.random() < 0.7) and ends[-1] + 2 * least <= length:
        first = -(-(ends[-1] + least) // every) * every
        if first > length - least:
            break
        ends.append(rng.randrange(first, length - least + 1, every))
    return tuple(b - a for a, b in pairwise([*ends, length]))


def planned(kernel: Function, x: Any, chunks: Any, **kwargs: Any) -> tuple[ChunkPlan, list[Any]]:
    """The plan of a call with keywords, and the arguments in its order."""
    jitted: Any = weft.jit(kernel)
    source, values = jitted._source.select((x,), kwargs)
    arrays = [np.asarray(v) for v in values]
    args = [ArgType(from_numpy(v.dtype), v.shape) for v in arrays]
    return plan_chunks(source, args, [chunks if v is x else () for v in arrays], lookup, OPTIONS), arrays


def check_kernel(seed: int, chunkings: int) -> Counter[str]:
    """One random kernel with several chunkings, against one machine; counts what kind of answers there were."""
    rng, numbers, seen = random.Random(seed), np.random.default_rng(seed), Counter[str]()
    dtype = rng.choice((np.float64, np.float32))
    columns = rng.choice((64, 64, 48))
    row, a = numbers.normal(size=columns).astype(dtype), numbers.normal(size=()).astype(dtype)
    kernel, has_composites = draw(rng, row, float(a))
    part = PART // dtype().itemsize
    shape = (rng.randint(2, 5) * part // columns + rng.randint(0, 40), columns) if has_composites else (70, columns)
    every = part // np.gcd(part, columns) if has_composites else 1
    x, runner = numbers.normal(size=shape).astype(dtype), NumpyRunner(PASSES)
    keywords = {"a": a} if rng.random() < 0.7 else {}
    one: Any = ()
    for _ in range(chunkings):
        is_cut_anywhere = rng.random() < 0.3
        rows = cut(rng, shape[0], 1 if is_cut_anywhere else int(every), LEAST)
        chunks = (rows, (columns,) if has_composites else cut(rng, columns, 1, LEAST))
        try:
            plan, arrays = planned(kernel, x, chunks, **keywords)
        except weft.errors.Unsupported:
            seen["refused"] += 1
            continue
        with np.errstate(all="ignore"):
            one = one or reference.run(whole(plan), [*arrays, *plan.built.hidden])
            many = run_chunked(plan, arrays, runner, seed)
        is_same = all(map(same, one, many))
        assert is_same or not plan.split.same_bits, (seed, chunks)
        assert is_same or all(close(o, m, x.size * 1e3, False) for o, m in zip(one, many, strict=True)), (seed, chunks)
        seen["same bits" if plan.split.same_bits else "close"] += 1
        seen["composites" if any(s.joins for s in plan.split.stages) else "stencils"] += 1
        seen["captured"] += bool(plan.built.hidden)
    return seen
