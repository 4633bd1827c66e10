"""Define the op table: every operation is one `OpDef`.

    >>> TABLE["add"].doc
    'Sum of two numbers.'

Each backend has a table from `OpDef` to its implementation; a test checks that these tables are complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from . import affine, assembly, complexes, products, rules
from .dtypes import WEAK_INT
from .elementwise import CAST as CAST
from .elementwise import DEMAND as DEMAND
from .elementwise import ELEMENTWISE as ELEMENTWISE
from .elementwise import PARTS as PARTS
from .elementwise import SPECIAL as SPECIAL
from .elementwise import WHERE as WHERE
from .elementwise import WHOLE_POWER as WHOLE_POWER
from .opdef import OpDef as OpDef
from .opdef import Trait as Trait
from .opdef import make_op as _op
from .rules import DTypeRule, ShapeRule

REDUCED = """
    axes: axes; keepdims?: flag; order from LOWERED: axis groups; lanes from LOWERED: lanes;
    steps from LOWERED: block steps; chained?: flag;
    composite?: text; chunk?: blocks; moment_part?: blocks; cut_from?: length
"""


def _reduction(name: str, ufunc: np.ufunc, dtypes: DTypeRule, shapes: ShapeRule, doc: str) -> OpDef:
    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        return ufunc.reduce(x, axis=axes, keepdims=keepdims)

    return _op(name, 1, dtypes, shapes, "reduction scalar expensive", doc, meaning, REDUCED)


REDUCTIONS = (
    _reduction("sum", np.add, rules.accumulate_dtypes, rules.reduced, "Sum over axes."),
    _reduction("prod", np.multiply, rules.accumulate_dtypes, rules.reduced, "Product over axes."),
    _reduction("min", np.minimum, rules.keep_dtypes, rules.ordered, "Smallest over axes; NaN if one is NaN."),
    _reduction("max", np.maximum, rules.keep_dtypes, rules.ordered, "Largest over axes; NaN if one is NaN."),
    _reduction("any", np.logical_or, rules.logical_dtypes, rules.reduced, "Whether one over the axes is true."),
    _reduction("all", np.logical_and, rules.logical_dtypes, rules.reduced, "Whether all over the axes are true."),
    _reduction("reduce_fmin", np.fmin, rules.keep_dtypes, rules.ordered, "Smallest over axes that is not NaN."),
    _reduction("reduce_fmax", np.fmax, rules.keep_dtypes, rules.ordered, "Largest over axes that is not NaN."),
    _reduction("reduce_and", np.bitwise_and, rules.bitwise_dtypes, rules.reduced, "Bits set in all over the axes."),
    _reduction("reduce_or", np.bitwise_or, rules.bitwise_dtypes, rules.reduced, "Bits set in one over the axes."),
    _reduction("reduce_xor", np.bitwise_xor, rules.bitwise_dtypes, rules.reduced, "Bits set in an odd number of them."),
)
ARGMIN, ARGMAX = POSITIONS = (
    _op(
        "argmin", 1, assembly.index_dtypes, assembly.positions, "reduction scalar expensive",
        "Where the first smallest over axes is, in C order; the first NaN wins.",
        assembly.position(np.argmin), REDUCED,
    ),
    _op(
        "argmax", 1, assembly.index_dtypes, assembly.positions, "reduction scalar expensive",
        "Where the first largest over axes is, in C order; the first NaN wins.",
        assembly.position(np.argmax), REDUCED,
    ),
)  # fmt: skip


def _slice(x: Any, starts: tuple[int, ...], steps: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    index = []
    for start, step, size in zip(starts, steps, sizes, strict=True):
        stop = start + step * size
        index.append(slice(start, stop if stop >= 0 else None, step) if size else slice(0, 0))
    return np.asarray(x)[tuple(index)]


TRANSPOSE = _op(
    "transpose", 1, rules.same_dtypes, rules.transposed, "view", "Axes in another order.",
    lambda x, order: np.transpose(x, order), "order: axes",
)  # fmt: skip
SLICE = _op(
    "slice", 1, rules.same_dtypes, rules.sliced, "view", "Every step-th element from a start, on each axis.", _slice,
    "starts: sizes; steps: steps; sizes: sizes",
)  # fmt: skip
RESHAPE = _op(
    "reshape", 1, rules.same_dtypes, rules.reshaped, "view", "The same elements in C order with another shape.",
    lambda x, shape, element=False, order=None: np.reshape(x, shape),
    "shape: sizes; element?: flag; order?: memory order; core?: count",
)  # fmt: skip
DIAGONAL = _op(
    "diagonal", 1, rules.same_dtypes, rules.diagonal, "view", "Elements along a diagonal of two axes, as the last one.",
    lambda x, axes, starts, size: rules.diagonal_of(np.asarray(x), axes, starts, size[0]),
    "axes: axes; starts: sizes; size: size",
)  # fmt: skip
ACCESS = _op(
    "access", 1, rules.same_dtypes, affine.accessed, "view", "Elements at indices that are affine in the result's.",
    affine.access, "shape: sizes; starts: sizes; steps: sizes",
)  # fmt: skip
BROADCAST = _op(
    "broadcast", 1, rules.same_dtypes, rules.broadcast_to, "view", "Axes of size 1 repeated.",
    lambda x, shape: np.broadcast_to(x, shape), "shape: sizes",
)  # fmt: skip
CONSTANT = _op(
    "constant", 0, rules.own_dtype, rules.scalar, "elementwise", "A literal.",
    lambda value, dtype: np.asarray(value, dtype)[()], "value: number; dtype: dtype",
)  # fmt: skip

IOTA = _op(
    "iota", 0, assembly.index_dtypes, assembly.numbered, "elementwise", "The index along an axis.", assembly.iota,
    "shape: sizes; axis: axis",
)  # fmt: skip
CONCATENATE = _op(
    "concatenate", None, assembly.joined_dtypes, assembly.joined, "structural", "Arrays one behind another.",
    lambda *pieces, axis: np.concatenate(pieces, axis), "axis: axis",
)  # fmt: skip
GATHER = _op(
    "gather", None, assembly.looked_up_dtypes, assembly.looked_up, "structural scalar",
    "Elements looked up by index arrays, from the end if negative and not `named`.",
    assembly.gather, "axes: axes; named?: texts",
)  # fmt: skip
SCAN = _op(
    "scan", 1, assembly.scan_dtypes(lambda name: TABLE.get(name)), assembly.scanned, "structural expensive",
    "Each element combined with all before it along an axis, one after another.",
    lambda x, combine, axis: assembly.scan(x, TABLE[combine].numpy or _declared, axis),
    "combine: text; axis: axis",
)  # fmt: skip
MATMUL = _op(
    "matmul", 2, products.matmul_dtypes, products.multiplied, "structural expensive",
    "Sums of products of the elements of rows and columns, for stacks of matrices.", products.matmul,
)  # fmt: skip
STRUCTURAL = (CONCATENATE, GATHER, SCAN, MATMUL)


REAL = _op("real", 1, complexes.part_dtypes, rules.elementwise, "elementwise", "The real part.", np.real)
IMAG = _op("imag", 1, complexes.part_dtypes, rules.elementwise, "elementwise", "The imaginary part.", np.imag)
COMPLEX = _op(
    "complex", 2, complexes.whole_dtypes, rules.elementwise, "elementwise", "The number with these two parts.",
    complexes.whole,
)  # fmt: skip
COMPLEX_FUNCTION = _op(
    "complex_function", None, complexes.function_dtypes, rules.elementwise, "elementwise expensive",
    "One part of a function of numbers that are given by their parts.",
    complexes.function_part(lambda name: TABLE[name].numpy if name in TABLE else None), "function: text; part: part",
)  # fmt: skip
IN_PARTS = (REAL, IMAG, COMPLEX, COMPLEX_FUNCTION)


def _size_dtype(operands: rules.DTypes, attrs: rules.Attrs) -> tuple[rules.DTypes, rules.DTypes]:
    return (), (WEAK_INT,)


SIZE = _op(
    "size", 0, _size_dtype, rules.scalar, "elementwise", "A size as a number.", lambda size: np.int64(size[0]),
    "size: size",
)  # fmt: skip


def _declared(operands: rules.DTypes, attrs: rules.Attrs) -> tuple[rules.DTypes, rules.DTypes]:
    raise TypeError("this op has no type rule: the types of its results must be given")


PLANNED = """
    space: sizes; reduced: axes; scanned?: axes;
    rows from SCHEDULED: axis groups; columns from SCHEDULED: axis groups; vector from SCHEDULED: vector axis;
    layouts from SCHEDULED: layouts; width from SCHEDULED: width; unroll from SCHEDULED: unroll;
    cost from SCHEDULED: picoseconds; windows?: axes; chunk?: blocks; cut_from?: length; tile?: tile; jam?: jam;
    piece?: piece; stream?: flag; registers?: registers; blocks?: block sizes; turned?: factors; symmetric?: flag;
    in_place?: length; row_width?: width; row_cost?: picoseconds; form from FORMED: form; guards?: guards; taps?: taps;
    shared_walks?: flag; spread?: flag; early_exit?: flag; peel?: slot; prefetch?: prefetch; lines?: block steps;
    called?: texts
