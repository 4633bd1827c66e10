"""Run a library's kernels on the calling thread, or on threads that the C program provides.

The program sets a function that calls back once for each piece. A piece is part of a kernel's outer or inner loop and
has its own scratch memory. Where loops are split changes no bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from ...backends.llvm.code.text import Val
from ..native.pool_code import LONG
from .writer import CallWriter

if TYPE_CHECKING:
    from ...backends.llvm.functions import NativeFunction

PIECES, SHARE = "@weft.pieces", "@weft.share"
JOB = ("function", "frame", "extent0", "extent1", "grain0", "grain1", "tile", "pieces")  # followed by a status


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
    """Generate the functions behind `CCrew`, and the one that a program calls to provide threads."""
    return f"""
@weft.run = internal global ptr null
@weft.context = internal global ptr null
{PIECES} = internal global i64 1

define void @{prefix}_set_parallel(ptr %run, ptr %context, i64 %pieces) {{
  %given = icmp ne ptr %run, null
  %some = call i64 @llvm.smax.i64(i64 %pieces, i64 1)
  %count = select i1 %given, i64 %some, i64 1
  store ptr %run, ptr @weft.run, align 8
  store ptr %context, ptr @weft.context, align 8
  store i64 %count, ptr {PIECES}, align 8
  ret void
}}

define internal i32 {SHARE}(
    ptr %function, ptr %frame, i64 %extent0, i64 %extent1, i64 %grain0, i64 %grain1, i64 %tile, i64 %pieces
) {{
  %job = alloca [{len(JOB) + 1} x i64], align 16
{_each_word(_stored)}
  %status = getelementptr i64, ptr %job, i64 {len(JOB)}
  store i64 0, ptr %status, align 8
  %several = icmp sgt i64 %pieces, 1
  br i1 %several, label %others, label %alone
others:
  %run = load ptr, ptr @weft.run, align 8
  %context = load ptr, ptr @weft.context, align 8
  call void %run(ptr %context, ptr @weft.piece, ptr %job, i64 %pieces)
  br label %done
alone:
  call void @weft.piece(ptr %job, i64 0)
  br label %done
done:
  %found = load atomic i32, ptr %status acquire, align 8
  ret i32 %found
}}

; A share of the longer loop, in whole grains, and of the other one all; along the inner loop tile by tile.
define internal void @weft.piece(ptr %job, i64 %index) {{
entry:
{_each_word(_loaded)}
  %status = getelementptr i64, ptr %job, i64 {len(JOB)}
  %outer = icmp sge i64 %extent0, %extent1
  %extent = select i1 %outer, i64 %extent0, i64 %extent1
  %grain = select i1 %outer, i64 %grain0, i64 %grain1
  %more = add i64 %extent, %grain
  %less = sub i64 %more, 1
  %grains = sdiv i64 %less, %grain
  %each = sdiv i64 %grains, %pieces
  %rest = srem i64 %grains, %pieces
  %following = add i64 %index, 1
  %ahead = call i64 @llvm.smin.i64(i64 %index, i64 %rest)
  %ahead_next = call i64 @llvm.smin.i64(i64 %following, i64 %rest)
  %plain = mul i64 %each, %index
  %plain_next = mul i64 %each, %following
  %first = add i64 %plain, %ahead
  %last = add i64 %plain_next, %ahead_next
  %from = mul i64 %first, %grain
  %until = mul i64 %last, %grain
  %end = call i64 @llvm.smin.i64(i64 %until, i64 %extent)
  %begin0 = select i1 %outer, i64 %from, i64 0
  %end0 = select i1 %outer, i64 %end, i64 %extent0
  %begin1 = select i1 %outer, i64 0, i64 %from
  %end1 = select i1 %outer, i64 %extent1, i64 %end
  %some = icmp slt i64 %from, %end
  br i1 %some, label %head, label %done
head:
  %at = phi i64 [ %begin1, %entry ], [ %stop, %head ]
  %left = sub i64 %end1, %at
  %step = call i64 @llvm.smin.i64(i64 %left, i64 %tile)
  %stop = add i64 %at, %step
  %found = call i32 %function(ptr %frame, i64 %begin0, i64 %end0, i64 %at, i64 %stop, i64 %index)
  %was = atomicrmw or ptr %status, i32 %found release, align 8
  %again = icmp slt i64 %stop, %end1
  br i1 %again, label %head, label %done
done:
  ret void
}}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""


def _each_word(code: Callable[[str, str], str]) -> str:
    """Generate code for each word of a job."""
    lines = []
    for at, name in enumerate(JOB):
        lines.append(f"  %{name}.at = getelementptr i64, ptr %job, i64 {at}")
        lines.append(code(name, "ptr" if name in ("function", "frame") else "i64"))
    return "\n".join(lines)


def _stored(name: str, kind: str) -> str:
    return f"  store {kind} %{name}, ptr %{name}.at, align 8"


def _loaded(name: str, kind: str) -> str:
    return f"  %{name} = load {kind}, ptr %{name}.at, align 8"
