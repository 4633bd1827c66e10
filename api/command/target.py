"""What the command compiles for: this machine, or where it has no native code a stand-in that passes can plan for."""

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
    """Options for what is only printed; native code for the stand-in can't be made."""
    options = default_options()
    try:
        return replace(options, target=target.host())
    except UnsupportedTarget as error:
        show_note(f"{error.message}; graphs are planned for vectors of {STAND_IN.vector_bytes} bytes")
        return replace(options, target=STAND_IN)
