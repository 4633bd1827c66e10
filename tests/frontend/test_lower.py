"""Test kernels of the language against NumPy, with the reference backend on the lowered graph."""

from __future__ import annotations

import numpy as np
import pytest
from weft.frontend.language.source import parse_module
from weft.frontend.lowering.conform import same_kind
from weft.ir import dtypes
from weft.ir.errors import OverflowProblem, ShapeProblem, TypeProblem
from weft.ir.graph import graph_guards
from weft.ir.source import ArgType, KernelSource

RNG = np.random.default_rng(7)
X = RNG.standard_normal((3, 4)).astype(np.float32)
Y = RNG.standard_normal((3, 4)).astype(np.float32)
K = RNG.integers(1, 9, (3, 4)).astype(np.int32)
J = RNG.integers(1, 9, (3, 4)).astype(np.int32)


def same(got, expected) -> None:
    expected = np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x + y", X + Y),
        ("x - 2 * y / 3", X - 2 * Y / 3),
        ("x // y + x % y", X // Y + X % Y),
        ("x ** 2 + x ** 3", np.square(X) + X**3),
        ("-x + +y", -X + +Y),
        ("x < y", X < Y),
        ("x >= y", X >= Y),
        ("x == x", X == X),
        ("x != y", X != Y),
        ("0 < x < y", (X > 0) & (X < Y)),
        ("0 < x < y < 1 > x", (X > 0) & (X < Y) & (Y < 1) & (X < 1)),
        ("x > 0 and y > 0 or not x > y", (X > 0) & (Y > 0) | ~(X > Y)),
        ("not x", ~(X.astype(bool))),
        ("x and y", np.ones((3, 4), bool)),
        ("x * 0.5", X * np.float32(0.5)),
        ("1 / x", 1 / X),
        ("where(x > 0, x, y)", np.where(X > 0, X, Y)),
        ("x[0] + y[1:2]", X[0] + Y[1:2]),
        ("x[:, None, 0] * y[0, ...]", X[:, None, 0] * Y[0, ...]),
        ("x[::-1, ::2]", X[::-1, ::2]),
        ("x[-1, -2]", X[-1, -2]),
        ("x[1:] - x[:-1]", X[1:] - X[:-1]),
        ("x[:, 1:m - 1]", X[:, 1:3]),
        ("x[n - 1]", X[2]),
        ("sum(x, axis=-1)", X.sum(axis=-1)),
        ("max(x, axis=(0, 1), keepdims=true)", X.max(axis=(0, 1), keepdims=True)),
        ("mean(x, axis=0) + var(x, axis=0)", X.mean(axis=0) + X.var(axis=0)),
        ("sum(x, dtype=f64)", X.sum(dtype=np.float64)),
        ("x / n + m", X / 3 + 4),
        ("transpose(x)", X.T),
        ("reshape(x, (m, n))", X.reshape(4, 3)),
        ("reshape(x, (n * m,))", X.reshape(12)),
        ("reshape(x, -1)", X.reshape(-1)),
        ("broadcast_to(x[0], (n, m))", np.broadcast_to(X[0], (3, 4))),
        ("f64(x) + y", X.astype(np.float64) + Y),
        ("i32(x * 10)", (X * 10).astype(np.int32)),
        ("astype(x, f64)", X.astype(np.float64)),
        ("x * pi + e", X * np.pi + np.e),
        ("minimum(x, inf)", X),
        ("full_like(x, n) * 2", np.full_like(X, 6)),
        ("x if n == 3 else y", X),
        ("x if n != 3 else y", Y),
        ("x * (1 if n == 4 else 3)", X * 3),
        ("x * (1.5 if sum(x) > 100 else 2.5)", X * np.float32(2.5)),
        ("(x\n + y\n)", X + Y),
    ],
)
def test_expressions(evaluate, body: str, expected) -> None:
    (got,) = evaluate(f"kernel f(x: f32[n, m], y: f32[n, m]) = {body}", X, Y)
    same(got, expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("i & j | i ^ j", K & J | K ^ J),
        ("~i", ~K),
        ("i << 2 >> 1", K << 2 >> 1),
        ("i << j", K << J),
        ("i // j * j + i % j", K // J * J + K % J),
        ("-i // 3", -K // 3),
        ("i / j", K / J),
        ("i * 0.5", K * 0.5),
        ("sum(i)", K.sum()),
        ("i > 100000000000", K > 100000000000),
        ("i + 2147483647", K + np.int32(2147483647)),
        ("(i > 3) & (j > 3)", (K > 3) & (J > 3)),
        ("any(i > 8, axis=0)", (K > 8).any(axis=0)),
        ("i ** 2", K**2),
    ],
)
def test_integer_expressions(evaluate, body: str, expected) -> None:
    (got,) = evaluate(f"kernel f(i: i32[n, m], j: i32[n, m]) = {body}", K, J)
    same(got, expected)


def test_functions_map_over_arrays_with_broadcasting(evaluate) -> None:
    text = "const C = 2\nfn f(a, b) = C * a + b\nkernel k(x: float[n, m], y: float[m]) = f(x, b=y[None, :])"
    same(evaluate(text, X, Y[0])[0], 2 * X + Y[0])


def test_functions_call_functions_in_any_order(evaluate) -> None:
    text = "kernel k(x: f32[n]) = twice(x)\nfn twice(x) = half(x) * 4\nfn half(x) = x / 2"
    same(evaluate(text, X[0])[0], X[0] / 2 * 4)


def test_variables_and_assignment(evaluate) -> None:
    text = """
    kernel k(x: f32[n]) -> f32[n] {
        let a = x + 1; var b = a
        b *= 2; b -= x
        b = b / 3
        return b
    }"""
    same(evaluate(text, X[0])[0], ((X[0] + 1) * 2 - X[0]) / 3)


def test_if_works_per_element_in_a_fn(evaluate) -> None:
    text = """
    fn clamp(x, low, high) {
        var y = x
        if x < low { y = low }
        else if x > high { y = high }
        return y
    }
    kernel k(x: f32[n, m]) = clamp(x, -0.5, 0.5)"""
    same(evaluate(text, X)[0], np.clip(X, np.float32(-0.5), np.float32(0.5)))


def test_if_without_else_keeps_the_old_value(evaluate) -> None:
    text = "fn f(x) {\n var y = x; var z = x\n if x > 0 { let t = y * 2; y = t }\n return y + z\n}\n"
    text += "kernel k(x: f32[n]) = f(x)"
    same(evaluate(text, X[0])[0], np.where(X[0] > 0, X[0] * 2, X[0]) + X[0])


def test_if_that_assigns_only_in_else(evaluate) -> None:
    text = "fn f(x) {\n var y = x\n if x > 0 { } else { y = -x }\n return y\n}\nkernel k(x: f32[n]) = f(x)"
    same(evaluate(text, X[0])[0], np.abs(X[0]))


def test_if_in_a_kernel_chooses_whole_arrays(evaluate) -> None:
    text = "kernel k(x: f32[n], c: i32) -> f32[n] {\n var y = x\n if c > 2 { y = x * 2 } else { y = -x }\n return y\n}"
    same(evaluate(text, X[0], 3)[0], X[0] * 2)
    same(evaluate(text, X[0], 2)[0], -X[0])


def test_choices_between_literals_stay_weak(evaluate) -> None:
    text = """
    fn slope(x) {
        var k = 1
        if x < 0 { k = 0.01 }
        return x * k * (2 if x > 1 else 1)
    }
    kernel k(x: float[n]) = slope(x)"""
    x = np.array([-2, 0.5, 3], np.float32)
    same(evaluate(text, x)[0], x * np.array([0.01, 1, 1], np.float32) * np.array([1, 1, 2], np.float32))
    assert evaluate(text, x.astype(np.float64))[0].dtype == np.float64


def test_a_weak_choice_that_nothing_asks_of_is_i64_or_f64(evaluate) -> None:
    same(evaluate("fn f(x) = 1 if x > 0 else 0\nkernel k(x: f32[n]) = f(x)", X[0])[0], (X[0] > 0).astype(np.int64))
    same(evaluate("fn f(x) = 1 if x > 0 else 0.5\nkernel k(x: f32[n]) = -f(x)", X[0])[0], -np.where(X[0] > 0, 1, 0.5))
    same(evaluate("kernel k(x: f32[n]) = 1 + 2", X[0])[0], np.int64(3))
    same(evaluate("kernel k(x: f32[n]) = n / 2", X[0])[0], np.float64(2.0))


def test_a_weak_integer_choice_becomes_a_float_after_its_arithmetic(evaluate) -> None:
    text = "fn f(x) = x * ((7 if x > 0 else 5) // 2 << 1)\nkernel k(x: f32[n]) = f(x)"
    same(evaluate(text, X[0])[0], X[0] * np.where(X[0] > 0, 6, 4).astype(np.float32))


def test_literals_take_the_dtype_they_meet(evaluate) -> None:
    for dtype in (np.float32, np.float64):
        x = X[0].astype(dtype)
        same(evaluate("const A = 0.1\nkernel k(x: float[n]) = A * x + 1", x)[0], 0.1 * x + 1)


def test_typed_const_is_strong(evaluate) -> None:
    same(evaluate("const A: f64 = 0.1\nkernel k(x: f32[n]) = A * x", X[0])[0], np.float64(0.1) * X[0])


def test_annotations_convert(evaluate) -> None:
    text = "kernel k(x: f32[n]) {\n let a: f64[n] = x\n var b: f32 = 0; b = sum(a)\n return a, b\n}"
    a, b = evaluate(text, X[0])
    same(a, X[0].astype(np.float64))
    same(b, np.float32(X[0].astype(np.float64).sum()))


def test_declared_results_convert_as_same_kind(evaluate) -> None:
    same(evaluate("kernel k(x: f32[n]) -> f64[n] { return x }", X[0])[0], X[0].astype(np.float64))
    same(evaluate("kernel k(x: f64[n]) -> f32[n] { return x }", X[0].astype(np.float64))[0], X[0])
    same(evaluate("kernel k(i: i32[n]) -> f32[n] { return i }", K[0])[0], K[0].astype(np.float32))
    same(evaluate("kernel k(i: i32[n]) -> i32 { return sum(i) }", K[0])[0], np.int32(K[0].sum()))
    with pytest.raises(TypeProblem, match=r"declared i32\[n\] but is f32"):
        evaluate("kernel k(x: f32[n]) -> i32[n] { return x }", X[0])


def test_conversion_of_results_is_numpys_same_kind() -> None:
    known = [d for d in dtypes.ALL if d != dtypes.BF16]
    for have in known:
        for want in known:
            assert same_kind(have, want) == np.can_cast(have.numpy, want.numpy, "same_kind"), (have, want)


def test_typed_fn_converts_its_parameters_and_result(evaluate) -> None:
    text = "fn f(a: f64, k: i32) -> f32 = a * k\nkernel g(x: f32[n]) = f(x, 3)"
    same(evaluate(text, X[0])[0], (X[0].astype(np.float64) * 3).astype(np.float32))


def test_several_outputs_and_names(evaluate) -> None:
    text = """
    kernel moments(x: float[n]) -> (mean: float, var: float) {
        let mu = mean(x)
        return mu, mean((x - mu)**2)
    }"""
    mean, var = evaluate(text, X[0])
    same(mean, X[0].mean())
    same(var, np.square(X[0] - X[0].mean()).mean())
    kernel = parse_module(text, "t.weft").kernels["moments"]
    assert kernel.outputs is not None and [o.name for o in kernel.outputs] == ["mean", "var"]


def test_kernels_call_kernels_as_whole_array_functions(evaluate) -> None:
    text = """
    kernel stats(x: float[k]) -> (float, float) { return min(x), max(x) }
    kernel scale(x: float[..., k], low: float, high: float) -> float[..., k] { return (x - low) / (high - low) }
    kernel k(x: f32[n, m]) -> f32[n, m] {
        let low, high = stats(reshape(x, (n * m,)))
        return scale(x, low, high=high)
    }"""
    same(evaluate(text, X)[0], (X - X.min()) / (X.max() - X.min()))


def test_softmax_of_any_rank(evaluate) -> None:
    text = """
    kernel softmax(x: float[..., m]) -> float[..., m] {
        let e = exp(x - max(x, axis=-1, keepdims=true))
        return e / sum(e, axis=-1, keepdims=true)
    }"""
    for shape in ((5,), (2, 5), (2, 3, 5), (1, 5), (2, 1), (0, 5)):
        x = RNG.standard_normal(shape)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        same(evaluate(text, x)[0], e / e.sum(axis=-1, keepdims=True))


def test_dots_stand_for_the_same_leading_sizes(evaluate) -> None:
    text = "kernel add(x: float[..., m], y: float[..., m], b: float[m]) -> float[..., m] { return x + y * b }"
    a, b = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((3, 4))
    same(evaluate(text, a, a, b[0])[0], a + a * b[0])
    same(evaluate(text, a, b, b[0])[0], a + b * b[0])
    same(evaluate(text, b[:1], a, b[0])[0], b[:1] + a * b[0])
    with pytest.raises(ShapeProblem, match="expected 3 or 1"):
        evaluate(text, a, RNG.standard_normal((2, 4)), b[0])


def test_a_dimension_of_size_one(evaluate) -> None:
    text = "kernel f(x: f32[n, m], b: f32[m]) -> f32[n, m] { return x * n + b / m }"
    for n, m in ((1, 4), (3, 1), (1, 1)):
        same(evaluate(text, X[:n, :m], Y[0, :m])[0], X[:n, :m] * n + Y[0, :m] / m)


def test_different_names_never_meet(evaluate) -> None:
    with pytest.raises(ShapeProblem, match="different names"):
        evaluate("kernel f(x: f32[n], y: f32[m]) = x + y", X[0], Y[0])


def test_results_with_computed_sizes(evaluate) -> None:
    same(evaluate("kernel d(x: f32[n]) -> f32[n - 1] { return x[1:] - x[:-1] }", X[0])[0], np.diff(X[0]))
    text = "kernel d(x: f32[n]) -> f32[2 * n] { return reshape(broadcast_to(x[:, None], (n, 2)), 2 * n) }"
    same(evaluate(text, X[0])[0], X[0].repeat(2))


def bound(text: str, *args: ArgType):
    return parse_module(text, "t.weft").kernels["f"].bind(args)


def test_binding_names_the_sizes(argument_type) -> None:
    binding = bound("kernel f(x: f32[n, m], y: any[..., n], k: f32) = x", *map(argument_type, (X, K.T[None], 2)))
    assert [str(t) for t in binding.types] == ["f32[n, m]", "i32[1, y_1, n]", "f32"]
    assert binding.sizes == {"n": 3, "m": 4, "y_1": 4}


def test_binding_of_ones_and_leading_sizes(argument_type) -> None:
    binding = bound("kernel f(x: f32[..., m], y: f32[x_0]) = x", *map(argument_type, (X, X[:1, 0])))
    assert [str(t) for t in binding.types] == ["f32[x_0_, m]", "f32[1]"]


def test_a_number_as_dimension_is_a_guard(argument_type) -> None:
    kernel = parse_module("kernel f(x: f32[n, 4]) -> f32[n, 4] { return x * 2 }", "t.weft").kernels["f"]
    graph = kernel.build(kernel.bind([argument_type(X)])).graph
    assert [(str(a), str(b)) for a, b in graph_guards(graph)] == [("x_axis1", "4")]
    with pytest.raises(ShapeProblem, match="expected size 4 on axis 1, got 3"):
        kernel.bind([argument_type(X[:, :3])])


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("f32", 1, "f32"),
        ("f32", 1.5, "f32"),
        ("i32", 7, "i32"),
        ("u64", 2**63, "u64"),
        ("c64", 1.5, "c64"),
        ("float", 1.5, "weak float"),
        ("float", 1, "weak float"),
        ("int", 1, "weak int"),
        ("uint", 1, "u64"),
        ("complex", 2, "weak complex"),
        ("number", 2, "weak int"),
        ("any", 1j, "weak complex"),
        ("bool", True, "bool"),
        ("any", True, "bool"),
        ("float", np.float32(2), "f32"),
        ("i32", np.array(3, np.int32), "i32"),
        ("f32[...]", 2.5, "f32"),
    ],
)
def test_scalars_bind(argument_type, declared: str, value, expected: str) -> None:
    binding = bound(f"kernel f(x: {declared}) = x", argument_type(value))
    assert [str(t) for t in binding.types] == [expected]


