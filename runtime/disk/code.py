"""Load the machine code for LLVM text from disk, or compile and store it.

It is used for everything except the code of stored graphs: native entries, the thread pool, the list of memory blocks,
and kernels whose graphs can't be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .cache import default_cache
from .key import key_of

if TYPE_CHECKING:
    from ...backends.llvm.engine.target import Target


def machine_code(
    text: str,
    allowed: frozenset[str] = frozenset(),
    effort: str = "OFTEN",
    target: Target | None = None,
    kernels: Sequence[str] = (),
) -> bytes:
    """Return the machine code of a module for a target, or for this machine.

    `allowed` names the symbols it may import. `effort` names one of LLVM's efforts (`backends/llvm/engine/module.py`,
    imported only to compile). The functions in `kernels` run under the default control word.
    """
    parts = ("code", text, sorted(allowed), effort, repr(target), *kernels)
    return _found_or_made(parts, lambda: text, allowed, effort, target, kernels)


def routine_code(name: str, text: Callable[[], str], allowed: frozenset[str], effort: str = "OFTEN") -> bytes:
    """Return the machine code of Weft's own routines of this name; their text is made only if it is not on disk."""
    return _found_or_made(("routines", name, effort), text, allowed, effort)


def _found_or_made(
    parts: Sequence[Any],
    text: Callable[[], str],
    allowed: frozenset[str],
    effort: str,
    target: Target | None = None,
    kernels: Sequence[str] = (),
) -> bytes:
    cache = default_cache()
    key = key_of(*parts) if cache is not None else None
    found = cache.read(key) if cache is not None else None
    if found is not None:
        return found
    from ...backends.llvm.engine import module
    from ...backends.llvm.engine import target as targets
    from ...backends.llvm.engine.library import linked
    from ...ir.support.compile_log import log_compile

    written = text()
    compiled = module.compile_module(written, target or targets.host(), allowed, module.Effort[effort])
    name = written.partition(" @")[2].partition("(")[0]
    log_compile(name, "native code", {"LLVM read": compiled.reading_seconds, "LLVM codegen": compiled.codegen_seconds})
    made = linked(compiled.object_code, kernels)
    if cache is not None:
        cache.write(key, made)
    return made
