"""Test functions that join, split, repeat and pad arrays against NumPy, including errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from hypothesis import given, settings
from hypothesis import strategies as st

from .arranged import DTYPES, arranged, fresh, in_layouts, refused, sample
from .arrays import LAYOUTS, random
from .comparing import Everywhere, same

Array = np.ndarray[Any, Any]


def joins(x: Any, z: Any, v: Any) -> Any:
    return (
        np.concatenate([x, x[1:]]), np.concatenate((x, x[:, :2], x), axis=1), np.concat([z, z], -1),
        np.concatenate([x, v], axis=None), np.concatenate([x]), np.concatenate(z), np.stack([x, x[::-1]]),
        np.stack([x, x + x], -1), np.stack([v, v, v], axis=1), np.hstack([x, x]), np.hstack([v, v, v[0]]),
        np.vstack([v, v]), np.vstack([x, x[0]]), np.dstack([x, x]), np.dstack([v, v]), np.column_stack([v, v]),
        np.column_stack([x, x[:, 0]]), np.append(x, v), np.append(x, x, 0), np.append(x, z[0, :4], axis=0),
        np.block([[x, x], [x[:1], x[:1]]]), np.block([v, v]), np.block([[z, z]]), np.block(x),
    )  # fmt: skip


def parts(x: Any, z: Any, v: Any) -> Any:
    a, b = np.split(x, 2)
    return (
        a, b, *np.split(x, [1, 3], 1), *np.split(v, [2, -1, 99]), *np.array_split(v, 3), *np.array_split(x, 5, axis=1),
        *np.hsplit(x, 3), *np.hsplit(v, [2]), *np.vsplit(x, 2), *np.dsplit(z, [2]), *np.unstack(x),
        *np.unstack(z, axis=1), *np.split(x, x.shape[0]),
    )  # fmt: skip


def repeats(x: Any, z: Any, v: Any) -> Any:
    return (
        np.roll(v, 2), np.roll(v, -3), np.roll(v, 23), np.roll(v, 0), np.roll(v, 7), np.roll(x, 1), np.roll(x, 1, 0),
        np.roll(x, (1, -2), (0, 1)), np.roll(x, 2, (0, 1)), np.roll(x, (1, 1), (0, 0)), np.roll(z, -1, axis=-1),
        np.tile(v, 2), np.tile(v, (2, 3)), np.tile(x, (2, 1)), np.tile(x, (2, 1, 3)), np.tile(x, 1), np.tile(x, 0),
        np.repeat(x, 2), np.repeat(x, 3, 0), x.repeat(2, axis=1), np.repeat(v, [2]), np.repeat(z, 1, -1),
    )  # fmt: skip


def pads(x: Any, z: Any, v: Any) -> Any:
    return (
        np.pad(v, 2), np.pad(v, (0, 3)), np.pad(x, ((1, 2), (0, 3)), constant_values=7), np.pad(x, 0),
        np.pad(x, 1, constant_values=((1, 2), (3, 4))), np.pad(x, {1: (1, 2), 0: 1}), np.pad(x, (1, 2), "edge"),
        np.pad(v, 3, "reflect"), np.pad(v, (6, 1), "symmetric"), np.pad(v, 3, "wrap"), np.pad(v, (20, 33), "reflect"),
        np.pad(v, (33, 20), "symmetric"), np.pad(v, 20, mode="wrap"), np.pad(x, 2, "reflect", reflect_type="even"),
        np.pad(z, ((0, 0), (1, 1), (0, 0))), np.pad(x[:, :1], 2, "reflect"), np.pad(v, 2, constant_values=v[0]),
    )  # fmt: skip


def differences(x: Any, z: Any, v: Any) -> Any:
    return (
        np.diff(v), np.diff(x), np.diff(x, 2), np.diff(z, axis=1), np.diff(v, 3), np.diff(v, prepend=0), np.diff(v, 0),
        np.diff(x, append=x[:, :2]), np.diff(x, axis=0, prepend=x[:1], append=1), np.ediff1d(x),
        np.ediff1d(v, v[:2], 0),
    )  # fmt: skip


def gradients(x: Any, z: Any, v: Any) -> Any:
    return (
        np.gradient(v), *np.gradient(x), np.gradient(x, 2, axis=1), *np.gradient(x, 0.5, 3, edge_order=2),
        np.gradient(v, edge_order=2), *np.gradient(z, axis=(2, 0)), np.gradient(v, v[1] - v[0] + 1),
    )  # fmt: skip


GROUPS = (joins, parts, repeats, pads, differences, gradients)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.__name__)
def test_layouts(group: Any) -> None:
    in_layouts(group, ("C", "F", "negative inner"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    def some(x: Any, z: Any, v: Any) -> Any:
        edges = np.pad(v, 2), np.pad(x, ((1, 0), (0, 2)), "edge"), np.pad(v, 3, "reflect")
        joined = np.concatenate([x, x * x]), np.stack([v, v[::-1]], 1), np.append(v, x), np.roll(x, 1, 0)
        more = np.tile(v, 2), np.repeat(x, 2, 0), np.diff(x), np.array_split(v, 3)[1]
        return (*edges, *joined, *more)

    arranged(some, *sample(dtype))


@pytest.mark.parametrize("dtype", ["float32", "uint8", "complex64"])
def test_same_bits_on_every_machine(dtype: str) -> None:
    """Compare AVX2, AVX-512 and the reference at sizes around vector widths: joins, rolls, lookups, new arrays."""

    def mixed(x: Any, v: Any) -> Any:
        joined = np.concatenate([v, np.roll(v, 3)[5:], v[::-1]])
        places = np.arange(v.shape[0], like=v) * 7 % joined.shape[0]
        return (
            joined, joined[places], np.pad(x, 1, "reflect"), np.tril(x, 1) + x, x[:, ::-2].T,
            np.diff(np.stack([x, x + x]), axis=0), np.linspace(v[0].real, 3, 37), x.diagonal(2), np.repeat(v, 3)[1::2],
            np.take(x, places, 1, mode="wrap"),
        )  # fmt: skip

    everywhere = Everywhere(mixed)
    for size in (4, 33, 65):
        everywhere.check(random(dtype, (9, size), 1), random(dtype, (size,), 2))


def test_mixed_dtypes() -> None:
    def mixed(i: Any, f: Any, d: Any, b: Any) -> Any:
        return (
            np.concatenate([i, f]), np.concatenate([b, i, d]), np.stack([f, d]), np.hstack([b, b]), np.append(f, 5),
            np.append(i, 2.5), np.concatenate([f, [1, 2]]), np.stack([f, [1, 2, 3]]), np.block([f, 1]),
            np.concatenate([f, d], dtype=np.float32), np.concatenate([i, f], dtype="f2", casting="unsafe"),
            np.stack([f, f], dtype=np.complex64), np.hstack([i, d[0]]), np.diff(i, prepend=0.5),
            np.pad(i, 1, constant_values=2.9), np.concatenate([np.arange(3, dtype=np.int8), i], axis=0),
            np.ediff1d(d, i),
        )  # fmt: skip

    arranged(mixed, *(random(d, (3,), k) for k, d in enumerate(("int32", "float32", "float64", "bool"))))


def test_other_sizes_need_no_compile() -> None:
    def mixed(x: Any, y: Any) -> Any:
        return (
            np.concatenate([x, y]), np.roll(x, 2), np.roll(y, -1), np.pad(x, 2, "reflect"), np.tile(x, 3), np.diff(y),
            np.array_split(x, 3)[0], np.repeat(y, 2), np.stack([x, x]), np.gradient(x), np.pad(x, 1, "wrap"),
        )  # fmt: skip

    jitted = weft.jit(mixed)
    for n, m in ((5, 7), (9, 3), (40, 100), (6, 4)):
        x, y = random("float32", (n,), 1), random("float32", (m,), 2)
        same(jitted(x, y), fresh(mixed(x, y)))
    assert jitted.signature_cache.misses == 1


@pytest.mark.parametrize("sizes", [(0, 3), (1, 1), (3, 0), (2, 1)], ids=str)
def test_few_elements(sizes: tuple[int, int]) -> None:
    def mixed(x: Any) -> Any:
        return (
            np.concatenate([x, x]), np.roll(x, 1), np.roll(x, 1, 0), np.roll(x, -2, 1), np.pad(x, 1), np.tile(x, 2),
            np.diff(x), np.diff(x, axis=0), np.repeat(x, 2), *np.array_split(x, 2), np.stack([x]), np.ediff1d(x),
            np.append(x, 1.0), *np.split(x, [1]),
        )  # fmt: skip

    arranged(mixed, np.zeros(sizes) + 5)


def test_shift_that_only_the_call_knows() -> None:
    jitted = weft.jit(lambda x, k: (np.roll(x, k, 0), np.roll(x, -k)))
    x = random("float64", (5, 3), 1)
    for k in (0, 1, -2, 5, 17):
        arranged(lambda x, k: (np.roll(x, k, 0), np.roll(x, -k)), x, k, jitted=jitted)
    assert jitted.signature_cache.misses == 1


def test_left_to_numpy() -> None:
    """Test what is left to NumPy: numbers known only at run time, and modes that Weft does not define."""

    def rest(x: Any, k: Any, counts: Any) -> Any:
        return np.tile(x, k), np.repeat(x, counts), np.pad(x, k), np.pad(x, 2, "linear_ramp"), np.pad(x, 2, "mean")

    arranged(rest, np.arange(4.0), 3, np.array([1, 0, 2, 1]), native=False)
    more = weft.jit(lambda x, at: (np.delete(x, 1), np.insert(x, 1, 5.0), np.choose(at, [x, -x]), np.compress(at, x)))
    x, at = np.arange(4.0), np.array([0, 1, 1, 0])
    same(more(x, at), (np.delete(x, 1), np.insert(x, 1, 5.0), np.choose(at, [x, -x]), np.compress(at, x)))
    assert more.lower(x, at).fallbacks == ("numpy.delete", "numpy.insert", "numpy.choose", "numpy.compress")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.concatenate([x, x[0]]),
        lambda x: np.concatenate([x, x[:, 1:]]),
        lambda x: np.concatenate([x[0, 0], x[0, 1]]),
        lambda x: np.concatenate([x, x], axis=2),
        lambda x: np.concatenate([x, x], dtype=np.int32),
        lambda x: np.concatenate([x, x], casting="never", dtype=np.float32),
        lambda x: np.stack([x, x[0]]),
        lambda x: np.stack([x, x], axis=3),
        lambda x: np.hstack([x, x[:1]]),
        lambda x: np.vstack([x, x[:, 1:]]),
        lambda x: np.append(x, 1.0, axis=0),
        lambda x: np.block([[x, x], x]),
        lambda x: np.block([[x], []]),
        lambda x: np.split(x, 3),
        lambda x: np.split(x, 0),
        lambda x: np.array_split(x, 0),
        lambda x: np.split(x, 2, axis=2),
        lambda x: np.hsplit(x[0, 0], 1),
        lambda x: np.vsplit(x[0], 2),
        lambda x: np.dsplit(x, 2),
        lambda x: np.unstack(x[0, 0]),
        lambda x: np.roll(x, 1, 5),
        lambda x: np.roll(x, (1, 2, 3), (0, 1)),
        lambda x: np.tile(x, -1),
        lambda x: np.repeat(x, -1),
        lambda x: np.repeat(x, 2, axis=4),
        lambda x: np.pad(x, -1),
        lambda x: np.pad(x, 1.5),
        lambda x: np.pad(x, ((1, 1), (2, 2), (3, 3))),
        lambda x: np.pad(x, 1, "mirror"),
        lambda x: np.pad(x, 1, "edge", constant_values=3),
        lambda x: np.pad(x[:0], 1, "edge"),
        lambda x: np.diff(x, -1),
        lambda x: np.diff(x[0, 0]),
        lambda x: np.diff(x, axis=2),
        lambda x: np.ediff1d(x.astype(int), to_end=0.5),
        lambda x: np.gradient(x[:1]),
        lambda x: np.gradient(x, edge_order=3),
        lambda x: np.gradient(x, 1, 2, 3),
    ],
)  # fmt: skip
def test_refusals(function: Any) -> None:
    refused(function, random("float64", (4, 6), 1))


# -- random pieces


@settings(max_examples=15)
@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 4), st.data())
def test_random_joins(data: st.DataObject, shape: list[int], count: int, more: st.DataObject) -> None:
    """Join pieces of random sizes, dtypes and layouts along a random axis; then roll, pad and slice the whole."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    pieces = []
    for k in range(count):
        own = [data.draw(st.integers(0, 5)) if a == axis else n for a, n in enumerate(shape)]
        piece = random(data.draw(st.sampled_from(("float64", "float32", "int32", "bool", "uint8"))), tuple(own), k)
        layout = data.draw(st.sampled_from(("C", "F", "strided", "negative")))
        pieces.append(LAYOUTS[layout](piece) if piece.size else piece)
    shift, before, after = (more.draw(st.integers(*limits)) for limits in ((-9, 9), (0, 4), (0, 4)))
    cut = more.draw(st.integers(-3, 9))

    def build(*arrays: Any) -> Any:
        whole = np.concatenate(arrays, axis)
        width = [(before, after) if a == axis else (0, 0) for a in range(len(shape))]
        return whole, np.roll(whole, shift, axis), np.pad(whole, width), *np.split(whole, [cut], axis)

    found = weft.jit(_named(build, count))(*pieces)
    same(found, fresh(build(*pieces)))


def _named(function: Any, count: int) -> Any:
    """Return the function with this many named arguments, because a traced function takes no `*args`."""
    wrappers = {
        1: lambda a: function(a),
        2: lambda a, b: function(a, b),
        3: lambda a, b, c: function(a, b, c),
        4: lambda a, b, c, d: function(a, b, c, d),
    }
    return wrappers[count]
