"""What the compiler asks of a source of kernels, such as the registry: the best implementation of an op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .dtypes import DType


@dataclass(frozen=True)
class Choice:
    """An implementation: its kind (`inline`, `weft`, `library` or `python`), its variant, and what it scored."""

    kind: str
    variant: str
    score: int


class KernelLookup(Protocol):
    """Finds implementations by op name and operand dtypes."""

    def choose(self, op: str, dtypes: tuple[DType, ...], result: DType) -> Choice: ...
