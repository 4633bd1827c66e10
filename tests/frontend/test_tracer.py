"""Traced functions against the functions themselves: operators, methods, sizes, captured arrays, fallbacks."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from weft.backends.reference import run
from weft.frontend.tracing.functions import TracedFunction
from weft.ir import errors
from weft.ir.ops import NUMPY
from weft.ir.source import ArgType

from .tracing import arg_type, build, check, execute, prepare, same, traced

X = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)
Y = np.arange(1, 5)
WEIGHTS = np.linspace(0, 1, 4)


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def test_softmax() -> None:
    check(lambda x: softmax(x), X)
    check(softmax, X, axis=0, static=("axis",))
    assert not [n for n in build(lambda x: softmax(x), X).graph if n.op is NUMPY]


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("function", BINARY)
def test_operators(function: Any) -> None:
    for other in (2, 2.5, Y, np.float32(3), np.abs(X), np.float64(2)):
        check(lambda x: function(x, other), np.abs(X))  # noqa: B023
        check(lambda x: function(other, x), np.abs(X))  # noqa: B023
    check(function, X, 2)
    check(function, X, 2.0)


@pytest.mark.parametrize("function", BITS)
def test_bit_operators(function: Any) -> None:
    check(lambda y: function(y, 1), Y)
    check(lambda y: function(3, y), Y.astype(np.int32))
    check(lambda y, k: function(y, k), Y, 2)


def test_unary_operators() -> None:
    check(lambda x: [-x, +x, abs(x)], X)
    check(lambda y: [-y, ~y, abs(y)], Y)
    check(lambda b: ~b, Y > 2)


def test_numbers_stay_weak() -> None:
    check(lambda x, k: x * k + 1, X, 3)
    check(lambda x, k: x * (k / 2) ** 2 - k // 2 + k % 2, X, 3.5)
    check(lambda x, k: x * k**-1, X, 4)
    check(lambda x, flag: x * flag, X, True)


def test_functions_of_numbers_are_strong() -> None:
    check(lambda x, k: x / np.sqrt(k), X, 3)
    check(lambda x, k: x + np.add(k, 1), X.astype(np.int32), 3)
    check(lambda x: x / np.sqrt(x.shape[0]), X)


def test_strong_scalars() -> None:
    check(lambda x, s: x * s, X, np.float64(2))
    check(lambda x, s: x * s, X, np.array(2.0))
    check(lambda x: x * np.float32(2), X.astype(np.float64))


def test_scalar_or_array() -> None:
    check(lambda x: [x.sum(), x[0, 0], x[0, 0] + 1, np.where(x[0, 0] > 0, 1, 2), x.sum().astype(np.float64)], X)
    check(lambda x: [x[...], x[()], x + 1, x.T, np.reshape(x, ())], np.array(2.5))
    check(lambda x: [x.sum()[()], x.sum()[...]], X)
    assert build(lambda x: (x.sum(), x), X).graph.attrs["results"] == ("scalar", "array")


def test_structures() -> None:
    check(lambda x: (x, x + 1), X)
    check(lambda x: [x], X)
    check(lambda x: {"a": x, "b": x.sum()}, X)
    check(lambda x: (x.sum(),), X)
    found = traced(lambda x: (x.shape[0], 2, x.shape[0] / 2), X)
    assert [f.dtype for f in found] == [np.int64, np.int64, np.float64] and found == (3, 2, 1.5)


def test_attributes() -> None:
    def function(x: Any) -> Any:
        assert (x.ndim, x.dtype, x.itemsize, len(x.shape)) == (2, np.float32, 4, 2)
        return [x.T, x.mT, x.real, x * x.ndim, x * x.size, x * x.nbytes]

    check(function, X)


def test_methods() -> None:
    check(lambda x: [x.sum(0), x.mean(axis=1), x.prod(), x.min(), x.max(0), x.std(), x.var(ddof=1)], X)
    check(lambda x: [x.reshape(4, 3), x.reshape((2, 6)), x.transpose(1, 0), x.transpose((1, 0)), x.transpose()], X)
    check(lambda x: [x.astype(int), x.astype("i8"), x.astype("f8"), x.round(), x.clip(0, 1), x.copy()], X)
    check(lambda x: [x.swapaxes(0, 1), x.ravel(), x.flatten(), x[None].squeeze(), x.any(), (x > 0).all(axis=0)], X)


def test_ufunc_methods() -> None:
    check(lambda x: np.add.reduce(x), X)
    check(lambda x: np.multiply.reduce(x, axis=1, keepdims=True), X)
    check(lambda x: np.maximum.reduce(x, axis=None), X)
    check(lambda y: np.add.reduce(y), Y.astype(np.int32))
    assert not build(lambda x: np.add.reduce(x), X).calls
    check(lambda x: np.multiply.outer(x, Y), X)
    check(lambda x: np.add.accumulate(x, axis=1), X)
    assert not build(lambda x: np.multiply.outer(x, Y), X).calls
    assert build(lambda x: np.subtract.reduce(x), X).graph.nodes[-1].attrs["function"] == "numpy.subtract.reduce"


def test_sizes_compute() -> None:
    check(lambda x: x / x.shape[1] + x.shape[0] * 2 - x.shape[0] % 2, X)
    check(lambda x: x.reshape(x.shape[0] * x.shape[1]), X)
    check(lambda x: x[: x.shape[0] // 2], np.arange(7.0))
    check(lambda x: x[x.shape[0] - 2], np.arange(7.0))
    check(lambda x: x.reshape(x.size // 2, 2), X)
    check(lambda x: np.broadcast_to(x, (2, *x.shape)), X)
    assert build(lambda x: x.sum() / x.shape[0], X).graph.attrs.get("guards") is None


def test_sizes_specialise() -> None:
    built = build(lambda x: sum(x[i] for i in range(x.shape[0])), X)
    assert built.graph.attrs["guards"].texts == ("x0 == 3",)
    check(lambda x: sum(row * 2 for row in x), X)
    check(lambda x: x + len(x), X)
    check(lambda x: x + int(x.shape[0] / 2) + math.sqrt(x.shape[1]), X)
    check(lambda x: x if x.shape[0] / 2 > 1 else -x, X)
    check(lambda x: x * np.arange(x.shape[1]), X)
    check(lambda x: [a + b for a, b in x.reshape(6, 2)], X)


def test_size_comparisons_are_guarded() -> None:
    def function(x: Any) -> Any:
        return x[:2] if x.shape[0] > 4 else x + 1

    assert build(function, np.ones(9)).graph.attrs["guards"].texts == ("max(5, x0) == x0",)
    assert build(function, np.ones(3)).graph.attrs["guards"].texts == ("max(4, x0) == 4",)
    for size in (2, 4, 5, 9):
        check(function, np.arange(float(size)))
    # Nothing but the comparison brings the two shapes together here, so the guards are its own.
    chosen = build(lambda x, y: x if x.shape == y.shape else y, X, X)
    assert chosen.graph.attrs["guards"].texts == ("x0 == y0", "x1 == y1")
    differs = build(lambda x, y: x if x.shape[0] != y.shape[0] else y, X, np.ones((5, 4)))
    assert differs.graph.attrs["guards"].texts == ("max(-x0 + y0, 1) == -x0 + y0",)
    check(lambda x, y: x if x.shape == y.shape else y, X, np.ones((3, 5)))
    check(lambda x: x * (x.shape[0] == 3) + (x.shape[0] != 3) + (2 <= x.shape[0] <= 4) + (x.ndim == 2), X)


def test_one_graph_serves_other_sizes() -> None:
    built, _ = prepare(lambda x, y: softmax(x) * y + x[:, 1:].sum(axis=1, keepdims=True), X, Y)
    for rows, columns in ((2, 3), (7, 9), (0, 4)):
        x, y = np.random.default_rng(rows).normal(size=(rows, columns)), np.arange(columns)
        same(
            execute(built, (x.astype(np.float32), y)),
            softmax(x.astype(np.float32)) * y + x.astype(np.float32)[:, 1:].sum(axis=1, keepdims=True),
        )


def test_in_place_operators_on_results() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        alias = y
        y += 1
        y *= np.float64(3)
        return alias, y

    check(function, X)

    def counted(x: Any, k: Any) -> Any:
        k += 1
        total = x.sum()
        total += k
        c = x.copy()
        c /= 2
        return total, c

    check(counted, X, 3)


def test_captured_arrays_are_read_at_each_call() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    built, values = prepare(lambda x: x * weights + weights, X)
    assert len(built.hidden) == 1 and built.hidden[0] is weights
    same(execute(built, values), X * weights + weights)
    weights[:] = 7
    same(execute(built, values), X * np.full(4, 7.0) + 7)


def test_captured_lists_and_global_arrays() -> None:
    check(lambda x: x * WEIGHTS + [1, 2, 3, 4], X)
    check(lambda x: np.where([True, False, True, False], x, 0), X)
    check(lambda x: WEIGHTS * x, X)
    check(lambda x: np.float64(2) * x + np.float32(1), X)


def test_a_captured_array_must_not_change_during_the_trace() -> None:
    def function(x: Any) -> Any:
        scratch = np.zeros(4)
        y = x + scratch
        scratch[0] = 1
        return y + scratch

    with pytest.raises(errors.TraceProblem, match="was changed in place while the function was traced"):
        traced(function, X)


def test_fallbacks() -> None:
    check(lambda x: np.heaviside(x, 2) + 1, X)
    check(lambda x: np.linalg.norm(x) * x, X)
    check(lambda x: np.sort(np.exp(x), axis=1)[:, ::2].sum(), X)
    check(lambda x: np.concatenate([x, x * 2, np.ones((1, 4))]), X)
    check(lambda x: x @ x.T, X)
    check(lambda x: x @ Y, X)
    check(lambda x: x[[0, 2]], X)
    check(lambda x: x[x > 0], X)
    check(lambda x, k: x[k], X, 1)
    check(lambda x: x[np.argmax(x, axis=0)], X)
    check(lambda x: np.cumsum(np.cumsum(x + 1, axis=0) * 2, axis=1) + x, X)
    check(lambda x: np.linalg.slogdet(x[:3, :3])[1] + 1, X)
    check(lambda x: np.sum(x, where=x > 0), X)
    check(lambda x: np.add(x, 1, dtype=np.float64), X)
    check(lambda x: np.logaddexp(x, x.sum()), X)
    check(lambda x: np.allclose(x, x), X)
    check(lambda x: np.stack([x, x]).mean(), X)
    check(lambda x: x.argmax(axis=1) + x.cumsum()[0].astype(int), X)


def test_fallbacks_are_recorded() -> None:
    built = build(lambda x: np.sort(np.exp(x)) + 1, X)
    (node,) = [n for n in built.graph if n.op is NUMPY]
    assert dict(node.attrs) == {"function": "numpy.sort", "call": 0, "from_data": True}
    assert str(node.result.type) == "f32[?0_sort_0_0, ?0_sort_0_1]"
    assert [o.node.op.name for o in node.operands if o.node] == ["exp"]
    assert built.calls[0](np.ones((2, 2), np.float32))[0].dtype == np.float32


def test_fallbacks_need_arrays() -> None:
    source = TracedFunction(lambda x: np.sort(x), evaluate=run)
    types = [ArgType(arg_type(X).dtype, X.shape)]
    with pytest.raises(errors.Unsupported, match=r"numpy\.sort.*known in a call with arrays"):
        source.build(source.bind(types), None)


def test_types_alone_are_enough_without_fallbacks() -> None:
    source = TracedFunction(lambda x: softmax(x))
    types = [ArgType(arg_type(X).dtype, (3, 4))]
    assert str(source.build(source.bind(types), None).graph.outputs[0].type) == "f32[x0, x1]"
    with pytest.raises(errors.Unsupported, match="must be a known number here"):
        TracedFunction(lambda x: list(range(x.shape[0]))).build(source.bind(types), None)


def test_questions_about_arrays() -> None:
    check(lambda x: x * np.ndim(x) + np.size(x) + np.size(x, 1) + np.shape(x)[0], X)
    check(lambda x: x.astype(np.result_type(x, np.float64)), X)
    check(lambda x, k: x.astype(np.result_type(x, k)), X, 2)
    check(lambda x: x if np.isrealobj(x) and not np.iscomplexobj(x) else -x, X)


def test_names_of_sizes() -> None:
    binding = TracedFunction(lambda x, y: x).bind([ArgType(arg_type(X).dtype, (3, 1)), arg_type(Y)])
    assert [str(t) for t in binding.types] == ["f32[x0, 1]", "i64[y0]"] and binding.sizes == {"x0": 3, "y0": 4}
    clash = TracedFunction(lambda x, x1: x).bind([ArgType(arg_type(X).dtype, (2,) * 11), arg_type(Y)])
    assert len(clash.sizes) == 12


def test_numpy_functions_themselves() -> None:
    check(np.exp, X)
    check(np.sum, X)
    check(np.add, X, X)


def test_arguments() -> None:
    def function(x: Any, /, y: Any, scale: float = 2.0, *, axis: Any = None, name: str = "a") -> Any:
        return ((x + y) * scale).sum(axis=axis) + len(name)

    for args, kwargs in (((X, Y), {}), ((X, Y, 3), {"axis": (0,)}), ((X,), {"y": Y, "name": "abc", "axis": (0, 1)})):
        expected = function(*args, **kwargs)
        same(traced(function, *args, **kwargs), expected)
    kernel, values = TracedFunction(function).select((X, Y), {"name": "b"})
    assert kernel.parameters == ("x", "y", "scale") and values[2] == 2.0
    again, _ = TracedFunction(function).select((X, Y, 5), {"name": "b"})
    assert again.parameters == kernel.parameters


def test_static_arguments_make_kernels() -> None:
    source = TracedFunction(softmax, static=("axis",))
    one, _ = source.select((X,), {"axis": 0})
    assert source.select((X,), {"axis": 0})[0] is one
    assert source.select((X,), {"axis": 1})[0] is not one
    assert source.select((X,), {"axis": True})[0] is not source.select((X,), {"axis": 1})[0]


class Layer:
    def __init__(self, weights: Any, scale: float) -> None:
        self.weights = weights
        self.scale = scale

    def forward(self, x: Any) -> Any:
        return self.activate(x * self.weights) * self.scale

    def activate(self, x: Any) -> Any:
        return np.tanh(x)


def test_methods_of_objects() -> None:
    layer = Layer(np.arange(4.0), 2.0)
    check(layer.forward, X)
    source = TracedFunction(Layer.forward).for_instance(layer)
    assert source.parameters == ("x",)
    before = source.captures()
    assert source.captures() == before
    layer.scale = 3.0
    assert source.captures() != before