@pytest.mark.parametrize(
    ("declared", "value", "error", "message"),
    [
        ("i32", 1.5, TypeProblem, "expected i32, got a Python float"),
        ("int", 1.5, TypeProblem, "expected int, got a Python float"),
        ("bool", 1, TypeProblem, "expected bool, got a Python int"),
        ("i32", True, TypeProblem, "expected i32, got bool"),
        ("f32", np.float64(2), TypeProblem, "expected f32, got f64"),
        ("f32", 1j, TypeProblem, "expected f32, got a Python complex"),
        ("i32", 2**31, OverflowProblem, "i32, which can't hold 2147483648"),
        ("uint", -1, OverflowProblem, "can't hold -1"),
        ("f64", 10**400, OverflowProblem, "can't hold an integer"),
        ("f32", X, ShapeProblem, r"expected a scalar, got 2 dimensions, shape \(3, 4\)"),
        ("f32[n]", 2.0, ShapeProblem, "expected 1 dimension, got a number"),
        ("f32[n]", X, ShapeProblem, "expected 1 dimension, got 2 dimensions"),
        ("f32[n, m, ...]", X[0], ShapeProblem, "expected 2 dimensions or more, got 1 dimension,"),
        ("f32[n]", X[0].astype(np.float64), TypeProblem, r"x\.astype\(np\.float32\)"),
        ("int[n]", X[0], TypeProblem, "expected int, got f32"),
        ("number[n]", X[0] > 0, TypeProblem, r"x\.astype\(np\.float64\)"),
        ("bf16[n]", X[0], TypeProblem, "convert it to bf16"),
        ("f32[n, n]", X, ShapeProblem, "expected n = 3 as in 'x', got 4"),
    ],
)
def test_wrong_arguments_are_named(argument_type, declared: str, value, error, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        bound(f"kernel f(x: {declared}) = x", argument_type(value))
    assert "argument 'x'" in str(caught.value) and "t.weft:1:10" in str(caught.value)


def test_number_of_arguments(argument_type) -> None:
    with pytest.raises(TypeProblem, match=r"f\(x, y\) takes 2 arguments, not 1"):
        bound("kernel f(x: f32, y: f32) = x", argument_type(1.0))


def test_types_alone_bind_without_values() -> None:
    binding = bound("kernel f(x: f32[n], k: i32) = x * k", ArgType(dtypes.F32, (5,)), ArgType(dtypes.WEAK_INT, ()))
    assert [str(t) for t in binding.types] == ["f32[n]", "i32"]


def test_a_kernel_is_a_kernel_source() -> None:
    module = parse_module("kernel f(x: float[..., m]) -> float[...] { return sum(x, axis=-1) }", "t.weft")
    source: KernelSource = module.kernels["f"]
    assert (source.name, source.parameters) == ("f", ("x",))
    assert module.kernels["f"].signature == "f(x: float[..., m]) -> float[...]"
    assert list(module.sources) == ["t.weft"]


def test_nodes_carry_spans(argument_type) -> None:
    kernel = parse_module("kernel f(x: f32[n]) {\n  return exp(x) + 1\n}", "t.weft").kernels["f"]
    graph = kernel.build(kernel.bind([argument_type(X[0])])).graph
    shown = {n.op.name: (n.span.line, n.span.column, n.span.length) for n in graph if n.span}
    assert shown["exp"] == (2, 10, 6) and shown["add"] == (2, 10, 10)


def test_a_kernel_may_be_called_like_a_function_and_does_not_replace_it(evaluate) -> None:
    text = "kernel add(x: f32[n], y: f32[n]) -> f32[n] { return add(x, y) * 2 }\n"
    same(evaluate(text, X[0], Y[0])[0], (X[0] + Y[0]) * 2)
    same(evaluate(text + "kernel twice(x: f32[n]) = add(x, x)", X[0])[0], X[0] + X[0])


def test_user_names_do_not_hide_functions_but_locals_may_be_called_like_them(evaluate) -> None:
    same(evaluate("kernel f(x: f32[n]) {\n let sum = sum(x); let e = sum * 2\n return sum + e }", X[0])[0],
         X[0].sum() + X[0].sum() * 2)  # fmt: skip
