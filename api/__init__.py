"""Weft weaves array expressions into single native kernels."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__
from .compiling import compile, jit, load, tensor

if TYPE_CHECKING:
    from . import kernels, selection
    from .loops import cond, fori_loop, while_loop
    from .op_calls import call, ops
    from .runtime.libraries.header import include_dir
    from .runtime.memory import memory_info, set_memory_limit
    from .runtime.registry import Registry
    from .runtime.threads import get_threads, set_threads
    from .settings import registry

__all__ = [
    "Registry", "__version__", "call", "compile", "cond", "errors", "fori_loop", "get_limits", "get_threads",
    "include_dir", "jit", "kernels", "load", "memory_info", "ops", "registry", "selection", "set_limits",
    "set_memory_limit", "set_threads", "tensor", "while_loop",
]  # fmt: skip


# Where the other names are: the compiler is imported by the first kernel, or by whoever asks for one of these.
_LAZY = {
    "call": ".op_calls", "ops": ".op_calls", "registry": ".settings", "get_threads": ".runtime.threads",
    "set_threads": ".runtime.threads", "memory_info": ".runtime.memory", "set_memory_limit": ".runtime.memory",
    "get_limits": ".limits", "set_limits": ".limits", "cond": ".loops", "fori_loop": ".loops", "while_loop": ".loops",
    "Registry": ".runtime.registry", "include_dir": ".runtime.libraries.header",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A name that is imported when it is first asked for, so that importing `weft` is cheap; then it is there."""
    if name in ("kernels", "selection"):
        return import_module(f".{name}", __name__)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
    return found
