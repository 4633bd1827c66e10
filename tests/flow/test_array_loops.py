"""Loops of kernels over whole arrays, against plain NumPy loops: AVX2, AVX-512, the reference, and native calls."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

OPTIONS = [Options(), Options(target=target.x86(3)), Options(target=target.x86(4)), Options(backend="reference")]
RNG = np.random.default_rng(8)

TEXT = """
kernel heat(u: f64[n], r: f64, steps: i64) -> f64[n] {
    var v = u
    for t in 0..steps {
        v = v + r * (roll(v, 1) - 2*v + roll(v, -1))
    }
    return v
}

kernel jacobi(a: f64[n, n], b: f64[n], tol: f64, most: i64) -> (x: f64[n], steps: i64, err: f64) {
    let d = diagonal(a)
    var x = zeros(n)
    var err = inf
    var k = 0
    while err > tol {
        if k == most { break }
        let y = (b - (a @ x - d * x)) / d
        err = max(abs(y - x))
        x = y
        k += 1
    }
    return x, k, err
}

kernel swapped(a: f32[n, m], b: f32[n, m], steps: i32) -> (f32[n, m], f32[n, m]) {
    var x = a
    var y = b
    for t in 0..steps {
        let z = x
        x = y
        y = z + f32(t)
    }
    return x, y
}

kernel nested(x: f64[n], rounds: i64) -> (f64[n], i64) {
    var v = x
    var total = 0
    for i in 0..rounds {
        var w = v
        for j in i..rounds {
            if j == 3 { continue }
            w = w * 0.5 + f64(j)
            total += 1
        }
        var c = 0
        while sum(w) > 10 and c < 20 {
            w = w / 3
            c += 1
        }
        v = w + v[::-1]
    }
    return v, total
}

kernel first(x: f64[n], from_: i64) -> (i64, f64) {
    var i = from_
    while i < n and x[i] > 0.2 { i += 1 }
    return i, x[i] if i < n else -1.0
}

kernel last(x: f64[n], limit: f64) -> (i64, f64) {
    var i = 0
    var s = 0.0
    while x[i] < limit {
        s += x[i] * x[n - 1 - i]
        i += 1
        if i == n { break }
        if i > n - 3 or x[i + 2] > 0.9 { continue }
        s = s + x[i + 2]
    }
    if i == n { s = s + 1 } else { s = s - x[i] }
    return i, s
}

