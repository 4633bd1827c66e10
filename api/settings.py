"""The default registry, and the options that kernels are compiled with."""

from __future__ import annotations

import os

from .runtime.compiler import Options
from .runtime.registry import Registry

registry = Registry()


def default_options(backend: str = "llvm") -> Options:
    """What a kernel is compiled with; `WEFT_VERIFY=1` checks the graph after every pass."""
    return Options(backend=backend, verify=os.environ.get("WEFT_VERIFY", "") not in ("", "0"))
