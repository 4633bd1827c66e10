"""Test that functions lowered to one nest give Python's values, kinds and changed arguments."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest
import weft
from weft.frontend.programs.kinds import Array, Known, NumpyScalar, PythonNumber, Tuple, Unknown, kind_of
from weft.frontend.programs.lower import lower_piece
from weft.frontend.programs.planning.pieces import Cut, Piece
from weft.ir.dtypes import F32, F64
from weft.ir.nest.ops import ALLOC, ASSIGN

from tests.programs.running import Failed, check_piece, cut_of, lowered, names_of, run_piece
from tests.programs.small_programs import PROGRAMS, waiting


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0].__name__)
def test_programs(program):
    check_piece(*program)


def test_waiting():
    """An expression that is used once is no array of its own; one that reads what is stored in between is."""
    piece = check_piece(waiting, np.arange(6.0), np.ones(6))
    assert sum(node.op is ASSIGN for node in piece.nest) == 7  # late and kept are computed before the stores
    assert sum(node.op is ALLOC for node in piece.nest) == 2


def test_waiting_for_several_uses():
    """What all uses of an expression end in computes it; if they end in two statements, it is an array."""

    def one_end(u, out):
        d = 4.0 * u[1:-1] - (u[2:] + u[:-2])
        s = np.where(d[1:] * d[:-1] > 0, 0.0, d[1:])
        d = u[2:] - s[:1]
        out[1:-1] = s * d[1:] - d[:-1] * s

    def two_ends(u, out):
        d = u[1:] - u[:-1]
        out[1:-1] = d[1:] * d[:-1]
        out[:-1] += abs(d)

    def stored_between(u, out):
        d = u * 2.0
        u[1:] = 1.0
        out[:] = d * d

    rng = np.random.default_rng(8)
    for function, assigns, allocated in ((one_end, 1, 0), (two_ends, 3, 1), (stored_between, 3, 1)):
        piece = check_piece(function, rng.random(9), np.ones(9) if function is not one_end else np.ones(8))
        assert sum(node.op is ASSIGN for node in piece.nest) == assigns, function
        assert sum(node.op is ALLOC for node in piece.nest) == allocated, function


def test_kinds():
    assert kind_of(3) == PythonNumber("int") != kind_of(3.0)
    assert kind_of(np.float32(1)) == NumpyScalar(F32)
    assert kind_of(np.zeros((3, 1))) == Array(F64, (None, 1), "C", True)
    assert kind_of((1, np)) == Tuple((PythonNumber("int"), Known(np)))
    assert isinstance(kind_of(2**70), Unknown) and isinstance(kind_of(np.ma.zeros(3)), Unknown)


def test_zero_steps():
    """With zero steps the piece gives up, because Python returns an int in this case."""

    def total(x):
        s = 0
        for v in x:
            s += v
        return s

    piece, _ = lowered(total, [np.ones(3)])
    assert isinstance(piece, Piece)
    with pytest.raises(Failed):
        run_piece(piece, {"x": np.ones(0)})
    assert run_piece(piece, {"x": np.ones(4)}) == 4.0

    def replaced(x, n):
        for _ in range(n):
            x = x + 1
        return x

    piece, _ = lowered(replaced, [np.ones(3), 2])
    assert isinstance(piece, Piece) and run_piece(piece, {"x": np.ones(3), "n": 4}).tolist() == [5, 5, 5]
    with pytest.raises(Failed):
        run_piece(piece, {"x": np.ones(3), "n": 0})  # Python returns the array itself

    def last(n):
        for i in range(n):
            y = i * 2
        return i, y

    piece, _ = lowered(last, [3])
    assert isinstance(piece, Piece) and run_piece(piece, {"n": 5}) == (4, 8)
    with pytest.raises(Failed):
        run_piece(piece, {"n": 0})


def test_exact_ints():
    """An int that does not fit 64 bits, or that no float holds, leaves the piece."""

    def square(n):
        for _ in range(3):
            n = n * n
        return n

    def divided(n, m):
        q = 0.0
        for _ in range(1):
            q = n / m
        return q

    piece = check_piece(square, 5)
    for n in (2**40, -(2**33)):
        with pytest.raises(Failed):
            run_piece(piece, {"n": n})
    piece = check_piece(divided, 7, 2)
    for n, m in ((1, 0), (2**60 + 1, 3)):
        with pytest.raises(Failed):
            run_piece(piece, {"n": n, "m": m})


def test_nothing_changes_where_it_fails():
    def scatter(a, where):
        a[0] = 1
        for k in where:
            a[k] += 2

    a = np.arange(5.0)
    piece = check_piece(scatter, a, np.array([1, -1, 1]))
    for bad in (5, -6):
        with pytest.raises(Failed):
            run_piece(piece, {"a": a, "where": np.array([1, bad])})
    assert (a == np.arange(5.0)).all()


def test_results_share_memory():
    def views(a, k):
        b = a[1:]
        a += 1
        a[-k:] = 0
        return b, a, a, b[::2], a.T

    a = np.arange(6.0)
    for k in (0, 2):
        piece, values = lowered(views, [a, k])
        assert isinstance(piece, Piece)
        b, same, again, odd, turned = run_piece(piece, values)
        assert same is a and again is a and np.shares_memory(b, a) and odd.base is not None and turned is not None
        assert np.shares_memory(b, a) and (b == a[1:]).all() and (odd == a[1::2]).all()


CUTS = [
    ("print(a)", "no native code"),
    ("import os", "Import statements"),
    ("[v for v in a]", "ListComp"),
    ("a.sort()", "no native code"),
    ("y = [1, 2]; return y, y", "a list is returned twice"),
    ("a[a > 1] = a", "mask"),
    ("return q", "no value"),
    ("a[0] = 1j", "imaginary"),
    ("a @= a", "raises"),
    ("return a[7, 7]", "2 indices"),
]


@pytest.mark.parametrize(("text", "reason"), CUTS)
def test_cuts(text, reason):
    definition = ast.parse(f"def f(a):\n    {text}").body[0]
    assert isinstance(definition, ast.FunctionDef)
    found = lower_piece(definition.body, {"a": kind_of(np.ones(3))}, [], names_of(len))
    assert isinstance(found, Cut) and re.search(reason, found.reason), found


def test_cut_reasons():
    def grows(x):
        for _ in range(3):
            x = x[:, None] * 2
        return x.sum()

    def longer(n):
        p = (0,)
        for _ in range(n):
            p = p + (1,)  # noqa: RUF005
        return p

    def last_row(m):
        for k in range(len(m)):
            row = m[k]
        return row

    def both(x):
        for _ in range(3):
            x[0] = 5
            x = x + 1
        return x

    def old_name(x):
        x = x * 1
        for _ in range(3):
            y = x
            x = x + 1
        return x, y

    assert "another shape" in cut_of(grows, np.ones(9))
    assert "in place and replaced" in cut_of(both, np.ones(3))
    assert "another name" in cut_of(old_name, np.ones(3))
    assert "another kind of tuple" in cut_of(longer, 5)
    assert "in a loop" in cut_of(last_row, np.ones((3, 3)))


def _decay(a, rounds):
    for _ in range(rounds):
        for i in range(1, len(a)):
            a[i] += SCALE * a[i - 1]
    return a, a[1:], rounds * 2


def _chatty(a):
    for v in a:
        print(v)


SCALE = 0.5


def test_whole_functions():
    """`whole=True` runs a function with loops as one nest, or says why it can't be one."""
    whole = weft.jit(_decay, whole=True)
    for n in (4, 7):
        plain, given = np.arange(n * 1.0), np.arange(n * 1.0)
        _decay(plain, 3)
        same, view, twice = whole(given, 3)
        assert same is given and np.shares_memory(view, given) and twice == 6
        np.testing.assert_array_equal(given, plain)
    with pytest.raises(weft.errors.TraceProblem, match="as one loop nest it can't be compiled either"):
        weft.jit(_chatty, whole=True)(np.ones(2))
