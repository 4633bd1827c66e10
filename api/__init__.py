"""Weft weaves array expressions into single native kernels."""

from __future__ import annotations

from . import errors
from ._version import __version__
from .compiling import compile, jit, load, tensor
from .settings import registry

__all__ = ["__version__", "compile", "errors", "jit", "load", "registry", "tensor"]
