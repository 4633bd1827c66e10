"""Test the op table: every op is complete, and its rules agree with its NumPy meaning."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from weft.ir.builder import Builder
from weft.ir.dtypes import ALL, BF16, BOOL, U8, WEAK, DType, from_numpy, python_type
from weft.ir.errors import TypeProblem
from weft.ir.ops import (
    COMPLEX_FUNCTION,
    ELEMENTWISE,
    FLOW,
    LOOP,
    NUMPY,
    REDUCTIONS,
    REGION,
    STRUCTURAL,
    TABLE,
    WHERE,
    OpDef,
    Trait,
)
from weft.ir.types import TensorType

DTYPES = tuple(d for d in ALL if d != BF16)
OPS = list(TABLE.values())


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_is_complete(op: OpDef) -> None:
    assert TABLE[op.name] is op
    assert op.name == op.name.lower() and op.name.isidentifier()
    assert op.doc[0].isupper() or (op.doc[0] in "-e" and op.doc.endswith("."))
    assert op.doc.endswith(".") and "\n" not in op.doc and len(op.doc) < 80
    assert callable(op.dtypes) and callable(op.shapes)
    if op in (REGION, NUMPY, LOOP):
        assert op.numpy is None and op.arity is None and Trait.BARRIER in op.traits
    elif op in FLOW:
        assert op.numpy is None and op.arity is None and Trait.EXPENSIVE in op.traits
    else:
        assert callable(op.numpy) and (op.arity is not None or op in (*STRUCTURAL, COMPLEX_FUNCTION))


def test_docs_are_their_own() -> None:
    docs = [op.doc for op in OPS]
    assert len(set(docs)) == len(docs)


def test_traits_make_sense() -> None:
    for op in OPS:
        roles = op.traits & {Trait.ELEMENTWISE, Trait.REDUCTION, Trait.VIEW, Trait.BARRIER, Trait.STRUCTURAL}
        assert len(roles) == 1, op
        if Trait.COMMUTATIVE in op.traits:
            assert op.arity == 2
    with pytest.raises(TypeError):
        TABLE["mine"] = TABLE["add"]  # type: ignore[index]


def _sample(dtype: DType) -> Any:
    return np.array([1, 0, 1], dtype.numpy) if not dtype.weak else python_type(dtype)(1)


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_dtypes_are_numpys(op: OpDef) -> None:
    """Test arrays and Python numbers in every combination; a refusal must be NumPy's too."""
    assert isinstance(op.numpy, np.ufunc) and op.arity == op.numpy.nin
    for dtypes in itertools.product((*DTYPES, *WEAK.values()), repeat=op.arity):
        if all(d.weak for d in dtypes):
            continue
        builder = Builder("f")
        operands = [builder.input("x", TensorType(d, () if d.weak else (3,))) for d in dtypes]
        with np.errstate(all="ignore"):
            try:
                expected = op.numpy(*map(_sample, dtypes))
            except TypeError:
                with pytest.raises(TypeProblem):
                    builder.op(op, *operands)
                continue
        result = builder.op(op, *operands)
        assert result.type == TensorType(from_numpy(expected.dtype), (3,)), (op, dtypes)


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_numbers_among_themselves_stay_weak(op: OpDef) -> None:
    for dtypes in itertools.product(WEAK.values(), repeat=op.arity or 0):
        try:
            _, (result,) = op.dtypes(dtypes, {})
        except TypeProblem:
            continue
        assert result.weak or result in (BOOL, U8)


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_computing_dtypes_are_stable(op: OpDef) -> None:
    """Operands in the dtypes that an op computes in need no further conversion, and give the same result."""
    for dtypes in itertools.product(DTYPES, repeat=op.arity or 0):
        try:
            compute, results = op.dtypes(dtypes, {})
        except TypeProblem:
            continue
        assert op.dtypes(compute, {}) == (compute, results)


@pytest.mark.parametrize("op", REDUCTIONS, ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_are_numpys(op: OpDef, dtype: DType) -> None:
    array = np.array([[1, 0, 1], [1, 1, 1]], dtype.numpy)
    for axes, keepdims in itertools.product([(), (0,), (1,), (0, 1)], [False, True]):
        builder = Builder("f")
        operand = builder.input("x", TensorType(dtype, (2, 3)))
        assert op.numpy is not None
        try:
            expected = np.asarray(op.numpy(array, axes=axes, keepdims=keepdims))
        except TypeError:
            with pytest.raises(TypeProblem):
                builder.op(op, operand, axes=axes, keepdims=keepdims)
            continue
        result = builder.op(op, operand, axes=axes, keepdims=keepdims)
        assert result.type == TensorType(from_numpy(expected.dtype), expected.shape)


def test_where_is_numpys() -> None:
    for yes, no in itertools.product((*DTYPES, *WEAK.values()), repeat=2):
        builder = Builder("f")
        operands = [builder.input("x", TensorType(d, () if d.weak else (3,))) for d in (BOOL, yes, no)]
        expected = np.where(_sample(BOOL), _sample(yes), _sample(no))
        assert builder.op(WHERE, *operands).type == TensorType(from_numpy(expected.dtype), (3,))
