"""Test every memory layout of arguments, alone and in pairs: values, and the memory order of results."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random, whole
from .comparing import agrees

SHAPES = ((37,), (5, 33), (3, 1, 4, 17))


def mixture(x: Any, y: Any) -> Any:
    """Return results that follow the order of one operand, of the other, and of both."""
    return x * 2 + y, x - 1, y > 0, x.T + 1, (x + y).sum(axis=-1), (x * y).sum(axis=0), x.max(), np.where(x > 0, x, y)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_layout_with_every_other(shape: tuple[int, ...]) -> None:
    """Sums of small whole numbers are exact in any order."""
    x, y = (whole("float64", shape, seed) for seed in (1, 2))
    jitted = weft.jit(mixture)
    names = [n for n in LAYOUTS if len(shape) > 1 or n not in ("F", "axes turned")]
    for a, b in itertools.product(names, names):
        try:
            agrees(mixture, LAYOUTS[a](x), LAYOUTS[b](y), jitted=jitted)
        except AssertionError as error:
            raise AssertionError(f"{a} with {b}: {error}") from error


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32"])
def test_dtypes_in_every_layout(dtype: str) -> None:
    def mix(x: Any) -> Any:
        return x == x.T, x.astype(np.float64), x.T.astype(np.int32), (x != 0).any(axis=0), x[::-1, 1::2] + x[:, 1::2]

    jitted = weft.jit(mix)
    for layout in LAYOUTS.values():
        agrees(mix, layout(random(dtype, (18, 18), 3)), jitted=jitted)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::3], ids=str)
def test_order_of_axes_is_kept(order: tuple[int, ...]) -> None:
    def mix(x: Any, y: Any) -> Any:
        return x + 1, x * y, x + x.transpose(0, 1, 2, 3), x.transpose(3, 1, 0, 2) + 1, x[:, ::-1] * 2, x[:, 1] - 1

    x = random("float32", tuple((2, 3, 4, 5)[k] for k in order), 1).transpose(np.argsort(order))
    agrees(mix, x, random("float32", (2, 3, 4, 5), 2))
    agrees(mix, x, random("float32", (5,), 2))
    agrees(mix, x, np.asfortranarray(random("float32", (2, 3, 1, 5), 2)))


SIZES_OF_ONE = list(itertools.product((1, 3), (1, 5), (1, 17)))


@pytest.mark.parametrize("shape", SIZES_OF_ONE, ids=str)
def test_sizes_of_one(shape: tuple[int, ...]) -> None:
    def mix(x: Any, y: Any) -> Any:
        return x + y, x * 2, y.T - 1, (x + y).max(axis=1), x.sum(axis=(0, 2)), np.exp(x * 0) + y.T.T

    y = whole("float64", (3, 5, 17), 2)
    for layout in ("C", "F", "strided", "negative"):
        agrees(mix, LAYOUTS[layout](whole("float64", shape, 1)), y)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (2, 0, 3), (1, 0), (0, 1)], ids=str)
def test_nothing(shape: tuple[int, ...]) -> None:
    def mix(x: Any) -> Any:
        return x + 1, x.T * 2, x.sum(axis=0), x.sum(), x.prod(axis=-1), x.any(), x.all(axis=0), np.exp(x), x[::-1]

    jitted = weft.jit(mix)
    for layout in ("C", "F", "strided", "negative"):
        agrees(mix, LAYOUTS[layout](np.zeros(shape)), jitted=jitted)
    agrees(mix, np.zeros(shape, np.int32), jitted=jitted)


def test_broadcasting() -> None:
    def mix(a: Any, b: Any, c: Any) -> Any:
        return a + b, a * b - c, np.where(a > b, a, c), (a + b) / (c + 3), a[::-1] + b[::-1]

    a, b, c = random("float32", (33,), 1), random("float32", (5, 1), 2), np.float64(2.5)
    agrees(mix, a, b, c)
    agrees(mix, a, b, random("int32", (4, 1, 33), 3))
    agrees(mix, a[:1], b, random("int32", (4, 1, 1), 3))
    agrees(mix, np.broadcast_to(a, (4, 5, 33)), b, 3)


def test_views_inside() -> None:
    def mix(x: Any) -> Any:
        return (
            x[1:] - x[:-1],
            x[::2, 1:-1].T + 1,
            x[None, :, 3] * 2,
            x.reshape(2, -1, x.shape[1]) + 1,
            (x + 1).reshape(-1),
            np.transpose(x)[::-3] * 1,
            x[2, 4] + x[-1, -1],
            x.reshape(-1)[5:50:3] + 0.5,
            np.broadcast_to(x[0], x.shape) - x,
        )

    x = random("float32", (6, 20), 4)
    for name in LAYOUTS:
        agrees(mix, LAYOUTS[name](x))


ORDER_BY_SIZE: dict[str, Any] = {
    "pieces": lambda a: np.concatenate((a.T[:, ::3], a.T[:, ::3]), axis=1),
    "steps": lambda a: a.transpose(2, 0, 1)[:, ::3] + 1,
    "broadcast": lambda a: a.T[::3] + a.T[:1],
    "merged": lambda a: a[::2].transpose(1, 0, 2).reshape(-1, a.shape[2]) * 2,
    "split": lambda a: a.T.reshape(a.shape[2], -1) * 2,
}


@pytest.mark.parametrize("name", ORDER_BY_SIZE)
def test_orders_that_depend_on_computed_sizes(name: str) -> None:
    """An axis with one element left is not sorted by; a reshape is a view for some sizes only."""
    generator = np.random.default_rng(5)
    function = ORDER_BY_SIZE[name]
    jitted = weft.jit(function)
    orders = ((0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0))
    for k in range(36):
        shape = tuple(generator.integers(2, 6, 3).tolist())
        order = orders[k % 4]
        base = whole("float64", tuple(2 * shape[axis] for axis in order), k)
        cut = base[::2, ::2, ::2] if k % 3 else np.ascontiguousarray(base[::2, ::2, ::2])
        for _ in range(2):
            agrees(function, cut.transpose(np.argsort(order)), jitted=jitted)


def test_orders_of_a_graph_that_was_built_for_another_order() -> None:
    """A result with one element along an axis fits both orders; longer ones, in the same native code, only one."""

    def function(a: Any) -> Any:
        return np.roll(a.T[1:], 1, 0) + a.T[1:]

    jitted = weft.jit(function)
    for shape, order in (((4, 5, 5), (1, 2, 0)), ((5, 2, 2), (1, 0, 2)), ((4, 4, 3), (1, 0, 2))):
        a = whole("float64", tuple(shape[axis] for axis in order), 1).transpose(np.argsort(order))
        for _ in range(4):
            agrees(function, a, jitted=jitted)
