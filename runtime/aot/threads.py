"""Run a library's kernels on the calling thread, or on threads that the C program provides.

The program sets a function that calls back once for each piece. A piece is part of a kernel's outer or inner loop and
has its own scratch memory. Where loops are split changes no bits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ...backends.llvm.code.routine_types import words
from ...backends.llvm.code.routines import Routines
from ...backends.llvm.code.text import Val
from ..native.pool_code import LONG
from .writer import CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.functions import NativeFunction

PIECES = "getelementptr (i8, ptr @weft.crew, i64 16)"
SHARE = "@weft.share"
LAUNCH = "@weft.launch"  # what nests call to share a loop, as the pool's function in Python
_NUMBERS = ("extent0", "extent1", "grain0", "grain1", "tile", "pieces")
JOB = {"function": "ptr", "frame": "ptr"} | dict.fromkeys(_NUMBERS, "i64") | {"status": "i32"}


class CCrew:
    """Generate the code in one function that runs kernels on these threads."""

    shared_from: ClassVar[int] = LONG

    def __init__(self, w: CallWriter) -> None:
        self.w = w

    def threads(self) -> Val:
        return self.w.e.load(Val(PIECES, "ptr", 0), "i64", 0, 8)

    def function(self, part: NativeFunction) -> Val:
        return Val(f"@{part.name}", "ptr", 0)

    def question(self) -> Val:
        return Val("null", "ptr", 0)

    def share(self, part: NativeFunction, frame: Val, extents: Sequence[Val], unit: Val, workers: Val) -> Val:
        shape = [*extents, *(self.w.number(n) for n in (*part.grains, part.tile)), workers]
        return self.w.invoke(Val(SHARE, "ptr", 0), "i32", self.function(part), frame, *shape)


def crew_text(prefix: str) -> str:
    """Translate the routines behind `CCrew`, and the one that a program calls to provide threads."""
    structures = {"Crew": words(run="ptr", context="ptr", pieces="i64"), "Job": words(**JOB)}
    with open(os.path.join(os.path.dirname(__file__), "crew.routine"), encoding="utf-8") as file:
        made = Routines(file.read(), structures, {"JOB": structures["Job"].size}, {"crew": "Crew"}).llvm()
    text = re.sub(r"@(crew|share|piece|launch)\b", r"@weft.\1", made)
    text = text.replace("@set_parallel(", f"@{prefix}_set_parallel(")
    return text.replace(
        "@weft.crew = external global [0 x i8]",
        "@weft.crew = internal global { ptr, ptr, i64 } { ptr null, ptr null, i64 1 }",
    )
