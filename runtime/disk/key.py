"""Compute the key of a cache entry from all that changes generated code. Nothing else makes keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .hashing import digest_of
from .version import version

if TYPE_CHECKING:
    from ..compiler import Options, Request
    from ..registry import Registry

FORMAT = 2  # of the content of entries


def key_of(kind: str, *parts: Any) -> bytes | None:
    """The key of something that is made from these parts by this version of Weft, LLVM and Python for this CPU."""
    common = version()
    if common is None:
        return None
    text = json.dumps([FORMAT, common, kind, *parts], ensure_ascii=True, separators=(",", ":"))
    return digest_of(text.encode())


def signature(request: Request) -> list[Any]:
    """What is known of arguments when code is made: never their sizes, but for those that are 1."""
    types = [[a.dtype.name, isinstance(a.value, np.generic), [n == 1 for n in a.shape]] for a in request.args]
    return [types, list(request.layouts), list(request.out_layouts or ()), request.general]


def setting(options: Options) -> str:
    """The options as text; no target is this CPU, which every key has."""
    return repr(options)


def state_of(registry: Registry) -> str | None:
    """What a registry adds to the kernels that come with Weft, as text; None where that can't be told.

    An implementation may be any function of Python, so with one there is no telling.
    """
    return None if registry.has_user_kernels else ""


def digest(texts: Sequence[tuple[str, str]]) -> str:
    """One name for files, each with its text."""
    return digest_of(json.dumps(list(texts)).encode()).hex()
