"""Weft weaves array expressions into single native kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__
from .compiling import compile, jit, load, tensor

if TYPE_CHECKING:
    from .settings import registry

__all__ = ["__version__", "compile", "errors", "jit", "load", "registry", "tensor"]


def __getattr__(name: str) -> Any:
    """The compiler is imported by the first kernel, or by whoever asks for the registry: importing `weft` is cheap."""
    if name == "registry":
        from .settings import registry

        return registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
