"""Test the floating-point control word: kernels run under the default one, and the caller's is restored."""

from __future__ import annotations

import ctypes
import platform
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.code.control_word import controlled, head
from weft.backends.llvm.engine import module, target
from weft.backends.llvm.engine.library import LoadedCode
from weft.backends.llvm.engine.objects import AARCH64, X86_64
from weft.backends.llvm.engine.thunks import THUNK, thunk
from weft.runtime.aot.platforms import platform_for

from tests.user_kernels.libraries import TWICE, build

USUAL, FLUSHING, DOWN, UP, ZERO, TRAPPING = 0x1F80, 0x9FC0, 0x3F80, 0x5F80, 0x7F80, 0x1900
OWN = 0xFFC0  # without what has happened
SHORT, LONG = np.linspace(1, 9, 40) * 1e-310, np.linspace(0.5, 7, 2_000_003)
SQUARE = np.linspace(0, 1, 90 * 90).reshape(90, 90)
TEXT = """
define i32 @word() {
  %at = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %at)
  %now = load i32, ptr %at, align 4
  ret i32 %now
}
define void @set(i32 %word) {
  %at = alloca i32, align 4
  store i32 %word, ptr %at, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %at)
  ret void
}
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
"""
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the control word of x86-64")


class Word:
    """Reads and sets the control word of this thread."""

    def __init__(self) -> None:
        code = module.compile_module(TEXT, target.host()).object_code
        self.library = LoadedCode(code, ["word", "set"])
        self._word = ctypes.PYFUNCTYPE(ctypes.c_int32)(self.library.addresses["word"])
        self.set = ctypes.PYFUNCTYPE(None, ctypes.c_int32)(self.library.addresses["set"])

    @property
    def now(self) -> int:
        return int(self._word()) & OWN


@pytest.fixture
def word() -> Iterator[Word]:
    made, threads = Word(), weft.get_threads()
    weft.set_threads(2)
    yield made
    made.set(USUAL)
    weft.set_threads(threads)


def functions() -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels with an argument each: short, shared, a constant to fold, a product, a loop of elements."""
    loop = weft.compile("fn f(x) { var y = x; while y < 3 { y = y * 1.1 }; return y }; kernel k(x: f64[n]) = f(x)").k
    return [
        (weft.jit(lambda x: x * 0.5), (SHORT,)),
        (weft.jit(lambda x: x / 3 + np.exp(x) * x.sum()), (LONG,)),
        (weft.jit(lambda x: x + np.float64(1.0) / np.float64(3.0)), (SHORT,)),
        (weft.jit(lambda x: x @ x), (SQUARE,)),
        (loop, (LONG,)),
    ]


def test_no_bit_depends_on_it(word: Word) -> None:
    expected = [function(*args).tobytes() for function, args in functions()]
    for setting in (FLUSHING, DOWN, UP, ZERO, TRAPPING):
        word.set(setting)
        try:  # traced, compiled, started and called under another word
            found = [[f(*args).tobytes() for _ in range(3)] for f, args in functions()]
            after = word.now
        finally:
            word.set(USUAL)
        assert found == [[bits] * 3 for bits in expected], hex(setting)
        assert after == setting


def test_workers_do_not_keep_that_of_their_start(word: Word) -> None:
    """The workers are started by a thread that flushes subnormal numbers to zero."""
    halve, x = weft.jit(lambda x: x * 0.5), np.full(3_000_000, 1e-310)
    weft.set_threads(weft.get_threads() + 2)
    word.set(FLUSHING)
    halve(x)
    word.set(USUAL)
    for _ in range(3):
        assert (halve(x) == 0.5e-310).all()


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")
def test_libraries_leave_it_alone(word: Word, tmp_path: Path) -> None:
    flush = f"__builtin_ia32_ldmxcsr({FLUSHING});"
    build(tmp_path / "k.so", f"{flush}{TWICE} }}\n__attribute__((constructor)) static void begin(void) {{ {flush}")
    (tmp_path / "k.weft").write_text('extern kernel twice(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"\n')
    kernels = weft.load(tmp_path / "k.weft", libraries=True)
    assert word.now == USUAL, "its constructor has run"
    x = np.ones(3, np.float32)
    assert np.array_equal(kernels.twice(x), 2 * x) and word.now == USUAL


def test_code_for_arm() -> None:
    machine = platform_for("aarch64-linux-gnu").base
    text = controlled(f"{head('kernel')}\nentry:\n  ret i32 7\n}}\n", ["kernel"], machine.triple)
    code = module.assembly(text, machine)
    assert code.count("mrs\tx") == 1 and code.count(", FPCR") == 1 and code.count("msr\tFPCR") == 2


@pytest.mark.parametrize(("machine", "jump", "call"), [(X86_64, 21, 47), (AARCH64, 8, 24)])
def test_both_ways_through_a_thunk_lead_to_the_kernel(machine: int, jump: int, call: int) -> None:
    at, kernel = 0x1240, 0x200
    code = thunk(machine, at, kernel)
    for place in (jump, call):
        if machine == X86_64:
            (distance,) = struct.unpack_from("<i", code, place + 1)
            assert at + place + 5 + distance == kernel
        else:
            (word,) = struct.unpack_from("<I", code, place)
            assert at + place + ((word << 6 & 0xFFFFFFFF) - (word << 6 & 0x80000000) * 2 >> 4) == kernel
    assert len(code) <= THUNK
