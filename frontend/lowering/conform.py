"""Convert a value to its declared type under NumPy's `same_kind` casting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.errors import ShapeProblem, TypeProblem
from ...ir.graph import Value
from ...ir.rules import shown
from ..language.declared import Declared, DimSpec
from ..maker import Maker
from ..weak import Operand, dtype_of, take
from .binding import dtype_of_number, split

_KINDS = ("bool", "uint", "int", "float", "complex")
SizeOf = Callable[[DimSpec], Size]


def conform(maker: Maker, x: Operand, declared: Declared, what: str, size_of: SizeOf | None) -> Value:
    """Convert a value. `what` names it in errors. Without `size_of` it is an element, and only the dtype counts."""
    value = take(maker, x, _target(maker, x, declared, what))
    if size_of is not None:
        _check_shape(maker, value, declared, what, size_of)
    return value


def same_kind(have: DType, want: DType) -> bool:
    """Tell whether NumPy's `same_kind` casting allows it; compares kinds, because NumPy does not know bf16."""
    return _KINDS.index(have.kind) <= _KINDS.index(want.kind)


def _target(maker: Maker, x: Operand, declared: Declared, what: str) -> DType:
    have = dtype_of(x)
    if have.weak:
        found = dtype_of_number(have, declared.dtype, declared.name)
        if found is not None:
            return found
    elif declared.accepts(have):
        return have
    elif declared.dtype is not None and same_kind(have, declared.dtype):
        return declared.dtype
    wanted = declared.dtype.name if declared.dtype else declared.name
    hint = f"convert it: {wanted}(...)" if declared.dtype else f"declare it {have.strong.name}"
    raise TypeProblem(f"{what} is declared {declared} but is {have}", maker.span, hint)


def _check_shape(maker: Maker, value: Value, declared: Declared, what: str, size_of: SizeOf) -> None:
    specs: Sequence[DimSpec] = declared.dims or ()
    shape, facts = value.type.shape, maker.builder.facts
    before, taken = split(specs, len(shape))
    fits = len(shape) == len(specs) if ... not in specs else taken >= 0
    if fits:
        pairs = [*zip(specs[:before], shape, strict=False)]
        rest = specs[before + 1 :]
        pairs += zip(rest, shape[len(shape) - len(rest) :], strict=True) if rest else []
        wanted = [(size_of(spec), size) for spec, size in pairs]
        fits = all(facts.same(w, s) or facts.same(dims.maximum(w, 0), s) for w, s in wanted)
    if not fits:
        found = f"[{', '.join(map(str, shape))}]" if shape else ""
        hint = f"declare it {declared.name}{found}, or change the value's shape"
        raise ShapeProblem(f"{what} is declared {declared} but has shape {shown(shape)}", maker.span, hint)
