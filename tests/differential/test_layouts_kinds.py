"""Test every kind of kernel on arguments in every memory layout: values, no copies, more than 2^31 elements."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arranged import arranged, fresh
from .arrays import LAYOUTS, whole
from .comparing import same
from .test_out import overlapping

Array = np.ndarray[Any, Any]
ORDER = np.array([3, 0, -1, 2, 2])


def kinds(x: Any) -> Any:
    """Return one kernel of each kind: elementwise, converted, reduced, running, gathered, joined, and so on."""
    return (
        x + x, x.astype(np.complex64), x.sum(axis=-1), x.sum(axis=0), x.max(), np.cumsum(x, axis=0),
        np.cumsum(x, axis=-1), x.argmax(axis=0), np.argmin(x), x[ORDER], x[:, ORDER], np.concatenate([x, x[::-1]]),
        np.pad(x, ((1, 0), (0, 2))), x.diagonal(1), np.tril(x), np.where(x != 0, x, 1),
        np.arange(x.shape[-1], like=x) * x, np.roll(x, 2, -1), x.T,
    )  # fmt: skip


LIE = {
    **LAYOUTS,
    "unaligned columns": lambda x: np.asfortranarray(LAYOUTS["unaligned"](x.T.copy()).T),
    "every third, unaligned": lambda x: _in_bytes(x, 3),
    "one number": lambda x: np.broadcast_to(x.ravel()[:1].reshape((1,) * x.ndim), x.shape),
}


def _in_bytes(x: Array, step: int) -> Array:
    """Return the array with gaps between its elements, at an odd address and with odd strides."""
    memory = np.zeros(1 + x.size * (x.itemsize * step + 1), np.uint8)
    strides = np.array(np.ones(x.shape, np.uint8).strides) * (x.itemsize * step + 1)
    view: Array = np.ndarray(x.shape, x.dtype, memory, 1, tuple(int(s) for s in strides))
    view[...] = x
    return view


@pytest.mark.parametrize("dtype", ["float64", "uint8", "float16", "complex64"])
def test_every_kind_in_every_layout(dtype: str) -> None:
    x = np.abs(whole("float64", (5, 9), 1)).astype(dtype)
    few = ("F", "every third, unaligned", "byte-swapped")
    jitted = weft.jit(kinds)
    for name in LIE if dtype == "float64" else few:
        try:
            arranged(kinds, LIE[name](x), jitted=jitted, native=False)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "looked up": lambda x: x[::-1][ORDER[np.arange(36) % 4]],
    "joined": lambda x: np.roll(x, 5),
    "running": lambda x: np.cumsum(x),
    "padded": lambda x: np.pad(x[4:], (1, 3), "reflect"),
    "differences": lambda x: np.diff(x, append=0.0),
    "made": lambda x: x[::-1] - np.arange(x.shape[0], like=x),
    "by position": lambda x: x * x.argmax() + x[x.argmin()],
    "triangle": lambda x: np.tril(x.reshape(6, 6)).reshape(36),
    "halved": lambda x: x.reshape(6, 6).T.reshape(36),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_out_in_the_same_memory(program: str) -> None:
    """`out` is the argument itself, shifted, reversed or interleaved; results are as if it had been copied first."""
    function = PROGRAMS[program]
    jitted = weft.jit(function)
    for name, views in overlapping().items():
        memory = whole("float64", (100,), 3)
        argument, out = views(memory)
        expected = np.array(function(argument.copy()))
        assert jitted(argument, out=out) is out
        np.testing.assert_array_equal(out, expected, err_msg=f"{program}, {name}")


STRIDED: dict[str, Callable[[], Array]] = {
    "C": lambda: np.ones((1000, 1000)),
    "F": lambda: np.ones((1000, 1000), order="F"),
    "strided": lambda: np.ones((2000, 2000))[::2, 1::2],
    "negative": lambda: np.ones((1000, 1000))[::-1, ::-1],
    "rows with gaps": lambda: np.ones((1000, 1100))[:, 50:1050],
    "repeated": lambda: np.broadcast_to(np.ones(1000), (1000, 1000)),
    "turned": lambda: np.ones((500, 20, 100)).transpose(1, 2, 0)[0],
    "unaligned": lambda: LAYOUTS["unaligned"](np.ones((1000, 1000))),
    "read-only": lambda: LAYOUTS["read-only"](np.ones((1000, 1000))),
}


@pytest.mark.parametrize("layout", STRIDED)
def test_nothing_is_copied_because_of_strides(layout: str) -> None:
    """A call with an argument of 8 MB and `out` arrays allocates next to nothing."""
    x = STRIDED[layout]()
    jitted = weft.jit(lambda x: (x * 2 + 1, x.sum(axis=0), x.sum(axis=1), x[::-1].T - 1))
    outs = tuple(np.empty_like(np.asarray(part)) for part in jitted(x))
    for _ in range(3):  # the first calls compile, and make the way short for those that follow
        jitted(x, out=outs)
    tracemalloc.start()
    jitted(x, out=outs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 400_000
    assert (outs[1] == x.shape[0]).all()


def test_byte_swapped_arguments_and_results() -> None:
    x = np.arange(45.0).reshape(5, 9)
    swapped = x.astype(">f8")
    found = weft.jit(kinds)(swapped)
    same(found, fresh(weft.jit(kinds)(x)))
    assert all(np.asarray(part).dtype.isnative for part in found)
    with pytest.raises(weft.errors.TypeProblem, match="out must have the dtype float64 of the result, not >f8"):
        weft.jit(lambda x: x + 1)(x, out=swapped)


BIG = 2**31 + 100


def test_more_than_two_to_the_31_elements() -> None:
    """The array is all zeros, so only its last page uses memory."""
    x = np.zeros(BIG, np.uint8)
    x[-1], x[-2] = 7, 9

    def ends(x: Any, i: Any) -> Any:
        return x.sum(), x.max(), x.argmax(), x[-3:], x[:: 2**30], x[i], np.take(x, i - 1), x.any(), x[i][0]

    found = weft.jit(ends)(x, np.array([BIG - 1, -2]))
    few = np.zeros(3, np.uint8)
    same(found, (
        np.uint64(16), np.uint8(9), np.int64(BIG - 2), np.array([0, 9, 7], np.uint8), few, np.array([7, 9], np.uint8),
        np.array([9, 0], np.uint8), np.True_, np.uint8(7),
    ))  # fmt: skip
    with pytest.raises(IndexError):
        weft.jit(lambda x, i: x[i])(x, np.array([BIG]))


def test_more_than_two_to_the_31_repeated_elements() -> None:
    """The array is one repeated number in memory, and only the index distinguishes positions."""
    x = np.broadcast_to(np.array(3, np.int8), (2, BIG // 2 + 7))
    n = x.shape[1]

    def sums(x: Any) -> Any:
        place = np.arange(x.shape[1], like=x)
        return x.sum(), place[-1] + place.shape[0] * 4, x[:, -1], np.argmax(place == n - 3)

    found = weft.jit(sums)(x)
    same(found, (np.int64(6 * n), np.int64(5 * n - 1), np.array([3, 3], np.int8), np.int64(n - 3)))
