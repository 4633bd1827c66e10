"""Load the object file for LLVM text from disk, or compile and store it.

It serves everything except the code of stored graphs: native entries, the thread pool, the list of memory blocks, and
kernels whose graphs can't be stored.
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
    """Return the machine code of a module for a target, or for this machine.

    `allowed` names the symbols it may import. `effort` names one of LLVM's efforts (`backends/llvm/engine/module.py`),
    which is imported only to compile.
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
