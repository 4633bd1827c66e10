"""Resolve a written type to a dtype or a class of dtypes, and its dimensions."""

from __future__ import annotations

from types import EllipsisType
from typing import Union

import numpy as np

from ...ir.dtypes import BOOL, BY_NAME, CLASSES, DType, from_numpy
from ...ir.errors import ShapeProblem, Span, SyntaxProblem, TypeProblem, UnknownName, nearest
from ...ir.records import record, replace
from .syntax import Expr, Literal, Name, Output, Param, TypeSpec

DimSpec = Union[str, int, EllipsisType, Expr]


SIZE = "size"


@record
class Declared:
    """A declared type. `dtype` is None for a class such as `float`, `dims` is None for a scalar.

    A parameter `k: size` has the dimension `k` and no elements that are read.
    """

    name: str
    dtype: DType | None
    dims: tuple[DimSpec, ...] | None
    text: str
    span: Span

    def __str__(self) -> str:
        return self.text

    def accepts(self, dtype: DType) -> bool:
        """Tell whether a strong dtype is the declared one, or belongs to the declared class."""
        return dtype == self.dtype if self.dtype else dtype in CLASSES[self.name]

    @property
    def is_size(self) -> bool:
        return self.name == SIZE

    @property
    def names(self) -> tuple[str, ...]:
        """The named dimensions."""
        return tuple(d for d in self.dims or () if isinstance(d, str))


@record
class Parameter:
    """A declared parameter of a kernel."""

    name: str
    type: Declared
    span: Span
    default: Expr | None = None

    def __str__(self) -> str:
        default = "" if self.default is None else f" = {_written(self.default.span)}"
        return f"{self.name}: {self.type}{default}"


@record
class Result:
    """A declared output of a kernel; its name is optional."""

    name: str | None
    type: Declared


def numpy_name(name: str) -> str | None:
    """Suggest our name for a dtype that is written as in NumPy; a single letter is more likely something else."""
    if len(name) < 2:
        return None
    try:
        return f"did you mean '{from_numpy(np.dtype(name))}'?"
    except (TypeError, ValueError, SyntaxError, TypeProblem):
        return None


def declare(spec: TypeSpec, computed: bool = False, is_parameter: bool = False) -> Declared:
    """Resolve a type. `computed` allows sizes such as `n - 1`, which only results can have."""
    if spec.name == SIZE:
        if not is_parameter:
            raise TypeProblem("only a parameter of a kernel can be a size", spec.span, "declare it i64")
        if spec.dims is not None:
            raise ShapeProblem("a size is one number and has no dimensions", spec.span, "leave out the dimensions")
        return Declared(SIZE, BOOL, (), SIZE, spec.span)
    dtype = BY_NAME.get(spec.name)
    if dtype is None and spec.name not in CLASSES:
        known = [*BY_NAME, *CLASSES]
        hint = numpy_name(spec.name) or nearest(spec.name, known) or f"the types are {', '.join(known)}"
        raise UnknownName(f"unknown type '{spec.name}'", spec.span, hint)
    if spec.dims is None:
        return Declared(spec.name, dtype, None, spec.name, spec.span)
    dims = tuple(_dim(expr, computed) for expr in spec.dims)
    if dims.count(...) > 1:
        raise ShapeProblem("a type can have only one '...'", spec.span)
    shown = ", ".join("..." if d is ... else _written(d.span) if isinstance(d, Expr) else str(d) for d in dims)
    return Declared(spec.name, dtype, dims, f"{spec.name}[{shown}]", spec.span)


def _written(span: Span) -> str:
    """The source text of a formula."""
    return "<size>" if span.text is None else span.text[span.column - 1 :][: span.length]


def _dim(expr: Expr, computed: bool) -> DimSpec:
    if isinstance(expr, Name):
        return expr.name
    if isinstance(expr, Literal) and expr.value is ...:
        return ...
    if isinstance(expr, Literal) and type(expr.value) is int:
        return expr.value
    if computed:
        return expr
    raise SyntaxProblem("a dimension must be a name, a number or '...'", expr.span, "give it a name, as in f32[n]")


def parameter(param: Param) -> Parameter:
    """Resolve a parameter of a kernel."""
    if param.type is None:
        hint = f"write {param.name}: f32[n], or {param.name}: any[...] for arrays of any kind"
        if param.default is not None:
            hint = f"write {param.name}: f64 = {_written(param.default.span)}"
        raise SyntaxProblem(f"the parameter '{param.name}' of a kernel needs a type", param.span, hint)
    declared = declare(param.type, is_parameter=True)
    if declared.is_size:
        declared = replace(declared, dims=(param.name,))
    return Parameter(param.name, declared, param.span, param.default)


def result(output: Output) -> Result:
    """Resolve an output of a kernel."""
    return Result(output.name, declare(output.type, computed=True))
