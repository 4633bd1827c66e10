"""Define NumPy's products of matrices and vectors.

If an operand has a side of length 1, and no stack of its own to take the place of that side, the product is a sum of
elementwise products: reductions compute it faster, in their own order. All other products are `matmul` on views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.dtypes import BF16, BOOL, C64, C128, F32, F64
from ...ir.errors import ShapeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import CAST, MATMUL, RESHAPE, TABLE
from ...ir.rules import promote
from ...ir.types import Sizes
from ..maker import Maker, Operand, static_int
from ..memory import laid_out, lying_as, together, with_core
from .arrays import strong_array
from .axes import axis_of
from .contraction import ANY, Labels, cleared, contracted, spread
from .einsum import einsum
from .elementwise import Make
from .shapes import moveaxis, ravel, reshaped

MUL, CONJUGATE = TABLE["mul"], TABLE["conjugate"]
BLAS_DTYPES = (F32, F64, C64, C128)


def matmul(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    a, b = _operands(m, "matmul", "(n?,k),(k,m?)->(n?,m?)", (x1, 1), (x2, 1))
    rows, columns = ["m"] * (a.type.rank > 1), ["n"] * (b.type.rank > 1)
    stacks = _stack_labels(a.type.rank - 1 - len(rows), b.type.rank - 1 - len(columns))
    return _gufunc(m, a, [*stacks[0], *rows, "k"], b, [*stacks[1], "k", *columns], stacks[2], [*rows, *columns])


def matvec(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    a, b = _operands(m, "matvec", "(m,n),(n)->(m)", (x1, 2), (x2, 1))
    stacks = _stack_labels(a.type.rank - 2, b.type.rank - 1)
    return _gufunc(m, a, [*stacks[0], "m", "k"], b, [*stacks[1], "k"], stacks[2], ["m"])


def vecmat(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    a, b = _operands(m, "vecmat", "(n),(n,m)->(m)", (x1, 1), (x2, 2))
    stacks = _stack_labels(a.type.rank - 1, b.type.rank - 2)
    return _gufunc(m, _conjugate(m, a), [*stacks[0], "k"], b, [*stacks[1], "k", "n"], stacks[2], ["n"])


def vecdot(m: Maker, x1: Operand, x2: Operand, /, axis: object = -1) -> Value:
    a, b = _operands(m, "vecdot", "(n),(n)->()", (x1, 1), (x2, 1))
    along = static_int(axis, "axis", m.span)
    if along != -1:
        a, b = (moveaxis(m, x, along, -1) for x in (a, b))
    stacks = _stack_labels(a.type.rank - 1, b.type.rank - 1)
    return contracted(m, _conjugate(m, a), [*stacks[0], "k"], b, [*stacks[1], "k"], stacks[2])


def dot(m: Maker, a: Operand, b: Operand, out: None = None) -> Value:
    x, y = strong_array(m, a), strong_array(m, b)
    if not x.type.rank or not y.type.rank:
        return _scaled(m, x, y)
    place = y.type.rank - 2 if y.type.rank > 1 else 0
    return _along(m, x, y, place)


def inner(m: Maker, a: Operand, b: Operand, /) -> Value:
    x, y = strong_array(m, a), strong_array(m, b)
    if not x.type.rank or not y.type.rank:
        return _scaled(m, x, y)
    return _along(m, x, y, y.type.rank - 1)


def _along(m: Maker, x: Value, y: Value, place: int) -> Value:
    """Sum over the last axis of one and an axis of the other. NumPy uses BLAS for vectors and matrices only."""
    over = _over if max(x.type.rank, y.type.rank) <= 2 else _summed
    return over(m, x, y, [x.type.rank - 1], [place])


def vdot(m: Maker, a: Operand, b: Operand, /) -> Value:
    x, y = (ravel(m, strong_array(m, v)) for v in (a, b))
    return _summed(m, _conjugate(m, x), y, [0], [0])


def outer(m: Maker, a: Operand, b: Operand, out: None = None) -> Value:
    x, y = (ravel(m, strong_array(m, v)) for v in (a, b))
    return contracted(m, x, "i", y, "j", "ij") if _is_bool(x, y) else m.op(MUL, *_crossed(m, x, y))


def tensordot(m: Maker, a: Operand, b: Operand, axes: object = 2) -> Value:
    x, y = strong_array(m, a), strong_array(m, b)
    left, right = _tensor_axes(m, x, y, axes)
    found = _over(m, x, y, left, right)
    # NumPy returns an array even if no axis is left.
    return m.builder.op(RESHAPE, found, span=m.span, shape=Sizes(())) if not found.type.rank else found


def _tensor_axes(m: Maker, x: Value, y: Value, axes: object) -> tuple[list[int], list[int]]:
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueProblem("'axes' must be a number, or two lists of axes", m.span)
        named: list[Sequence[object]] = [part if isinstance(part, (tuple, list)) else (part,) for part in axes]
    else:
        count = static_int(axes, "axes", m.span)
        named = [range(x.type.rank - count, x.type.rank), range(count)]
    left, right = ([axis_of(m, axis, v.type.rank) for axis in part] for part, v in zip(named, (x, y), strict=True))
    if any(len(set(part)) < len(part) for part in (left, right)):
        raise ValueProblem("duplicate axes are not allowed in tensordot", m.span)
    if len(left) != len(right):
        raise ValueProblem(
            "shape-mismatch for sum",
            m.span,
            f"name as many axes of one operand ({len(left)}) as of the other ({len(right)})",
        )
    return left, right


def _over(m: Maker, x: Value, y: Value, left: Sequence[int], right: Sequence[int]) -> Value:
    """Sum over pairs of axes. Single elements that NumPy gives to BLAS are multiplied, which keeps -0.0."""
    is_blas = promote((x.type.dtype, y.type.dtype)) in BLAS_DTYPES
    if not (is_blas and _is_single(m, x) and _is_single(m, y)):
        return _summed(m, x, y, left, right)
    rank = x.type.rank + y.type.rank - 2 * len(left)
    return reshaped(m, m.op(MUL, *(reshaped(m, v, ()) for v in (x, y))), (1,) * rank)


def _summed(m: Maker, x: Value, y: Value, left: Sequence[int], right: Sequence[int]) -> Value:
    """Sum over pairs of axes, in C order; the remaining axes of x come before those of y."""
    own = [f"a{k}" for k in range(x.type.rank)]
    others = [f"b{k}" for k in range(y.type.rank)]
    for k, (i, j) in enumerate(zip(left, right, strict=True)):
        _demand_equal(m, x, i, y, j)
        own[i] = others[j] = f"k{k}"
    result = [label for label in (*own, *others) if label[0] != "k"]
    found = contracted(m, x, own, y, others, result)
    if x.type.dtype == y.type.dtype == BF16:  # unlike `matmul`, which gives f32
        found = m.builder.op(CAST, found, span=m.span, to=BF16)
    if not left:
        found = cleared(m, found)
    return found if found.node is None or (found.node.op is MATMUL and found.type.rank < 3) else laid_out(m, found, "C")


def _scaled(m: Maker, x: Value, y: Value) -> Value:
    """Multiply by a number. For matrices NumPy calls BLAS, which adds the product to zeros in C order."""
    found = m.op(MUL, x, y)
    if found.type.dtype not in BLAS_DTYPES or found.type.rank > 2 or _is_single(m, found):
        return found
    return laid_out(m, cleared(m, found), "C")


def _is_single(m: Maker, x: Value) -> bool:
    return all(m.builder.facts.canonical(size) == 1 for size in x.type.shape)


def _gufunc(m: Maker, a: Value, left: Labels, b: Value, right: Labels, stack: Labels, core: Labels) -> Value:
    """Contract two values and give the result NumPy's memory order: the matrices in C order, the stack as operands."""
    found = contracted(m, a, left, b, right, [*stack, *core])
    is_product = found.node is not None and found.node.op is MATMUL
    if is_product and (len(core) == 2 or len(stack) < 2):  # else an axis of the stack numbers the rows or columns
        return found
    if len(stack) > 1:  # the axes of matrices, and how the product was computed, have no say in the order of the stack
        axes = [*stack, *core, "k"]
        met = together(m, spread(m, a, left, axes), spread(m, b, right, axes))
        met = m.op(ANY, m.cast(met, BOOL), axes=tuple(range(len(stack), len(axes))))
        found = lying_as(m, found, reshaped(m, met, (*met.type.shape, *(1,) * len(core))))
    return with_core(m, found, len(core))


