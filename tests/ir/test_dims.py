"""Test sizes: the normal form keeps the value of the arithmetic, and its text reads back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from weft.ir import dims
from weft.ir.dims import Size, symbol
from weft.ir.errors import LimitExceeded, ShapeProblem
from weft.ir.text.notation import parse_size

NAMES = ("n", "m", "k")
Meaning = Callable[[dict[str, int]], int]
Term = tuple[Size, Meaning]


def leaf() -> st.SearchStrategy[Term]:
    numbers = st.integers(-4, 7).map(lambda i: (i, lambda env: i))
    return numbers | st.sampled_from(NAMES).map(lambda name: (symbol(name), lambda env: env[name]))


def joined(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    """Build terms twice: as a size in normal form, and as plain Python arithmetic."""

    def join(left: Term, right: Term, name: str) -> Term:
        (a, f), (b, g) = left, right
        made: dict[str, tuple[Callable[[Size, Size], Size], Callable[[int, int], int]]] = {
            "+": (lambda x, y: x + y, lambda x, y: x + y),
            "-": (lambda x, y: x - y, lambda x, y: x - y),
            "*": (lambda x, y: x * y, lambda x, y: x * y),
            "min": (dims.minimum, min),
            "max": (dims.maximum, max),
        }
        size, number = made[name]
        return size(a, b), lambda env: number(f(env), g(env))

    def divided(term: Term, by: int) -> Term:
        size, f = term
        return dims.floordiv(size, by), lambda env: f(env) // by

    pairs = st.builds(join, children, children, st.sampled_from(("+", "-", "*", "min", "max")))
    return pairs | st.builds(divided, children, st.integers(1, 4))


terms = st.recursive(leaf(), joined, max_leaves=7)
environments = st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES})


@settings(deadline=None, derandomize=True, max_examples=600)
@given(terms, environments)
def test_the_normal_form_means_the_same(term: Term, env: dict[str, int]) -> None:
    size, meaning = term
    assert dims.evaluate(size, env) == meaning(env)


@settings(deadline=None, derandomize=True, max_examples=600)
@given(terms)
def test_text_reads_back(term: Term) -> None:
    size, _ = term
    assert parse_size(str(size)) == size


@settings(deadline=None, derandomize=True, max_examples=300)
@given(terms, terms, environments)
def test_equal_sizes_are_equal_numbers(left: Term, right: Term, env: dict[str, int]) -> None:
    assume(left[0] == right[0])
    assert left[1](env) == right[1](env)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(terms, terms, environments)
def test_substitution_means_evaluation(term: Term, other: Term, env: dict[str, int]) -> None:
    value = dims.evaluate(other[0], env)
    assume(value >= 0)
    replaced = dims.substitute(term[0], {"n": other[0]})
    assert dims.evaluate(replaced, env) == dims.evaluate(term[0], {**env, "n": value})


@settings(deadline=None, derandomize=True, max_examples=300)
@given(terms, terms, environments)
def test_division_is_exact_or_refused(left: Term, right: Term, env: dict[str, int]) -> None:
    quotient = dims.divide(left[0], right[0])
    divisor = dims.evaluate(right[0], env)
    if quotient is not None and divisor != 0:
        assert dims.evaluate(quotient, env) * divisor == dims.evaluate(left[0], env)


@settings(deadline=None, derandomize=True)
@given(terms)
def test_symbols_are_what_the_value_depends_on(term: Term) -> None:
    size, _ = term
    env = dict.fromkeys(dims.symbols(size), 3)
    dims.evaluate(size, env)


n, m = symbol("n"), symbol("m")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (n - n, "0"),
        (n * m - m * n + 2, "2"),
        (n + m + n, "m + 2*n"),
        (dims.maximum(0, n - 1) + 1, "max(1, n)"),
        (dims.maximum(0, n), "n"),
        (dims.minimum(n, n + 2), "n"),
        (dims.floordiv(4 * n + 2, 2), "2*n + 1"),
        (dims.floordiv(n + 1, 2), "floordiv(n + 1, 2)"),
        (dims.product((n, 2, m)), "2*m*n"),
        (-n, "-n"),
        (dims.minimum(n, dims.maximum(-1, n)), "n"),
        (dims.minimum(dims.minimum(1, n), -1), "-1"),
        (dims.maximum(dims.maximum(m, n), m + n), "m + n"),
        (-dims.maximum(n, m), "min(-m, -n)"),
        (dims.floordiv(2 * dims.minimum(n, m) + 2, 2), "min(m + 1, n + 1)"),
    ],
)
def test_normal_forms(size: Size, text: str) -> None:
    assert str(size) == text


@pytest.mark.parametrize(
    "size",
    [dims.minimum(18, n - 1) - dims.maximum(-1, n - 1) + 1, dims.maximum(n, m) * dims.minimum(n, 2) - n],
)
def test_several_choices_read_back(size: Size) -> None:
    assert parse_size(str(size)) == size


def test_loop_variables_stay_in_sight() -> None:
    """The change per step is read from the terms, so a `min` or `max` must not hide a loop variable."""
    step = symbol(f"{dims.LOOP}0")
    assert str(dims.minimum(2, n - 1) - step) == "-@0 + min(2, n - 1)"


@pytest.mark.parametrize(
    ("text", "size"),
    [("n + -1", n - 1), ("2*(n - (m - 1))", 2 * n - 2 * m + 2), ("--n", n), ("-(n - m)*(n + m)", m * m - n * n)],
)
def test_sums_as_people_write_them(text: str, size: Size) -> None:
    assert parse_size(text) == size


def test_a_product_of_sums_has_a_limit() -> None:
    with pytest.raises(LimitExceeded):
        parse_size("*".join(f"(a{k} + b{k})" for k in range(60)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n +",
        "(n",
        "()",
        "n*(m + 1))",
        "min(n",
        "n m",
        "n)",
        "2..3",
        "max(,)",
        "*n",
        "foo(n, m)",
        "min(n)",
        "floordiv(n, m)",
        "floordiv(n, 0)",
    ],
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ShapeProblem):
        parse_size(text)
