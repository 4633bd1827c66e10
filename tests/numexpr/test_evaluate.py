"""`weft.numexpr` computes what numexpr does, in numexpr's kinds, whichever way an expression runs."""

from __future__ import annotations

import gc
import itertools
import random
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import weft
import weft.numexpr as ne
from weft.numexpr import programs, singles
from weft.numexpr.expressions import functions
from weft.numexpr.parser import MAX_TEXT

Array = np.ndarray[Any, Any]

VALUES: dict[str, Any] = {
    "b": np.array([True, False, True, True]),
    "i": np.array([1, -2, 3, 7], np.int8),
    "l": np.array([5, 6, -7, 8], np.int64),
    "f": np.array([0.5, -1.5, 2.0, 3.0], np.float32),
    "d": np.array([0.25, 2.0, -3.5, 4.0]),
    "c": np.array([1 + 2j, -0.5j, 3.0, 0.5 + 0.5j]),
    "one": 3,
    "half": np.float16(0.5),
}


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("i + i", "i4"), ("i + l", "i8"), ("i + one", "i8"), ("i + 2", "i4"), ("i + 2**40", "i8"), ("f + f", "f4"),
        ("f + half", "f4"), ("f + 1", "f4"), ("f + 1.5", "f8"), ("i + f", "f4"), ("l + f", "f4"), ("f + d", "f8"),
        ("d + c", "c16"), ("b + b", "?"), ("b * b", "?"), ("b + i", "i4"), ("i / i", "f8"), ("f / f", "f4"),
        ("i // 2", "i4"), ("i ** 2", "i4"), ("i ** 0.5", "f8"), ("f ** 2", "f4"), ("sin(i)", "f8"), ("sin(f)", "f4"),
        ("abs(i)", "f8"), ("abs(c)", "c16"), ("hypot(f, f)", "f8"), ("trunc(f)", "f8"), ("floor(f)", "f4"),
        ("round(l)", "i8"), ("sign(f)", "f8"), ("maximum(i, l)", "f8"), ("isnan(i)", "?"), ("c.real", "f8"),
        ("complex(d, i)", "c16"), ("conj(f)", "c16"), ("where(b, i, f)", "f4"), ("~i", "i4"), ("~b", "?"),
        ("d > i", "?"),
        ("sum(i)", "i4"), ("sum(f)", "f4"), ("prod(l)", "i8"), ("min(d)", "f8"), ("ones_like(f)", "f4"), ("2", "i4"),
        ("2.5", "f8"), ("1j", "c16"), ("i", "i4"),
    ],
)  # fmt: skip
def test_a_result_has_the_higher_kind_of_its_operands(text: str, dtype: str) -> None:
    """The dtypes are those that numexpr 2.14.2 gave for each line."""
    assert ne.evaluate(text, VALUES).dtype == np.dtype(dtype)


ORACLE = {name: getattr(np, name) for name in functions if hasattr(np, name)} | {"complex": lambda a, b: a + 1j * b}
LEAVES = ("i", "l", "f", "d", "2", "3", "0.5", "(i + 1)", "one")
BINARY = ("+", "-", "*", "/", "<", ">=", "==", "!=")
UNARY = ("sin", "sqrt", "exp", "abs", "arctan", "log1p", "floor", "-")


def random_expression(rng: random.Random, depth: int = 3) -> str:
    if not depth or rng.random() < 0.2:
        return rng.choice(LEAVES)
    if rng.random() < 0.3:
        return f"{rng.choice(UNARY)}({random_expression(rng, depth - 1)})"
    if rng.random() < 0.1:
        condition = f"{random_expression(rng, depth - 1)} > {random_expression(rng, depth - 1)}"
        return f"where({condition}, {random_expression(rng, depth - 1)}, {random_expression(rng, depth - 1)})"
    return f"({random_expression(rng, depth - 1)} {rng.choice(BINARY)} {random_expression(rng, depth - 1)})"


