"""Make kernels of C libraries run under the default floating-point control word, whatever the calling thread has set.

Kernels that Weft loads itself are entered through thunks that do this (`engine/thunks.py`). Those of a library are
placed by another linker, so LLVM writes the same here. The word is checked in a block before the kernel's own code, and
restored in one after it. Neither block computes with floats, so LLVM can't move a computation out of the part that runs
under the default word. (A function around each kernel would do as well, but LLVM takes a millisecond for the smallest
function.)
"""

from __future__ import annotations

from collections.abc import Sequence

from .text import UNLIKELY

OPENING = "{\nentry:\n"
PARAMETERS = ("begin0", "end0", "begin1", "end1", "worker")
_TYPED = ", ".join(("ptr noalias %frame", *(f"i64 %{name}" for name in PARAMETERS)))
# Code that saves the word, sets the default one, tells whether the saved one differs from it, and restores it. The
# lowest six bits on x86 are flags, not settings.
_X86 = (
    """  %control.word = alloca i32, align 4
  %control.usual = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %control.word)""",
    "  store i32 8064, ptr %control.usual, align 4\n  call void @llvm.x86.sse.ldmxcsr(ptr %control.usual)",
    """  %control.{0} = load i32, ptr %control.word, align 4
  %control.{0}.settings = and i32 %control.{0}, 65472
  %control.{0}.differs = icmp ne i32 %control.{0}.settings, 8064""",
    "  call void @llvm.x86.sse.ldmxcsr(ptr %control.word)",
    "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
)
_AARCH64 = (
    """  %control.word = alloca i64, align 8
  %control.now = call i64 @llvm.aarch64.get.fpcr()
  store i64 %control.now, ptr %control.word, align 8""",
    "  call void @llvm.aarch64.set.fpcr(i64 0)",
    """  %control.{0} = load i64, ptr %control.word, align 8
  %control.{0}.differs = icmp ne i64 %control.{0}, 0""",
    "  call void @llvm.aarch64.set.fpcr(i64 %control.last)",
    "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
)


def head(name: str) -> str:
    """The first line of a kernel's function."""
    return f"define i32 @{name}({_TYPED}) {{"


def controlled(text: str, names: Sequence[str], triple: str) -> str:
    """Makes each of these kernels set the control word in its first block and restore it in its last one."""
    save, set_usual, compare, restore, declared = _AARCH64 if triple.startswith(("aarch64", "arm64")) else _X86
    begin = f"""{save}
{compare.format("first")}
  br i1 %control.first.differs, label %control.change, label %entry{UNLIKELY}
control.change:
{set_usual}
  br label %entry
"""
    end = f"""{compare.format("last")}
  br i1 %control.last.differs, label %control.restore, label %control.end{UNLIKELY}
control.restore:
{restore}
  br label %control.end
control.end:
"""
    parts, at = [], 0
    for start in sorted(text.index(OPENING, text.index(f"define i32 @{name}(")) + len(OPENING) for name in names):
        stop = text.index("\n}", start)
        last = text.rindex("  ret i32 ", start, stop)
        entry = text.index("  br ", start, stop) if "  br " in text[start:last] else last
        memory, others = _apart(text[start:entry])
        parts += [text[at:start].removesuffix("entry:\n"), f"control:\n{memory}{begin}entry:\n{others}"]
        parts += [text[entry:last], end, text[last:stop]]
        at = stop
    return "\n".join(["".join([*parts, text[at:]]), declared, ""])


def _apart(block: str) -> tuple[str, str]:
    """Split lines into those that reserve memory on the stack, which belong into a function's first block, and the
    others.
    """
    if " = alloca " not in block:
        return "", block
    lines = block.splitlines(keepends=True)
    return "".join(x for x in lines if " = alloca " in x), "".join(x for x in lines if " = alloca " not in x)
