"""Test ops that number, assemble, look up and accumulate: rules, errors, and results of the reference backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.backends import reference
from weft.ir.builder import Builder
from weft.ir.dims import symbol
from weft.ir.dtypes import BOOL, F32, F64, I32, I64, DType, from_numpy
from weft.ir.errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem
from weft.ir.facts import Facts
from weft.ir.graph import Graph
from weft.ir.ops import ARGMAX, ARGMIN, CONCATENATE, GATHER, IOTA, SCAN, TABLE, OpDef
from weft.ir.text.parser import parse_graph
from weft.ir.text.printer import print_graph
from weft.ir.types import Attr, Sizes, TensorType
from weft.ir.verifier.verify import verify

N, M = symbol("n"), symbol("m")


def graph_of(op: OpDef, arrays: list[Any], **attrs: Attr) -> Graph:
    builder = Builder("f")
    inputs = [
        builder.input(f"x{k}", TensorType(from_numpy(np.asarray(x).dtype), np.shape(x))) for k, x in enumerate(arrays)
    ]
    return builder.finish([builder.op(op, *inputs, **attrs)])


def run(op: OpDef, *arrays: Any, **attrs: Attr) -> Any:
    graph = graph_of(op, list(arrays), **attrs)
    verify(graph)
    text = print_graph(graph)
    assert print_graph(parse_graph(text)) == text
    (result,) = reference.run(graph, arrays)
    assert TensorType(from_numpy(result.dtype), result.shape) == graph.outputs[0].type
    return result


def typed(dtype: DType, *shape: Any) -> TensorType:
    return TensorType(dtype, shape)


def test_iota() -> None:
    assert run(IOTA, shape=Sizes((2, 3)), axis=1).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert run(IOTA, shape=Sizes((2, 3)), axis=0).tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(IndexProblem, match="axis 2"):
        run(IOTA, shape=Sizes((2, 3)), axis=2)


def test_concatenate() -> None:
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 1))
    assert np.array_equal(run(CONCATENATE, x, y, x, axis=1), np.concatenate([x, y, x], 1))
    builder = Builder("f")
    a, b = builder.input("a", typed(F32, N, M)), builder.input("b", typed(I32, 4, M))
    assert builder.op(CONCATENATE, a, b, axis=0).type == typed(F64, N + 4, M)


def test_concatenate_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueProblem, match="at least one array"):
        run(CONCATENATE, axis=0)
    with pytest.raises(ShapeProblem, match="along dimension 0, the array at index 0 has size 2 and"):
        run(CONCATENATE, np.ones((2, 3)), np.ones((4, 3)), axis=1)
    with pytest.raises(ShapeProblem, match="the array at index 1 has 1 dimension"):
        run(CONCATENATE, np.ones((2, 3)), np.ones(3), axis=0)
    strict = Builder("f", Facts(strict=True))
    with pytest.raises(ShapeProblem, match="size n and the array at index 1 has size m"):
        strict.op(CONCATENATE, strict.input("a", typed(F32, N, 2)), strict.input("b", typed(F32, M, 2)), axis=1)
    open_sizes = Builder("f")
    operands = [open_sizes.input("a", typed(F32, N, 2)), open_sizes.input("b", typed(F32, M, 2))]
    graph = open_sizes.finish([open_sizes.op(CONCATENATE, *operands, axis=1)])
    assert graph.attrs["guards"].texts == ("n == m",)


def test_gather() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    i, j = np.array([[0], [-1]]), np.array([0, 3, -4])
    assert np.array_equal(run(GATHER, x, i, axes=(0,)), x[i])
    assert np.array_equal(run(GATHER, x, i, j, axes=(1, 2)), x[:, i, j])
    assert run(GATHER, x, np.int64(1), axes=(1,)).shape == (2, 4)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 2 with size 4"):
        reference.run(graph_of(GATHER, [x, np.array([4])], axes=(2,)), [x, np.array([4])])


def test_gather_refuses_what_does_not_fit() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for axes, count in (((0, 2), 2), ((2, 3), 2), ((1, 0), 2), ((0,), 2), ((), 0)):
        with pytest.raises(IndexProblem, match="index arrays for the axes"):
            run(GATHER, x, *[np.array([0])] * count, axes=axes)
    with pytest.raises(IndexProblem, match="must be of integer"):
        run(GATHER, x, np.array([0.0]), axes=(0,))


@pytest.mark.parametrize("name", ["add", "mul", "minimum", "maximum", "bitwise_xor", "sub", "logical_or"])
def test_scan(name: str) -> None:
    ufunc = TABLE[name].numpy
    assert isinstance(ufunc, np.ufunc)
    dtype = bool if name == "logical_or" else np.int32
    for shape, axis in (((3, 4), 0), ((3, 4), 1), ((5,), 0), ((0, 2), 0), ((2, 0), 0)):
        x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        assert np.array_equal(run(SCAN, x, combine=name, axis=axis), ufunc.accumulate(x, axis, dtype=dtype))


def test_scan_refuses_what_does_not_fit() -> None:
    x = np.ones((2, 3), np.int32)
    with pytest.raises(TypeProblem, match="'div' of two i32 does not return i32"):
        run(SCAN, x, combine="div", axis=0)
    with pytest.raises(TypeProblem, match="unknown op of two numbers 'exp'"):
        run(SCAN, x, combine="exp", axis=0)
    with pytest.raises(IndexProblem, match="axis 2"):
        run(SCAN, x, combine="add", axis=2)


def test_scan_of_zeros_has_our_rule() -> None:
    zeros = np.array([0.0, -0.0, 0.0])
    assert np.signbit(run(SCAN, zeros, combine="minimum", axis=0)).tolist() == [False, True, True]
    assert np.signbit(run(SCAN, -zeros, combine="maximum", axis=0)).tolist() == [True, False, False]


@pytest.mark.parametrize(("op", "function"), [(ARGMIN, np.argmin), (ARGMAX, np.argmax)])
def test_positions(op: OpDef, function: Any) -> None:
    x = np.array([[3, 1, 1], [np.nan, 9, np.nan]])
    for axis in (0, 1):
        assert np.array_equal(run(op, x, axes=(axis,), keepdims=True), function(x, axis, keepdims=True))
    assert run(op, x, axes=(0, 1)) == function(x) == 3
    assert np.array_equal(run(op, x > 1, axes=(1,)), function(x > 1, 1))
    assert run(op, x, axes=()).tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueProblem, match="empty sequence"):
        run(op, np.ones((0, 3)), axes=(0,))
    assert Builder("f").infer(op, [Builder("f").input("x", typed(F32, N, M))], {"axes": (0,)}, None) == (typed(I64, M),)


def test_further_reductions() -> None:
    x = np.array([[np.nan, -0.0, 0.0], [np.nan, np.nan, np.nan]])
    assert run(TABLE["reduce_fmin"], x, axes=(1,)).tobytes() == np.array([-0.0, np.nan]).tobytes()
    assert run(TABLE["reduce_fmax"], x, axes=(1,)).tobytes() == np.array([0.0, np.nan]).tobytes()
    k = np.array([[12, 10], [6, 3]])
    assert run(TABLE["reduce_and"], k, axes=(0,)).tolist() == [4, 2]
    assert run(TABLE["reduce_or"], k, axes=(0,)).tolist() == [14, 11]
    assert run(TABLE["reduce_xor"], k > 6, axes=(0, 1)).tolist() is False
    assert run(TABLE["reduce_and"], k[:0], axes=(0,)).tolist() == [-1, -1]
    builder = Builder("f")
    with pytest.raises(TypeProblem):
        builder.op(TABLE["reduce_or"], builder.input("x", typed(F32, 3)), axes=(0,))
    assert builder.op(TABLE["reduce_or"], builder.input("x", typed(BOOL, 3)), axes=(0,)).type == typed(BOOL)
