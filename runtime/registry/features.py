"""List the CPU features of a target as LLVM names them (`avx512f`)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ...ir.errors import UnsupportedTarget

if TYPE_CHECKING:
    from ...backends.llvm.engine.target import Target


@cache
def cpu_features(target: Target | None = None) -> frozenset[str]:
    """The features of a target, or of this machine; none where there is no native code for it."""
    from ...backends.llvm.engine import target as targets

    if target is None:
        try:
            target = targets.host()
        except UnsupportedTarget:
            return frozenset()
    written = (word for word in target.features.split(",") if word.startswith("+"))
    return frozenset((*(word[1:] for word in written), *targets.level_features(target.cpu)))