kernel guarded(x: f64, n: i64) -> f64 {
    var v = x
    if v > 0 {
        while v < 100 { v = v * 2 }
    } else {
        v = v - 1
    }
    return v
}
"""
MODULE = weft.compile(TEXT)


def heat(u: Any, r: float, steps: int) -> Any:
    for _ in range(steps):
        u = u + r * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


def jacobi(a: Any, b: Any, tol: float, most: int) -> Any:
    d, x, err, k = np.diagonal(a), np.zeros(len(b)), np.inf, 0
    while err > tol:
        if k == most:
            break
        y = (b - (a @ x - d * x)) / d
        err, x, k = np.abs(y - x).max(), y, k + 1
    return x, k, err


def swapped(a: Any, b: Any, steps: int) -> Any:
    for t in range(steps):
        a, b = b, a + np.float32(t)
    return a, b


def nested(v: Any, rounds: int) -> Any:
    total = 0
    for i in range(rounds):
        w = v
        for j in range(i, rounds):
            if j == 3:
                continue
            w = w * 0.5 + float(j)
            total += 1
        c = 0
        while w.sum() > 10 and c < 20:
            w, c = w / 3, c + 1
        v = w + v[::-1]
    return v, total


def first(x: Any, i: int) -> Any:
    while i < len(x) and x[i] > 0.2:
        i += 1
    return i, x[i] if i < len(x) else -1.0


def last(x: Any, limit: float) -> Any:
    i, s = 0, 0.0
    while x[i] < limit:
        s += x[i] * x[len(x) - 1 - i]
        i += 1
        if i == len(x):
            break
        if i > len(x) - 3 or x[i + 2] > 0.9:
            continue
        s = s + x[i + 2]
    return i, s + 1 if i == len(x) else s - x[i]


def guarded(v: float, n: int) -> float:
    if v <= 0:
        return v - 1
    while v < 100:
        v *= 2
    return v


def same(found: Any, wanted: Any, exact: bool = True) -> None:
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        if exact:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-15)


def system(n: int) -> tuple[Any, Any]:
    return RNG.standard_normal((n, n)) + 3 * n * np.eye(n), RNG.standard_normal(n)


U, A, B = RNG.random(37), *RNG.random((2, 5, 9)).astype("f4")
CALLS: list[tuple[Any, tuple[Any, ...], bool]] = [
    *((heat, (U, 0.2, steps), True) for steps in (0, 1, 2, 7)),
    (heat, (RNG.random(60)[::3], 0.1, 4), True),
    *((jacobi, (*system(20), tol, most), False) for tol, most in ((1e-9, 500), (1e-9, 3), (np.inf, 5))),
    *((swapped, (A, B, steps), True) for steps in (0, 1, 4)),
    (swapped, (A.T, B.T, 3), True),
    *((nested, (RNG.random(11), rounds), True) for rounds in (0, 1, 6)),
    *((first, (U, start), True) for start in (0, 9, 36, 37, 99)),
    *((last, (U, limit), True) for limit in (0.5, 0.99, 2.0)),
    *((guarded, (x, 1), True) for x in (3.0, -2.0, 0.0, 1e9)),
]


@pytest.mark.parametrize("options", OPTIONS, ids=["native", "avx2", "avx512", "reference"])
def test_as_plain_numpy(options: Options) -> None:
    sources = parse_module(TEXT, "loops.weft").kernels
    kernels = {name: Kernel(source, Registry(), options) for name, source in sources.items()}
    if options == Options():
        kernels = {name: getattr(MODULE, name) for name in sources}
    for function, args, exact in CALLS:
        before = [np.copy(x) for x in args]
        for _ in range(3):  # a native entry is made on the second call
            same(kernels[function.__name__](*args), function(*args), exact)
        same(args, tuple(before))


def test_one_graph_of_loops_and_kernels() -> None:
    lowered = MODULE.heat.lower(U, 0.1, 3)
    assert not lowered.fallbacks
    assert [n.op.name for n in lowered.graph] == ["region", "loop", "region"]
    told = str(lowered.explain())
    assert len(lowered.kernels) == 6 and "6 native kernels" in told and told.count("in each step of a loop") == 4
    assert lowered.llvm().count("define i32 ") == 6


def test_what_is_handed_on_is_not_copied() -> None:
    lowered = MODULE.swapped.lower(A, B, 3)
    (loop,) = (n for n in lowered.graph if n.op.name == "loop")
    assert loop.body is not None and loop.body.outputs[1] is loop.body.inputs[1]
    assert len([n for n in loop.body if n.op.name == "region"]) == 2  # one for y, one for t


def test_native_calls_serve_loops() -> None:
    kernel = weft.compile(TEXT).heat
    for _ in range(3):
        kernel(U, 0.1, 3)
    assert not kernel.chain.is_empty


TYPED = weft.compile("""
kernel halves(x: f16[n, m], steps: i64) -> f16[n, m] {
    var v = x
    for t in 0..steps { v = v * 1.5 + x }
    return v
}
kernel numbers(x: c64[n, m], steps: i64) -> c64[n, m] {
    var v = x
    for t in 0..steps { v = conj(v) + x[::-1] }
    return v
}
kernel truths(x: bool[n, m], steps: i64) -> bool[n, m] {
    var v = x
    for t in 0..steps { v = roll(v, 1) ^ x }
    return v
}
""")


@pytest.mark.parametrize(
    ("name", "dtype", "step"),
    [
        ("halves", "f2", lambda v, x: v * np.float16(1.5) + x),
        ("numbers", "c8", lambda v, x: np.conj(v) + x[::-1]),
        ("truths", "?", lambda v, x: np.roll(v, 1) ^ x),
    ],
)
def test_dtypes_layouts_and_sizes(name: str, dtype: str, step: Any) -> None:
    whole = RNG.integers(0, 5, (4, 6)).astype(dtype)
    for x in (whole, whole.T, whole[::2, 1:], whole[:1], whole[:0]):
        wanted = x
        for steps in range(4):
            found = TYPED[name](x, steps)
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found, wanted)
            wanted = step(wanted, x)


def test_bits_do_not_depend_on_threads() -> None:
    a, b = system(400)
    u, before = RNG.random(300_000), weft.get_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            weft.set_threads(threads)
            found = [np.asarray(x).tobytes() for x in MODULE.jacobi(a, b, 1e-12, 50)]
            results.append([*found, MODULE.heat(u, 0.1, 7).tobytes()])
    finally:
        weft.set_threads(before)
    assert results[0] == results[1] == results[2]


def test_a_kernel_with_a_loop_is_part_of_others() -> None:
    """It is inlined into a trace with the trace's sizes, and can replace an op with its own loop."""
    both = weft.jit(lambda u, v: MODULE.heat(u * 2, 0.1, 3)[0] + MODULE.heat(v, 0.2, 2)[0])
    for u, v in ((U, U), (U, U[:7])):
        assert both(u, v) == heat(u * 2, 0.1, 3)[0] + heat(v, 0.2, 2)[0]
    text = """@impl(op="cbrt", hint="vectorized")
    kernel newton(x: f64[n]) -> f64[n] {
        var y = 0.5 + x
        for k in 0..60 { y = y - (y*y*y - x) / (3 * y * y) }
        return y
    }"""
    registry = Registry()
    parsed = parse_module(text, "newton.weft", ops=registry)
    registry.register_kernels("newton.weft", parsed.kernels, True)
    (source,) = parse_module("kernel f(x: f64[n]) -> f64[n] = cbrt(x)", "f.weft", ops=registry).kernels.values()
    for options in (Options(target=target.x86(3)), Options(backend="reference")):
        kernel = Kernel(source, registry, options)
        np.testing.assert_allclose(kernel(U), np.cbrt(U), rtol=1e-14)
        assert kernel.lower(U).explain().chosen and any(n.op.name == "loop" for n in kernel.lower(U).graph)


MEMORY = """
import resource, numpy as np, weft
kernel = weft.compile('''kernel f(x: f64[n], steps: i64) -> f64[n] {
    var v = x
    for t in 0..steps { v = v * 0.5 + roll(v, 1) }
    return v
}''').f
def peak(x, steps):
    kernel(x, steps)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
for _ in range(3):
    peak(np.ones(10), 2)
x = np.ones(4_000_000)
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
few = max(peak(x, 2), peak(x, 2))  # the second call is native
print((few - start) / x.nbytes, (peak(x, 40) - few) / x.nbytes)
"""


def test_memory_is_two_buffers_whatever_the_steps() -> None:
    """Memory is the result, two buffers and the two rolled arrays of a step; more steps need no more."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=50)
    first, more = map(float, done.stdout.split())
    assert first < 4.5 and more < 0.5, done.stdout
