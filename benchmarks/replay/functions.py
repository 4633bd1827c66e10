"""Define small functions that need one loop strategy each: x is a matrix, r a row of it, c a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def column_sum(x: Any) -> Any:
    return x.sum(axis=0)


def column_sums_of_all_kinds(x: Any) -> Any:
    return (x * 2).sum(axis=0), x.max(axis=0), x.argmin(axis=0)


def standardised_columns(x: Any) -> Any:
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1)


def softmax_of_columns(x: Any) -> Any:
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_sum_exp_of_all(x: Any) -> Any:
    largest = x.max()
    return np.log(np.exp(x - largest).sum()) + largest


def softmax_of_all(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / e.sum()


def variance(x: Any) -> Any:
    return x.var(axis=-1), x.var()


def two_expensive(x: Any) -> Any:
    e, s = np.exp(x), np.sin(x)
    return (e - e.mean(axis=1, keepdims=True)).sum(axis=1), (s - s.max(axis=1, keepdims=True)).sum(axis=1)


def all_of(x: Any) -> Any:
    return x.sum(), x.max(), (x * x).sum()


def largest(x: Any) -> Any:
    return x.max()


def positions(x: Any) -> Any:
    return x.argmax(axis=1), x.argmin()


def tests(x: Any) -> Any:
    return (x > 0).any(), (x > 0).all(axis=1), np.count_nonzero(x > 0, axis=0)


def running(x: Any) -> Any:
    return np.cumsum(x, axis=0), np.cumsum(x, axis=1) * 2


def turned(x: Any) -> Any:
    return x.T * 2 + 1


def both_orders(x: Any) -> Any:
    return x[:40, :40] + x[:40, :40].T


def with_row(x: Any, r: Any) -> Any:
    return x * r + 1


def with_row_and_column(x: Any, r: Any, c: Any) -> Any:
    return np.sqrt(x * r) + c


def stencil(x: Any) -> Any:
    return x[1:-1, 1:-1] - (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4


def strided(x: Any) -> Any:
    return x[::2, ::-1] * 3


def first_column(x: Any) -> Any:
    return x[:, 0] * 2 + 1


def sums_over_three_axes(x: Any) -> Any:
    return (x[:, :, None] * x[:, None, :3]).sum(axis=(0, 1))


def product(x: Any) -> Any:
    return x @ x.T


def product_and_softmax(x: Any) -> Any:
    s = x @ x.T
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def windows(x: Any) -> Any:
    view = np.lib.stride_tricks.sliding_window_view(x, (3, 5))
    return view.max(axis=(2, 3)), view.sum(axis=(2, 3))


def taken(x: Any) -> Any:
    return np.take(x, [1, 3, 0], axis=1) + np.take(x, 2, axis=1)[:, None]


def several_steps(x: Any) -> Any:
    y = np.concatenate([x, np.exp(x)], axis=1)
    return y - y.mean(axis=1, keepdims=True), np.roll(x, 1, axis=0)


def complex_sum(x: Any) -> Any:
    z = x + 1j * x
    return (z * z).sum(axis=-1), np.abs(z)


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    column_sum, column_sums_of_all_kinds, standardised_columns, softmax_of_columns, softmax, log_sum_exp_of_all,
    softmax_of_all, variance, two_expensive, all_of, largest, positions, tests, running, turned, both_orders, with_row,
    with_row_and_column, stencil, strided, first_column, sums_over_three_axes, product, product_and_softmax, windows,
    taken, several_steps, complex_sum,
)  # fmt: skip
