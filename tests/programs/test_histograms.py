"""Test the loops that stand in for `np.histogram` and `np.bincount`."""

from __future__ import annotations

import re

import numpy as np
import pytest
import weft

from tests.programs.running import assert_same


def counted(x, w, bins):
    counts, edges = np.histogram(x, bins)
    return counts, np.histogram(x, bins, weights=w)[0] * 2, edges


def test_histograms() -> None:
    """Loops stand in for `np.histogram` where they give its bits; NumPy runs other calls of it."""
    jitted = weft.jit(counted)
    x = np.concatenate([np.random.default_rng(5).random(997), np.linspace(0, 1, 51)])
    for values, weights, bins in ((x, x, 50), (x * 1e-3 - 3, -x, 7), (x, x, 1)):
        assert_same(jitted(values, weights, bins), counted(values, weights, bins))
    report = jitted.explain()
    assert report.is_whole and report.pieces[0].kind == "loops" and report.pieces[0].calls
    whole = [(x, x, np.linspace(-0.5, 1, 4)), (x.astype(np.float32), x, 5), (np.arange(40), x[:40], 3)]
    for given in (*whole, (x, x[:5], 50), (np.array([0.0, np.inf]), x[:2], 3), (x[:0] + 1, x[:0], 1), (x, x, -1)):
        try:
            wanted = counted(*given)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                jitted(*given)
        else:
            assert_same(jitted(*given), wanted)


def within(x, bins, low, high):
    return np.histogram(x, bins=bins, range=(low, high))


def counts_of(x, w, least):
    return np.bincount(x, minlength=least), np.bincount(x, w, least)


def same_or_error(jitted, function, given):
    try:
        wanted = function(*given)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            jitted(*given)
    else:
        assert_same(jitted(*given), wanted)


def test_histograms_within_a_range() -> None:
    jitted, rng = weft.jit(within), np.random.default_rng(6)
    x = np.concatenate([rng.normal(size=999), np.linspace(-2, 2, 129), [np.nan, np.inf, -np.inf, 1e300, -0.0]])
    for bins, low, high in ((64, -4.0, 4.0), (7, -2.0, 2.0), (1, 0.1, 0.3), (1000, -1e-3, 1e-3), (64, -2, 2)):
        assert_same(jitted(x, bins, low, high), within(x, bins, low, high))
    for given in ((x[:0], 3, 0.0, 1.0), (x, 3, 1.0, 0.0), (x, 3, 1.0, 1.0), (x, 0, 0.0, 1.0), (x, 3, 0.0, np.inf)):
        same_or_error(jitted, within, given)
    for values in (np.arange(9) - 4, x[::2], x[:8].reshape(2, 4)):
        same_or_error(jitted, within, (values, 9, -2.0, 2.0))
    jitted, x = weft.jit(within), np.append(x[:1130], np.linspace(-0.7, 0.9, 1001)).astype(np.float32)
    for bins, low, high in ((64, -4.0, 4.0), (10, -0.7, 0.9), (1000, -0.7, 0.9), (33, 0.1, 0.3), (7, -2, 2)):
        assert_same(jitted(x, bins, low, high), within(x, bins, low, high))
    assert jitted.explain().pieces[0].calls


def test_counts() -> None:
    jitted, rng = weft.jit(counts_of), np.random.default_rng(7)
    for n in (0, 1, 5, 1000):
        for dtype in (np.int64, np.uint8, np.int32):
            x, w = rng.integers(0, 50, n).astype(dtype), rng.random(n)
            for least in (50, 64, 3, 0):
                same_or_error(jitted, counts_of, (x, w, least))
            same_or_error(jitted, counts_of, (x, w.astype(np.float32), 50))
            same_or_error(jitted, counts_of, (x, np.arange(n), 50))
    x, w = np.array([3, -1, 2]), np.ones(3)
    for given in (
        (x, w, 9),
        (-x, w, 9),
        (x + 1, w[:2], 9),
        (x + 1.0, w, 9),
        (x + 1, w, -1),
        (x > 0, w, 2),
        (x.astype(np.uint64), w, 9),
    ):
        same_or_error(jitted, counts_of, given)


def histograms(x, w, bins, flag):
    counts, edges = np.histogram(x, bins)
    edges += 1
    if flag:
        sums = np.histogram(x, bins, weights=w)[0] * 2
    else:
        sums = np.histogram(w, bins)[0] * 1.0
    again, fresh = np.histogram(x, bins)
    x[0] = 3.0
    for i in range(2):
        sums = sums + np.histogram(x, bins)[0] * i
        x[i] -= 1
    return counts, edges, sums, again, fresh


def test_what_is_computed_once() -> None:
    """Equal calls share their work, but not if the array was changed, a branch made it, or the result is the user's."""
    jitted, rng = weft.jit(histograms), np.random.default_rng(3)
    for flag in (True, False, True):
        x, w = rng.random(50), rng.random(50)
        ours = x.copy()
        assert_same(histograms(x, w, 7, flag), jitted(ours, w, 7, flag))
        assert_same(x, ours)
    assert jitted.explain().native_pieces
