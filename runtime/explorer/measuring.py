"""Time each kernel of a graph, and a copy of as many bytes on this machine.

The reference for memory is a plain copy that moves as many bytes, run by as many threads. Arrays that fit into a cache
are copied inside the cache, so the comparison is fair for small sizes too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dtypes import DType
from ...ir.errors import Unsupported, WeftError
from ...ir.graph import Graph, Node, Value
from ...ir.ops import CONSTANT, LOOP, REGION, SIZE
from ...ir.tuples import NamedTuple
from ...ir.walking import walk
from ..compiler import Lowered, Options
from ..launch import Launcher, NativeRegion
from ..outputs import memory_of

Array = np.ndarray[Any, Any]
ENOUGH, MOST_RUNS, LARGEST = 0.15, 200, 1 << 31  # seconds to spend, runs, and bytes of all arguments
COPY = "kernel copy(x: u8[n]) -> u8[n] = x"


class Measured(NamedTuple):
    """One kernel: its bytes, its time, the time of a copy of as many bytes, and how often a call runs it."""

    reads: int
    writes: int
    seconds: float
    copy: float
    runs: int


class Measurement(NamedTuple):
    """The kernels in order.

    `apart` is the number of bytes that move if every operation has its own loop, as in NumPy.
    """

    kernels: tuple[Measured, ...]
    apart: int
    seconds: float


class _Timed:
    """A kernel that adds up its own time."""

    def __init__(self, kernel: NativeRegion) -> None:
        self._kernel, self.seconds, self.runs = kernel, 0.0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def run(self, arrays: Sequence[Array], env: Mapping[str, int]) -> None:
        start = perf_counter()
        self._kernel.run(arrays, env)
        self.seconds += perf_counter() - start
        self.runs += 1


def measure(lowered: Lowered, env: Mapping[str, int], arguments: Sequence[Any] | None, options: Options) -> Measurement:
    """Run a graph a few times; without arguments on random numbers, unless a loop might never end on them."""
    inputs = lowered.built.graph.inputs
    if arguments is None:
        if any(node.op is LOOP for node in walk(lowered.graph)):
            raise Unsupported("it has a loop over whole arrays, whose length depends on the values")
        arguments = [_random(value, env) for value in inputs[: len(inputs) - len(lowered.built.hidden)]]
    arrays = [np.asarray(x, v.type.dtype.numpy) for x, v in zip(arguments, inputs, strict=False)]
    arrays += lowered.built.hidden
    if sum(x.nbytes for x in arrays) > LARGEST:
        raise Unsupported("its arguments take more than 2 GB")
    loaded = lowered.launcher
    best: dict[Node, float] = {}
    total, runs, begin = float("inf"), dict[Node, int](), perf_counter()
    for _ in range(MOST_RUNS):
        timed = {region: _Timed(kernel) for region, kernel in loaded.kernels.items()}
        launcher = Launcher(lowered.graph, timed, loaded.calls, loaded.library)  # type: ignore[arg-type]
        start = perf_counter()
        launcher.run(arrays, dict(env), memory_of(lowered, [None] * len(lowered.graph.outputs), arrays, lowered.orders))
        total = min(total, perf_counter() - start)
        for region, kernel in timed.items():
            best[region] = min(best.get(region, float("inf")), kernel.seconds)
            runs[region] = kernel.runs
        if perf_counter() - begin > ENOUGH:
            break
    copies = _Copies(options)
    kernels = []
    for region in lowered.kernels:
        reads, writes = _bytes(region.operands, env), _bytes(region.results, env)
        kernels.append(Measured(reads, writes, best[region], copies.seconds(reads + writes), runs[region]))
    return Measurement(tuple(kernels), bytes_apart(lowered.graph, env), total)


def bytes_apart(graph: Graph, env: Mapping[str, int]) -> int:
    """Return the bytes that move if each operation reads its operands from memory and stores its results."""
    total = 0
    for node in graph:
        if node.op in (REGION, LOOP):
            assert node.body is not None
            total += bytes_apart(node.body, env)
        elif node.op not in (CONSTANT, SIZE):
            total += _bytes(node.operands, env) + _bytes(node.results, env)
    return total


def _bytes(values: Sequence[Value], env: Mapping[str, int]) -> int:
    """Return the bytes of values. A size that only the call knows counts as 0."""
    known = [v for v in dict.fromkeys(values) if all(dims.symbols(s) <= env.keys() for s in v.type.shape)]
    return sum(v.type.dtype.size * dims.evaluate(dims.product(v.type.shape), env) for v in known)


def _random(value: Value, env: Mapping[str, int]) -> Array:
    """Return numbers that most kernels accept: fractions between 0 and 1, and ones."""
    shape = tuple(dims.evaluate(s, env) for s in value.type.shape)
    dtype: DType = value.type.dtype
    if dtype.kind in ("float", "complex") and not dtype.weak:
        return np.random.default_rng(0).random(shape, np.float32).astype(dtype.numpy)
    return np.ones(shape, dtype.numpy)


class _Copies:
    """Time copies, once for each number of bytes."""

    def __init__(self, options: Options) -> None:
        from ...frontend.language.source import parse_module
        from ..kernel import Kernel
        from ..registry import Registry

        self._copy = Kernel(parse_module(COPY, "copy").kernels["copy"], Registry(), options)
        self._known: dict[int, float] = {}

    def seconds(self, count: int) -> float:
        if count not in self._known:
            given = np.ones(max(1, count // 2), np.uint8)
            out = np.empty_like(given)
            best, begin = float("inf"), perf_counter()
            for _ in range(MOST_RUNS):
                start = perf_counter()
                self._copy(given, out=out)
                best = min(best, perf_counter() - start)
                if perf_counter() - begin > ENOUGH / 2:
                    break
            self._known[count] = best
        return self._known[count]


def measured_or_why_not(
    lowered: Lowered, env: Mapping[str, int], arguments: Sequence[Any] | None, options: Options
) -> tuple[Measurement | None, str]:
    """Measure, or return the reason why that is not possible."""
    try:
        return measure(lowered, env, arguments, options), ""
    except (WeftError, ValueError, TypeError, ArithmeticError) as error:
        return None, str(error).partition("\n")[0]
