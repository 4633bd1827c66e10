"""Make a kernel from the text of a loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .ir.graph import Graph
from .ir.nest.text import is_nest as is_nest
from .ir.nest.text import parse_nest
from .runtime.nests import NestKernel, compile_nest

Array = np.ndarray[Any, Any]


def nest_kernel(text: str, file: str, backend: str) -> NestKernel:
    """Read and verify a nest; its arguments are updated in place."""
    return NestKernel(parse_nest(text, file), compile_nest if backend == "llvm" else InterpretedNest)


class InterpretedNest:
    """A nest that Python runs step by step."""

    def __init__(self, nest: Graph) -> None:
        self.nest = nest

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Run the nest on arrays that fit it."""
        from .backends import nests

        nests.run(self.nest, buffers, numbers)
