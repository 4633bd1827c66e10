"""Make a kernel from the text of a loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.graph import Graph
from ..runtime.disk.nests import stored_nest
from ..runtime.nests.interfaces import interface_of
from ..runtime.nests.kernels import CallableNest, NestKernel

Array = np.ndarray[Any, Any]


def is_nest(text: str) -> bool:
    """Tell whether a module's text holds a nest, not a graph."""
    return '"nest.kernel"' in text and '"weft.kernel"' not in text


def nest_kernel(text: str, file: str, backend: str) -> NestKernel:
    """Make a kernel of a nest, which updates its arguments in place. Text that was compiled before is not parsed."""
    if backend == "llvm":
        made = CallableNest(*stored_nest(text, file))
    else:
        from ..ir.nest.text import parse_nest

        nest = parse_nest(text, file)
        made = CallableNest(interface_of(nest), lambda: InterpretedNest(nest))
    made.remake = nest_kernel, (text, file, backend)
    return made


class InterpretedNest:
    """A nest that Python runs step by step."""

    def __init__(self, nest: Graph) -> None:
        self.nest = nest

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Run the nest on arrays that fit it."""
        from ..backends import nests

        nests.run(self.nest, buffers, numbers)
