"""Test code for other machines, and machines without native code."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import library, module, objects, target
from weft.backends.llvm.engine.target import Target
from weft.errors import UnsupportedTarget, WeftError
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

ARM = Target("aarch64-unknown-linux-gnu", "generic", "+neon", 16)


def program(dtype: str, machine: Target) -> str:
    """Return LLVM text with most kinds of operations."""

    def everything(x: Any, y: Any, k: Any) -> Any:
        return (
            np.exp(x) + np.log(y) * np.tanh(x), np.sin(x), x**y, x // y, x % k, k // 3, k % k, k << 1, np.rint(x),
            np.maximum(x, y), x.sum(), x.sum(axis=0), (x > 0).any(axis=1), x.astype(np.int64), np.where(x > y, x, k),
        )  # fmt: skip

    x, k = np.ones((3, 4), dtype), np.ones((3, 4), np.int32)
    return Kernel(TracedFunction(everything), Registry(), Options(target=machine)).lower(x, x, k).llvm()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("machine", [ARM, target.x86(3), target.x86(4)], ids=["aarch64", "avx2", "avx512"])
def test_objects_need_no_routine_of_others(machine: Target, dtype: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    code = module.compile_module(program(dtype, machine), machine).object_code
    assert code.startswith(b"\x7fELF")
    assert objects.undefined_symbols(code) <= library.ALLOWED_SYMBOLS


def test_an_object_that_needs_a_routine_is_refused() -> None:
    text = "define double @f(double %x) {\n  %y = call double @unknown(double %x)\n  ret double %y\n}\n"
    with pytest.raises(WeftError, match="routines that Weft does not provide: unknown"):
        module.compile_module(text + "declare double @unknown(double)\n", target.host())


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Return a machine without native code."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    target.host.cache_clear()
    yield
    target.host.cache_clear()


def test_a_foreign_machine_is_a_typed_error_and_the_reference_backend_works(foreign: None) -> None:
    x = np.arange(3.0)
    with pytest.raises(UnsupportedTarget, match="no native code for Linux on riscv64") as caught:
        weft.jit(lambda x: x + 1)(x)
    assert caught.value.hint is not None and "backend='reference'" in caught.value.hint
    assert weft.jit(lambda x: x + 1, backend="reference")(x).tolist() == [1.0, 2.0, 3.0]


def test_a_cpu_without_avx2_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    features = dict.fromkeys(target.llvm().features(), False)
    monkeypatch.setattr(target.llvm(), "features", lambda: features)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    target.host.cache_clear()
    try:
        with pytest.raises(UnsupportedTarget, match="this CPU lacks avx2, fma"):
            target.host()
    finally:
        target.host.cache_clear()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="LLVM has this pass for x86 only")
def test_loops_of_programs_select_without_branches() -> None:
    text = (
        "define i64 @f(ptr %p, i64 %n, i64 %poly) {\nentry:\n  br label %loop\nloop:\n"
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %crc = phi i64 [ 65535, %entry ], [ %new, %loop ]\n"
        "  %at = getelementptr i8, ptr %p, i64 %i\n  %byte = load i8, ptr %at\n  %low = trunc i64 %crc to i8\n"
        "  %both = xor i8 %low, %byte\n  %bit = and i8 %both, 1\n  %is = icmp ne i8 %bit, 0\n"
        "  %half = ashr i64 %crc, 1\n  %mask = select i1 %is, i64 %poly, i64 0\n  %new = xor i64 %half, %mask\n"
        "  %next = add i64 %i, 1\n  %go = icmp slt i64 %next, %n\n  br i1 %go, label %loop, label %end\n"
        "end:\n  ret i64 %new\n}\n"
    )
    assert "cmov" in module.assembly(text, target.host(), module.Effort.LOOPS)
    assert "cmov" not in module.assembly(text, target.host())
