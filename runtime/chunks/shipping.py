"""Ship a piece of a kernel to another process as the text of its graph, and compile it there or find it on disk.

Machine code never travels: the other process may run on another CPU. Its text (about 1 KB) says everything, so a
shipped kernel is compared, hashed and named by the text, in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...frontend.printed import PrintedKernel
from ...ir.graph import Graph
from ...ir.layouts import SCALAR, classify
from ...ir.text.printer import print_graph
from ...ir.tuples import NamedTuple
from ..compiler import Options, passes_for
from ..deferred import DeferredRegistry
from ..kernel import CallableKernel, Kernel
from .locking import compiling_once

if TYPE_CHECKING:
    from ..registry import Registry

MOST_KERNELS = 512  # kernels that a process keeps ready


class ShippedKernel:
    """A kernel that pickles as text. Calling it compiles it once in each process."""

    __slots__ = ("backend", "text")

    def __init__(self, text: str, backend: str = "llvm") -> None:
        self.text, self.backend = text, backend

    @classmethod
    def of(cls, graph: Graph, backend: str = "llvm") -> ShippedKernel:
        """Ship a graph."""
        return cls(print_graph(graph), backend)

    def __reduce__(self) -> tuple[type[ShippedKernel], tuple[str, str]]:
        return ShippedKernel, (self.text, self.backend)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShippedKernel) and (self.text, self.backend) == (other.text, other.backend)

    def __hash__(self) -> int:
        return hash((self.text, self.backend))

    def __repr__(self) -> str:
        return f"<shipped kernel of {len(self.text)} characters>"

    def __dask_tokenize__(self) -> tuple[str, str, str]:
        return "weft", self.text, self.backend

    def run(self, args: Sequence[Any]) -> Sequence[Any]:
        kernel = compiled(self.text, self.backend)
        layouts = tuple(map(_layout, args))
        if layouts in kernel.ready:
            made = kernel.kernel(*args)
        else:
            with compiling_once(self.text):
                made = kernel.kernel(*args)
            kernel.ready.add(layouts)
        return made if isinstance(made, tuple) else (made,)


class ShippedCode(NamedTuple):
    """This process's kernel for a text, and the layouts of arguments that it has served."""

    kernel: Kernel
    ready: set[tuple[str, ...]]


def _layout(x: Any) -> str:
    return classify(x.shape, x.strides, x.itemsize) if isinstance(x, np.ndarray) else SCALAR


@lru_cache(MOST_KERNELS)
def compiled(text: str, backend: str) -> ShippedCode:
    """Return this process's kernel for a text."""
    registry, options = _registry(), Options(backend=backend)
    names = [p.name for p in passes_for(registry, options)]
    return ShippedCode(
        CallableKernel(PrintedKernel(text, "<shipped>", names, registry.table, is_ours=True), registry, options), set()
    )


@lru_cache(1)
def _registry() -> Registry:
    """Return a separate registry for shipped kernels: what one process registers must not change the results of a
    cluster.
    """

    def make() -> Registry:
        from ..registry import Registry

        return Registry()

    return DeferredRegistry(make).made
