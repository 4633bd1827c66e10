"""Test index arrays: values, placement of axes, memory order, `take` and its modes, and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from hypothesis import given, settings
from hypothesis import strategies as st

from .arranged import DTYPES, arranged, fresh, refused
from .arrays import LAYOUTS, random
from .comparing import same

Array = np.ndarray[Any, Any]
I = np.array([0, 3, -1])  # noqa: E741
J = np.array([[0, 1], [1, 2], [3, 0]])


def keys(z: Any, i: Any, j: Any) -> Any:
    """List keys: one index array, several, adjacent or not, with integers, slices, new axes and the ellipsis."""
    return (
        z[i], z[:, i], z[:, :, i], z[..., i], z[j], z[:, j], z[..., j], z[i, i], z[:, i, i], z[i, :, i], z[i, i, i],
        z[j, j.T[0, :1]], z[i, 1], z[:, i, 1], z[1, :, i], z[1, i], z[i, None], z[None, i], z[i, None, i],
        z[::2, j, 1:], z[..., None, i], z[j[:, None], i[:, None]], z[i, ..., i], z[i[::-1], 2:4], z[-1, ..., i],
        z[i, i[:, None]], z[np.ix_(i, i[:2])], z[:, *np.ix_(i, j[:, 0])],
    )  # fmt: skip


def lookups(z: Any, i: Any, j: Any) -> Any:
    far = i * 5 - 2
    return (
        np.take(z, i), np.take(z, j, axis=1), z.take(i, 0), np.take(z, i, -1), np.take(z, far, axis=2, mode="clip"),
        np.take(z, far, axis=0, mode="wrap"), z.take(far, mode="wrap"), np.take(z, 2, axis=1), np.take(z, [1, -1], 0),
        np.take_along_axis(z, z.argmax(axis=1, keepdims=True), 1), np.take(z, True),
        np.take_along_axis(z, (j[:2, :1, None] * 2) % 4, axis=0), np.take_along_axis(z, i, axis=None),
        np.take_along_axis(z, z.astype(int) % 5, axis=1),
    )  # fmt: skip


@pytest.mark.parametrize("group", [keys, lookups], ids=lambda g: g.__name__)
def test_layouts(group: Any) -> None:
    z, jitted = random("float64", (4, 5, 6), 1), weft.jit(group)
    for name, j in (("C", J), ("F", J), ("axes turned", np.asfortranarray(J))):
        try:
            arranged(group, LAYOUTS[name](z), I, j, jitted=jitted, native=name == "C")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    index_dtype = dtype if np.dtype(dtype).kind in "iu" else "int16"
    x, i, j = random(dtype, (5, 7), 1), np.array([0, 2, 4], index_dtype), np.array([[1], [3]], index_dtype)
    arranged(lambda x, i, j: (x[i], x[:, i], x[i, j], x[j, 1:3], np.take(x, i, 1), x[i[1]], x[i[0], j]), x, i, j)


def test_numbers_that_only_the_call_knows() -> None:
    def at(x: Any, k: Any, i: Any) -> Any:
        return x[k], x[:, k], x[k, 1], x[k, k], x[..., k, k], x[1, ..., k], x[k - 1, i], x[k, None], x[i, :1, None][0]

    x, jitted = random("float64", (4, 4), 1), weft.jit(at)
    for k in (0, 3, -2):
        arranged(at, x, k, I, jitted=jitted)
    arranged(at, x, np.array(2), I)
    assert jitted.signature_cache.misses == 1
    with pytest.raises(IndexError):
        jitted(x, 4, I)


def test_lists_and_captured_arrays() -> None:
    where = np.array([2, 0])
    arranged(lambda x: (x[[0, 2]], x[:, [[1], [0]]], x[where], x[[]], x[[1], where[:1]]), random("float32", (4, 3), 1))


def test_index_arrays_that_are_computed() -> None:
    def chain(x: Any, i: Any) -> Any:
        y = (x * 2)[(i + 1) % 4]
        return y + 1, (y * y)[:, ::-1].sum(axis=0), y[i - i, i % 3], np.sqrt(np.abs(x))[i % 4][1:] - x[0]

    arranged(chain, random("float32", (4, 5), 1), np.array([3, 1, 2, 0, 3]))


def test_masks_run_in_numpy() -> None:
    jitted = weft.jit(lambda x: (x[x > 0] * 2, x[x[:, 0] > 0], x[..., None][x < 0]))
    for seed in range(3):
        x = random("float64", (5, 3), seed)
        same(jitted(x), (x[x > 0] * 2, x[x[:, 0] > 0], x[..., None][x < 0]))
    assert set(jitted.lower(x).fallbacks) == {"numpy.ndarray.__getitem__"}


def test_in_the_language() -> None:
    module = weft.compile(
        """
        kernel f(x: f32[n, m], i: i32[k], at: int) {
            return x[i], x[:, i], x[i, 0], x[at], x[at, i], take(x, i, axis=1, mode="wrap"), x[None, at, ..., 1]
        }
        kernel g(x: f32[n, m], i: i64[n, m]) { return take_along_axis(x, i, axis=1) }
        """
    )
    x, i = random("float32", (4, 3), 1), np.array([2, 0, 1, 1], np.int32)
    same(
        module.f(x, i, -1),
        (x[i], x[:, i], x[i, 0], x[-1].copy(), x[-1, i], np.take(x, i, 1), x[None, -1, ..., 1].copy()),
    )
    order = np.argsort(x, axis=1)
    same(module.g(x, order), np.take_along_axis(x, order, 1))
    with pytest.raises(weft.errors.Unsupported, match="a bool mask"):
        weft.compile("kernel f(x: f32[n]) = x[x > 0]").f(x[0])


@pytest.mark.parametrize("index", [[0, 4], [-5, 0], [2**40], [-(2**62)]], ids=str)
def test_out_of_bounds(index: list[int]) -> None:
    x, i = random("float64", (4, 6), 1), np.array(index)
    for function in (
        lambda x, i: x[i],
        lambda x, i: x[:4, i * 0][i, 0],
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i: np.take_along_axis(x[:, :1], i[:, None], axis=0),
        lambda x, i: (x[i] + 1).sum(),
    ):
        refused(function, x, i)
    wrapped = weft.jit(lambda x, i: np.take(x, i, 0, mode="wrap"))(x, i)  # NumPy counts down to it, for hours
    same(wrapped, x[i % 4])
    arranged(lambda x, i: np.take(x, i, 0, mode="clip"), x, i)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[x],
        lambda x, i: x[i, i, i],
        lambda x, i: x[i, i[:2]],
        lambda x, i: x[i, ..., ...],
        lambda x, i: np.take(x, x),
        lambda x, i: np.take(x, i, axis=2),
        lambda x, i: np.take(x, i, mode="bounce"),
        lambda x, i: np.take_along_axis(x, i, 0),
        lambda x, i: np.take_along_axis(x, x, 0),
        lambda x, i: np.take_along_axis(x, i[:, None] + [[0, 1, 2, 3, 4]], 0),
        lambda x, i: np.take_along_axis(x, i[:, None], None),
        lambda x, i: np.take(x[:0], i, 0),
        lambda x, i: x[[9]],
    ],
)
def test_refusals(function: Any) -> None:
    refused(function, random("float64", (4, 6), 1), I)


def test_nothing() -> None:
    none = np.zeros(0, int)
    arranged(lambda x, i: (x[i], x[:, i], np.take(x, i), x[:0][i], x[i, i]), random("float64", (4, 6), 1), none)
    with pytest.raises(IndexError):
        weft.jit(lambda x, i: x[i])(np.zeros((0, 3)), np.array([0]))


@st.composite
def random_key(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Items for some axes: index arrays that broadcast together, integers, slices and new axes."""
    target = draw(st.sampled_from([(3,), (2, 3), (1,), ()]))
    key: list[Any] = []
    for size in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(("array", "array", "int", "slice", "new")))
        if kind == "new":
            key.append(None)
        if kind == "int":
            key.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            bound = st.one_of(st.none(), st.integers(-6, 6))
            key.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 2, -1]))))
        else:
            own = target[draw(st.integers(0, len(target))) :]
            count = int(np.prod(own, dtype=int))
            items = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            key.append(np.array(items, int).reshape(own))
    if sum(item is not None for item in key) == len(shape):
        key.insert(draw(st.integers(0, len(key))), ...)
    return tuple(key)


@settings(max_examples=15)
@given(
    st.data(), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from(("C", "F", "strided", "negative"))
)
def test_random_keys(data: st.DataObject, shape: list[int], layout: str) -> None:
    x = LAYOUTS[layout](np.arange(float(np.prod(shape))).reshape(shape))
    key = data.draw(random_key(tuple(shape)))
    found = weft.jit(lambda x: (x[key], x[key] + 1))(x)
    same(found, (fresh(x[key]), x[key] + 1))
