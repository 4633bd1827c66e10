"""Test loops over complex numbers, f16, arrays without dimensions, tuples that change, and attributes of objects."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import weft


def escapes(xs: Any, ys: Any, limit: int) -> Any:
    out = np.zeros((len(ys), len(xs)), np.int64)
    for j in range(len(ys)):
        for i in range(len(xs)):
            c = complex(xs[i], ys[j])
            z = 0j
            for k in range(limit):  # noqa: B007
                if abs(z) > 2:
                    break
                z = z * z + c
            out[j, i] = k
    return out


def newton(z: Any, n: int) -> Any:
    for _ in range(n):
        z = z - (z**3 - 1) / (3 * z**2)
    return z


def total(a: Any) -> Any:
    s = 0j
    for i in range(len(a)):
        s += a[i]
    return s


def transform(x: Any) -> Any:
    n = len(x)
    out = np.zeros(n, complex)
    for k in range(n):
        s = 0j
        for t in range(n):
            s += x[t] * np.exp(-2j * np.pi * k * t / n)
        out[k] = s
    return out


def horner(c: Any, z: Any) -> Any:
    r = c[0]
    for i in range(1, len(c)):
        r = r * z + c[i]
    return r, r.real, abs(r), r.conjugate()


def turned(a: Any) -> Any:
    z = a[0]
    for i in range(len(a)):
        if a[i].real > z.real:
            z = a[i]
        else:
            z = z * 1j
    return z, z == a[0], z.imag


def quotients(n: int, s: Any) -> Any:
    x = 0
    for _ in range(n):
        x = x + 1j * s
    y = s + 0j
    for _ in range(n):
        y = (1 + y) / (2 - y) if y != 2 else y - 1j
    return x, y, -y, abs(y), bool(y), y.real, y.conjugate()


def stored(a: Any, z: Any) -> Any:
    for i in range(len(a)):
        a[i] = z * i
        a[i] += 1
        a[i] *= 0.5j
    return a


def halves(h: Any) -> Any:
    s = h[0]
    for i in range(1, len(h)):
        s = s * h[i] + np.float16(0.1)
        h[i] = s
        h[1:] = h[:-1] * 0.5 + 1
    return s, h, np.sqrt(h[1]), h[0] > 1, int(h[1]), float(h[2])


def rounded(a: Any) -> Any:
    h = np.zeros(len(a), np.float16)
    for i in range(len(a)):
        h[i] = a[i] * 1.1
    return h


def changed(o: Any, a: Any) -> Any:
    k = 0
    for i in range(len(a)):
        o[...] = o * 2 + a[i]
        o += 1
        a[0] = o
        if a[i] > o:
            k += 1
    return o, o + 1, o.shape, k, float(o)


def rotated(x: Any, n: int) -> Any:
    t, s = (0.0, 1.0), (x, x + 1)
    for i in range(n):
        t = t[1], t[0] * 0.5 + x[i]
        s = (s[1], s[0] * 0.5)
    return t, s[0] + s[1], s[1]


def accumulated(t: Any, x: Any) -> Any:
    for i in range(len(x)):
        t = (t[0] + x[i], t[1])
    return t


class Body:
    def __init__(self) -> None:
        self.pos, self.vel, self.g = np.arange(6.0).reshape(3, 2), np.ones((3, 2)), 9.81

    @property
    def twice(self) -> Any:
        print("twice")
        return self.pos * 2


def fallen(p: Any, d: Any, n: int) -> Any:
    for _ in range(n):
        for i in range(p.pos.shape[0]):
            p.vel[i, 1] -= p.g * d["dt"]
            p.pos[i] += d["dt"] * p.vel[i]
            if p.pos[i, 1] < 0:
                p.vel[i, 1] *= -0.9
                d["hits"][i] += 1
    return p.pos, d["hits"]


def looked_up(p: Any, n: int) -> Any:
    s = 0.0
    for i in range(n):
        s += p.twice[i, 0]
    return s


def tuples_of_numbers(m: Any, n: int) -> Any:
    s = m[0, 0]
    for i in range(n):
        w = 1 if i in (0, 2 * n) else 4 if i % 2 else 2
        if i not in (1, 2):
            s += m[i, 0] * w
        m[i] = (i, 2, s)
    return s, m


def builtins_over_rows(m: Any) -> Any:
    found = np.zeros((len(m), 3))
    for i in range(len(m)):
        found[i] = sum(m[i]), max(m[i]), min(m[i] * 2)
    return found, sum(m[0]), max(m[:, 0])


def made_without_dimensions(x: Any) -> Any:
    s = np.array(0.0)
    for v in x:
        s += v
    return s, s.shape, s * 2


def filled(z: Any, n: int) -> Any:
    a, b = np.full(n, z), np.zeros(n, complex)
    b.fill(z)
    for i in range(n):
        a[i] += b[i]
    return a, b


Z = np.linspace(-2, 2, 5) + 1j * np.linspace(1, 0, 5)
H = np.array([1.5, 2.25, 0.1, 3.3, 60000, 0.0001], np.float16)
M = np.arange(12.0).reshape(4, 3)
A = np.array([0.1, 1e5, -3.3, 1e-8, 2.5])
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (escapes, (np.linspace(-2, 1, 7), np.linspace(-1, 1, 4), 12)), (newton, (1.5 + 0.5j, 6)),
    (newton, (np.complex128(0.3 + 1j), 5)), (total, (Z,)), (total, (A,)), (transform, (A,)), (horner, (Z, 0.5 + 1j)),
    (horner, (Z.astype("F"), np.complex64(1j))), (turned, (Z,)), (quotients, (4, 0.5)), (stored, (Z, 2j)),
    (stored, (Z.astype("F"), 1.5)), (halves, (H,)), (rounded, (A,)), (changed, (np.array(1.5), A)),
    (changed, (np.array(2, np.float32), A)), (rotated, (A, 4)), (accumulated, ((1, A), A)),
    (tuples_of_numbers, (M, 4)), (builtins_over_rows, (M[::-1],)), (builtins_over_rows, (M.astype(int),)),
    (made_without_dimensions, (A,)), (filled, (2j, 3)),
    (filled, (np.complex64(1j), 2)), (fallen, (Body(), {"dt": 0.1, "hits": np.zeros(3, int)}, 5)),
]  # fmt: skip
LEFT = [(quotients, (0, 0.5)), (quotients, (3, np.float64(0.5))), (stored, (A, 2j)), (accumulated, ((1, A), A[:0])),
        (looked_up, (Body(), 2))]  # fmt: skip


def outcome(function: Any, given: tuple[Any, ...]) -> Any:
    args = copy.deepcopy(given)
    with np.errstate(all="ignore"):
        try:
            found = function(*args)
        except Exception as error:
            return type(error), str(error)
    held = [*args, *(x for a in args for x in (vars(a) if isinstance(a, Body) else a if isinstance(a, dict) else {}))]
    return found, [vars(a) if isinstance(a, Body) else a for a in args], [found is a for a in held]


def same(x: Any, y: Any) -> bool:
    if isinstance(x, dict):
        x, y = list(x.items()), list(y.items())
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, (np.ndarray, np.generic)):
        if type(x) is not type(y) or x.dtype != y.dtype or x.shape != y.shape:
            return False
        return bool(np.allclose(x, y, rtol=0 if x.dtype == np.float16 else 1e-6 if x.itemsize == 8 else 1e-12, atol=0))
    return type(x) is type(y) and (repr(x) == repr(y) or abs(x - y) < 1e-15)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.filterwarnings("ignore")
def test_loops_are_native_and_right(backend: str) -> None:
    cases = CASES if backend == "reference" else [CASES[k] for k in (0, 5, 7, 9, 12, 14, 19, -1)]
    for function, given in cases:
        jitted = weft.jit(function, backend=backend)
        for _ in range(2):
            wanted, found = outcome(function, given), outcome(jitted, given)
            assert same(wanted, found), (function.__name__, wanted, found)
        assert jitted.explain().is_whole, jitted.explain()


@pytest.mark.filterwarnings("ignore")
def test_what_python_must_run_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    for function, given in LEFT:
        jitted = weft.jit(function, backend="reference")
        for _ in range(2):
            assert same(outcome(function, given), outcome(jitted, given)), function.__name__
    assert capsys.readouterr().out == "twice\n" * 8