def test_all_ways_of_running_have_the_same_bits_and_agree_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, numbers = random.Random(5), np.random.default_rng(5)
    values = {
        "i": numbers.integers(-9, 9, 37).astype(np.int32), "l": numbers.integers(-9, 9, 37),
        "f": numbers.normal(size=37).astype(np.float32), "d": numbers.normal(size=37), "one": 3,
    }  # fmt: skip
    compared = 0
    for _ in range(60):
        text = random_expression(rng)
        try:
            quick = ne.evaluate(text, values, optimization="none", disable_cache=True)
        except NotImplementedError as missing:
            assert "find matching opcode" in str(missing)  # a sum of bools, for example
            continue
        compared += 1
        expression, arrays = ne.necompiler._find(text, values, {}, 1, None, {"optimization": "none"}, True)
        if expression.input_names:
            with monkeypatch.context() as small:
                small.setattr(singles, "_BLOCK", 8)
                blocks = expression.evaluate(list(arrays), None, "K", "same_kind")
            assert quick.dtype == blocks.dtype and quick.tobytes() == blocks.tobytes(), text
            expression._runner.kernel = expression._runner._make()
            fused = expression.evaluate(arrays, None, "K", "same_kind")
            assert quick.dtype == fused.dtype and quick.tobytes() == fused.tobytes(), text
        with np.errstate(all="ignore"):
            plain = in_numpy(text, values)
        np.testing.assert_allclose(quick, np.broadcast_to(plain, quick.shape), rtol=2e-4, atol=2e-5, err_msg=text)
    assert compared > 30


def test_blocks_of_elements_give_the_shape_and_the_order_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singles, "_BLOCK", 4)
    rows = np.arange(30.0).reshape(5, 6)
    for values in (
        {"a": rows, "b": rows}, {"a": rows.T, "b": rows.T}, {"a": rows, "b": rows[0]}, {"a": rows[::-1], "b": rows},
        {"a": rows.ravel()[::-2], "b": np.float64(3)}, {"a": np.float64(2), "b": np.ones(13)},
        {"a": rows.reshape(5, 3, 2), "b": rows.reshape(5, 3, 2)}, {"a": rows.ravel()[:9], "b": rows.ravel()[9:18]},
    ):  # fmt: skip
        plain = 2 * values["a"] + 3 * values["b"] > 40
        found = ne.evaluate("2*a + 3*b > 40", values)
        assert np.array_equal(found, plain) and found.shape == plain.shape
        assert found.flags.c_contiguous == plain.flags.c_contiguous
    overlapping = np.arange(20.0)
    ne.evaluate("2*a + 3*b", {"a": overlapping[:-1], "b": overlapping[1:]}, out=overlapping[1:])
    assert np.array_equal(overlapping[1:], 5 * np.arange(19.0) + 3)


@pytest.mark.parametrize("text", ["sum(f * d)", "sum(f, axis=1)", "sum(d - 1, axis=0)", "prod(d)", "sum(l)", "max(f)"])
def test_reductions_have_the_same_bits_both_ways(text: str) -> None:
    numbers = np.random.default_rng(6)
    values = {
        "f": numbers.normal(size=(3, 70)).astype(np.float32), "d": numbers.normal(size=(3, 70)),
        "l": numbers.integers(-9, 9, (3, 70)),
    }  # fmt: skip
    expression, arrays = ne.necompiler._find(text, values, {}, 1, None, {}, True)
    quick = expression.evaluate(list(arrays), None, "K", "same_kind")
    assert expression._runner.kernel is None
    expression._runner.kernel = expression._runner._make()
    fused = expression.evaluate(arrays, None, "K", "same_kind")
    assert quick.dtype == fused.dtype and quick.shape == fused.shape and quick.tobytes() == fused.tobytes()


def in_numpy(text: str, values: dict[str, Any]) -> Any:
    """Computes the same text in NumPy, in double precision throughout."""
    wide = {name: np.asarray(v).astype(np.float32 if name == "f" else np.float64) for name, v in values.items()}
    tree = compile(text, "<test>", "eval")
    return eval(tree, {"__builtins__": {}}, {**ORACLE, **wide})


