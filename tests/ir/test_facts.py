"""What is known about sizes: equalities, the guards that record them, and broadcasting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.ir import dims
from weft.ir.builder import Builder
from weft.ir.dims import Size, symbol
from weft.ir.dtypes import F32
from weft.ir.errors import ShapeProblem
from weft.ir.facts import Facts
from weft.ir.graph import graph_guards
from weft.ir.ops import TABLE
from weft.ir.rewrite import Rewriter, facts_of
from weft.ir.text.notation import parse_size
from weft.ir.types import Sizes, TensorType

Shape = tuple[Size, ...]
n, m, k, q = (symbol(name) for name in "nmkq")


def test_what_a_pair_leads_to_is_canonical_too() -> None:
    facts, some = Facts(), dims.maximum(0, n - 1)
    facts.assume_equal(n + m, some)
    facts.assume_equal(n + m, 3)
    assert facts.canonical(some) == facts.canonical(n + m) == 3


def test_a_symbol_takes_the_other_form() -> None:
    facts = Facts()
    facts.assume_equal(n, m)
    assert facts.same(n, m) and facts.same(n + 1, m + 1) and not facts.same(n, m + 1)
    assert facts.guards == [(n, m)]
    facts.assume_equal(m, n)
    assert len(facts.guards) == 1


def test_numbers_reach_every_size() -> None:
    facts = Facts()
    facts.assume_equal(n, m + 1)
    facts.assume_equal(m, 4)
    assert facts.canonical(n) == 5 and facts.number(n * 2) == 10


def test_pairs_of_expressions_form_chains() -> None:
    facts = Facts()
    facts.assume_equal(n * 2, m + k)
    facts.assume_equal(m + k, q * 3)
    assert facts.same(n * 2, q * 3)


def test_pairs_follow_a_symbol_that_gets_a_value() -> None:
    facts = Facts()
    facts.assume_equal(n + k, m * 2)
    facts.assume_equal(n, 5)
    assert facts.same(n + k, m * 2) and facts.same(k + 5, m * 2)
    facts.assume_equal(m, 4)
    assert facts.canonical(k + 5) == 8


def test_specializing_is_a_guard() -> None:
    facts = Facts({"n": 6})
    assert facts.specialize(n - 1) == 5
    assert facts.guards and facts.canonical(n - 1) == 5
    assert Facts().specialize(n) is None


@pytest.mark.parametrize(
    ("shapes", "result", "guards"),
    [
        ([(n, m), (m,)], (n, m), []),
        ([(n, 1), (1, m)], (n, m), []),
        ([(n,), (m,)], (n,), [(n, m)]),
        ([(n,), (k,)], (n,), [(k, 1)]),
        ([(), (3, n)], (3, n), []),
        ([(n,), (4,)], (4,), [(n, 4)]),
    ],
)
def test_broadcasting(
    shapes: list[tuple[Size, ...]], result: tuple[Size, ...], guards: list[tuple[Size, Size]]
) -> None:
    facts = Facts({"n": 4, "m": 4, "k": 1})
    assert facts.broadcast(shapes) == result
    assert facts.guards == guards


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(ShapeProblem, match=r"shapes \(4,\) \(5,\)"):
        Facts({"n": 4, "m": 5}).broadcast([(n,), (m,)])
    with pytest.raises(ShapeProblem, match="different names"):
        Facts({"n": 4, "m": 4}, strict=True).broadcast([(n,), (m,)])
    with pytest.raises(ShapeProblem):
        Facts().broadcast([(3,), (4,)])


def test_guards_travel_with_the_graph() -> None:
    builder = Builder("f", Facts({"n": 4, "m": 4, "k": 2}))
    x, y = builder.input("x", TensorType(F32, (n,))), builder.input("y", TensorType(F32, (m,)))
    total = builder.op(TABLE["add"], x, y)
    folded = builder.op(TABLE["reshape"], total, shape=Sizes((k, 2)))
    graph = builder.finish([folded])
    assert graph_guards(graph) == ((n, m), (k * 2, n))
    facts = facts_of(graph)
    assert facts.guards == builder.facts.guards and facts.same(m, k * 2)
    rewriter = Rewriter(graph)
    for node in graph:
        rewriter.builder.node(node.op, rewriter.operands(node), node.attrs)
        rewriter.copy(node)
    again = rewriter.finish()
    assert again.attrs == graph.attrs


sizes = st.sampled_from([n, m, k, n + m, n * 2, m + 1, n - k, dims.maximum(0, n - 1), 3, 5])


@settings(deadline=None, derandomize=True, max_examples=400)
@given(st.lists(st.tuples(sizes, sizes), max_size=4), st.tuples(*[st.integers(0, 5)] * 3), sizes, sizes)
def test_what_follows_from_guards_is_true(
    pairs: list[tuple[Size, Size]], numbers: tuple[int, int, int], left: Size, right: Size
) -> None:
    """If all guards hold, sizes that are said to be equal have equal numbers."""
    env = dict(zip("nmk", numbers, strict=True))
    facts = Facts()
    for a, b in pairs:
        facts.assume_equal(a, b)
    if all(dims.evaluate(a, env) == dims.evaluate(b, env) for a, b in facts.guards):
        for a, b in pairs:
            assert dims.evaluate(a, env) == dims.evaluate(b, env)
        assert dims.evaluate(facts.canonical(left), env) == dims.evaluate(left, env)
        if facts.same(left, right):
            assert dims.evaluate(left, env) == dims.evaluate(right, env)


@settings(deadline=None, derandomize=True, max_examples=400)
@given(st.lists(st.tuples(sizes, sizes), max_size=4))
def test_replaying_guards_gives_the_same_facts(pairs: list[tuple[Size, Size]]) -> None:
    facts, again = Facts(), Facts()
    for a, b in pairs:
        facts.assume_equal(a, b)
    for a, b in facts.guards:
        again.assume_equal(parse_size(str(a)), parse_size(str(b)))
    assert again.guards == facts.guards
    for size in (n, m, k, n + m, n * 2, m + 1):
        assert again.canonical(size) == facts.canonical(size)


def test_a_number_goes_into_a_choice() -> None:
    """`max(0, q + 1) == 2` says what `q` is, wherever it is added up."""
    facts, n, m = Facts(), symbol("n"), symbol("m")
    size = dims.maximum(0, dims.floordiv(n - 1, 2) + 1)
    facts.assume_equal(size, 2)
    assert facts.canonical(size + 1) == 3 and facts.canonical(dims.floordiv(n - 1, 2)) == 1
    facts.assume_equal(dims.maximum(0, m - 3), 0)  # it may be less
    facts.assume_equal(dims.minimum(5, m), 4)
    assert facts.canonical(m) == 4
