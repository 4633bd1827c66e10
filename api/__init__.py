"""Weft weaves array expressions into single native kernels."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__
from .compiling import compile, jit, load, tensor

if TYPE_CHECKING:
    from . import selection
    from .op_calls import call, ops
    from .runtime.memory import memory_info, set_memory_limit
    from .runtime.threads import get_threads, set_threads
    from .settings import registry

__all__ = [
    "__version__", "call", "compile", "errors", "get_threads", "jit", "load", "memory_info", "ops", "registry",
    "selection", "set_memory_limit", "set_threads", "tensor",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The compiler is imported by the first kernel, or by whoever asks for these: importing `weft` is cheap."""
    if name == "registry":
        from .settings import registry

        return registry
    if name == "selection":
        return import_module(".selection", __name__)
    if name in ("call", "ops"):
        from . import op_calls

        return getattr(op_calls, name)
    if name in ("get_threads", "set_threads"):
        from .runtime import threads

        return getattr(threads, name)
    if name in ("memory_info", "set_memory_limit"):
        from .runtime import memory

        return getattr(memory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
