"""Lookups: scores reproduced by hand from section 8 of the design, tiers, refusals, the cache."""

from __future__ import annotations

import pytest
from weft.backends.llvm.engine import target
from weft.errors import TypeProblem, UnknownName, Unsupported, ValueProblem
from weft.ir.dtypes import F32, F64, I32
from weft.ir.ops import TABLE
from weft.ir.types import TensorType
from weft.runtime.compiler import Options
from weft.runtime.registry import Registry
from weft.runtime.registry.implementation import Resources


def identity(x):
    return +x


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.mark.parametrize(
    ("op", "dtypes", "size", "kind", "score"),
    [
        ("add", ("f32", "f32"), 1000, "inline", 10 + 10 + 20),
        ("subtract", ("f64", "f64"), None, "inline", 10 + 10 + 20),  # NumPy's name for it
        ("exp", ("f16",), None, "inline", 10 + 20),
        ("add", ("f32", "f64"), None, "inline", 5 + 10 + 20),  # computed in f64
        ("sum", ("i32",), None, "inline", 5 + 20),  # computed in i64
        ("where", ("bool", "f32", "f32"), None, "inline", 30 + 20),
        ("gcd", ("i32", "i32"), None, "inline", 20 + 20),
        ("softmax", ("f64",), None, "weft", 10 + 20),
        ("softmax", ("i32",), None, "weft", 5 + 20),
    ],
)
def test_bundled(registry, op, dtypes, size, kind, score):
    found = registry.lookup(op, *dtypes, size=size)
    assert (found.implementation.kind, found.score) == (kind, score)
    assert found.implementation.tier == "bundled"


@pytest.mark.parametrize(
    ("hints", "size", "score"),
    [
        ((), None, 20),
        (("vectorized",), None, 20 + 20),
        (("small",), 1024, 20 + 15),
        (("small",), 1025, 20),
        (("small",), None, 20),
        (("large",), 65_536, 20 + 15),
        (("large",), 65_535, 20),
        (("memory-bound",), None, 20 + 10),  # an addition: one operation for twelve bytes
        (("compute-bound",), None, 20),
        (("vectorized", "small", "large", "memory-bound", "compute-bound"), 7, 20 + 20 + 15 + 10),
    ],
)
def test_hints(registry, hints, size, score):
    registry.register("add", "f32 f32 -> f32", lambda x, y: x + y, hints=hints)
    assert registry.lookup("add", "f32", "f32", size=size).score == score


def test_an_expensive_op_is_compute_bound(registry):
    registry.register("exp", "f32 -> f32", identity, hints=["compute-bound"])
    assert registry.lookup("exp", "f32").score == 10 + 10
    registry.register("exp", "f32 -> f32", identity, hints=["memory-bound"])
    assert registry.lookup("exp", "f32").score == 10 + 10  # the older one: this one has 10
    assert [c.score for c in registry.lookup("exp", "f32").alternatives] == [10, 30, 10]


def test_tier_before_score_before_age(registry):
    naive = registry.register("exp", "f32 -> f32", identity, variant="naive")
    found = registry.lookup("exp", "f32")
    assert found.implementation is naive and found.score == 10  # the bundled one has 30
    assert found.reason == "user kernels come before bundled ones"
    better = registry.register("exp", "f32 -> f32", identity, hints=["vectorized"])
    assert registry.lookup("exp", "f32").implementation is better
    assert registry.lookup("exp", "f32").reason == "score 30 against 10"
    newest = registry.register("exp", "f32 -> f32", identity, hints="vectorized")
    assert registry.lookup("exp", "f32").implementation is newest
    assert [c.implementation.tier for c in registry.lookup("exp", "f32").alternatives] == [
        "user", "user", "bundled", "fallback",
    ]  # fmt: skip


def test_castable_counts_only_where_nothing_is_exact(registry):
    wide = registry.register("add", "f64 f64 -> f64", lambda x, y: x + y)
    assert registry.lookup("add", "f32", "f32").implementation.tier == "bundled"
    refused = next(c for c in registry.explain("add", "f32", "f32").candidates if c.implementation is wide)
    assert refused.refusal is not None and refused.refusal.startswith("castable")
    cube = registry.register("cube", "f64 -> f64", lambda x: x * x * x)
    assert registry.lookup("cube", "f32").implementation is cube
    assert registry.lookup("cube", "f32").score == 5


