"""Test pieces with loops and stores that native code calls: as in Python, for every form of call and result."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import weft
from weft.frontend.numpy.functions import is_known
from weft.frontend.programs.reading import purity
from weft.frontend.tracing.callables import numpy_name

from tests.programs.running import assert_same

SCALE = 2.0
TABLE = np.arange(4.0)


def halved(v):
    return v * 0.5


def update(a, x, y):
    """Has a docstring."""
    for i in range(len(x)):
        y[i] += a * x[i]


def numbers(x, n, f, flag):
    total, count = 0.0, 0
    for i in range(n):
        if flag and x[i] > f:
            total += float(x[i])
            count += i
    return total, count, count > 2, x[0], None


def made(x, n):
    out = np.zeros((n, x.shape[0]))
    for i in range(n):
        for j in range(x.shape[0]):
            out[i, j] = x[j] * i
    return out, x, out, x * 1j


def outside(x):
    for i in range(TABLE.shape[0]):
        x[i] = TABLE[i] * SCALE
    return x


def defaults(x, n=3, step=0.5):
    for i in range(n):
        x[i] -= step
    return n


def pairs(xs, out):
    (a, b), k = xs
    for i in range(out.shape[0]):
        out[i] = a[i] - b[i] * k
    return xs


def plane(x):
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += x[i - 1, j]


def spun(z):
    for i in range(z.shape[0]):
        z[i] = z[i] * 1j


def spun_by(x, z, n):
    total, count = x[0], 1j
    for i in range(n):
        x[i] += z * x[i]
        total = total * z + x[i]
        count = count + 2
    return total, count, total * z


def checked(x, k):
    for i in range(3):
        x[i] = 7.0
    for i in range(3):
        x[k[i]] += 1.0


X = np.arange(6.0)
GRID = np.arange(24.0).reshape(4, 6)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (update, (2.0, X, X + 1)),
    (update, (2.0, X[::2], np.arange(9.0)[::3])),
    (numbers, (X, 5, 1.5, True)),
    (numbers, (X.astype(np.float32), 5, 1.5, False)),
    (made, (X, 3)),
    (made, (X, 0)),
    (outside, (np.ones(4),)),
    (defaults, (X,)),
    (defaults, (X, 2)),
    (pairs, (((X, X + 1), 2.0), np.zeros(6))),
    (plane, (GRID,)),
    (plane, (np.asfortranarray(GRID),)),
    (plane, (GRID[:, ::2],)),
    (plane, (GRID.T[::-1],)),
    (plane, (GRID[:1],)),
    (plane, (GRID[:0],)),
    (spun, (X + 1j,)),
    (spun, ((X + 1j)[::2],)),
    (checked, (X, np.array([0, 2, 4]))),
]


WAVE = (X + 1j).astype("c8")
CALLS += [
    (spun_by, (X + 1j, 2 - 1j, 3)),
    (spun_by, (X + 1j, np.complex128(2 - 1j), 3)),
    (spun_by, (WAVE, np.complex64(2 - 1j), 3)),
]


def copied(args: Any) -> Any:
    """Copy arguments, and keep their memory layout."""
    if isinstance(args, tuple):
        return tuple(map(copied, args))
    if not isinstance(args, np.ndarray):
        return args
    base = args.base if args.base is not None else args
    inside = np.lib.stride_tricks.as_strided(base.copy(order="K"), args.shape, args.strides)
    return args.copy(order="K") if base is args or args.base.ndim != args.ndim or not args.size else _like(args, inside)


def _like(args: Any, inside: Any) -> Any:
    """Put the same elements at the same strides into other memory."""
    room = np.zeros(2 * args.base.size, args.dtype)
    start = sum((n - 1) * -s for n, s in zip(args.shape, args.strides, strict=True) if s < 0)
    made = np.ndarray(args.shape, args.dtype, room.data, start, args.strides)
    made[...] = args
    assert made.strides == inside.strides
    return made


@pytest.fixture(scope="module")
def jitted() -> dict[Any, Any]:
    return {function: weft.jit(function) for function, _ in CALLS}


def test_calls_are_native_from_the_second_on(jitted: dict[Any, Any]) -> None:
    for function, args in CALLS:
        own = jitted[function]
        for k in range(3):
            plain, given = copied(args), copied(args)
            before = own.chain.calls
            wanted, found = function(*plain), own(*given)
            assert own.chain.calls == before + (k > 0) or (k == 0 and own.chain.calls == before + 1), function
            assert_same(wanted, found)
            assert_same(plain, given)
            if isinstance(wanted, tuple):
                for w, f in zip(wanted, found, strict=True):
                    same = [f is x for x in (*given, *found)]
                    assert same == [w is x for x in (*plain, *wanted)]
                    if isinstance(w, np.ndarray):
                        assert f.strides == w.strides and f.flags.num == w.flags.num


def test_other_forms_of_calls(jitted: dict[Any, Any]) -> None:
    own = jitted[defaults]
    for kwargs in ({"n": 2}, {"step": 0.25, "n": 1}, {"step": 1}, {"x": X.copy()}):
        for k in range(3):
            x, y = X.copy(), X.copy()
            plain, given = ((), {**kwargs, "x": x}) if "x" in kwargs else ((x,), kwargs), ((), {**kwargs, "x": y})
            given = given if "x" in kwargs else ((y,), kwargs)
            before = own.chain.calls
            assert own(*given[0], **given[1]) == defaults(*plain[0], **plain[1])
            assert np.array_equal(x, y) and (k == 0 or own.chain.calls == before + 1)
    with pytest.raises(TypeError):
        own(X, 1, 2, 3)
    with pytest.raises(TypeError):
        own()


def test_what_python_must_run(jitted: dict[Any, Any]) -> None:
    """Overlap, wrong indices, wrong types and arrays that can't be written: as in Python, with nothing half done."""
    own, x = weft.jit(update), np.arange(8.0)
    y = x.copy()
    assert own(2.0, x[:-1], x[1:]) is None and update(2.0, y[:-1], y[1:]) is None and np.array_equal(x, y)
    locked = X.copy()
    locked.flags.writeable = False
    for args in ((2.0, X, locked), (2.0, X, X[:3].copy()), ("2", X, X.copy()), (None, X, X.copy())):
        with pytest.raises((ValueError, IndexError, TypeError)) as wanted:
            update(*copied(args[:2]), args[2])
        with pytest.raises(wanted.type) as found:
            own(*copied(args[:2]), args[2])
        assert str(found.value) == str(wanted.value)
    for k in (np.array([0, 1, 99]), np.array([0, 1, -99])):
        x, y = X.copy(), X.copy()
        with pytest.raises(IndexError):
            checked(x, k)
        with pytest.raises(IndexError):
            jitted[checked](y, k)
        assert np.array_equal(x, y)
    assert numbers(X, True, 1.0, True) == jitted[numbers](X, True, 1.0, True)
    with pytest.raises(IndexError):
        jitted[numbers](X, 2**40, 1.0, True)


