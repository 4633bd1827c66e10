"""Compute the key of a cache entry from everything that changes generated code. No other module makes keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .hashing import digest_of
from .version import version

if TYPE_CHECKING:
    from ..compiler import Options, Request
    from ..registry import Registry

FORMAT = 3  # version of the entries' content


def key_of(kind: str, *parts: Any) -> bytes | None:
    """Return the key of something made from these parts, for this CPU and these versions of Weft, LLVM and Python."""
    common = version()
    if common is None:
        return None
    return digest_of(repr([FORMAT, common, kind, *parts]).encode("utf-8", "surrogatepass"))


def signature(request: Request) -> list[Any]:
    """Describe what the compiler knows about arguments: never their sizes, except which are 1."""
    types = [[a.dtype.name, isinstance(a.value, np.generic), [n == 1 for n in a.shape]] for a in request.args]
    return [types, list(request.layouts), list(request.out_layouts or ()), request.general]


def setting(options: Options) -> str:
    """Describe the options as text; no target means this CPU, which every key contains."""
    return repr(options)


def state_of(registry: Registry) -> str | None:
    """Describe what users have registered, as text; None if that is impossible.

    An implementation may be any Python function, which has no reliable description.
    """
    return None if registry.has_user_kernels else ""


def digest(texts: Sequence[tuple[str, str]]) -> str:
    """Return one digest for several files and their texts."""
    return digest_of(repr(list(texts)).encode("utf-8", "surrogatepass")).hex()
