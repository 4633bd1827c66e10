"""Run kernels under the default floating-point control word, whatever the calling thread has set.

The default rounds to nearest, keeps subnormal numbers and does not trap, so that results have the same bits everywhere.
Few threads change it, so a function usually costs one read of the word and a jump. Other settings are restored
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

PARAMETERS = ("begin0", "end0", "begin1", "end1", "worker")
_TYPED = ", ".join(("ptr noalias %frame", *(f"i64 %{name}" for name in PARAMETERS)))
_PASSED = ", ".join(("ptr %frame", *(f"i64 %{name}" for name in PARAMETERS)))
# Code that reads and compares the word, sets it, and restores it. The lowest six bits on x86 are flags, not settings.
_X86 = (
    """  %word = alloca i32, align 4
  %usual = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  %now = load i32, ptr %word, align 4
  %settings = and i32 %now, 65472
  %is_usual = icmp eq i32 %settings, 8064""",
    "  store i32 8064, ptr %usual, align 4\n  call void @llvm.x86.sse.ldmxcsr(ptr %usual)",
    "  call void @llvm.x86.sse.ldmxcsr(ptr %word)",
    "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
)
_AARCH64 = (
    "  %now = call i64 @llvm.aarch64.get.fpcr()\n  %is_usual = icmp eq i64 %now, 0",
    "  call void @llvm.aarch64.set.fpcr(i64 0)",
    "  call void @llvm.aarch64.set.fpcr(i64 %now)",
    "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
)


def head(name: str) -> str:
    """The first line of a kernel's function."""
    return f"define i32 @{name}({_TYPED}) {{"


def controlled(text: str, names: Sequence[str], triple: str) -> str:
    """Wraps each of these kernels in a function that sets and restores the control word."""
    look, usual, back, declared = _AARCH64 if triple.startswith(("aarch64", "arm64")) else _X86
    parts = []
    for name in names:
        inner = f"{name}.body"
        text = text.replace(head(name), head(inner).replace("define", "define internal", 1), 1)
        parts.append(f"""{head(name)}
{look}
  br i1 %is_usual, label %run, label %change
run:
  %found = musttail call i32 @{inner}({_PASSED})
  ret i32 %found
change:
{usual}
  %made = call i32 @{inner}({_PASSED})
{back}
  ret i32 %made
}}
""")
    return "\n".join([text, *parts, declared, ""])
