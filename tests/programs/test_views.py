"""Test that arrays which a piece of loops returns are the objects, views and memory orders that NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

Array = np.ndarray[Any, Any]
MATRIX = np.arange(6.0).reshape(2, 3)
ARGUMENTS = {
    "row": np.arange(1.0, 5.0), "C": MATRIX.copy(), "F": np.asfortranarray(MATRIX), "one row": np.arange(6.0)[None],
    "steps": np.arange(10.0)[::2], "columns": np.arange(12.0).reshape(3, 4)[:, 1:3],
    "cube": np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2), "complex F": (MATRIX + 1j).copy("F"),
}  # fmt: skip


def shown(made: Any, x: Array) -> Any:
    if not isinstance(made, np.ndarray):
        return type(made).__name__, made
    owner = x if x.base is None else x.base
    strides = tuple(s for s, n in zip(made.strides, made.shape, strict=True) if n != 1)
    same = made is x, made.base is owner, np.shares_memory(made, x), made.flags.owndata, made.flags.writeable
    return *same, made.dtype, made.shape, strides, made.tolist()


def itself(x: Any, n: int) -> Any:
    for _ in range(n):
        n -= 1
    return x.conj(), x.real, x.squeeze(), np.asarray(x), np.atleast_1d(x), np.array(x, copy=None), x.squeeze(axis=())


def viewed(x: Any, n: int) -> Any:
    for _ in range(n):
        n -= 1
    return (
        x.T,
        x.reshape(x.shape),
        x[:],
        x[...],
        x.swapaxes(0, -1),
        x.view(),
        np.flip(x),
        np.moveaxis(x, 0, -1),
        x[None],
    )


def made(x: Any, n: int) -> Any:
    for _ in range(n):
        n -= 1
    return np.conj(x), +x, x + 1, np.copy(x), x.copy(), np.zeros_like(x), (x * 2).T + x.T, x.astype(complex), x.sum(0)


def kept(x: Any, n: int) -> Any:
    y = x * 1.5
    for _ in range(n):
        y = y + x
    z = np.zeros(x.shape, order="F")
    z[...] = y.real
    return y, z, np.empty_like(x, order="C").shape, np.atleast_3d(y), y.T


def imaginary(x: Any, n: int) -> Any:
    for k in range(n):
        x.imag[k] = x.real[k] * 2
    return x.imag, x.real[1:], x[::-1].imag


@pytest.mark.parametrize("function", [itself, viewed, made, kept])
def test_results_are_the_objects_and_orders_of_numpy(function: Any) -> None:
    for backend in ("llvm", "reference"):
        jitted, served = weft.jit(function, backend=backend), set[str]()
        for name, x in ARGUMENTS.items():
            if function is itself and x.dtype == complex:
                continue  # its real parts are a view
            want = [shown(result, x) for result in function(x, 2)]
            for _ in range(3):
                assert [shown(result, x) for result in jitted(x, 2)] == want, name
            served |= {name} if jitted.explain().native_pieces else set()
        assert len(served) >= len(ARGUMENTS) - 1, jitted.explain()


def test_parts_of_complex_arrays_are_views() -> None:
    jitted, x, y = weft.jit(imaginary), np.arange(4) + 1j, np.arange(4) + 1j
    for _ in range(3):
        for mine, its in zip(jitted(x, 3), imaginary(y, 3), strict=True):
            assert np.array_equal(mine, its) and mine.strides == its.strides and mine.base is x
        assert np.array_equal(x, y)
    assert jitted.explain().native_pieces


def test_views_of_results_are_served_natively() -> None:
    jitted, x = weft.jit(viewed), np.arange(12.0).reshape(3, 4)
    for _ in range(3):
        jitted(x, 2)
    assert jitted.chain.calls == 2
    first = jitted(x, 2)[0]
    del x
    assert first.base is not None and first.sum() == 66


def looked_up(index: Any) -> Any:
    def get(a: Any) -> Any:
        return a[index]

    return get


def test_indices_from_outside_are_part_of_a_piece() -> None:
    a, rows = np.arange(60.0).reshape(3, 4, 5), np.array([0, 2, 1])
    cases: list[Any] = [
        (slice(1, 2), slice(None, None, -1)), (1, ...), (slice(None), rows), (rows, 1), (0, -1), -1, rows, (..., rows),
    ]  # fmt: skip
    for index in cases:
        get = looked_up(index)
        jitted = weft.jit(get)
        for _ in range(3):
            mine, want = jitted(a), get(a)
            assert np.array_equal(mine, want) and mine.strides == want.strides, index
            assert np.shares_memory(mine, a) == np.shares_memory(want, a)
        assert jitted.explain().native_pieces and jitted.chain.calls == 2, index


def ends(x: Any, k: int) -> Any:
    x[k:] += 1
    return x[k], x[:k], x.reshape(-1), k


def test_a_sign_is_part_of_a_numbers_kind() -> None:
    jitted, x = weft.jit(ends), np.arange(12.0).reshape(6, 2)
    for k in (1, -1, 2, -6, 0, -(2**40), 2**40, -(2**63), 3, -3):
        mine, want = x.copy(), x.copy()
        if abs(k) > 6:
            with pytest.raises(IndexError):
                jitted(mine, k)
            continue
        found, expected = jitted(mine, k), ends(want, k)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True)) and np.array_equal(mine, want)
        assert found[2].base is mine
    assert jitted.explain().pieces[0].compiled == 2


FACTOR = 3.0


@weft.jit
def scaled(x: Any, i: int) -> Any:
    return x[i] * FACTOR


def summed(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += scaled(x, i)
    return total


def test_jitted_helpers_are_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    jitted, x = weft.jit(summed), np.arange(4.0)
    for factor in (3.0, 5.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        for _ in range(2):
            assert jitted(x) == 6 * factor
    assert jitted.explain().pieces[0].calls, jitted.explain()


def test_an_axis_of_size_1_by_value_is_squeezed() -> None:
    """Sizes of slices by numbers are not part of the signature, so a piece must not decide on them."""
    x, jitted = np.arange(5.0), [weft.jit(f) for f in (lambda x, n: np.squeeze(x[:n]), lambda x, n: x[:n].squeeze())]
    for own in jitted:
        assert [own(x, n).shape for n in (3, 1, 0, 5, 1)] == [(3,), (), (0,), (5,), ()]


def test_views_of_views_beside_a_piece() -> None:
    """Python makes views again after a piece, and what they are views of."""

    def turned(x: Any, d: Any) -> Any:
        square = np.reshape(x, (4, 4))
        view = np.transpose(square)
        scaled = np.exp(view) * d
        str(scaled)
        return view, scaled

    jitted, x, d = weft.jit(turned), np.arange(16.0) / 16, np.ones((4, 4))
    for _ in range(3):
        view, scaled = jitted(x, d)
        assert np.shares_memory(view, x) and np.array_equal(view, x.reshape(4, 4).T)
        np.testing.assert_allclose(scaled, np.exp(view), rtol=1e-15)
    assert jitted.explain().native_pieces


def test_numbers_of_modules_in_arithmetic() -> None:
    """Python computes with `np.pi` and its own numbers before a piece, complex ones too."""

    def roots(x: Any, k: int) -> Any:
        return np.exp(-2.0j * np.pi * x[:, : 2**k] / 2 ** (k + 1))

    jitted, x = weft.jit(roots), np.arange(64.0).reshape(2, 32)
    for k in (3, 3, 4, 2, 5, 3):
        np.testing.assert_allclose(jitted(x, k), roots(x, k), rtol=1e-13)
    assert jitted._program.pieces[0].native_calls >= 3
