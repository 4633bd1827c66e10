"""Test that no text can exhaust the machine: each limit raises a typed error quickly."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import weft
from weft.frontend.language import actions
from weft.frontend.language.source import parse_module
from weft.ir.errors import LimitExceeded, OverflowProblem, WeftError
from weft.ir.limits import Limits, limiter
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry


def refused(text: str) -> LimitExceeded:
    with pytest.raises(LimitExceeded) as caught:
        parse_module(text, "big.weft")
    return caught.value


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "(" * 10_000,
        "x[" * 10_000,
        "f(" * 10_000,
        "-" * 10_000 + "1",
        "not " * 10_000 + "true",
        "2 ** " * 10_000 + "1",
        "1 if true else " * 10_000 + "1",
        "f" + "(1)" * 10_000,
        "f" + "[1]" * 10_000,
    ],
)
def test_deep_nesting_is_a_limit(expression: str) -> None:
    assert "levels deep" in str(refused(f"const A = {expression}"))


def test_nested_blocks_are_a_limit() -> None:
    refused("fn f(x) {" + "if x > 0 {" * 3_000)
    refused("fn f(x) { var y = x\n" + "if x > 0 { y = 1.0 } else " * 3_000 + "{ y = 2.0 }\nreturn y }")


def test_text_beyond_the_size_limit_is_refused_before_it_is_read() -> None:
    assert str(Limits().text) in str(refused("#" * (Limits().text + 1)))


def test_too_many_parts_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "kernel f(x: f64[n]) = x" + " + x" * 2000
    assert list(parse_module(text, "big.weft").kernels) == ["f"]
    monkeypatch.setattr(actions, "MAX_SYNTAX", 3000)
    assert "more than 3000 names" in str(refused(text))


def test_just_within_the_limits(evaluate) -> None:
    depth = Limits().depth - 10
    text = "kernel f(x: f64[n]) = " + "(1 + " * depth + "x" + ")" * depth
    np.testing.assert_array_equal(evaluate(text, np.arange(3.0))[0], np.arange(3.0) + depth)


def test_thousands_of_additions_work(evaluate) -> None:
    text = "kernel f(x: f64[n]) = x" + " + x" * 5000
    np.testing.assert_array_equal(evaluate(text, np.arange(3.0))[0], np.arange(3.0) * 5001)


def test_a_long_chain_of_sizes_and_literals_works(evaluate) -> None:
    text = "kernel f(x: f64[n]) = x" + " + n * 2 - 1" * 1000
    np.testing.assert_array_equal(evaluate(text, np.arange(3.0))[0], np.arange(3.0) + 5000)
    text = "kernel f(x: f64[n]) -> i64 { return " + "n * " * 500 + "0 }"
    assert evaluate(text, np.arange(3.0))[0] == 0


def test_doubling_calls_are_a_limit_on_the_graph(evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "now", Limits(nodes=5_000))
    text = "fn g0(x) = x * 0.5 + x\n"
    text += "".join(f"fn g{i}(x) = g{i - 1}(x) + g{i - 1}(x + {i})\n" for i in range(1, 40))
    with pytest.raises(LimitExceeded, match="operations in one kernel"):
        evaluate(text + "kernel k(x: f64[n]) = g39(x)", np.arange(3.0))


def test_a_deep_chain_of_calls_is_a_limit_on_inlining(evaluate) -> None:
    text = "fn g0(x) = x\n" + "".join(f"fn g{i}(x) = 1 + g{i - 1}(x)\n" for i in range(1, 500))
    with pytest.raises(LimitExceeded, match="levels deep once inlined"):
        evaluate(text + "kernel k(x: f64[n]) = g499(x)", np.arange(3.0))
    assert evaluate(text + "kernel k(x: f64[n]) = g40(x)", np.arange(3.0))[0][0] == 40


def test_the_deepest_inlining_leaves_stack_to_spare(evaluate) -> None:
    """Blocks, conditions and typed parameters take the most Python frames per level."""
    text = "fn g0(x) = x\n"
    for i in range(1, 300):
        text += f"fn g{i}(x: f64) {{\n var y = x\n if x > 0 {{ if x > 1 {{ y = -g{i - 1}(x) }} }}\n return y\n}}\n"
    with pytest.raises(LimitExceeded):
        evaluate(text + "kernel k(x: f64[n]) = g299(x)", np.arange(3.0))


@pytest.mark.parametrize(
    "expression",
    ["10**10**10", "2**64", "9" * 5000, "1 << 1000000000", "0x" + "f" * 5000, "1e999", "(-2)**63 * 3", "2**63 * 3"],
)
def test_huge_constants_are_overflows(evaluate, expression: str) -> None:
    with pytest.raises(OverflowProblem):
        evaluate(f"kernel f(x: f64[n]) = x + ({expression})", np.arange(3.0))


def test_sizes_do_not_grow_into_huge_formulas(evaluate) -> None:
    product = " * ".join(["(a + b + c + d + 1)"] * 60)
    text = f"kernel f(x: f64[a, b, c, d]) -> f64 {{ return sum(x) + {product} * 0.0 }}"
    assert evaluate(text, np.ones((2, 2, 2, 2)))[0] == 16.0
    halves = "n" + " // 2" * 3000
    assert evaluate(f"kernel f(x: f64[n]) -> i64 {{ return {halves} }}", np.ones(5))[0] == 0


def test_choices_between_literals_do_not_multiply(evaluate) -> None:
    steps = "".join(f" if x > {i} {{ k += 1; k = k * 2 - k }}\n" for i in range(60))
    text = f"fn f(x) {{ var k = 0\n{steps} return k }}\nkernel g(x: f64[n]) -> i32[n] {{ return f(x) }}"
    np.testing.assert_array_equal(evaluate(text, np.array([0.5, 10.5, 99.0]))[0], [1, 11, 60])


def test_limits_are_weft_errors() -> None:
    assert issubclass(LimitExceeded, WeftError) and issubclass(LimitExceeded, ValueError)


def test_limits_are_set_and_kept_to(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "now", Limits())
    assert weft.set_limits(nodes=20, depth=10, text=2_000, seconds=1.5, result_bytes=1 << 20) == Limits()
    assert weft.get_limits() == Limits(2_000, 10, 20, 1.5, 1 << 20)
    refused("#" * 2_001)
    assert "more than 10 levels" in str(refused("const A = " + "(" * 11 + "1" + ")" * 11))
    with pytest.raises(LimitExceeded, match="more than 20 operations"):
        weft.jit(lambda x: sum(x + k for k in range(20)), whole=True)(np.arange(3.0))
    fill = weft.jit(lambda x: np.zeros(1 << 18) + x[0])
    for _ in range(2):
        with pytest.raises(MemoryError, match="Unable to allocate"):
            fill(np.arange(3.0))
    assert weft.jit(lambda x: np.zeros(1 << 17) + x[0])(np.arange(3.0)).nbytes == 1 << 20
    for wrong in ({"nodes": 0}, {"text": 1.5}, {"depth": 300}, {"seconds": -1.0}, {"nodes": True}):
        with pytest.raises(ValueError, match="the limit on"):
            weft.set_limits(**wrong)


def test_native_results_are_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "now", Limits())
    double = weft.jit(lambda x: x.astype(np.float64))
    for _ in range(20):
        double(np.ones(10, np.int8))
    before = weft.set_limits(result_bytes=100_000)
    for size, text in ((13_000, "102 KiB"), (1 << 17, "1 MiB"), (1 << 20, "8 MiB")):
        with pytest.raises(MemoryError, match=rf"Unable to allocate {text} for an array with shape \({size},\)"):
            double(np.ones(size, np.int8))
    weft.set_limits(result_bytes=1 << 40)
    assert before.result_bytes is None and double(np.ones(1 << 20, np.int8)).sum() == 1 << 20


def test_a_compile_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM is not started if it would take too long, and building and the passes stop in between."""
    monkeypatch.setattr(limiter, "now", Limits(seconds=0.05))
    kernel = parse_kernel("kernel f(x: f64[n]) = " + " + ".join(f"sin(x * {k})" for k in range(400)))
    with pytest.raises(LimitExceeded, match=r"more than 0\.05 s"):
        kernel(np.ones(5))
    monkeypatch.setattr(limiter, "now", Limits(seconds=1e-9))
    with pytest.raises(LimitExceeded, match="the compile would take"):
        weft.jit(lambda x: x + 1, whole=True)(np.arange(3.0))
    assert weft.jit(lambda x: x + 1)(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0]  # Python runs it


def test_the_environment_sets_limits() -> None:
    code = "import weft; weft.jit(lambda x: x); print(weft.get_limits())"
    names = ("WEFT_MAX_TEXT", "WEFT_MAX_DEPTH", "WEFT_MAX_NODES", "WEFT_MAX_SECONDS", "WEFT_MAX_RESULT_BYTES")
    given = dict(zip(names, ("10", "20", "30", "4.5", "50"), strict=True))
    found = subprocess.run([sys.executable, "-c", code], env=os.environ | given, capture_output=True, text=True)
    assert found.stdout.strip() == str(Limits(10, 20, 30, 4.5, 50)), found.stderr
    found = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"WEFT_MAX_NODES": "many"}, capture_output=True, text=True
    )
    assert "WEFT_MAX_NODES must be a positive number, not 'many'" in found.stderr


def parse_kernel(text: str) -> Kernel:
    return Kernel(parse_module(text, "big.weft").kernels["f"], Registry(), Options())
