"""Expressions built by hand: types, arguments, replay on the types of a call, and their errors."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.reference import run
from weft.frontend.tracing.tensors import ExpressionKernel, tensor
from weft.ir import errors
from weft.ir.source import Built

from .tracing import arg_type, execute, same

X = np.random.default_rng(4).normal(size=(3, 4)).astype(np.float32)


def built(expression: Any, *args: Any) -> Built:
    kernel = ExpressionKernel(expression, evaluate=run)
    types = [arg_type(a) for a in args]
    return kernel.build(kernel.bind(types), types)


def result(expression: Any, *args: Any) -> Any:
    return execute(built(expression, *args), args)


def test_types_are_known_at_once() -> None:
    x = tensor("x", "f32[n, m]")
    assert [str(size) for size in x.shape] == ["n", "m"] and x.dtype == np.float32 and x.ndim == 2
    y = (np.tanh(x) + 1).sum(axis=0)
    assert [str(size) for size in y.shape] == ["m"]
    assert str(x[1:].shape[0]) == "max(0, n - 1)"


def test_elementwise_and_reductions() -> None:
    x = tensor("x", "f32[n, m]")
    same(result(np.tanh(x) + 1, X), np.tanh(X) + 1)
    same(
        result((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True), X),
        (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True),
    )
    same(result((x.sum(), -x), X), (X.sum(), -X))
    same(result({"a": x.T, "b": x[::-1, 1:]}, X), {"a": X.T, "b": X[::-1, 1:]})
    same(result(divmod(x, 2), X), divmod(X, 2))
    same(result(np.divmod(x, 2)[1], X), np.divmod(X, 2)[1])


def test_sizes_in_expressions() -> None:
    x = tensor("x", "f32[n, m]")
    same(result(x.reshape(x.shape[0] * x.shape[1]) / x.shape[0], X), X.reshape(12) / 3)
    same(result(x[: x.shape[0] - 1], X), X[:2])
    same(result(x / x.size, X), X / 12)


def test_a_dimension_of_one_broadcasts() -> None:
    x, y = tensor("x", "f64[n, m]"), tensor("y", "f64[k, m]")
    expression = x * y
    for n, k in ((3, 1), (1, 3), (3, 3), (1, 1)):
        a, b = np.ones((n, 4)) * 2, np.arange(k * 4.0).reshape(k, 4)
        same(result(expression, a, b), a * b)
    with pytest.raises(errors.ShapeProblem, match="broadcast"):
        result(expression, np.ones((2, 4)), np.ones((3, 4)))
    squeezed = np.squeeze(x)
    same(result(squeezed, np.ones((1, 4))), np.ones(4))
    same(result(squeezed, np.ones((2, 4))), np.ones((2, 4)))


def test_scalars() -> None:
    x, k = tensor("x", "f32[n]"), tensor("k", "f32")
    found = built(x * k, X[0], 3)
    assert str(found.graph.inputs[1].type) == "f32"
    same(execute(found, (X[0], np.float32(3))), X[0] * np.float32(3))
    with pytest.raises(errors.TypeProblem, match=r"argument 'k' must be f32, not weak complex"):
        built(x * k, X[0], 1j)
    i = tensor("i", "i32")
    with pytest.raises(errors.TypeProblem, match="argument 'i' must be i32, not weak float"):
        built(x * i, X[0], 1.5)


def test_same_names_must_agree_at_the_call() -> None:
    kernel = ExpressionKernel(tensor("x", "f32[n, m]") + tensor("b", "f32[m]"))
    with pytest.raises(errors.ShapeProblem) as caught:
        kernel.bind([arg_type(X), arg_type(X[0, :3])])
    assert str(caught.value) == (
        "expression: argument 'b' has 'm' = 3 on axis 0, but 'x' has 'm' = 4\n"
        "hint: dimensions with the same name must be equal; b is f32[m]"
    )


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ((X.astype(np.float64),), errors.TypeProblem, "argument 'x' must be f32[n, 4], not f64"),
        ((X[0],), errors.ShapeProblem, "argument 'x' must have 2 dimensions (f32[n, 4]), not 1"),
        ((X[:, :3],), errors.ShapeProblem, "argument 'x' must have size 4 on axis 1 (f32[n, 4]), not 3"),
        ((X, X), errors.TypeProblem, "takes 1 argument (x), not 2"),
    ],
)
def test_wrong_arguments(args: Any, kind: Any, message: str) -> None:
    kernel = ExpressionKernel(tensor("x", "f32[n, 4]") + 1)
    with pytest.raises(kind) as caught:
        kernel.bind([arg_type(a) for a in args])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind", "message", "hint"),
    [
        ("f33[n]", errors.TypeProblem, "unknown dtype 'f33'", "did you mean"),
        ("quux", errors.TypeProblem, "unknown dtype 'quux'", "dtypes are bool"),
        ("float[n]", errors.TypeProblem, "'float' is a class of dtypes", "write f32"),
        ("f32[n", errors.SyntaxProblem, "'f32[n' is not a type", "as in 'f32[n, m]'"),
        ("f32[n,]", errors.SyntaxProblem, "'' in 'f32[n,]' is not a dimension", "a name or a number"),
        ("f32[...]", errors.SyntaxProblem, "'...' in 'f32[...]' is not a dimension", "a name or a number"),
        ("", errors.SyntaxProblem, "'' is not a type", "as in 'f32[n, m]'"),
        (3, errors.SyntaxProblem, "3 is not a type", "as in 'f32[n, m]'"),
    ],
)
def test_malformed_types(text: Any, kind: Any, message: str, hint: str) -> None:
    with pytest.raises(kind) as caught:
        tensor("x", text)
    assert message in caught.value.message and hint in str(caught.value.hint)
    assert caught.value.span is not None and caught.value.span.text == '        tensor("x", text)\n'


def test_two_tensors_of_one_name() -> None:
    same_type = tensor("x", "f32[n]") + tensor("x", "f32[n]")
    assert ExpressionKernel(same_type).parameters == ("x",)
    with pytest.raises(errors.TypeProblem, match=r"two tensors are called 'x': f32\[n\] and f64\[n\]"):
        ExpressionKernel(tensor("x", "f32[n]") + tensor("x", "f64[n]"))
    with pytest.raises(errors.ValueProblem, match="the name of a tensor must be an identifier"):
        tensor("2x", "f32")


def test_mistakes_show_at_their_line() -> None:
    x = tensor("x", "f32[n, m]")
    with pytest.raises(errors.TypeProblem) as caught:
        np.bitwise_and(x, 1)
    assert caught.value.span is not None and caught.value.span.text == "        np.bitwise_and(x, 1)\n"
    with pytest.raises(errors.TraceProblem, match=r"np\.where"):
        bool(x.sum() > 0)
    expression = x + tensor("y", "f32[n, k]")
    with pytest.raises(errors.ShapeProblem) as caught_later:
        result(expression, X, X[:, :2])
    assert caught_later.value.span is not None and "tensor(" in str(caught_later.value.span.text)


def test_fallbacks_and_captured_arrays() -> None:
    x, weights = tensor("x", "f32[n, m]"), np.arange(4.0)
    expression = np.sort(np.exp(x), axis=1) * weights + 1
    same(result(expression, X), np.sort(np.exp(X), axis=1) * weights + 1)
    with pytest.raises(errors.Unsupported, match="only known in a call"):
        _ = expression.shape


def test_deep_expressions() -> None:
    x = tensor("x", "f64[n]")
    same(result(reduce(operator.add, [x] * 3000), np.ones(2)), np.full(2, 3000.0))


def test_not_an_expression() -> None:
    for wrong in (3, np.ones(3), (), (tensor("x", "f32"), 2)):
        with pytest.raises(errors.TypeProblem, match=r"expected an expression made from weft.tensor"):
            ExpressionKernel(wrong)


def test_arguments_come_in_the_order_of_use() -> None:
    y, x = weft.tensor("y", "f32[n]"), weft.tensor("x", "f32[n]")
    a, b = np.array([5, 7], np.float32), np.array([1, 2], np.float32)
    k = weft.compile(x - y)
    assert repr(k) == "<weft kernel expression(x: f32[n], y: f32[n])>"
    assert k(a, b).tolist() == [4, 5]
    assert weft.compile((2 - np.sqrt(y) * x, x))(b, a)[1].tolist() == [5, 7]
    for arguments in (("y", "x"), (y, x), ["y", x]):
        k = weft.compile(x - y, arguments=arguments)
        assert k.parameters == ("y", "x") and k(b, a).tolist() == [4, 5]
    unused = weft.tensor("z", "f64")
    assert weft.compile(x + 1, arguments=(unused, x))(0.0, b).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "the expression uses 'y', which is not among the arguments"),
        (("x", "y", "x"), "'x' appears twice"),
        (("x", "yy"), "no tensor 'yy'"),
        ((1, 2), "must be tensors or their names"),
        ((weft.tensor("x", "f64[n]"), "y"), "two tensors are called 'x'"),
    ],
)
def test_wrong_orders(arguments: Any, message: str) -> None:
    x, y = weft.tensor("x", "f32[n]"), weft.tensor("y", "f32[n]")
    with pytest.raises(errors.WeftError, match=message):
        weft.compile(x - y, arguments=arguments)
