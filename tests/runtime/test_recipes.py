"""Recipes: as few steps as a call needs, and results that look like NumPy's however they were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.ir import dims
from weft.ir.dims import Size
from weft.runtime.native import abi
from weft.runtime.native.arguments import limits_of
from weft.runtime.native.recipe import RecipeWriter, Register, SizeRegisters
from weft.runtime.native.steps import OPERANDS

native = pytest.mark.skipif(not abi.is_known(), reason="this interpreter has no recipes")
N, M = dims.symbol("n"), dims.symbol("m")


def steps_of(write: Any) -> list[str]:
    """Return the names of the checks that something writes."""
    w = RecipeWriter(1, ())
    sizes = SizeRegisters(w)
    sizes.known = {"n": w.register(), "m": w.register()}
    write(w, sizes)
    names = {code: name for name, code in w._code.items()}
    return [names[word] for word in w.checks if isinstance(word, int) and word in names]


def steps_for(size: Size) -> list[str]:
    return steps_of(lambda w, sizes: sizes.number(size))


def test_a_size_takes_one_step_if_it_can() -> None:
    blocks = dims.floordiv(N + 511, 512)
    assert steps_for(N) == []
    assert steps_for(dims.floordiv(blocks + 31, 32)) == ["linear"]
    assert steps_for(16 * N * M + 8 * M) == ["polynomial"]
    assert steps_for(N * M) == ["product"]
    both = steps_of(lambda w, sizes: [sizes.number(s) for s in (blocks, dims.floordiv(blocks + 31, 32))])
    assert both == ["linear", "linear"]


def test_ranges_of_a_number_are_checked_once() -> None:
    def write(w: RecipeWriter, sizes: SizeRegisters) -> None:
        for lowest, highest in ((1, 1 << 40), (17, 1 << 62), (0, 131071)):
            w.check_between(sizes.known["n"], lowest, highest)
        w.check_between(sizes.known["m"], 5)
        assert w.checks[2:4] == [17, 131071]
        inner = w.aside(lambda: w.check_between(sizes.known["n"], 20))  # a block that may be skipped
        assert len(inner) == 1 + len(OPERANDS["between"])

    assert steps_of(write) == ["between", "between"]


def test_a_bound_on_a_sum_of_terms_is_a_range() -> None:
    bytes = 16 * N * M + 8 * M
    assert limits_of(dims.minimum(bytes, 1000), bytes) == (bytes, -(1 << 63), 1000)
    assert limits_of(dims.minimum(8 * N, 1001), 8 * N) == (N, -(1 << 63), 125)


def test_registers_in_a_row_stay_where_they_are() -> None:
    w = RecipeWriter(1, ())
    row, alone, frame = w.register(2), w.register(), w.register(3)
    assert not w.put(row.after(1), frame) and w.put(alone, frame.after(2)) and not w.put(alone, frame)
    assert isinstance(row, Register)


@native
@pytest.mark.parametrize("char", "?bBhHiIlLefdFD")
def test_numbers_are_of_numpys_types(char: str) -> None:
    x = np.array([3, 1, 2], char)
    last = weft.jit(lambda x: x[2])
    found = [last(x) for _ in range(4)]
    assert all(type(a) is type(x[2]) and a == x[2] and a.dtype == x.dtype for a in found)
    assert len({id(a) for a in found}) == 4 or char == "?"


@native
def test_small_results_in_fortran_order() -> None:
    kernel = weft.jit(lambda a, b: a * b + a)
    for shape in ((3, 4), (1, 4), (4, 1), (2, 3, 4), (2, 1, 3), (0, 3), (200, 300), (3, 5)):
        a = np.asfortranarray(np.arange(np.prod(shape), dtype=np.float64).reshape(shape))
        for _ in range(3):
            made, right = kernel(a, a), a * a + a
            assert made.flags.num == right.flags.num and made.flags.owndata
            assert all(a == b for a, b, n in zip(made.strides, right.strides, shape, strict=True) if n != 1)
            np.testing.assert_array_equal(made, right)


@native
def test_memory_of_long_calls_is_taken_after_that_of_short_ones() -> None:
    """The same recipe serves sums with scratch memory in the call, from the allocator, and of large blocks."""
    total = weft.jit(lambda x: np.sum(x))
    for n in (10, 40_000, 7, 4_000_000, 0, 40_000):
        x = np.ones(n)
        assert [total(x) for _ in range(3)] == [n] * 3
