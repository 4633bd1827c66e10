"""Test the programs that a toy version would get wrong: each runs under `jit` as plain Python runs it."""

from __future__ import annotations

import copy
import gc
import importlib.util
import linecache
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.frontend.programs.planning.pieces import Piece
from weft.ir.graph import Graph
from weft.passes.nest_pipeline import nest_pipeline
from weft.settings import lookup

from tests.programs.running import lowered

W = np.arange(3.0)
COUNT = 0
LOG: list[Any] = []
SCALE = 2.0


def outcome(function: Any, args: Any) -> tuple[Any, Any]:
    """What a call returns or raises, and its arguments afterwards."""
    given = copy.deepcopy(args)
    try:
        return function(*given), given
    except Exception as error:
        return (type(error), str(error)), given


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (np.ndarray, np.generic)):
        close = np.allclose(a, b, rtol=1e-12, equal_nan=True) if a.dtype.kind in "fc" else np.array_equal(a, b)
        return a.dtype == b.dtype and a.shape == b.shape and bool(close)
    return bool(a == b) or a != a


def check(function: Any, *args: Any, times: int = 3) -> Any:
    """Compare several calls with Python's; return the jitted function."""
    jitted = weft.jit(function)
    for _ in range(times):
        assert same(outcome(jitted, args), outcome(function, args)), args
    return jitted


def native(jitted: Any) -> int:
    """How many pieces of a plan have run compiled."""
    return sum(bool(getattr(p, "calls", 0) or getattr(p, "python_calls", 0)) for p in jitted._program.pieces)


