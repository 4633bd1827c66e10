"""Test functions that change shapes and take parts: values, dtypes, memory order and errors as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from hypothesis import given, settings
from hypothesis import strategies as st

from .arranged import DTYPES, arranged, fresh, in_layouts, refused, sample
from .arrays import LAYOUTS, random
from .comparing import same

Array = np.ndarray[Any, Any]


def shapes(x: Any, z: Any, v: Any) -> Any:
    return (
        z.reshape(5, -1), np.reshape(z, (6, 4, 5), order="F"), z.reshape((-1,)), np.reshape(x, (2, 2, 3, 2)),
        z.ravel(), np.ravel(z, order="F"), z.flatten(), z.flatten("F"), np.ravel(v, "K"), x.reshape(4, 1, 6),
        np.expand_dims(x, 1), np.expand_dims(x, (0, -1)), np.squeeze(x[None, :, None]), np.squeeze(x[:, :1], axis=1),
        np.squeeze(x[None], 0), np.broadcast_to(v, (2, 7)), *np.broadcast_arrays(x, x[0], x[:, :1]),
        np.atleast_1d(v), np.atleast_2d(v), *np.atleast_3d(v, x, z), *np.atleast_2d(v[0], x), x.T, z.T, x.mT,
    )  # fmt: skip


def axes(x: Any, z: Any, v: Any) -> Any:
    return (
        np.transpose(z, (1, 2, 0)), z.transpose(2, 0, 1), z.transpose((0, -1, 1)), np.permute_dims(z, (1, 0, 2)),
        np.matrix_transpose(z), np.swapaxes(z, 0, -1), z.swapaxes(1, 2), np.moveaxis(z, 0, -1),
        np.moveaxis(z, (0, 1), (-1, 0)), np.moveaxis(z, [2, 0], [0, 1]), np.rollaxis(z, 2), np.rollaxis(z, 0, 3),
        np.rollaxis(z, -1, -2), np.flip(z), np.flip(z, 1), np.flip(z, (0, -1)), np.fliplr(x), np.flipud(x), np.rot90(x),
        np.rot90(x, 2), np.rot90(x, -1), np.rot90(z, 3, (2, 0)), np.rot90(x, 4), np.flip(v), np.flip(m=v, axis=0),
    )  # fmt: skip


def slices(x: Any, z: Any, v: Any) -> Any:
    return (
        v[::2], v[::-1], v[5:1:-2], v[-3:], v[:-9], v[3], v[..., 3], x[1], x[-1, 2:5], x[::-1, ::-2], x[:, None, 3],
        z[..., 1], z[1, ..., ::3], z[None, 0, :, None, 1], z[2:1], z[:, 4:0:-3, -1], x[np.int8(2)], z[0, 0, 0], z[...],
    )  # fmt: skip


def diagonals(x: Any, z: Any, v: Any) -> Any:
    return (
        x.diagonal(), np.diagonal(x, 2), np.diagonal(x, -3), np.diagonal(x, 99), np.diagonal(z, 1, 2, 0),
        z.diagonal(-1, axis1=1, axis2=2), np.diag(x), np.diag(x, -1), x.diagonal() * 2 == x[:, ::-1].diagonal(1),
    )  # fmt: skip


GROUPS = (shapes, axes, slices, diagonals)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.__name__)
def test_every_layout(group: Any) -> None:
    in_layouts(group, ("C", "F", "strided", "negative", "axes turned", "repeated columns", "byte-swapped"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    def some(x: Any, z: Any, v: Any) -> Any:
        return (
            z.T,
            np.rot90(x),
            np.flip(z, (0, 2)),
            x[::-1, 4:0:-3],
            np.reshape(z, (6, 20), "F"),
            x.diagonal(1),
            v[3],
            v[None],
        )

    arranged(some, *sample(dtype))


def test_other_sizes_need_no_compile() -> None:
    jitted = weft.jit(lambda x: (np.rot90(x), x[1:-1, ::2], x.diagonal(1), np.flip(x), x.reshape(-1), x.T))
    for shape in ((5, 7), (9, 3), (4, 4), (8, 2)):
        x = random("float32", shape, 1)
        same(jitted(x), fresh((np.rot90(x), x[1:-1, ::2], x.diagonal(1), np.flip(x), x.reshape(-1), x.T)))
    assert jitted.signature_cache.misses == 1


def test_matrices_in_the_last_axes() -> None:
    z = random("float32", (3, 4, 5), 1).round()
    arranged(lambda z: (np.linalg.diagonal(z), np.linalg.trace(z, offset=1), np.linalg.matrix_transpose(z)), z)
    arranged(lambda z: np.linalg.diagonal(z, offset=-2) + np.linalg.trace(z).sum(), z)


def test_nothing_and_one() -> None:
    for shape in ((0, 3), (3, 0), (1, 1), (1, 5), (0, 0)):
        x = np.zeros(shape)
        arranged(
            lambda x: (
                x.T,
                np.flip(x),
                x.ravel(),
                np.rot90(x),
                x.diagonal(),
                x[::-1, :1],
                np.squeeze(x),
                x[None, ..., 0:0],
            ),
            x,
        )
    arranged(
        lambda k: (np.ravel(k), np.reshape(k, (1, 1)), np.atleast_2d(k), np.expand_dims(k, 0), k[None]), np.array(3.5)
    )


def test_totals_of_flat_arrays() -> None:
    """Totals of flattened arrays read the array in place: one kernel, without a copy."""

    def totals(x: Any) -> Any:
        return (
            x.ravel().sum(),
            x.reshape(-1).max(),
            np.argmin(x.reshape(6, -1)),
            x.flatten().any(),
            np.ravel(x, "F").argmax(),
        )

    jitted = weft.jit(totals)
    for name in ("C", "F", "strided", "negative", "axes turned"):
        arranged(totals, LAYOUTS[name](random("float64", (4, 3, 6), 1).round()), jitted=jitted)
    assert "reshape" not in str(weft.jit(lambda x: x.ravel().sum()).lower(np.asfortranarray(np.ones((3, 4)))).ir())


def test_memory_order_after_an_empty_call() -> None:
    def turned(x: Any) -> Any:
        return np.rot90(x), x.T + 1, np.moveaxis(x, 0, -1), x[:, ::-1]

    jitted = weft.jit(turned)
    for shape in ((0, 0, 3), (2, 3, 4)):
        arranged(turned, random("float64", shape, 1), jitted=jitted)
    assert jitted.signature_cache.misses == 1


def test_attributes() -> None:
    def facts(x: Any) -> Any:
        return x * (x.size * x.ndim), x * x.nbytes, x + x.itemsize, x.T.shape[0] * x, x.mT.shape[-1] + x, len(x) + x

    arranged(facts, random("float32", (4, 6), 1))
    x, z = random("complex64", (4, 6), 1), random("float64", (3, 3), 1)
    arranged(lambda x, z: (x.real, x.imag, x.real.T + 1, z.real, z.copy(), z.copy(order="F"), z.T.copy()), x, z)


def test_results_are_not_the_arguments() -> None:
    x = np.arange(6.0)
    found = weft.jit(lambda x: (x, x.reshape(2, 3), np.flip(x), x.copy()))(x)
    for part in found:
        assert not np.shares_memory(part, x)
        part[...] = 99
    np.testing.assert_array_equal(x, np.arange(6.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(5, -1),
        lambda x: x.reshape(-1, -1),
        lambda x: x.reshape(5, 5),
        lambda x: x.reshape(-2, 5),
        lambda x: np.reshape(x, (24,), order="Q"),
        lambda x: x.reshape(2.5),
        lambda x: np.transpose(x, (0,)),
        lambda x: np.transpose(x, (0, 0)),
        lambda x: np.transpose(x, (0, 2)),
        lambda x: np.swapaxes(x, 0, 2),
        lambda x: np.moveaxis(x, 0, (0, 1)),
        lambda x: np.moveaxis(x, (0, 0), (0, 1)),
        lambda x: np.rollaxis(x, 0, 4),
        lambda x: np.expand_dims(x, 4),
        lambda x: np.expand_dims(x, (0, 0)),
        lambda x: np.squeeze(x, axis=0),
        lambda x: np.squeeze(x, axis=5),
        lambda x: np.broadcast_to(x, (3, 4)),
        lambda x: np.broadcast_arrays(x, x[:3]),
        lambda x: np.flip(x, 2),
        lambda x: np.fliplr(x[0]),
        lambda x: np.flipud(x[0, 0]),
        lambda x: np.rot90(x[0]),
        lambda x: np.rot90(x, axes=(0, 0)),
        lambda x: np.rot90(x, axes=(0, 1, 1)),
        lambda x: np.matrix_transpose(x[0]),
        lambda x: x[0].mT,
        lambda x: x[9],
        lambda x: x[0, 0, 0],
        lambda x: x[..., ...],
        lambda x: x[:: 0],
        lambda x: x["a"],
        lambda x: x[1.5],
        lambda x: np.diagonal(x[0]),
        lambda x: np.diagonal(x, 0, 1, 1),
        lambda x: np.diagonal(x, 0, 0, 3),
    ],
)  # fmt: skip
def test_refusals(function: Any) -> None:
    refused(function, random("float64", (4, 6), 1))


# -- random views of random arrays, one after another

INDEX = st.one_of(
    st.none(), st.integers(-3, 3), st.just(...),
    st.builds(slice, *[st.one_of(st.none(), st.integers(-7, 7))] * 2, st.sampled_from([None, 1, 2, -1, -3])),
)  # fmt: skip


@st.composite
def views(draw: st.DrawFn, x: Array) -> Any:
    """One view of an array: a function and a name for it."""
    rank = x.ndim
    kind = draw(st.sampled_from(("transpose", "index", "reshape", "flip", "rot90", "diagonal", "expand", "broadcast")))
    if kind == "transpose":
        order = draw(st.permutations(range(rank)))
        return lambda a: np.transpose(a, order)
    if kind == "index":
        key = tuple(draw(st.lists(INDEX, max_size=rank + 1)))
        return lambda a: a[key]
    if kind == "reshape":
        shape = draw(st.permutations(x.shape))
        return lambda a: a.reshape(shape, order="C" if len(shape) % 2 else "F")
    if kind == "flip":
        axis = draw(st.sampled_from((None, *range(-rank, rank))))
        return lambda a: np.flip(a, axis)
    if kind == "rot90":
        k = draw(st.integers(-3, 3))
        return lambda a: np.rot90(a, k, (0, a.ndim - 1))
    if kind == "diagonal":
        offset, pair = draw(st.integers(-4, 4)), draw(st.permutations(range(max(2, rank))))[:2]
        return lambda a: np.diagonal(a, offset, *pair)
    if kind == "expand":
        axis = draw(st.integers(-rank - 1, rank))
        return lambda a: np.expand_dims(a, axis)
    return lambda a: np.broadcast_to(a, (2, *a.shape))


@settings(max_examples=60)
@given(st.data(), st.lists(st.integers(0, 5), max_size=3), st.sampled_from(sorted(LAYOUTS.keys() - {"byte-swapped"})))
def test_random_views(data: st.DataObject, shape: list[int], layout: str) -> None:
    x = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    x = LAYOUTS[layout](x) if x.ndim and x.size else x
    steps, y = [], x
    for _ in range(3):
        step = data.draw(views(y))
        try:
            z = step(y)
        except (ValueError, IndexError):
            continue
        if np.ndim(z) and np.ndim(z) < 6:
            steps.append(step)
            y = z

    def chain(a: Any) -> Any:
        for step in steps:
            a = step(a)
        return a, a + 1

    found = weft.jit(chain)(x)
    same(found, (fresh(chain(x)[0]) if steps else np.copy(x, order="K"), y + 1))
