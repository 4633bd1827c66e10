"""Parse signatures such as `f32 f32 -> f32` or `float[..., m] -> float[..., m]`, and match operands.

Without brackets an operand may have any shape, and the result has their broadcast shape. Names between brackets are
sizes, as in the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import Union

import numpy as np

from ...ir.dims import Size, symbol
from ...ir.dtypes import BY_NAME, CLASSES, F32, F64, I64, DType
from ...ir.errors import ShapeProblem, SyntaxProblem, TypeProblem, UnknownName, nearest
from ...ir.facts import Facts
from ...ir.records import record
from ...ir.rules import shown
from ...ir.types import TensorType

DimName = Union[str, int, EllipsisType]
Shape = tuple[Size, ...]
_SPEC = re.compile(r"([A-Za-z_]\w*)(?:\[([^\[\]]*)\])?")
_KINDS = ("bool", "uint", "int", "float", "complex")
_USUAL = (F32, F64, I64)  # the dtype that represents a class in a trial


@record
class Spec:
    """An operand or a result: the name of a dtype or of a class; `dims` is None for any shape."""

    name: str
    dims: tuple[DimName, ...] | None = None

    def __str__(self) -> str:
        if self.dims is None:
            return self.name
        return f"{self.name}[{', '.join('...' if d is ... else str(d) for d in self.dims)}]"

    @property
    def dtype(self) -> DType | None:
        return BY_NAME.get(self.name)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """Return all dtypes that match without a cast."""
        return CLASSES[self.name] if self.dtype is None else (self.dtype,)

    def cast(self, dtype: DType) -> DType | None:
        """Return the narrowest of its dtypes that holds every value of `dtype`, or `dtype` itself."""
        if dtype.weak:
            return self._for_number(dtype)
        if dtype in self.dtypes:
            return dtype
        wider = [d for d in self.dtypes if _KINDS.index(dtype.kind) <= _KINDS.index(d.kind) and _holds(d, dtype)]
        return min(wider, key=lambda d: d.bits, default=None)

    def _for_number(self, dtype: DType) -> DType | None:
        """Return a dtype for a Python number, which matches any dtype of its kind or above."""
        if dtype.strong in self.dtypes:
            return dtype.strong
        fitting = [d for d in self.dtypes if d.kind in ("int", "uint", "float", "complex") and _takes(d, dtype)]
        return fitting[-1] if fitting else None

    def takes_rank(self, rank: int) -> bool:
        """Tell whether it accepts this number of dimensions."""
        if self.dims is None:
            return True
        return rank >= len(self.dims) - 1 if ... in self.dims else rank == len(self.dims)

    def trial(self) -> TensorType:
        """Return an example type that fits it."""
        dtype = self.dtype or next((d for d in _USUAL if d in self.dtypes), self.dtypes[-1])
        if self.dims is None:
            return TensorType(dtype, (symbol("n"),))
        sizes = (symbol(d) if isinstance(d, str) else d for d in self.dims if not isinstance(d, EllipsisType))
        return TensorType(dtype, tuple(sizes))


@record
class Signature:
    """The operands and the result of an implementation."""

    inputs: tuple[Spec, ...]
    output: Spec

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.inputs))} -> {self.output}"

    def takes(self, dtypes: Sequence[DType]) -> bool:
        """Tell whether the operands have the declared dtypes."""
        return len(dtypes) == len(self.inputs) and all(
            d.strong in spec.dtypes for spec, d in zip(self.inputs, dtypes, strict=True)
        )

    def takes_ranks(self, ranks: Iterable[int]) -> bool:
        """Tell whether the operands may have these ranks."""
        return all(spec.takes_rank(rank) for spec, rank in zip(self.inputs, ranks, strict=False))

    def result_dtype(self, dtypes: Sequence[DType]) -> DType | None:
        """Return the dtype of the result; a class means that of its first operand. None if it is unknown."""
        if self.output.dtype is not None:
            return self.output.dtype
        same = (d for spec, d in zip(self.inputs, dtypes, strict=True) if spec.name == self.output.name)
        return next(same, None)

    def result_shape(self, facts: Facts, shapes: Sequence[Shape]) -> Shape:
        """Return the shape of the result, or raise a typed error if the operands do not fit."""
        sizes, leading = self.bind(facts, shapes)
        if self.output.dims is None:
            return leading
        found: list[Size] = []
        for dim in self.output.dims:
            if isinstance(dim, EllipsisType):
                found += leading
            else:
                found.append(sizes[dim] if isinstance(dim, str) else dim)
        return tuple(found)

    def bind(self, facts: Facts, shapes: Sequence[Shape]) -> tuple[dict[str, Size], Shape]:
        """Bind names to sizes, and return the shape that `...` and operands of any shape broadcast to."""
        sizes: dict[str, Size] = {}
        free: list[Shape] = []
        for place, (spec, shape) in enumerate(zip(self.inputs, shapes, strict=True)):
            dims = (...,) if spec.dims is None else spec.dims
            before = dims.index(...) if ... in dims else len(dims)
            after = len(dims) - before - 1 if ... in dims else 0
            if len(shape) < before + after or (... not in dims and len(shape) != before):
                found = shown([_told(facts, size) for size in shape])
                raise ShapeProblem(f"operand {place} must be {spec}, not of shape {found}")
            if ... in dims:
                free.append(shape[before : len(shape) - after])
            named = [*zip(dims[:before], shape, strict=False)]
            named += zip(dims[before + 1 :], shape[len(shape) - after :], strict=True)
            for dim, size in named:
                wanted = sizes.setdefault(dim, size) if isinstance(dim, str) else dim
                assert not isinstance(wanted, EllipsisType)
                if not _guard_equal(facts, wanted, size):
                    declared = f"{dim} = {_told(facts, wanted)}" if isinstance(dim, str) else dim
                    raise ShapeProblem(f"operand {place} must have size {declared} in {spec}, not {_told(facts, size)}")
        return sizes, facts.broadcast(free) if free else ()


def parse_signature(text: str) -> Signature:
    """Parse a signature such as `f32 f32 -> f32`."""
    if not isinstance(text, str):
        raise TypeProblem(f"a signature must be a string such as 'f32 f32 -> f32', not {text!r}")
    left, arrow, right = text.partition("->")
    if not arrow:
        raise SyntaxProblem(
            f"the signature '{text}' must have a '->'", hint="write operands and result, as in 'f32 f32 -> f32'"
        )
    results = _specs(right, text)
    if len(results) != 1:
        raise SyntaxProblem(f"the signature '{text}' must have one result, not {len(results)}")
    signature = Signature(_specs(left, text), results[0])
    known = {d for spec in signature.inputs for d in spec.dims or ()}
    for dim in signature.output.dims or ():
        if not isinstance(dim, int) and dim not in known:
            raise UnknownName(f"no operand of '{text}' has a dimension '{'...' if dim is ... else dim}'")
    return signature


def _specs(text: str, whole: str) -> tuple[Spec, ...]:
    found: list[Spec] = []
    at = 0
    while rest := text[at:].lstrip(" ,"):
        at = len(text) - len(rest)
        match = _SPEC.match(text, at)
        if match is None:
            raise SyntaxProblem(
                f"can't read the signature '{whole}' at '{rest}'", hint="write it like 'f32 f32 -> f32'"
            )
        name, inside = match.groups()
        if name not in BY_NAME and name not in CLASSES:
            raise UnknownName(f"unknown dtype '{name}' in '{whole}'", hint=nearest(name, [*BY_NAME, *CLASSES]))
        parts = None if inside is None else [p.strip() for p in inside.split(",") if p.strip()]
        found.append(Spec(name, None if parts is None else tuple(_dim(p, whole) for p in parts)))
        at = match.end()
    return tuple(found)


def _dim(part: str, whole: str) -> DimName:
    if part == "...":
        return ...
    if part.isdecimal():
        return int(part)
    if part.isidentifier():
        return part
    raise SyntaxProblem(f"'{part}' in '{whole}' is not a dimension", hint="use a name, a number or '...'")


def _holds(wide: DType, narrow: DType) -> bool:
    return bool(np.can_cast(narrow.numpy, wide.numpy, "safe"))


def _takes(dtype: DType, number: DType) -> bool:
    return _KINDS.index(number.kind) <= _KINDS.index("int" if dtype.kind == "uint" else dtype.kind)


def _told(facts: Facts, size: Size) -> Size:
    """Format a size for a message: as a number if the current call has one."""
    number = None if facts.strict else facts.number(size)
    return size if number is None else number


def _guard_equal(facts: Facts, a: Size, b: Size) -> bool:
    """Tell whether two sizes are equal, always or in the current call; in that case add a guard."""
    if facts.same(a, b):
        return True
    left, right = facts.number(a), facts.number(b)
    if facts.strict or (left is not None and right is not None and left != right):
        return False
    facts.assume_equal(a, b)
    return True
