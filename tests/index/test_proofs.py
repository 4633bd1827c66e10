"""Test that proofs about sizes hold for all numbers, and that programs can be proved."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from weft.ir import dims
from weft.ir.dims import Size
from weft.ir.proofs import follows
from weft.ir.text.notation import parse_size

NUMBERS = [dict(zip("nmk", values, strict=True)) for values in product(range(6), repeat=3)]


@pytest.mark.parametrize(
    ("goal", "known"),
    [
        ("n", ""),
        ("n - 1", "n - 3"),
        ("n - k - 1", "n - k - 3; k"),
        ("n + 1 - 2*floordiv(n, 2)", ""),
        ("floordiv(n, 2)*2 + 1 - n", ""),
        ("n - 1", "2*n - 1"),
        ("n - 2 - max(0, n - 2)", "max(0, n - 2) - 1"),
        ("m - 1", "min(n, m) - 1"),
        ("n*m - m", "n - 1"),
        ("n*m - 1 - m*k", "n - k - 1; m - 1"),
        ("n - 1", "n + k - 3; 2 - k"),
        ("0 - n", "0 - 1"),
        ("n - 1 - m", "max(0, n - 1 - m) - 1 - k"),
    ],
)
def test_what_programs_need(goal: str, known: str) -> None:
    facts = [parse_size(text) for text in known.split(";") if text]
    assert follows(parse_size(goal), facts)


def term(random: Random) -> Size:
    n, m, k = map(dims.symbol, "nmk")
    number, other = random.randint(-3, 3), random.choice((n, m, k))
    kind = random.randrange(6)
    if kind == 0:
        return dims.floordiv(other + number, random.choice((2, 3)))
    if kind == 1:
        return random.choice((dims.maximum, dims.minimum))(other + number, random.choice((n, m, 2)))
    return other * random.choice((n, m)) if kind == 2 else other if kind < 5 else number


def size(random: Random) -> Size:
    total: Size = random.randint(-3, 3)
    for _ in range(random.randint(1, 3)):
        total = total + term(random) * random.choice((-2, -1, 1, 1, 2))
    return total


def test_what_is_shown_is_true() -> None:
    random, shown = Random(5), 0
    for _ in range(300):
        goal, known = size(random), [size(random) for _ in range(random.randint(0, 3))]
        if not follows(goal, known):
            continue
        shown += 1
        for env in NUMBERS:
            if all(dims.evaluate(fact, env) >= 0 for fact in known):
                assert dims.evaluate(goal, env) >= 0, (str(goal), list(map(str, known)), env)
    assert shown > 20
