"""Functions with control flow against plain Python, one element at a time, for AVX2, AVX-512 and on the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.ir.errors import LimitExceeded, ValueProblem
from weft.ir.limits import Limits, limiter
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

OPTIONS = [Options(target=target.x86(3)), Options(target=target.x86(4)), Options(backend="reference")]
RNG = np.random.default_rng(6)


def run(text: str, *args: Any, options: Options) -> Any:
    (source,) = parse_module(text, "flow.weft").kernels.values()
    return Kernel(source, Registry(), options)(*args)


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def newton(x: float) -> float:
    if x < 0:
        return float("nan")
    if x == 0:
        return x
    guess = x
    for _ in range(40):
        after = 0.5 * (guess + x / guess)
        if abs(after - guess) <= 1e-15 * after:
            return after
        guess = after
    return guess


def primes(n: int) -> int:
    found = 0
    for k in range(2, n):
        if k % 2 == 0 and k > 2:
            continue
        d, prime = 3, True
        while d * d <= k:
            if k % d == 0:
                prime = False
                break
            d += 2
        if prime:
            found += 1
        if found == 12:
            break
    return found


def first_divisor(n: int, start: int) -> int:
    d = start
    while True:
        if d != 0 and n % d == 0:
            return d
        d += 1
        if d > 50:
            return -1


COLLATZ = """
fn next(n) {
    if n % 2 == 0 { return n // 2 }
    return 3 * n + 1
}
fn collatz(n: i64) -> i64 {
    var m = n; var steps = 0
    while m > 1 { m = next(m); steps += 1 }
    return steps
}
kernel f(n: i64[k]) -> i64[k] = collatz(n)
"""
NEWTON = """
fn newton(x: f64) {
    if x < 0 { return nan }
    if x == 0 { return x }
    var guess = x
    for i in 0..40 {
        let after = 0.5 * (guess + x / guess)
        if abs(after - guess) <= 1e-15 * after { return after }
        guess = after
    }
    return guess
}
kernel f(x: f64[k]) -> f64[k] = newton(x)
"""
PRIMES = """
fn is_prime(k) {
    var d = 3
    while d * d <= k {
        if k % d == 0 { return false }
        d += 2
    }
    return true
}
fn primes(n) {
    var found = 0
    for k in 2..n {
        if k % 2 == 0 and k > 2 { continue }
        if is_prime(k) { found += 1 }
        if found == 12 { break }
    }
    return found
}
kernel f(n: i32[k]) -> i64[k] = i64(primes(n))
"""
DIVISOR = """
fn first_divisor(n, start) {
    var d = start
    while true {
        if d != 0 and n % d == 0 { return d }
        d += 1
        if d > 50 { return -1 }
    }
}
kernel f(n: i64[k], start: i64[k]) -> i64[k] = first_divisor(n, start)
"""
LONG = np.concatenate([np.arange(-3, 60), RNG.integers(1, 10**6, 40)])
CASES: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    (COLLATZ, collatz, (LONG,)),
    (NEWTON, newton, (np.concatenate([[0.0, -1.0, np.inf, np.nan, 1e300], RNG.random(60) * 100]),)),
    (PRIMES, primes, (np.arange(-2, 70, dtype=np.int32),)),
    (DIVISOR, first_divisor, (LONG, RNG.integers(-3, 4, LONG.size))),
]


@pytest.mark.parametrize("options", OPTIONS, ids=["avx2", "avx512", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].__name__)
def test_a_program_does_what_plain_code_does(
    case: tuple[str, Callable[..., Any], tuple[Any, ...]], options: Options
) -> None:
    text, plain, args = case
    want = np.array([plain(*(x.item() for x in element)) for element in zip(*args, strict=True)])
    np.testing.assert_array_equal(run(text, *args, options=options), want)


SEVERAL = """
fn polar(z: c128, steps: i32) -> (z: c128, left: i32, small: f16) {
    var w = z; var s: f16 = 1
    for i in 0..steps {
        w = w * w + z
        s = s * 1.5 + 0.25
        if abs(w) > 2 { return w, steps - i, s }
    }
    return w, 0, s
}
kernel f(z: c128[n, m], steps: i32[m]) -> (c128[n, m], i64, f16[m, n]) {
    let w, left, small = polar(z, steps)
    return w, sum(left), transpose(small)
}
"""


@pytest.mark.parametrize("options", OPTIONS, ids=["avx2", "avx512", "reference"])
def test_complex_numbers_halves_and_several_results(options: Options) -> None:
    z = RNG.normal(size=(5, 19)) + 1j * RNG.normal(size=(5, 19))
    steps = RNG.integers(-1, 9, 19).astype(np.int32)
    w, left, small = run(SEVERAL, z, steps, options=options)
    total = 0
    for i, j in np.ndindex(*z.shape):
        number, half, k = z[i, j], np.float16(1), 0
        while k < steps[j]:
            number, half = number * number + z[i, j], np.float16(half * np.float16(1.5)) + np.float16(0.25)
            if abs(number) > 2:
                total += steps[j] - k
                break
            k += 1
        np.testing.assert_allclose(w[i, j], number, rtol=1e-12)
        assert small[j, i] == half
    assert left == total


UNIFORM = """
fn sum_of_squares(x: float, n: i64) {
    var total = 0.0
    for i in 0..n {
        for j in i..n { total += x * (i + j) }
    }
    return total
}
kernel f(x: f32[k], n: i64) -> f32[k] = sum_of_squares(x, n)
"""


@pytest.mark.parametrize("options", OPTIONS, ids=["avx2", "avx512", "reference"])
def test_counters_with_one_value_for_all_elements(options: Options) -> None:
    x = RNG.normal(size=45).astype(np.float32)
    want = np.zeros(45)
    for i in range(6):
        for j in range(i, 6):
            want += x * np.float64(i + j)  # an f32 times an i64, as NumPy has it
    np.testing.assert_array_equal(run(UNIFORM, x, 6, options=options), want.astype(np.float32))
    assert not run(UNIFORM, x, -2, options=options).any()


POWER = """
fn f(x: i64, k: i64) {
    var total = 0
    for i in 0..3 {
        if k >= 0 { total += x ** k }
    }
    return total
}
kernel g(x: i64[n], k: i64[n]) -> i64[n] = f(x, k)
"""


@pytest.mark.parametrize("options", OPTIONS, ids=["avx2", "avx512", "reference"])
def test_only_elements_that_get_there_can_fail(options: Options) -> None:
    x, k = np.arange(1, 20), np.arange(19) - 5
    np.testing.assert_array_equal(run(POWER, x, k, options=options), np.where(k >= 0, 3 * x ** np.maximum(k, 0), 0))
    with pytest.raises((ValueProblem, ValueError)):
        run(POWER.replace("k >= 0", "x > 0"), x, k, options=options)


def test_loops_in_loops_that_grow_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "now", Limits(nodes=500))
    text = "fn f0(x) { var s = 0.0; while s < x { s += 1 }; return s }\n"
    for k in range(1, 7):
        text += f"fn f{k}(x) {{ var s = 0; for i in 0..2 {{ s += f{k - 1}(x) + f{k - 1}(s) }}; return s }}\n"
    with pytest.raises(LimitExceeded, match="once every call is inlined"):
        run(text + "kernel g(x: f64[n]) -> f64[n] = f6(x)", np.zeros(3), options=OPTIONS[2])


def test_functions_beside_narrow_arrays_have_vectors_of_several_registers() -> None:
    text = """
    fn g(x: i16) -> i16 {
        var y = f32(x)
        while y > 3.0 { y = log(y) + exp(y * 0.0001) + pow(y, 0.25) * 0.5 }
        return i16(y * 1000.0)
    }
    kernel k(x: i16[n]) -> i16[n] { return g(x) }
    """
    x = RNG.integers(-100, 30_000, 300).astype(np.int16)
    first, second = (run(text, x, options=options) for options in OPTIONS[:2])
    assert np.array_equal(first, second) and (first[x > 3] > 1000).all()
