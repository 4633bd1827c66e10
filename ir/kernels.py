"""Declare what the compiler needs from a source of kernels such as the registry: ops by name, and implementations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from .dims import Size
from .dtypes import DType
from .graph import Graph
from .opdef import OpDef
from .records import record
from .types import Attr, TensorType


@record(eq=False)
class Choice:
    """An implementation: its kind (`inline`, `weft`, `library` or `python`), its variant, and its score.

    If it has a `body`, that graph replaces the op, and `inside` says what the ops in it mean. If it has a `call`, the
    function with that number runs between compiled pieces under the name `name`. With neither, the backend's own code
    runs, or NumPy's for the kind `python`. The choice is right while the equalities in `guards` hold.
    """

    kind: str
    variant: str
    score: int
    name: str = ""
    body: Graph | None = None
    inside: KernelLookup | None = None
    call: int | None = None
    guards: tuple[tuple[Size, Size], ...] = ()


class KernelLookup(Protocol):
    """Finds implementations by op name, types and attributes."""

    def choose(
        self, op: str, operands: tuple[TensorType, ...], result: TensorType, attrs: Mapping[str, Attr]
    ) -> Choice: ...

    def note_use(self, op: str) -> None:
        """Record that the graph depends on whether users implement the op."""
        ...

    def is_replaced(self, op: str, dtypes: tuple[DType, ...]) -> bool:
        """Whether a user's implementation computes the op for these dtypes, so that no rewrite may replace it."""
        ...


class OpSource(Protocol):
    """Finds ops that users have added, by name."""

    def find_op(self, name: str) -> OpDef | None: ...

    def op_names(self) -> Collection[str]: ...

    def compile_loop(self, loop: Any) -> Callable[..., tuple[Any, ...]]:
        """Return a function that runs a loop which changes elements of arrays."""