def _demand_equal(m: Maker, x: Value, i: int, y: Value, j: int) -> None:
    """Check that both axes have the same size; a single axis of size 1 is not broadcast here."""
    facts = m.builder.facts
    a, b = facts.canonical(x.type.shape[i]), facts.canonical(y.type.shape[j])
    if (a == 1) != (b == 1) and facts.number(a) != facts.number(b):
        raise ShapeProblem(
            f"shapes {x.type} and {y.type} not aligned: {a} (dim {i}) != {b} (dim {j})",
            m.span,
            "the axes that are summed over must have the same size",
        )


def _operands(m: Maker, name: str, signature: str, *wanted: tuple[Operand, int]) -> list[Value]:
    """Convert the operands, and check that each has enough dimensions."""
    found = []
    for k, (x, rank) in enumerate(wanted):
        value = strong_array(m, x)
        if value.type.rank < rank:
            raise ShapeProblem(
                f"{name}: Input operand {k} does not have enough dimensions (has {value.type.rank}, gufunc core with "
                f"signature {signature} requires {rank})",
                m.span,
                "multiply by a number with *" if not value.type.rank else "add an axis with None",
            )
        found.append(value)
    return found


def _stack_labels(left: int, right: int) -> tuple[list[object], list[object], list[object]]:
    """Label the axes that number matrices, aligned at the last: those of each operand, and of the result."""
    labels: list[object] = list(range(max(left, right)))
    return labels[len(labels) - left :], labels[len(labels) - right :], labels


def _conjugate(m: Maker, x: Value) -> Value:
    return m.op(CONJUGATE, x) if x.type.dtype.kind == "complex" else x


def _is_bool(*values: Value) -> bool:
    return all(v.type.dtype.kind == "bool" for v in values)


def _crossed(m: Maker, x: Value, y: Value) -> tuple[Value, Value]:
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes((*x.type.shape, 1))), y


PRODUCTS: Mapping[str, Make] = {
    "matmul": matmul, "matvec": matvec, "vecmat": vecmat, "vecdot": vecdot, "dot": dot, "inner": inner, "vdot": vdot,
    "outer": outer, "tensordot": tensordot, "einsum": einsum,
}  # fmt: skip
