"""No text can exhaust the machine: each limit is a typed error, and comes quickly."""

from __future__ import annotations

import numpy as np
import pytest
from weft.frontend import actions, limits
from weft.frontend.language import parse_module
from weft.ir import builder
from weft.ir.errors import LimitExceeded, OverflowProblem, WeftError


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
    assert "inside one another" in str(refused(f"const A = {expression}"))


def test_nested_blocks_are_a_limit() -> None:
    refused("fn f(x) {" + "if x > 0 {" * 3_000)
    refused("fn f(x) { var y = x\n" + "if x > 0 { y = 1.0 } else " * 3_000 + "{ y = 2.0 }\nreturn y }")


def test_text_beyond_the_size_limit_is_refused_before_it_is_read() -> None:
    assert str(limits.MAX_TEXT) in str(refused("#" * (limits.MAX_TEXT + 1)))


def test_too_many_parts_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "kernel f(x: f64[n]) = x" + " + x" * 2000
    assert list(parse_module(text, "big.weft").kernels) == ["f"]
    monkeypatch.setattr(actions, "MAX_SYNTAX", 3000)
    assert "more than 3000 names" in str(refused(text))


def test_just_within_the_limits(evaluate) -> None:
    depth = limits.MAX_DEPTH - 10
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
    monkeypatch.setattr(builder, "MAX_NODES", 10_000)
    text = "fn g0(x) = x * 0.5 + x\n"
    text += "".join(f"fn g{i}(x) = g{i - 1}(x) + g{i - 1}(x + {i})\n" for i in range(1, 40))
    with pytest.raises(LimitExceeded, match="operations in one kernel"):
        evaluate(text + "kernel k(x: f64[n]) = g39(x)", np.arange(3.0))


def test_a_deep_chain_of_calls_is_a_limit_on_inlining(evaluate) -> None:
    text = "fn g0(x) = x\n" + "".join(f"fn g{i}(x) = 1 + g{i - 1}(x)\n" for i in range(1, 500))
    with pytest.raises(LimitExceeded, match="once every call is inlined"):
        evaluate(text + "kernel k(x: f64[n]) = g499(x)", np.arange(3.0))
    assert evaluate(text + "kernel k(x: f64[n]) = g40(x)", np.arange(3.0))[0][0] == 40


def test_the_deepest_inlining_leaves_stack_to_spare(evaluate) -> None:
    """Blocks, conditions and typed parameters take the most Python frames for each level."""
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
