"""Test that columns walked in chunks give the bits of the tree, wherever chunks, blocks and vectors end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.checked_sizes import bind_sizes
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

BLOCK, CHUNK = 64 * 16, 32 * 64 * 16  # elements of f32
ALONG = (0, BLOCK, CHUNK, CHUNK + 1, 2 * CHUNK + BLOCK + 7)
ACROSS = ((128, 9), (129, 65), (128 * 8 + 15, 130), (4100, 3), (313, 512), (200, 512))  # 512 collide in a cache

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(axis=0),
    "several": lambda x: (x.sum(axis=0), x.max(axis=0, initial=-1), (x > 0).any(axis=0), (x * x).sum(axis=0)),
    "product": lambda x: (1 + x / 100000).prod(axis=0),
    "dependent": lambda x: (x - x.mean(axis=0)).sum(axis=0),
    "variance": lambda x: (x.var(axis=0), x.mean(axis=0)),
    "normalised": lambda x: (x / (1 + np.abs(x).sum(axis=0)), x.sum(axis=0), x * 2),
}


def check(function: Callable[[Any], Any], x: Any, level: int) -> None:
    """Compare the code for a CPU with the reference on the same plan."""
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    kernel = Kernel(source, Registry(), Options(target=target.x86(level), verify=True))
    lowered, sizes = kernel.lower(x), dict[str, int]()
    assert not lowered.fallbacks and bind_sizes(lowered.graph.inputs, [x], sizes)
    expected = reference.run(lowered.graph, [x], sizes)
    found = kernel(x)
    for a, b in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def numbers(shape: Any, dtype: str) -> Any:
    return (np.random.default_rng(8).standard_normal(shape) * 40).astype(dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_of_an_array(name: str) -> None:
    for size in ALONG:
        check(FUNCTIONS[name], numbers(size, "float32"), level=4)
    check(FUNCTIONS[name], numbers(100_003, "float64"), level=3)
    check(FUNCTIONS[name], numbers(100_003, "int32"), level=3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_along_an_axis_that_vectors_do_not_lie_along(name: str) -> None:
    for shape in ACROSS:
        check(FUNCTIONS[name], numbers(shape, "float32"), level=4)
    check(FUNCTIONS[name], numbers((1300, 3, 21), "float64"), level=3)
    check(FUNCTIONS[name], numbers(145 * 200 + 3, "float64")[3:].reshape(145, 200), level=3)
    check(FUNCTIONS[name], numbers((1300, 33), "int16"), level=3)


@pytest.mark.parametrize(("dtype", "level"), [("float32", 4), ("float64", 3), ("float64", 4)])
def test_rows_from_any_address(dtype: str, level: int) -> None:
    """Vectors begin at cache lines, which are elsewhere in each row, and several rows are walked together."""
    for first, columns in ((0, 1030), (1, 1030), (3, 150), (5, 2055)):
        x = numbers(6 * columns + first, dtype)[first:].reshape(6, columns)
        check(lambda x: (1 + x @ x[1], x.sum(axis=1), (1 + x / 100000).prod(axis=1)), x, level)
        check(lambda x: (x.sum(), x.max()), x.reshape(-1), level)


def test_plans_of_vector_products() -> None:
    a = np.ones((300, 200), "float32")
    wanted = {"jam = array<i64: 1, 4>": lambda x: x @ x[0], "lines = 16 : i64": lambda x: x.T[0] @ x}
    for text, function in wanted.items():
        source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
        assert text in str(Kernel(source, Registry(), Options(target=target.x86(4))).lower(a).ir())


ROWS: Callable[[Any], Any] = lambda x: (  # noqa: E731
    *(x.sum(axis=-1), x.max(axis=-1), (x > 0).any(axis=-1), (1 + x / 1000000).prod(axis=-1)),
    *(x.argmax(axis=-1), x.argmin(axis=-1)),
)
SCALED: Callable[[Any], Any] = lambda x: (x / (1 + np.abs(x).sum(axis=-1, keepdims=True)), x * 2)  # noqa: E731


@pytest.mark.parametrize("level", [3, 4])
def test_few_long_rows(level: int) -> None:
    """Rows from a certain length on are shared between threads; shorter ones are walked as a whole."""
    check(ROWS, numbers((3, 4 * CHUNK + 77), "float32"), level)
    check(SCALED, np.moveaxis(numbers((2, 3, 4 * CHUNK + 1), "float64"), 0, 1), level)


def test_a_graph_serves_rows_of_one_kind() -> None:
    kernel = weft.jit(lambda x: x.sum(axis=1))
    short, long = np.ones((2, 4 * CHUNK - 1), np.float32), np.ones((3, 4 * CHUNK), np.float32)
    for x in (short, long, short, long, long, short):
        np.testing.assert_array_equal(kernel(x), np.full(len(x), x.shape[1], np.float32))
    assert len(kernel.signature_cache) == 1
    assert len(kernel.lower(short).loaded.siblings) == 1
    assert [p.partition("0_")[2] for p in kernel.lower(long).program.names] == ["walk0", "join0"]
    flags = short > 2
    flags[1, 7] = True  # a walk for the first true of each row is over at once, so it is never shared
    assert weft.jit(lambda x: x.argmax(axis=1))(np.repeat(flags, 9, axis=1)).tolist() == [0, 63]


@pytest.mark.parametrize("level", [3, 4])
def test_several_loops_over_the_columns(level: int) -> None:
    """Each run of the innermost loop has its own blocks; chunks are counted across all runs."""
    total: Callable[[Any], Any] = lambda x: (x.sum(), x.max(initial=-1))  # noqa: E731
    for shape in ((70, 1500), (3000, 40), (40, 30, 60)):
        x = numbers(tuple(2 * n for n in shape), "float32")
        check(total, x[::2, ::2], level)
    check(lambda x: x.sum(axis=(0, 2)), numbers((300, 5, 60), "float32"), level)
    check(lambda x: x.std(axis=(0, 1)), numbers((300, 5, 60), "float64"), level)


def test_lines_in_every_number() -> None:
    """Blocks of lines end everywhere, at lines that collide in the cache and at others."""
    kernel = weft.jit(lambda x: x.sum(axis=0))
    x = np.random.default_rng(3).integers(-9, 9, (420, 513)).astype("f4")
    for columns, dtype in ((512, "f4"), (513, "f4"), (256, "f8")):
        given = np.ascontiguousarray(x[:, :columns]).astype(dtype)
        for count in range(100, 420, 3):
            np.testing.assert_array_equal(kernel(given[:count]), given[:count].sum(axis=0), err_msg=f"{count}")
