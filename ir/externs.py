"""Declare the interface between a front end and the loader of shared libraries."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any, Protocol, Union

from .dims import Size
from .dtypes import DType
from .errors import Span
from .records import record

ExternDim = Union[Size, EllipsisType]
ExternCall = Callable[..., tuple[Any, ...]]


@record
class ExternArray:
    """A parameter or a result. A number has no `dims`; a result's `dims` are formulas of the parameters' names."""

    dtype: DType
    dims: tuple[ExternDim, ...]

    def __str__(self) -> str:
        if not self.dims:
            return self.dtype.name
        return f"{self.dtype.name}[{', '.join('...' if d is ... else str(d) for d in self.dims)}]"


@record
class ExternKernel:
    """`extern kernel name(...) -> ... from "library" symbol "symbol"`, as declared in `file`."""

    name: str
    parameters: tuple[ExternArray, ...]
    results: tuple[ExternArray, ...]
    library: str
    symbol: str
    file: str
    span: Span

    @property
    def signature(self) -> str:
        """The parameters and results as text: `f32[n] f32 -> f32[n]`."""
        return f"{' '.join(map(str, self.parameters))} -> {' '.join(map(str, self.results))}"


class ExternSource(Protocol):
    """Opens shared libraries, or refuses to with a typed error."""

    def open(self, extern: ExternKernel) -> ExternCall: ...
