"""Run kernels on dask arrays, chunk by chunk: `pip install weft[dask]`. docs/scale.md is the tutorial.

A kernel that is called with a dask array returns one, lazily. The functions here say more: `apply` has options, `align`
rechunks for equal bits, and `explain` describes passes, tasks and whether bits are the same. `fuse` makes kernels of
the NumPy layers of existing code, and `WorkerPlugin` sets the threads and the memory of workers. dask is imported when
it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .ir.errors import ImportProblem

if TYPE_CHECKING:
    from .fused_layers import fuse
    from .runtime.chunks.dask_arrays import align, apply, explain
    from .runtime.chunks.dask_workers import WorkerPlugin

__all__ = ["WorkerPlugin", "align", "apply", "explain", "fuse"]

_ARRAYS = "runtime.chunks.dask_arrays"
_MODULES = {
    "WorkerPlugin": "runtime.chunks.dask_workers", "align": _ARRAYS, "apply": _ARRAYS, "explain": _ARRAYS,
    "fuse": "fused_layers",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import dask when a name is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(import_module(f".{_MODULES[name]}", __package__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise ImportProblem(f"weft.dask.{name} needs {error.name}", hint="pip install weft[dask]") from error
    globals()[name] = found
    return found