def test_names_outside(jitted: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    own, x = jitted[outside], np.zeros(4)
    own(x)
    for value in (3.0, 4, np.float64(5)):
        monkeypatch.setitem(globals(), "SCALE", value)
        assert np.array_equal(own(x), TABLE * value)
    before = own.chain.calls
    monkeypatch.setitem(globals(), "SCALE", 6.0)
    monkeypatch.setitem(globals(), "TABLE", np.arange(4.0) + 1)
    counts = sys.getrefcount(TABLE), sys.getrefcount(SCALE)
    assert np.array_equal(own(x), TABLE * 6.0) and own.chain.calls == before + 1
    assert counts == (sys.getrefcount(TABLE), sys.getrefcount(SCALE))
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError):
        own(x)


def test_functions_that_are_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_halved(x: Any) -> Any:
        for i in range(len(x)):
            x[i] = abs(halved(x[i]))
        return x

    own, x = weft.jit(all_halved), np.full(3, -8.0)
    assert own(own(x))[0] == 2.0 and own.chain.calls == 1
    monkeypatch.setitem(globals(), "halved", lambda v: v * 4.0)
    for wanted in (8.0, 32.0, 128.0, 512.0, 2048.0):
        assert own(x)[0] == wanted
    monkeypatch.setattr(halved, "__code__", (lambda v: v - 100.0).__code__)
    assert own(x)[0] == 1948.0
    monkeypatch.setitem(globals(), "abs", lambda v: -v)
    assert own(x)[0] == -1848.0


def test_floating_point_errors(jitted: dict[Any, Any]) -> None:
    own, y = jitted[update], np.zeros(6)
    for _ in range(2):
        own(2.0, X, y)
    for how, native in (("ignore", 1), ("raise", 0), ("warn", 1), ("call", 0)):
        before = own.chain.calls
        with np.errstate(all=how, call=lambda *_: None):  # type: ignore[call-overload]
            own(2.0, X, y)
            assert own.chain.calls == before + native, how
        own(2.0, X, y)
        assert own.chain.calls == before + native + 1


