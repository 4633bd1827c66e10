"""Compile the text of a graph from where it was printed."""

from __future__ import annotations

from .frontend.printed import PrintedKernel
from .frontend.printed import is_printed as is_printed
from .runtime.compiler import Options, passes_for
from .runtime.kernel import CallableKernel, Kernel
from .settings import registry


def read_kernel(text: str, file: str, options: Options) -> PrintedKernel:
    """The kernel of a text."""
    return PrintedKernel(text, file, pass_names(options), registry.table)


def printed_kernel(text: str, file: str, options: Options) -> Kernel:
    """The same, to be called. Nothing is chosen for it: the text has the plan."""
    return CallableKernel(read_kernel(text, file, options), registry, options)


def pass_names(options: Options) -> tuple[str, ...]:
    """The whole pipeline."""
    return tuple(p.name for p in passes_for(registry, options))
