"""Choose the target to compile for: this machine, or a stand-in for planning if it has no native code."""

from __future__ import annotations

from ..backends.llvm.engine import target
from ..backends.llvm.engine.target import Target
from ..ir.errors import UnsupportedTarget
from ..ir.records import replace
from ..runtime.compiler import Options
from ..settings import default_options
from .screen import show_note

STAND_IN = Target("unknown", "generic", "", 32)


def printing_options() -> Options:
    """Return options for code that is only printed; the stand-in can't produce native code."""
    options = default_options()
    try:
        return replace(options, target=target.host())
    except UnsupportedTarget as error:
        show_note(f"{error.message}; graphs are planned for vectors of {STAND_IN.vector_bytes} bytes")
        return replace(options, target=STAND_IN)