def test_powers_by_every_optimization() -> None:
    x, whole = np.array([0.5, 2.0, 3.0]), np.array([-2, 1, 3], np.int32)
    for exponent, level in itertools.product(
        (-7, -2.5, -1, 0, 0.5, 1, 2, 3, 2.3, 50), ("none", "moderate", "aggressive")
    ):
        np.testing.assert_allclose(ne.evaluate(f"x**{exponent}", optimization=level), x ** float(exponent), rtol=1e-14)
    assert ne.evaluate("whole**3").tolist() == [-8, 1, 27]
    np.testing.assert_array_equal(ne.evaluate("whole**-1.0"), whole ** np.float64(-1))
    with pytest.raises(ValueError, match="negative integer powers"):
        ne.evaluate("whole**-1")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("__import__('os')", ValueError, "__name__"),
        ("lambda: 1", ValueError, "':'"),
        ("a[0]", ValueError, r"'\['"),
        ("a; a", ValueError, "';'"),
        ("a.__class__", ValueError, "__name__"),
        ("a.tofile('x')", ValueError, "'a.tofile' is not allowed"),
        ("(3+1).ᵇit_length()", ValueError, "is not allowed"),
        ("open('x')", ValueError, "is not allowed"),
        ("evaluate('1')", ValueError, "is not allowed"),
        ("sin(*a)", ValueError, "is not allowed"),
        ("(a, a)", ValueError, "is not allowed"),
        ("f'{a}'", ValueError, "':'|is not allowed"),
        ("a if a else a", TypeError, "truth value"),
        ("(a > 1) and (a < 2)", TypeError, "truth value"),
        ("0 < a < 1", TypeError, "truth value"),
        ("not a", TypeError, "truth value"),
        ("'x' * 99999999", TypeError, "strings and numbers"),
        ("9**9**9**9", OverflowError, "too large"),
        ("1 << 9999999999", OverflowError, "too large"),
        ("(" * 4000 + "a" + ")" * 4000, (ValueError, SyntaxError), "nest|parenthes"),
        ("a" + " + a" * MAX_TEXT, ValueError, "characters"),
        ("sum(a) + 1", RuntimeError, "last operation"),
        ("sum(a, axis=-1)", ValueError, "negative"),
        ("sin(a, a)", TypeError, "takes 1 argument"),
        ("a & 1.5", NotImplementedError, "and_ddd"),
        ("sin", TypeError, "is a function"),
        ("nothing + 1", KeyError, "nothing"),
        ("a +", SyntaxError, "invalid syntax"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, error: Any, message: str) -> None:
    a = np.ones(3)
    with pytest.raises(error, match=message):
        ne.evaluate(text, {"a": a}, {})
    assert isinstance(ne.validate(text, {"a": a}, {}), error)
    if error is ValueError and "'" in message:
        with pytest.raises((ValueError, SyntaxError, TypeError)):
            ne.evaluate(text, {"a": a}, {}, sanitize=False)


def test_long_sums_do_not_nest() -> None:
    x = np.arange(3.0)
    np.testing.assert_array_equal(ne.evaluate(" + ".join(["x"] * 800)), x * 800)


def test_names_come_from_the_frame_and_nothing_is_kept_alive() -> None:
    x = np.arange(5.0)
    assert ne.evaluate("x + y", {"y": 1, "x": 2}).tolist() == 3

    def inner() -> Array:
        x = np.ones(2)  # noqa: F841
        return np.asarray(ne.evaluate("x + gain", global_dict={"gain": 4}))

    assert inner().tolist() == [5, 5]

    class Body:
        x = np.ones(2)
        y = ne.evaluate("x * 2")
        kept = x

    assert Body.y.tolist() == [2, 2] and Body.kept is Body.x
    out = np.zeros(5)
    gone = weakref.ref(out)
    assert ne.evaluate("x + 1", out=out) is out and out.tolist() == [1, 2, 3, 4, 5]
    x = x * 2
    assert ne.re_evaluate() is out and out.tolist() == [1, 3, 5, 7, 9]
    del out
    gc.collect()
    assert gone() is None
    assert ne.re_evaluate().tolist() == [1, 3, 5, 7, 9]


def test_re_evaluate_belongs_to_its_thread() -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            ne.re_evaluate({})
        except RuntimeError as error:
            failed.append(error)

    ne.evaluate("1")
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "call evaluate or validate first" in str(failed[0])


