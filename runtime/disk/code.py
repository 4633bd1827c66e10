"""Fetch the object file for LLVM text from disk, or make it and keep it there.

It serves what is not a kernel's own code (entries of native calls, the pool, the list of memory blocks) and kernels
whose graphs can't be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cache import default_cache
from .key import key_of

if TYPE_CHECKING:
    from ...backends.llvm.engine.target import Target


def object_code(
    text: str, allowed: frozenset[str] = frozenset(), effort: str = "OFTEN", target: Target | None = None
) -> bytes:
    """Machine code for a module; `allowed` are symbols that it may leave open. No target is this machine.

    `effort` is the name of one of LLVM's efforts (`backends/llvm/engine/module.py`), imported only where code is made.
    """
    cache = default_cache()
    key = key_of("code", text, sorted(allowed), effort, repr(target)) if cache is not None else None
    found = cache.read(key) if cache is not None else None
    if found is not None:
        return found
    from ...backends.llvm.engine import module
    from ...backends.llvm.engine import target as targets

    made = module.compile_module(text, target or targets.host(), allowed, module.Effort[effort]).object_code
    if cache is not None:
        cache.write(key, made)
    return made
