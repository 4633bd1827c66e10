"""Compile NumPy code into fused native kernels.

    import numpy as np
    import weft

    @weft.jit
    def softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    softmax(np.random.rand(4, 3))

`jit` compiles a Python function, `load` a `.weft` file, and `compile` a text, an expression or a graph.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__
from .compiling import compile, jit, load, tensor
from .tracebacks import shorten

if TYPE_CHECKING:
    from . import dask, kernels, selection
    from .limits import get_limits, set_limits
    from .loops import cond, fori_loop, while_loop
    from .op_calls import call, ops
    from .profiling import profile
    from .runtime.libraries.header import include_dir
    from .runtime.memory import memory_info, set_memory_limit
    from .runtime.registry import Registry
    from .runtime.threads import get_threads, set_threads
    from .scans import scan
    from .settings import registry

__all__ = [
    "Registry", "__version__", "call", "compile", "cond", "dask", "errors", "fori_loop", "get_limits", "get_threads",
    "include_dir", "jit", "kernels", "load", "memory_info", "ops", "profile", "registry", "scan", "selection",
    "set_limits", "set_memory_limit", "set_threads", "tensor", "while_loop",
]  # fmt: skip


# The modules of all other names. Importing one of them imports the compiler, which takes longer than NumPy.
_LAZY = {
    "call": ".op_calls", "ops": ".op_calls", "registry": ".settings", "get_threads": ".runtime.threads",
    "set_threads": ".runtime.threads", "memory_info": ".runtime.memory", "set_memory_limit": ".runtime.memory",
    "get_limits": ".limits", "set_limits": ".limits", "cond": ".loops", "fori_loop": ".loops", "while_loop": ".loops",
    "Registry": ".runtime.registry", "profile": ".profiling", "include_dir": ".runtime.libraries.header",
    "scan": ".scans",
    "load_ipython_extension": ".notebooks", "unload_ipython_extension": ".notebooks",
}  # fmt: skip


if not TYPE_CHECKING:  # a type checker knows the names, and so finds those that do not exist

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used, so that `import weft` stays cheap."""
        if name in ("dask", "kernels", "selection"):
            return import_module(f".{name}", __name__)
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
        return found


def __dir__() -> list[str]:
    """List the public names; the modules that implement them stay out of sight."""
    return sorted(__all__)


shorten()
