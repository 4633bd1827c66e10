"""Parse signature text such as `f32 f32 -> f32` or `float[..., m] -> float[..., m]`, and match operands.

Without brackets an operand may have any shape, and the result has what they broadcast to. Names between brackets are
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
_USUAL = (F32, F64, I64)  # what stands for a class in a trial


@record
class Spec:
    """An operand or a result: a dtype or a class of them by name; `dims` is None for any shape."""

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
        """All that are taken as they are."""
        return CLASSES[self.name] if self.dtype is None else (self.dtype,)

    def cast(self, dtype: DType) -> DType | None:
        """The narrowest of its dtypes that holds every value of `dtype`, which itself comes first."""
        if dtype.weak:
            return self._for_number(dtype)
        if dtype in self.dtypes:
            return dtype
        wider = [d for d in self.dtypes if _KINDS.index(dtype.kind) <= _KINDS.index(d.kind) and _holds(d, dtype)]
        return min(wider, key=lambda d: d.bits, default=None)

    def _for_number(self, dtype: DType) -> DType | None:
        """A Python number takes any dtype of its kind or above it."""
        if dtype.strong in self.dtypes:
            return dtype.strong
        fitting = [d for d in self.dtypes if d.kind in ("int", "uint", "float", "complex") and _takes(d, dtype)]
        return fitting[-1] if fitting else None

    def takes_rank(self, rank: int) -> bool:
        """Whether it is for so many dimensions."""
        if self.dims is None:
            return True
        return rank >= len(self.dims) - 1 if ... in self.dims else rank == len(self.dims)

    def trial(self) -> TensorType:
        """A type that fits it."""
        dtype = self.dtype or next((d for d in _USUAL if d in self.dtypes), self.dtypes[-1])
        if self.dims is None:
            return TensorType(dtype, (symbol("n"),))
        sizes = (symbol(d) if isinstance(d, str) else d for d in self.dims if not isinstance(d, EllipsisType))
        return TensorType(dtype, tuple(sizes))


@record
class Signature:
    """What an implementation takes and gives."""

    inputs: tuple[Spec, ...]
    output: Spec

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.inputs))} -> {self.output}"

    def takes(self, dtypes: Sequence[DType]) -> bool:
        """Whether the operands have the declared dtypes."""
        return len(dtypes) == len(self.inputs) and all(
            d.strong in spec.dtypes for spec, d in zip(self.inputs, dtypes, strict=True)
        )

    def takes_ranks(self, ranks: Iterable[int]) -> bool:
        """Whether the operands may have so many dimensions."""
        return all(spec.takes_rank(rank) for spec, rank in zip(self.inputs, ranks, strict=False))

    def result_dtype(self, dtypes: Sequence[DType]) -> DType | None:
        """The dtype of the result; a class is what the first operand of that class is. None if that tells nothing."""
        if self.output.dtype is not None:
            return self.output.dtype
        same = (d for spec, d in zip(self.inputs, dtypes, strict=True) if spec.name == self.output.name)
        return next(same, None)

    def result_shape(self, facts: Facts, shapes: Sequence[Shape]) -> Shape:
        """The shape of the result; a typed error where the operands do not fit."""
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
        """The sizes behind the names, and what `...` and operands of any shape broadcast to."""
        sizes: dict[str, Size] = {}
        free: list[Shape] = []
        for place, (spec, shape) in enumerate(zip(self.inputs, shapes, strict=True)):
            dims = (...,) if spec.dims is None else spec.dims
            before = dims.index(...) if ... in dims else len(dims)
            after = len(dims) - before - 1 if ... in dims else 0
            if len(shape) < before + after or (... not in dims and len(shape) != before):
                found = shown([_told(facts, size) for size in shape])
                raise ShapeProblem(f"operand {place} has shape {found}, but {spec} is declared")
            if ... in dims:
                free.append(shape[before : len(shape) - after])
            named = [*zip(dims[:before], shape, strict=False)]
            named += zip(dims[before + 1 :], shape[len(shape) - after :], strict=True)
            for dim, size in named:
                wanted = sizes.setdefault(dim, size) if isinstance(dim, str) else dim
                assert not isinstance(wanted, EllipsisType)
                if not _guard_equal(facts, wanted, size):
                    declared = f"{dim} = {_told(facts, wanted)}" if isinstance(dim, str) else dim
                    raise ShapeProblem(f"operand {place} has size {_told(facts, size)}, but {spec} declares {declared}")
        return sizes, facts.broadcast(free) if free else ()


def parse_signature(text: str) -> Signature:
    """`f32 f32 -> f32`."""
    if not isinstance(text, str):
        raise TypeProblem(f"signature must be a string such as 'f32 f32 -> f32', not {text!r}")
    left, arrow, right = text.partition("->")
    if not arrow:
        raise SyntaxProblem(
            f"the signature '{text}' has no '->'", hint="write operands and result, as in 'f32 f32 -> f32'"
        )
    results = _specs(right, text)
    if len(results) != 1:
        raise SyntaxProblem(f"the signature '{text}' has {len(results)} results, and an op has one")
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
    raise SyntaxProblem(f"'{part}' in '{whole}' is not a dimension", hint="a dimension is a name, a number or '...'")


def _holds(wide: DType, narrow: DType) -> bool:
    return bool(np.can_cast(narrow.numpy, wide.numpy, "safe"))


def _takes(dtype: DType, number: DType) -> bool:
    return _KINDS.index(number.kind) <= _KINDS.index("int" if dtype.kind == "uint" else dtype.kind)


def _told(facts: Facts, size: Size) -> Size:
    """A size as a message tells it: the number in the call at hand, if there is one."""
    number = None if facts.strict else facts.number(size)
    return size if number is None else number


def _guard_equal(facts: Facts, a: Size, b: Size) -> bool:
    """Whether two sizes are equal, by what is known or in the call at hand, which is then relied on."""
    if facts.same(a, b):
        return True
    left, right = facts.number(a), facts.number(b)
    if facts.strict or (left is not None and right is not None and left != right):
        return False
    facts.assume_equal(a, b)
    return True
