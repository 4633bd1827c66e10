"""Compile a printed graph, starting after the pass it was printed after."""

from __future__ import annotations

from ..frontend.printed import PrintedKernel
from ..frontend.printed import is_printed as is_printed
from ..runtime.compiler import Options, passes_for
from ..runtime.kernel import CallableKernel, Kernel
from ..settings import registry


def read_kernel(text: str, file: str, options: Options) -> PrintedKernel:
    """Read a printed graph."""
    return PrintedKernel(text, file, pass_names(options), registry.table)


def printed_kernel(text: str, file: str, options: Options) -> Kernel:
    """Make a kernel from a printed graph. No variant is chosen for it, because the text already holds the plan."""
    return CallableKernel(read_kernel(text, file, options), registry, options)


def pass_names(options: Options) -> tuple[str, ...]:
    """List the names of all passes in order."""
    return tuple(p.name for p in passes_for(registry, options))