def test_out_order_and_casting() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    narrow, wide, rows = np.empty((2, 3), np.float16), np.empty((4, 2, 3)), np.empty(3, np.float32)
    np.testing.assert_array_equal(ne.evaluate("x + 1", out=narrow), x + 1)
    np.testing.assert_array_equal(ne.evaluate("x + 1", out=wide), np.broadcast_to(x + 1, (4, 2, 3)))
    np.testing.assert_array_equal(ne.evaluate("sum(x, axis=0)", out=rows), x.sum(0))
    assert ne.evaluate("x + x", order="F").flags.f_contiguous
    whole = np.empty((2, 3), np.int32)
    with pytest.raises(TypeError, match="can't be written into an array of int32"):
        ne.evaluate("x + 1", out=whole)
    np.testing.assert_array_equal(ne.evaluate("x + 1", out=whole, casting="unsafe"), x + 1)
    y = np.arange(3, dtype=np.uint64)  # noqa: F841
    with pytest.raises(TypeError, match="y has dtype uint64"):
        ne.evaluate("y + 1", casting="safe")
    for odd in (x.astype(">f4"), np.frombuffer(b"\0" + x.tobytes(), np.float32, 6, 1), x.T, x[::-1, ::2]):
        np.testing.assert_array_equal(ne.evaluate("odd * 2"), odd * 2)


def test_strings_are_compared_and_searched() -> None:
    words = np.array([b"warp", b"weft", b"", b"web"])  # noqa: F841
    assert ne.evaluate("words == b'weft'").tolist() == [False, True, False, False]
    assert ne.evaluate("(words > 'w') & contains(words, b'we')").tolist() == [False, True, False, True]
    assert ne.evaluate("contains('a weft', words)").tolist() == [False, True, True, False]
    with pytest.raises(NotImplementedError, match="add_sss"):
        ne.evaluate("words + words")
    text = np.array(["unicode"])  # noqa: F841
    with pytest.raises(ValueError, match="encode them to bytes"):
        ne.evaluate("text == text")


def test_expressions_are_compiled_once_they_have_taken_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE", "FIRST", "TURN", "OPERATION"):
        monkeypatch.setattr(programs, name, -1e-9)
    x = np.arange(5.0)
    expression = ne.NumExpr("x * 3 + 0.25", [("x", np.double)])
    for _ in range(2):  # the time of the first call does not count
        assert expression._runner.kernel is None
        expression(x)
    for thread in threading.enumerate():
        if thread.name == "weft.numexpr":
            thread.join()
    assert expression._runner.kernel is not None
    np.testing.assert_array_equal(expression(x), x * 3 + 0.25)
    np.testing.assert_array_equal(expression(x, out=np.empty(5)), x * 3 + 0.25)

    def refuse(*_: Any) -> Any:
        raise weft.errors.LimitExceeded("too much")

    with monkeypatch.context() as patched:
        patched.setattr(programs, "expression_kernel", refuse)
        expression = ne.NumExpr("x * 3 + 0.75", [("x", np.double)])
        expression(x)
        expression(x)
        expression._runner._compile([x])
        np.testing.assert_array_equal(expression(x), x * 3 + 0.75)

    monkeypatch.setattr(programs, "OPERATION", 1.0)
    at_once = ne.NumExpr("x * 3 + 0.5", [("x", np.double)])
    np.testing.assert_array_equal(at_once(x), x * 3 + 0.5)
    assert at_once._runner.kernel is not None


def test_expressions_of_python_operators() -> None:
    a, b = np.array([1, 2], np.int32), np.array([0.5, 3.0])
    tree = 2.0 * ne.E.a + (ne.E.a > 1) * ne.E.b - 7 % ne.E.a
    assert ne.NumExpr(tree, [("a", np.int32), ("b", np.double)])(a, b).tolist() == [2.0, 6.0]
    assert ne.NumExpr("(a + 1) * (a - 1)", [("a", np.int32)]).constants == (1,)
    with pytest.raises(ValueError, match="the signature names"):
        ne.NumExpr("a + b", [("a", np.double)])


def test_threads_and_names_that_others_import() -> None:
    before = weft.get_threads()
    try:
        assert ne.set_num_threads(1) == before and weft.get_threads() == ne.get_num_threads() == 1
    finally:
        weft.set_threads(before)
    with pytest.raises(ValueError, match="must be between 1 and"):
        ne.set_num_threads(0)
    ne.print_versions()
    assert ne.use_vml is False and ne.ncores >= 1 and all(hasattr(ne, name) for name in ne.__all__)
