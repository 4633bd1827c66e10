"""Define NumPy's functions that create arrays, and copies of values.

NumPy leaves the elements of `empty` open; here they are zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.errors import ValueProblem
from ...ir.footprints import MOST_DIMENSIONS
from ...ir.graph import Value
from ...ir.ops import BROADCAST, IOTA, WHERE
from ...ir.types import Sizes
from ..fixed import count_of
from ..maker import Maker, Operand, as_dtype, static_int
from ..memory import converted, copied, laid_out, order_of
from .arrays import array_of, stacked, strong_array
from .conversion import assigned
from .elementwise import Make
from .shapes import at_least, broadcast_to, reshaped, shape_of


def filled(m: Maker, number: Operand, dtype: DType, shape: Sequence[Size]) -> Value:
    """Make an array filled with one number."""
    return m.builder.op(BROADCAST, assigned(m, number, dtype), span=m.span, shape=Sizes(shape))


def new_shape(m: Maker, shape: object) -> tuple[Size, ...]:
    """Read the shape of a new array."""
    return tuple(count_of(m, size, "shape") for size in shape_of(m, shape))


def full(m: Maker, shape: object, fill_value: Operand, dtype: object = None, order: str = "C") -> Value:
    fill = _fill(m, fill_value)
    wanted = m.dtype_of(fill).strong if dtype is None else as_dtype(dtype, m.span)
    return laid_out(m, filled(m, fill, wanted, new_shape(m, shape)), order)


def _fill(m: Maker, value: Operand) -> Operand:
    """Convert a fill value: a number stays as it is, anything else becomes an array."""
    return strong_array(m, value) if isinstance(value, (tuple, list)) else value


def _filled(number: int) -> Make:
    """Make `zeros` or `ones`."""

    def make(m: Maker, shape: object, dtype: object = None, order: str = "C") -> Value:
        return full(m, shape, float(number) if dtype is None else number, dtype, order)

    return make


def full_like(m: Maker, a: Operand, fill_value: Operand, dtype: object = None, order: str = "K", subok: bool = True,
              shape: object = None) -> Value:  # fmt: skip
    x, fill = array_of(m, a), _fill(m, fill_value)
    wanted = x.type.dtype.strong if dtype is None else as_dtype(dtype, m.span)
    sizes = x.type.shape if shape is None else new_shape(m, shape)
    made, lies = filled(m, fill, wanted, sizes), order_of(m, order)
    if lies in ("C", "F") or not sizes or (lies == "K" and len(sizes) != x.type.rank):
        return laid_out(m, made, "C" if lies == "K" else lies)
    if sizes != x.type.shape:
        raise m.refuse("a new shape with the memory order of the prototype")
    # The prototype does not affect the values, but memory follows its axis order, as in NumPy.
    prototype = m.cast(copied(m, x) if lies == "K" else laid_out(m, x, lies), wanted)
    return m.op(WHERE, m.builder.constant(True, span=m.span), made, prototype)


def _filled_like(number: int) -> Make:
    """Make `zeros_like` or `ones_like`."""

    def make(
        m: Maker, a: Operand, dtype: object = None, order: str = "K", subok: bool = True, shape: object = None
    ) -> Value:
        return full_like(m, a, number, dtype, order, subok, shape)

    return make


def empty_like(m: Maker, prototype: Operand, /, dtype: object = None, order: str = "K", subok: bool = True,
               shape: object = None) -> Value:  # fmt: skip
    return full_like(m, prototype, 0, dtype, order, subok, shape)


# -- copies


def array(m: Maker, object: Operand, dtype: object = None, *, copy: bool | None = True, order: str = "K",
          subok: bool = False, ndmin: object = 0) -> Value:  # fmt: skip
    x = strong_array(m, object)
    if dtype is not None:
        x = converted(m, x, as_dtype(dtype, m.span))
    rank = static_int(ndmin, "ndmin", m.span)
    if rank > MOST_DIMENSIONS:
        raise ValueProblem(f"ndmin bigger than allowable number of dimensions (={MOST_DIMENSIONS})", m.span)
    grown = at_least(m, x, rank)
    return laid_out(m, grown, order) if grown.type.rank else broadcast_to(m, grown, ())


def asarray(m: Maker, a: Operand, dtype: object = None, order: str | None = None, *, copy: bool | None = None) -> Value:
    return array(m, a, dtype, order="K" if order is None else order)


def _as_contiguous(order: str) -> Make:
    def make(m: Maker, a: Operand, dtype: object = None) -> Value:
        return array(m, a, dtype, order=order, ndmin=1)

    return make


def copy(m: Maker, a: Operand, order: str = "K", subok: bool = False) -> Value:
    """Return the value itself, because values never change; without dimensions the copy is an array, not a scalar."""
    return array(m, a, order=order)


# -- grids


def meshgrid(
    m: Maker, *xi: Operand, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Value, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueProblem("Valid values for `indexing` are 'xy' and 'ij'.", m.span)
    values = [strong_array(m, x) for x in xi]
    axes = list(range(len(values)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    spread = []
    for axis, value in zip(axes, values, strict=True):
        size = dims.product(value.type.shape)
        spread.append(reshaped(m, value, [size if k == axis else 1 for k in range(len(axes))]))
    if not sparse:
        shape = m.builder.facts.broadcast([value.type.shape for value in spread], m.span)
        spread = [broadcast_to(m, value, shape) for value in spread]
    return tuple(laid_out(m, value, "C") if copy else value for value in spread)


def indices(m: Maker, dimensions: object, dtype: object = int, sparse: bool = False) -> Value | tuple[Value, ...]:
    shape = new_shape(m, dimensions)
    wanted = as_dtype(dtype, m.span)
    if not shape:
        raise m.refuse("'indices' with an empty shape")
    if sparse:
        apart = [[n if k == axis else 1 for k, n in enumerate(shape)] for axis in range(len(shape))]
        return tuple(m.cast(numbered(m, sizes, axis), wanted) for axis, sizes in enumerate(apart))
    return stacked(m, [m.cast(numbered(m, shape, axis), wanted) for axis in range(len(shape))])


def numbered(m: Maker, shape: Sequence[Size], axis: int) -> Value:
    """Return the index along an axis, as i64."""
    return m.builder.op(IOTA, span=m.span, shape=Sizes(shape), axis=axis)


CREATING: Mapping[str, Make] = {
    "zeros": _filled(0), "ones": _filled(1), "full": full, "empty": _filled(0), "zeros_like": _filled_like(0),
    "ones_like": _filled_like(1), "full_like": full_like, "empty_like": empty_like, "array": array, "asarray": asarray,
    "ascontiguousarray": _as_contiguous("C"), "asfortranarray": _as_contiguous("F"), "copy": copy,
    "meshgrid": meshgrid, "indices": indices,
}  # fmt: skip
ALIASES = {"asanyarray": "asarray"}
