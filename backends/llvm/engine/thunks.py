"""Write the thunk of a kernel: callers enter there, and it checks the floating-point control word.

Kernels run under the default word, which rounds to nearest, keeps subnormal numbers and does not trap, so that results
have the same bits everywhere. Few threads change it, so a thunk usually reads the word and jumps to the kernel. If the
word is another one, the thunk sets the default, calls the kernel, and restores what was there.

LLVM takes a third of a millisecond for these instructions in each kernel, a tenth of what it takes for a small one. For
C libraries it has to write them, since another linker places their code (`code/control_word.py`).

A kernel has at most six arguments, which are in registers, and returns a number.
"""

from __future__ import annotations

import struct

from .objects import X86_64

THUNK = 64  # bytes, at most, of a thunk

# The lowest six bits of the word are flags, not settings. What a leaf keeps below the stack pointer is its own.
_INTEL = (
    bytes.fromhex(
        "0fae5c24f8"  # stmxcsr [rsp - 8]
        "8b4424f8"  # mov eax, [rsp - 8]
        "25c0ff0000"  # and eax, 0xffc0
        "3d801f0000"  # cmp eax, 0x1f80
        "7505"  # jne past the jump
        "e9"  # jmp kernel
    ),
    bytes.fromhex(
        "4883ec18"  # sub rsp, 24
        "0fae1c24"  # stmxcsr [rsp]
        "c7442408801f0000"  # mov dword [rsp + 8], 0x1f80
        "0fae542408"  # ldmxcsr [rsp + 8]
        "e8"  # call kernel
    ),
    bytes.fromhex(
        "0fae1424"  # ldmxcsr [rsp]
        "4883c418"  # add rsp, 24
        "c3"  # ret
    ),
)
_ARM_JUMP, _ARM_CALL = 0x14000000, 0x94000000
_ARM = (
    (
        0xD53B4410,  # mrs x16, fpcr
        0xB5000050,  # cbnz x16, past the jump
    ),
    (
        0xA9BE7BFD,  # stp x29, x30, [sp, #-32]!
        0xF9000BF0,  # str x16, [sp, #16]
        0xD51B441F,  # msr fpcr, xzr
    ),
    (
        0xF9400BF0,  # ldr x16, [sp, #16]
        0xD51B4410,  # msr fpcr, x16
        0xA8C27BFD,  # ldp x29, x30, [sp], #32
        0xD65F03C0,  # ret
    ),
)


def thunk(machine: int, at: int, kernel: int) -> bytes:
    """Return the thunk at one offset of an image, for the kernel at another."""
    if machine == X86_64:
        check, change, restore = _INTEL
        code = check + struct.pack("<i", kernel - (at + len(check) + 4)) + change
        return code + struct.pack("<i", kernel - (at + len(code) + 4)) + restore
    first, then, last = _ARM
    jump, call = at + 4 * len(first), at + 4 * (len(first) + 1 + len(then))
    words = (*first, _branch(_ARM_JUMP, kernel - jump), *then, _branch(_ARM_CALL, kernel - call), *last)
    return struct.pack(f"<{len(words)}I", *words)


def _branch(instruction: int, distance: int) -> int:
    return instruction | distance >> 2 & 0x03FFFFFF