def test_refusals_say_why(registry):
    add = ("add", "f32 f32 -> f32", lambda x, y: x + y)
    registry.register(*add, name="large", min_size=5000)
    registry.register(*add, name="small", max_size=10)
    registry.register(*add, name="wide", requires=["avx9000"])
    registry.register(*add, name="rows", ranks=[2])
    registry.register(*add, name="picky", can_handle=lambda query: False)
    registry.register(*add, name="broken", can_handle=lambda query: 1 // 0)
    explained = registry.explain("add", "f32", "f32", size=1000, ranks=(1, 1))
    assert {c.implementation.name: c.refusal for c in explained.ranking.refused} == {
        "large": "fewer elements than min_size 5000",
        "small": "more elements than max_size 10",
        "wide": "the CPU lacks avx9000",
        "rows": "it is not for 1 dimension",
        "picky": "its can_handle refuses",
        "broken": "its can_handle raised ZeroDivisionError: integer division or modulo by zero",
    }
    assert registry.lookup("add", "f32", "f32", size=5000).implementation.name == "rows"
    assert registry.explain("add", "f32", "f32").ranking.refused[0].refusal == "the size is not known"
    for told in ("score 40 = f32 exact 10 + f32 exact 10 + vectorized 20", "refused, the CPU lacks avx9000"):
        assert told in str(explained)
    assert str(explained).endswith("winner: bundled inline vectorized add (f32 f32 -> f32), "
                                   "bundled kernels come before fallback ones")  # fmt: skip


def test_features_are_those_of_the_target(registry):
    registry.register("exp", "f32 -> f32", identity, requires=["avx512f"])
    types = (TensorType(F32, ()),)
    kinds = {
        level: registry.selecting({}, Options(target=target.x86(level)), 0).choose("exp", types, types[0], {}).body
        for level in (3, 4)
    }
    assert kinds[3] is None and kinds[4] is not None


def test_can_handle_and_estimate_see_the_query(registry):
    seen = []
    registry.register(
        "exp", "f32 -> f32", identity, can_handle=lambda query: seen.append(query) or True,
        estimate=lambda query: query.size * 2.5, resources=Resources(memory=4096, threads=2), alignment=64,
    )  # fmt: skip
    text = str(registry.explain("exp", "f32", size=10))
    assert seen[0].dtypes == (F32,) and seen[0].size is None
    assert "alignment 64; traced from Python; needs 4096 bytes, 2 threads; estimates 25" in text


def test_the_short_way_agrees_with_the_ranking(registry):
    """Compiling computes no scores for ops that users have not touched; its choice is that of a lookup."""
    for op in TABLE.values():
        for dtype in (F32, F64, I32):
            if op.arity is None or op.arity == 0 or op.name in ("cast", "scan", "complex_function"):
                continue
            types = (TensorType(dtype, ()),) * op.arity
            choice = registry.choose(op.name, types, types[0], {})
            ranking = registry.selecting({}, None, 0).ranking(op.name, types, types[0], None)
            if ranking.order:
                first = ranking.order[0]
                assert (choice.kind, choice.variant) == (first.implementation.kind, first.implementation.variant)
                assert choice.score == first.score or choice.kind == "python"


def test_lookups_are_cached_by_size_class(registry):
    registry.register("exp", "f32 -> f32", identity, min_size=100, name="large")
    before = registry.stats()
    for size in (1, 50, 99, 100, 10**9, 7):
        assert registry.lookup("exp", "f32", size=size).implementation.name == ("exp" if size < 100 else "large")
    after = registry.stats()
    assert (after.hits - before.hits, after.misses - before.misses) == (4, 2)
    assert after.cache_entries == 2 and after.implementations == before.implementations
    registry.lookup("add", "f32", "f32")
    registry.register("exp", "f64 -> f64", identity)
    assert registry.stats().cache_entries == 1  # what is known of `add` stays
    registry.clear_cache()
    assert registry.stats().cache_entries == 0
    assert registry.stats().implementations == before.implementations + 1


def test_stats_count(registry):
    before = registry.stats()
    registry.unary("cube", lambda x: x * x * x)
    registry.register("exp", "f32 -> f32", identity)
    after = registry.stats()
    assert after.kernel_names == before.kernel_names + 1
    assert after.implementations == before.implementations + 14 + 1
    assert registry.unregister("cube") == 14 and registry.unregister("cube") == 0
    assert registry.stats().kernel_names == before.kernel_names


def test_what_can_not_be_registered(registry):
    with pytest.raises(UnknownName, match="no op is called 'sofmax'"):
        registry.lookup("sofmax", "f32")
    with pytest.raises(UnknownName, match="unknown dtype 'f23'"):
        registry.register("cube", "f23 -> f32", identity)
    with pytest.raises(SyntaxError, match="the signature 'f32' must have"):
        registry.register("cube", "f32", identity)
    with pytest.raises(ValueProblem, match="unknown hint 'fast'"):
        registry.register("cube", "f32 -> f32", identity, hints=["fast"])
    with pytest.raises(ValueProblem, match="unknown variant 'quick'"):
        registry.register("cube", "f32 -> f32", identity, variant="quick")
    with pytest.raises(ValueProblem, match="can't be the name of an op"):
        registry.register("kernel", "f32 -> f32", identity)
    with pytest.raises(ValueProblem, match="can't be the name of an op"):
        registry.register("__class__", "f32 -> f32", identity)
    with pytest.raises(Unsupported, match="'cast' can't be replaced"):
        registry.register("cast", "f32 -> f32", identity)
    with pytest.raises(Unsupported, match="'mean' can't be replaced, because"):
        registry.register("mean", "f32 -> f32", identity)
    with pytest.raises(TypeProblem, match="'exp' must be f32 -> f32 for these operands, not f32 -> f64"):
        registry.register("exp", "f32 -> f64", lambda x: x.astype("float64"))
    with pytest.raises(TypeProblem, match="gives f64 where 'f32 -> f32' says f32") as caught:
        registry.register("cube", "f32 -> f32", lambda x: x.astype("float64"))
    assert caught.type is TypeProblem
    with pytest.raises(TypeProblem, match="'cube' can't be traced as an implementation of 'cube': division by zero"):
        registry.register("cube", "f32 -> f32", lambda x: x * (1 / 0), kind="inline")
    with pytest.raises(TypeProblem, match="not float -> i32"):
        registry.register("exp", "float -> i32", lambda x: x.astype("int32"))
    with pytest.raises(TypeProblem, match=r"'exp' gives \[n, m\], but 'f32\[n, m\] -> f32\[n\]' says \[n\]"):
        registry.register("exp", "f32[n, m] -> f32[n]", lambda x: x.sum(1))
    with pytest.raises(TypeProblem, match="'exp' must have 1 operand,"):
        registry.register("exp", "f32 f32 -> f32", lambda x, y: x)
    with pytest.raises(ValueProblem, match="min_size must be from 0 to max_size"):
        registry.register("cube", "f32 -> f32", identity, min_size=10, max_size=9)
    with pytest.raises(Unsupported, match="must have 1 operand, as 'softmax' has"):
        registry.register("softmax", "f32 f32 -> f32", lambda x, y: x)
    assert registry.implementations() == ()


def test_what_is_no_number_or_no_shape_is_told(registry):
    for wrong in ({"min_size": "9"}, {"max_size": 1.5}, {"alignment": None}, {"resources": {"disk": 1}}):
        with pytest.raises(TypeProblem, match=next(iter(wrong))):
            registry.register("new", "f32 -> f32", lambda x: x, **wrong)
    for wrong in (
        {"requires": 3}, {"hints": None}, {"hints": [3]}, {"ranks": ["one"]}, {"variant": None}, {"name": 3},
        {"can_handle": 3}, {"estimate": "fast"}, {"min_siz": 3},
    ):  # fmt: skip
        with pytest.raises(TypeProblem, match=next(iter(wrong))):
            registry.register("new", "f32 -> f32", lambda x: x, **wrong)
        with pytest.raises(TypeProblem, match=next(iter(wrong))):
            registry.unary("new", lambda x: x, **wrong)
    with pytest.raises(TypeProblem, match="signature must be a string such as"):
        registry.register("new", 32, lambda x: x)
    with pytest.raises(TypeProblem, match="unregister takes the name of an op or an implementation, not 3"):
        registry.unregister(3)
    with pytest.raises(TypeProblem, match=r"gives the shape \[min\(2, n\)\] where 'f32\[n\] -> f32\[n\]' says \[n\]"):
        registry.register("new", "f32[n] -> f32[n]", lambda x: x[:2])
    registry.register("new", "f32 -> f32", lambda x: x, resources={"memory": 4096})
    assert registry.register("bitwise_and", "any any -> any", lambda x, y: x, kind="python").op == "bitwise_and"
    assert "needs 4096 bytes, 1 threads" in str(registry.explain("new", "f32"))
    for size in (-1, 2.5, "9"):
        with pytest.raises(ValueProblem, match="size must be a number of elements"):
            registry.lookup("new", "f32", size=size)
    assert registry.lookup("new", "f32", ranks=[2]) is registry.lookup("new", "f32", ranks=(2,))
    for ask in (registry.lookup, registry.explain):
        with pytest.raises(TypeProblem, match="ranks must be"):
            ask("new", "f32", ranks="two")
        with pytest.raises(TypeProblem, match="unknown dtype"):
            ask("new", ["f32"])