"""
REGION = OpDef(
    "region", None, _declared, rules.scalar, frozenset({Trait.BARRIER}), "Operations that run as one loop nest.",
    None, PLANNED,
)  # fmt: skip
NUMPY = OpDef(
    "numpy", None, _declared, rules.scalar, frozenset({Trait.BARRIER}), "A NumPy function without an op of ours.",
    None,
    "function: text; call?: count; op?: text; from_data?: flag; scalars?: numbers of results; "
    "numbers?: numbers of results",
)  # fmt: skip
EACH = OpDef(
    "each", None, _declared, rules.scalar, frozenset({Trait.ELEMENTWISE, Trait.EXPENSIVE, Trait.SCALAR}),
    "A program of one element, over arrays that broadcast.",
)  # fmt: skip
WHILE = OpDef(
    "while", None, _declared, rules.scalar, frozenset({Trait.STRUCTURAL, Trait.EXPENSIVE}),
    "Carried values, stepped as long as the step says so.", None, "carried: count",
)  # fmt: skip
WHEN = OpDef(
    "when", None, _declared, rules.scalar, frozenset({Trait.STRUCTURAL, Trait.EXPENSIVE}),
    "What a program gives where the first operand is true, else zeros.",
)  # fmt: skip
LOOP = OpDef(
    "loop", None, _declared, rules.scalar, frozenset({Trait.BARRIER, Trait.EXPENSIVE, Trait.SCALAR}),
    "Whole arrays, carried from step to step as long as the step says so.", None, "carried: count",
)  # fmt: skip
FLOW = (EACH, WHILE, WHEN)
DECLARED = frozenset((REGION, NUMPY, LOOP, *FLOW))  # they have no type rule: whoever makes them gives the types

VIEWS = (TRANSPOSE, SLICE, RESHAPE, DIAGONAL, ACCESS, BROADCAST)

TABLE: Mapping[str, OpDef] = MappingProxyType(
    {
        op.name: op
        for op in (
            *ELEMENTWISE, *PARTS, *SPECIAL, WHOLE_POWER, WHERE, DEMAND, CAST, *REDUCTIONS, *POSITIONS,
            *VIEWS, *STRUCTURAL, *IN_PARTS, IOTA, CONSTANT, SIZE, REGION, NUMPY, LOOP, *FLOW,
        )
    }
)  # fmt: skip