def lu(a: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


def seidel(steps: int, a: Any) -> None:
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0


def crc(data: Any, poly: int) -> int:
    found = 0xFFFF
    for byte in data:
        found ^= 0xFF & byte
        for _ in range(8):
            found = (found >> 1) ^ poly if found & 1 else found >> 1
    return found


def test_loops_in_place() -> None:
    """Programs 1, 2 and 3."""
    a = np.random.default_rng(0).random((12, 12)) + 12 * np.eye(12)
    assert native(check(lu, a)) == 1
    jitted, b, c = weft.jit(seidel), a.copy(), a.copy()
    jitted(3, b), seidel(3, c)
    assert np.array_equal(b, c) and native(jitted) == 1
    check(crc, np.arange(40, dtype=np.uint8), 0x8408)


def test_zero_steps() -> None:
    """Programs 4 and 19."""

    def total(x: Any, n: int) -> Any:
        s = 0
        for i in range(n):
            s = s + x[i]
        return s

    def last(x: Any, n: int) -> Any:
        for i in range(n):
            y = x * i
        return i, y

    x = np.arange(4.0, dtype=np.float32)
    for function in (total, last):
        jitted = weft.jit(function)
        for n in (3, 0, 4, 0):
            assert same(outcome(jitted, (x, n)), outcome(function, (x, n))), n
    with pytest.raises(UnboundLocalError):
        weft.jit(last)(x, 0)


def test_views_and_identity(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs 5, 6 and 7."""

    def inner(u: Any) -> Any:
        v = u[1:-1, 1:-1]
        v += 1
        print(u.sum())
        v[0, 0] = 9
        return v

    def shifted(a: Any) -> Any:
        b = a[1:]
        a += 1
        return b

    def twice(x: Any) -> Any:
        return x, x, x + 1

    jitted = check(inner, np.ones((4, 4)))
    u = np.ones((4, 4))
    assert np.shares_memory(jitted(u), u) and u[1, 1] == 9 and capsys.readouterr().out
    check(shifted, np.arange(4.0))
    a = np.arange(4.0)
    assert np.shares_memory(weft.jit(shifted)(a), a)
    first, second, third = weft.jit(twice)(a)
    assert first is a and second is a and third is not a


def test_whether_two_values_are_one_object() -> None:
    """Traced values are objects of their own, so `is` between them has an answer only in Python."""

    def chosen(x: Any, y: Any) -> Any:
        return x + 1 if x is y else x + 2

    def flagged(x: Any, flag: Any) -> Any:
        return x + 1 if flag is True else x + 2

    def moved(x: Any, y: Any) -> None:
        twice = distinct(x, y)
        for i in range(len(x) - 1, 0, -1):
            x[i] = x[i - 1]
            if twice:
                y[i] = y[i - 1]

    distinct = weft.jit(lambda x, y: y is not x)
    unsourced = weft.jit(eval("lambda x, y: (x is y, x * 2)"))
    a, b = np.arange(4.0), np.arange(4.0)
    jitted = weft.jit(chosen)
    for _ in range(2):
        assert [jitted(a, y)[0] for y in (a, b, a)] == [1, 2, 1] and distinct(a, b) and not distinct(a, a)
        assert unsourced(a, a)[0] is True and unsourced(a, b)[0] is False
    for flag in (True, False, 1, None):
        check(flagged, a, flag)
    for pick in (lambda x: (x, x), lambda x: (x, x * 2)):
        mine, theirs = pick(np.arange(5.0)), pick(np.arange(5.0))
        weft.jit(moved)(*mine), moved(*theirs)
        assert same(mine, theirs)
    check(lambda x, y: x * 2 if y is None else x + y, a, None)


def test_a_tuple_that_comes_back_is_the_same_object() -> None:
    def scaled(sizes, a):
        for i in range(a.shape[0]):
            a[i] *= sizes[0]
        return sizes, a

    jitted, sizes, a = weft.jit(scaled), (1.5, 2), np.ones(4)
    for _ in range(3):
        found = jitted(sizes, a)
        assert found[0] is sizes and found[1] is a
    assert "3 native calls, compiled for 1 signature in" in str(jitted.explain())


def test_results_that_are_arguments_or_views() -> None:
    """What NumPy returns itself, as a view, or read-only, `jit` returns so, too."""
    a, c, zero = np.arange(6.0).reshape(2, 3), np.ones((2, 3)) * 1j, np.array(2.0)
    for function, x in (
        (lambda x: np.require(x, None, ["O", "W"]), a), (lambda x: np.require(x, float, "C"), a),
        (lambda x: np.asarray_chkfinite(x), a), (lambda x: np.diff(x, n=0), a), (lambda x: np.diag(x), a),
        (lambda x: np.broadcast_arrays(x), zero), (lambda x: np.broadcast_arrays(x, 1.0)[0], zero),
        (lambda x: np.real_if_close(x), c), (lambda x: np.real_if_close(x), c * 0), (lambda x: x.real, c),
        (lambda x: np.imag(x), c), (lambda x: np.imag(x), a), (lambda x: np.einsum("ij->ji", x), a),
        (lambda x: np.einsum("ii->i", x[:, :2]), a), (lambda x: np.einsum("ij->i", x), a),
        (lambda x: np.meshgrid(x, x, copy=False, sparse=True), a), (lambda x: np.nan_to_num(x, copy=False), zero),
    ):  # fmt: skip
        jitted = weft.jit(function)
        for _ in range(2):
            assert _kinship(jitted(x), x) == _kinship(function(x), x)


def _kinship(result: Any, argument: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result), [_kinship(x, argument) for x in result]
    if not isinstance(result, np.ndarray):
        return result
    return result is argument, np.shares_memory(result, argument), result.flags.writeable, result.tolist()


def test_sizes_beyond_a_word_are_never_left_to_numpy() -> None:
    """NumPy adds up the sizes, overflows, and writes past the end of what it allocates."""
    huge = np.broadcast_to(np.int8(1), (2**62,))
    for function in (lambda x: np.concatenate([x, x, x, x]), lambda x: np.stack([x, x, x])):
        with pytest.raises(weft.errors.SizeProblem, match="array is too big"):
            weft.jit(function)(huge)


def test_a_bad_index_in_the_middle() -> None:
    """Program 8."""

    def store(a: Any, index: Any) -> None:
        a[0] = 1
        a[index] = 2

    def caught(a: Any, index: Any) -> str:
        try:
            a[0] = 1
            a[index] = 2
        except IndexError:
            return "caught"
        return "fine"

    for function in (store, caught):
        jitted = weft.jit(function)
        for index in ([1, 2], [1, 99], [2, 3], [-99, 0]):
            args = np.zeros(5), np.array(index)
            assert same(outcome(jitted, args), outcome(function, args)), index


def test_arguments_that_overlap() -> None:
    """Program 9."""

    def add(a: Any, b: Any) -> None:
        for i in range(b.shape[0]):
            a[i] += b[i]

    def whole(a: Any, b: Any) -> None:
        a[:-1] += b[: a.shape[0] - 1]

    for function in (add, whole):
        jitted = weft.jit(function)
        for pick in (lambda a: (a, a + 5), lambda a: (a, a[1:]), lambda a: (a, a), lambda a: (a[1:], a[:-1])):
            mine, theirs = np.arange(6.0), np.arange(6.0)
            jitted(*pick(mine)), function(*pick(theirs))
            assert np.array_equal(mine, theirs)


def test_large_integers() -> None:
    """Program 10."""

    def square(x: Any, n: int) -> Any:
        m = n * n
        return x + float(m), m

    for n in (3, 2**40, -(2**70)):
        check(square, np.ones(3), n)
    check(lambda n: n * n, 2**40)


def test_what_is_outside(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs 11, 12, 13 and 14."""
    global W, COUNT, SCALE

    def scaled(x: Any) -> Any:
        return x * (W**2).sum()

    def counted(x: Any) -> Any:
        global COUNT
        COUNT += 1
        LOG.append(COUNT)
        return x * 2 + 1

    def rebinds(x: Any) -> Any:
        global SCALE
        y = x * SCALE
        SCALE = float(y[0])
        return y + SCALE

    jitted, x = weft.jit(scaled), np.ones(3)
    for change in (lambda: None, lambda: W.__imul__(10), lambda: globals().update(W=np.ones(3)), lambda: None):
        change()
        assert np.array_equal(jitted(x), scaled(x))
    assert jitted.signature_cache.misses <= 2
    W = np.arange(3.0)
    jitted = weft.jit(counted)
    before = COUNT
    for k in range(1, 6):
        assert np.array_equal(jitted(x), x * 2 + 1) and before + k == COUNT == LOG[-1]
    assert jitted.signature_cache.misses == 1
    rng, theirs = np.random.default_rng(3), np.random.default_rng(3)
    noisy = weft.jit(lambda z: z * 2 + rng.normal(size=3))
    for _ in range(4):
        assert np.array_equal(noisy(x), x * 2 + theirs.normal(size=3))
    jitted = weft.jit(rebinds)
    for start in (2.0, 3.0, 2.0):
        SCALE = start
        found = jitted(x), SCALE
        SCALE = start
        assert same(found, (rebinds(x), SCALE))
    SCALE = 2.0


def test_patched_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Program 15: also in a piece, and in a loop."""

    def stepped(x: Any) -> Any:
        y = x.copy()
        for i in range(3):
            y = np.exp(y) * 0.1 + i
        return y

    def printed(x: Any) -> Any:
        y = np.exp(x)
        return y + W[0]

    real, x = np.exp, np.arange(3.0)
    for function in (lambda x: np.exp(x) + 1, stepped, printed):
        jitted = weft.jit(function)
        for _ in range(20):
            assert np.allclose(jitted(x), function(x), rtol=1e-12)
        calls: list[Any] = []
        monkeypatch.setattr(np, "exp", lambda v, calls=calls: calls.append(v) or real(v) + 7)
        for _ in range(3):
            assert np.array_equal(jitted(x), function(x))
        assert len(calls) == 6 * (3 if function is stepped else 1)
        monkeypatch.undo()
        for _ in range(3):
            assert np.allclose(jitted(x), function(x), rtol=1e-12)


def test_errors_of_floating_point() -> None:
    """Program 16: around the call, and inside the function."""

    def inside(x: Any, y: Any) -> Any:
        with np.errstate(divide="raise"):
            return x / y + 1

    for function in (lambda x, y: x / y, inside):
        jitted = weft.jit(function)
        for _ in range(12):
            jitted(np.ones(3), np.ones(3))
        with pytest.raises(FloatingPointError), np.errstate(divide="raise"):
            jitted(np.ones(3), np.zeros(3))


def test_sources(tmp_path: Path) -> None:
    """Program 17."""
    one, two = weft.jit(lambda x: x + 1), weft.jit(lambda x: x * 2)
    assert one(np.ones(1))[0] == 2 == two(np.ones(1))[0] and one(np.zeros(1))[0] == 1
    file = tmp_path / "edited.py"
    file.write_text("def f(x):\n    y = x + 1\n    return y * 2\n")
    spec = importlib.util.spec_from_file_location("edited", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text("def f(x):\n    y = x + 5\n    return y * 3\n")
    linecache.checkcache(str(file))
    assert weft.jit(module.f)(np.ones(2)).tolist() == [4, 4]
    sys.modules.pop("edited", None)


def again(x: Any, n: int) -> Any:
    if n == 0:
        return x
    return again(x * 2 + 1, n - 1)


def test_a_function_that_calls_itself() -> None:
    jitted = check(again, np.arange(3.0), 3)
    assert not any("failed" in reason.text for reason in jitted.explain().cuts)


def test_sequences_next_to_numbers() -> None:
    def times(s: Any, n: Any) -> Any:
        return s * n, n * s

    def plus(s: Any, n: Any) -> Any:
        return s + n

    def update(s: Any, n: Any) -> Any:
        n -= s
        return n

    def compare(s: Any, n: Any) -> Any:
        return n == s, s != n

    numbers = (3, 2.5, True, np.float64(2.0), np.int64(2), np.arange(2.0))
    for function in (times, plus, update, compare):
        for s in ([1.0, 2.0], (1, 2)):
            for n in numbers:
                check(function, s, n, times=2)


def test_containers_keep_their_identity() -> None:
    def given(s: Any, x: Any) -> Any:
        return s, x + 1

    def inside(s: Any, x: Any) -> Any:
        return [(s,), x + 1]

    def twice(s: Any, x: Any) -> Any:
        made = [x[0] * 2]
        return made, (made, x + 1)

    def default(s: Any, x: Any, pair: Any = (1.0, 2.0)) -> Any:
        return pair, x + 1

    x = np.arange(3.0)
    for s in ([1.0, 2.0], (1.0, 2.0), {"a": 1.0}):
        for _ in range(2):
            assert weft.jit(given)(s, x)[0] is s
            assert weft.jit(inside)(s, x)[0][0] is s
    made, (again, _) = weft.jit(twice)(x, x)
    assert made is again
    assert weft.jit(default)(x, x)[0] is default.__defaults__[0]  # type: ignore[index]


def test_a_keyword_named_like_a_positional_only_argument() -> None:
    def f(x: Any, /, n: int = 2, **more: Any) -> Any:
        for i in range(n):
            x[i] += n
        return x

    jitted = weft.jit(f)
    for given in ({"x": 2}, {"x": 2, "n": 3}, {"n": 3}):
        for _ in range(3):
            assert jitted(np.zeros(4), **given).tolist() == f(np.zeros(4), **given).tolist()


def test_arrays_in_another_byte_order() -> None:
    """NumPy keeps the order in what it copies, chooses or sorts, so Python runs these calls."""
    swapped, outer = np.array([[3, 1, 2], [6, 4, 5]], ">i4"), np.arange(3, dtype=">f4")

    def dtypes(function: Any, *args: Any) -> Any:
        try:
            return [x.dtype.str for x in function(*args)], args[0].dtype.str
        except TypeError as error:
            return str(error)

    functions = (
        lambda x: (np.zeros_like(x), np.full_like(x, 2), np.sort(x), x + 1, x.copy(), x.T, np.max(x, axis=0)),
        lambda x: (x[x > 2], np.take(x, [0, 1]), np.concatenate([x, x]), np.roll(x, 1), np.where(x > 2, x, x)),
        lambda x: (np.add(x, x, casting="no"),),
        lambda x: (np.concatenate([x, x], casting="no"),),
        lambda x: (np.sort(outer), outer * x),
    )
    for function in functions:
        jitted = weft.jit(function)
        for x in (swapped, swapped.astype("<i4"), swapped):
            assert dtypes(jitted, x) == dtypes(function, x)
    with pytest.raises(weft.errors.TraceProblem, match="argument 'x' has the dtype >i4, in another byte order"):
        weft.jit(lambda x: x + 1, whole=True)(swapped)


def test_out_of_functions_that_python_runs() -> None:
    """Views, lists and what no trace takes are copied into `out`, also if they share its memory."""
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    functions = (lambda x: x.T, lambda x: x[1:], lambda x: x, lambda x: (x[::-1], x), lambda x: [x.T, x + 1])
    for function in functions:
        jitted, parts = weft.jit(function), function(x)
        out = np.empty_like(parts) if isinstance(parts, np.ndarray) else tuple(map(np.empty_like, parts))
        for _ in range(3):
            found = jitted(x, out=out)
            assert all(a is b for a, b in zip(found, out, strict=True)) if isinstance(out, tuple) else found is out
            assert same(list(found), list(parts))
        wrong = np.empty(7) if isinstance(out, np.ndarray) else (np.empty(7), None)
        with pytest.raises(ValueError, match="must have the shape"):
            jitted(x, out=wrong)
    weft.jit(lambda y: y[::-1])(y, out=y)
    assert same(y, np.array([2.0, 1.0, 0.0]))
    swapped = x.astype(">f8")
    assert same(weft.jit(lambda x: x + 1)(swapped, out=np.empty((3, 2))), x + 1)

    def logged(x: Any) -> Any:
        LOG.append(x.shape)
        return x + 1 if x.ndim else str(x)

    jitted = weft.jit(logged)
    LOG.clear()
    for count in (1, 2, 3):
        assert same(jitted(x, out=np.empty((3, 2))), x + 1) and len(LOG) == count
    with pytest.raises(TypeError, match="out is for arrays and numbers, but the result is a str"):
        jitted(np.array(1.0), out=np.array(0.0))


def test_arguments_are_let_go() -> None:
    """Neither a trace nor a kept refusal keeps the arguments of a call alive."""
    gc.disable()
    try:
        for jitted in (weft.jit(lambda x: x + 1), weft.jit(lambda x: x.T)):
            for number in range(3):
                x, out = np.ones((3, 3)), np.empty((3, 3))
                jitted(x, out=out)
                seen = weakref.ref(x)
                del x
                assert seen() is None, number
    finally:
        gc.enable()


class Double(np.float64):
    """A subclass of `np.float64` with its own operators."""

    def __add__(self, other: Any) -> Any:
        return "add"

    def __radd__(self, other: Any) -> Any:
        return "radd"


class Float(float):
    def __radd__(self, other: Any) -> Any:
        return "radd"


DOUBLE, FLOAT = Double(3), Float(2)


def test_subclasses_of_numbers() -> None:
    """Their operators are called, whether they are arguments, parts of one, made inside or read from outside."""

    def made(x: Any) -> Any:
        found = 0.0
        for k in range(x.shape[0]):
            found = Double(x[k]) + 1
        return found

    def outside(x: Any) -> Any:
        found = 0.0
        for k in range(x.shape[0]):
            found = x[k] + DOUBLE
        return found, x[0] + DOUBLE, 1.5 + FLOAT

    x = np.arange(3.0)
    for function in (made, outside):
        check(function, x)
    for args in ((x[0], DOUBLE), (1.5, FLOAT), (x, DOUBLE), (np.float64(1), DOUBLE), (np.float64(1), np.float64(3))):
        check(lambda a, b: a + b, *args)
    for held in ((DOUBLE,), [DOUBLE], {0: DOUBLE}):
        check(lambda a, b: a[0] + b[0], x, held)


def test_ints_that_do_not_fit_arrays_in_loops() -> None:
    def after(x: Any, n: int) -> Any:
        s = 0
        for _ in range(n):
            s = s - 1
        y = x + s
        y[0] = 3
        return y

    def carried(x: Any, n: int) -> Any:
        s = -1
        for i in range(n):
            for j in range(i):
                s = s + x * j
        return s

    def given(x: Any, n: int) -> Any:
        x[:] = 1
        return x * n

    for dtype in (np.uint8, np.int16, np.uint64):
        x = np.arange(4).astype(dtype)
        for function in (after, carried, given):
            for n in (2, 300):
                check(function, x, n if function is given else 2, times=2)


def test_stores_of_many_kinds() -> None:
    """Program 18."""

    def repeated(a: Any) -> None:
        a[[0, 0]] = [1, 2]
        a[[1, 1]] += 1
        np.add.at(a, [2, 2], 1)

    def reversed_(x: Any) -> None:
        x[:] = x[::-1]

    def tail(a: Any, k: int) -> None:
        a[-k:] = 0

    check(repeated, np.arange(4.0))
    check(reversed_, np.arange(5.0))
    for k in (2, 0, 1):
        check(tail, np.arange(4.0), k)


def test_compiles_do_not_grow_with_steps() -> None:
    """Programs 20 and 21."""

    def shrink(x: Any) -> Any:
        total = np.float64(0.0)
        while x.shape[0] > 2:
            x = x[1:]
            total = total + x.sum()
            if total < 0:
                print("never")
        return total

    jitted, x = weft.jit(shrink), np.arange(200.0)
    assert np.isclose(jitted(x), shrink(x)) and jitted.signature_cache.misses <= 2
    jitted = check(descend, np.ones(3), np.ones((4, 3)), np.ones(4), 50, times=2)
    assert native(jitted) == 1


def descend(w: Any, x: Any, y: Any, steps: int) -> Any:
    for _ in range(steps):
        w = w - 0.01 * (x.T @ (x @ w - y))
    return w


def _nodes(graph: Graph, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Each node's op, with the number of loops around it."""
    for node in graph.nodes:
        yield node.op.name, depth
        if node.body is not None and node.op.name != "nest.assign":
            yield from _nodes(node.body, depth + (node.op.name in ("nest.for", "nest.while")))


def _passed(function: Any, *args: Any) -> Graph:
    """The nest of a whole function, after all passes."""
    piece, _ = lowered(function, args)
    assert isinstance(piece, Piece)
    nest = piece.nest
    for step in nest_pipeline(lookup, 32):
        nest = step.run(nest)
    return nest


def test_the_structure_of_loops() -> None:
    """Programs 1 and 21: one nest, no copy inside LU's loops, and as many nodes for 50 steps as for 5,000."""
    a = np.eye(12) + 1
    nodes = list(_nodes(_passed(lu, a)))
    assert not [name for name, _ in nodes if name == "nest.alloc"]
    assert max(depth for name, depth in nodes if name == "nest.store") == 2  # one element; a copy would be a loop
    given = np.ones(3), np.ones((4, 3)), np.ones(4)
    few, many = (list(_nodes(_passed(descend, *given, steps))) for steps in (50, 5000))
    assert few == many
    assert len([name for name, _ in few if name == "nest.alloc"]) <= 2  # the residual and `w`, once for the call
    jitted: Any = weft.jit(lu)
    jitted(a)
    report = jitted.explain()
    assert report.is_whole and report.pieces[0].calls == 1 == sum(p.compiled for p in report.pieces)
    jitted = weft.jit(descend)
    for steps in (50, 200, 7):
        jitted(*given, steps)
    report = jitted.explain()
    assert report.is_whole and report.native_pieces == 1 == sum(p.compiled for p in report.pieces)
