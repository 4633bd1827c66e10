"""Define what the registry stores: an `Implementation` with its signature, hints, constraints and body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, Union

from ...ir.dtypes import DType
from ...ir.errors import UnsupportedTarget
from ...ir.externs import ExternCall
from ...ir.graph import Graph
from ...ir.records import record
from ...ir.types import TensorType
from .calls import PythonKernel
from .signature import Signature

if TYPE_CHECKING:
    from ...backends.llvm.engine.target import Target

KINDS = ("inline", "weft", "library", "python")
VARIANTS = ("naive", "optimized", "tiled", "vectorized", "parallel", "fused", "hardware-specific", "custom")
HINTS = ("vectorized", "small", "large", "memory-bound", "compute-bound")
TIERS = ("user", "bundled", "fallback")  # in order of preference


@record
class Query:
    """The question which implementation to use. `size` (number of elements) and `ranks` are None if unknown.

    `features` returns those of the CPU; it is a function because it may start LLVM.
    """

    op: str
    dtypes: tuple[DType, ...]
    size: int | None
    ranks: tuple[int, ...] | None
    features: Callable[[], frozenset[str]]


@cache
def cpu_features(target: Target | None = None) -> frozenset[str]:
    """Return the features of a target or of this machine, by LLVM's names (`avx512f`); none without native code."""
    from ...backends.llvm.engine import target as targets

    if target is None:
        try:
            target = targets.host()
        except UnsupportedTarget:
            return frozenset()
    written = (word for word in target.features.split(",") if word.startswith("+"))
    return frozenset((*(word[1:] for word in written), *targets.level_features(target.cpu)))


@record
class Constraints:
    """The conditions for using an implementation. Python kernels get operands copied to the alignment, in bytes."""

    min_size: int = 0
    max_size: int | None = None
    dtypes: tuple[DType, ...] = ()
    ranks: tuple[int, ...] = ()
    features: tuple[str, ...] = ()
    alignment: int = 1

    @property
    def bounds_size(self) -> bool:
        return self.min_size > 0 or self.max_size is not None

    def refusal(self, query: Query) -> str | None:
        """Return why it can't be used for a query, or nothing."""
        if self.bounds_size and query.size is None:
            return "the size is not known"
        if query.size is not None and query.size < self.min_size:
            return f"fewer elements than min_size {self.min_size}"
        if query.size is not None and self.max_size is not None and query.size > self.max_size:
            return f"more elements than max_size {self.max_size}"
        if self.dtypes and (other := next((d for d in query.dtypes if d not in self.dtypes), None)):
            return f"{other} is none of its dtypes"
        if self.ranks and (wrong := next((r for r in query.ranks or () if r not in self.ranks), None)) is not None:
            return f"it is not for {wrong} dimension{'s' * (wrong != 1)}"
        if self.features and (missing := [f for f in self.features if f not in query.features()]):
            return f"the CPU lacks {', '.join(missing)}"
        return None

    def __str__(self) -> str:
        parts = [
            f"min_size {self.min_size}" if self.min_size else "",
            f"max_size {self.max_size}" if self.max_size is not None else "",
            f"dtypes {' '.join(map(str, self.dtypes))}" if self.dtypes else "",
            f"ranks {' '.join(map(str, self.ranks))}" if self.ranks else "",
            f"requires {' '.join(self.features)}" if self.features else "",
            f"alignment {self.alignment}" if self.alignment > 1 else "",
        ]
        return ", ".join(part for part in parts if part)


@record
class Resources:
    """The resources it needs besides operands and result: bytes of memory, and threads."""

    memory: int = 0
    threads: int = 1


class GraphBody(Protocol):
    """Code that becomes part of the surrounding graph."""

    def graph(
        self,
        types: Sequence[TensorType],
        sizes: Mapping[str, int] = ...,
        call: Callable[[ExternCall], int] | None = None,
    ) -> Graph: ...


Body = Union[GraphBody, PythonKernel, None]


@record(eq=False)
class Implementation:
    """One way to compute an op. `body` is None for code of the backend or of NumPy.

    `note` says why it has its kind. `origin` is the file it was read from, so that reading it again replaces it.
    `same_bits` declares that it gives the same bits as others that declare it, so measured times may choose.
    `serial` counts registrations: among equals the newest wins.
    """

    op: str
    signature: Signature
    kind: str
    variant: str = "custom"
    hints: frozenset[str] = frozenset()
    constraints: Constraints = Constraints()
    resources: Resources = Resources()
    tier: str = "user"
    name: str = ""
    note: str = ""
    body: Body = None
    same_bits: bool = False
    can_handle: Callable[[Query], bool] | None = None
    estimate: Callable[[Query], float] | None = None
    origin: tuple[str, str] | None = None
    operations: int = 1
    is_elementwise: bool = True
    serial: int = 0

    @property
    def depends_on_size(self) -> bool:
        """Whether the number of elements changes its score, or whether it can be used."""
        return self.constraints.bounds_size or bool(self.hints & {"small", "large"})

    def __str__(self) -> str:
        return f"{self.tier} {self.kind} {self.variant} {self.name} ({self.signature})"

    def __repr__(self) -> str:
        return f"<implementation of '{self.op}': {self}>"