def test_plans_are_called_natively() -> None:
    log: list[int] = []

    def logged(x: Any, stop: bool = False) -> Any:
        for i in range(len(x)):
            x[i] *= 0.5
        log.append(1)
        if stop:
            raise KeyError("stop")
        return x

    class Holder:
        @weft.jit
        def run(self, x: Any) -> Any:
            self.count = getattr(self, "count", 0) + 1
            for i in range(len(x)):
                x[i] *= 0.5
            return x

    own, x, holder = weft.jit(logged), np.full(3, 1024.0), Holder()
    for _ in range(6):  # the first three are timed, for `explain`
        assert own(x) is x
    assert own.chain.forwarded == 3 and own._program.planned_calls == 3 and own._program.pieces[0].chain.calls == 5
    with pytest.raises(KeyError, match="stop"):
        own(x, True)
    with pytest.raises(TypeError, match="logged"):
        own()
    assert len(log) == 7 and x[0] == 8.0
    for _ in range(5):
        assert holder.run(x) is x
    assert holder.count == 5 and holder.run.chain.forwarded == 1
    assert weft.jit(lambda x: logged(x) + 1)(x)[0] == 1.125


def test_calls_by_name_go_straight_to_plans_too() -> None:
    log: list[Any] = []

    def scaled(x: Any, scale: float = 1.0, *, bias: Any = None) -> Any:
        log.append(scale)
        return x * scale if bias is None else x * scale + bias

    def counted(x: Any, **options: Any) -> Any:
        log.append(sorted(options))
        return x + len(options), options.get("out")

    own, other, x, out = weft.jit(scaled), weft.jit(counted), np.ones(3), np.zeros(3)
    for function, plain in ((own, scaled), (other, counted)):
        for names in ({"scale": 2.0}, {"bias": 1.0, "scale": 3.0}, {"".join(("sca", "le")): 4.0}, {}):
            if function is other:
                names = {**names, "out": out}
            before = function.chain.forwarded
            for _ in range(6):
                assert_same(plain(x, **names), function(x, **names))
            assert function.chain.forwarded - before >= 3, names
    for name in ("out", "".join(("o", "ut"))):
        assert own(x, bias=5.0, **{name: out}) is out
        np.testing.assert_array_equal(out, 6.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'scales'"):
        own(x, scales=2)
    assert weft.jit(lambda x: own(x, scale=2.0) + 1)(x)[0] == 3.0


def test_nothing_leaks_and_threads_agree(jitted: dict[Any, Any]) -> None:
    own, x, big = jitted[made], X.copy(), 10**12
    kept = (x, 3)
    own(*kept)
    gc.collect()
    before = sys.getrefcount(x), sys.getrefcount(np.dtype(np.float64)), sys.getrefcount(made)
    for _ in range(1000):
        own(*kept)
    assert before == (sys.getrefcount(x), sys.getrefcount(np.dtype(np.float64)), sys.getrefcount(made))
    with pytest.raises((MemoryError, ValueError)):
        own(x, big)
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(200):
            out, *_ = own(x, k + 1)
            if out.shape != (k + 1, 6) or out[k, 5] != 5.0 * k:
                wrong.append(out)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_python_functions_are_entered_directly() -> None:
    """A function that Python runs may call itself as deep as without `jit`, in its first call as well."""

    @weft.jit
    def deep(n: int, log: list[int]) -> int:
        log.append(n)
        return 0 if n == 0 else deep(n - 1, log) + 1  # type: ignore[no-any-return]

    depth, log = sys.getrecursionlimit() - 400, []  # type: int, list[int]
    assert deep(depth, log) == depth == len(log) - 1
    assert deep.chain.forwarded == depth and deep.explain().python_calls == depth + 1  # type: ignore[attr-defined]


def test_whole_functions() -> None:
    whole, x = weft.jit(update, whole=True), np.zeros(6)
    for _ in range(3):
        whole(2.0, X, x)
    assert np.array_equal(x, 6 * X) and whole.chain.calls == 2  # type: ignore[attr-defined]
    with pytest.raises(weft.errors.TraceProblem):
        whole("2", X, x)


def complex_in_place(z, w, points, i):
    np.multiply(z, z, z)
    np.add(z, w, z)
    large = abs(z) > 1.5
    z[1:] = z[:-1] * z[1:] + 1j
    w[:] = z[::-1].imag + z.conj()
    w[i:] -= z[i:] * (2 - 1j)
    points[:, 0], points[:, 1] = points[:, 1] * 2, points[:, 0] - z.real
    points[::-1, 1] += points[:, 0]
    points[::2, 0] = points[1::2, 1]
    z.real = w.imag
    return large


def test_complex_arrays_are_changed_in_place() -> None:
    jitted = weft.jit(complex_in_place)
    rng = np.random.default_rng(5)
    for n in (2, 6, 16, 34, 70):
        z, w = (rng.normal(size=(n, 2)).view(complex)[:, 0] for _ in range(2))
        points = rng.normal(size=(n, 2))
        theirs, ours = [z.copy(), w.copy(), points.copy(), 1], [z.copy(), w.copy(), points.copy(), 1]
        assert_same(complex_in_place(*theirs), jitted(*ours))
        for wanted, found in zip(theirs[:3], ours[:3], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert jitted.explain().native_pieces


def added_to(x, y):
    x += y


def test_parameters_are_changed_by_loops_or_by_a_trace() -> None:
    """A nest changes them in place; what no nest can do is traced as a whole, as before."""
    jitted = weft.jit(added_to)
    for dtype, kind in (("f8", "piece of loops"), (ml_dtypes.bfloat16, "in one piece")):
        for _ in range(5):
            x, y = np.ones(5, dtype), np.arange(5).astype(dtype)
            jitted(x, y)
            np.testing.assert_array_equal(x, 1 + y)
        assert kind in str(jitted.explain())
    numbers = [1]
    jitted(numbers, [2])
    assert numbers == [1, 2]


def solved(x):
    y = np.linalg.inv(x)
    return y @ x + 1, y


def nested(x):
    y = x * 2
    return np.linalg.inv(x) + np.triu(x) * y, np.linalg.det(y) + y


def sorted_twice(x):
    return np.sort(np.sort(x.T, axis=0)[::-1].T)


@pytest.mark.parametrize("function", [solved, nested, sorted_twice])
def test_python_calls_what_only_numpy_can_run(function: Callable[..., Any]) -> None:
    """Between pieces, or before one that needs the result; errors are NumPy's."""
    jitted, rng = weft.jit(function), np.random.default_rng(2)
    for n in (3, 5, 3, 4, 3):
        x = rng.normal(size=(n, n))
        assert_same(function(x), jitted(x))
    if function is not sorted_twice:
        assert "by a plan" in str(jitted.explain())
        with pytest.raises(np.linalg.LinAlgError):
            jitted(np.zeros((3, 3)))


def test_only_numpy_can_run_them() -> None:
    for home, names in purity.RUN_BY_NUMPY.items():
        for name in names:
            known = numpy_name(getattr(home, name, None))
            assert known is None or not is_known(known), name


def positive(x, y):
    found = np.empty(len(x), x.dtype)
    rows = np.zeros((x.size, y.size), y.dtype)
    count = 0
    for v in x:
        if abs(v) > 1:
            found[count] = v
            rows[count] = y
            count += 1
    x[:1] = 0
    return found[:count], rows[:count], count


def test_arrays_whose_size_depends_on_data_are_returned_natively():
    own = weft.jit(positive)
    for kind in (np.float64, np.int16, np.complex128):
        for k, n in enumerate((6, 6, 9, 1, 0, 700)):
            x, y = np.arange(-2, n - 2).astype(kind), np.arange(3, dtype=np.float32)
            a, b, before = x.copy(), x.copy(), own.chain.calls
            wanted, results = positive(a, y), own(b, y)
            assert_same(wanted, results)
            assert_same(a, b)
            assert not np.shares_memory(results[0], results[1]) and results[0].flags.c_contiguous
            assert k == 0 or n < 2 or own.chain.calls == before + 1, (kind, n)


def leaps(u, v, w, steps):
    for k in range(steps):
        w[1:-1] = 2 * v[1:-1] - u[1:-1] + 0.25 * (v[2:] - 2 * v[1:-1] + v[:-2])
        u, v, w = v, w, u
        if v[1] < -1e6:
            raise ValueError(f"step {k}")
    return v


def test_negative_literals_in_slices_are_no_inputs():
    own = weft.jit(leaps)
    for _ in range(3):
        given = [np.arange(8.0) ** k for k in range(3)]
        assert_same(leaps(*[x.copy() for x in given], 5), own(*given, 5))
    piece = own._program.pieces[0]
    assert piece.function.__code__.co_varnames[: piece.function.__code__.co_argcount] == ("v", "u")
