"""Build small shared libraries for tests from a kernel's name, signature and body.

They are C, compiled on this machine. Without a compiler they are LLVM text, compiled by llvmlite and linked as `weft
build` does.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import weft

TWICE = """
    const float *x = call->inputs[0].data;
    float *y = call->outputs[0].data;
    for (int64_t i = 0; i < call->inputs[0].shape[0]; i++) y[i] = 2 * x[i];
    return WEFT_KERNEL_OK;
"""
FAILS = """
    const char *why = "no solution";
    for (int i = 0; i < 12; i++) call->message[i] = why[i];
    return 7;
"""
# Says in its argument that it runs and waits for another thread to answer there; fails if that never happens.
WAITS = """
    volatile float *x = call->inputs[0].data;
    float *y = call->outputs[0].data;
    x[1] = 1;
    for (int64_t i = 0; i < 20000000000; i++)
        if (x[0] != 0) { y[0] = x[0]; y[1] = x[1]; return 0; }
    return 1;
"""
STEPS = """
    const double *x = call->inputs[0].data;
    const int64_t n = call->inputs[0].shape[0], k = *(int64_t *)call->inputs[1].data;
    double *y = call->outputs[0].data, *last = call->outputs[1].data;
    if (call->input_count != 2 || call->output_count != 2 || call->inputs[1].rank != 0) return 1;
    for (int64_t i = 0; i + 1 < n; i++) y[i] = k * (x[i + 1] - x[i]);
    *last = n ? x[n - 1] : 0;
    return WEFT_KERNEL_OK;
"""
STRIDES = """
    const weft_operand *x = &call->inputs[0], *y = &call->outputs[0];
    for (int64_t i = 0; i < x->shape[x->rank - 1]; i++)
        ((int64_t *)y->data)[i] = x->rank == 2 ? x->strides[0] : x->strides[x->rank - 1];
    return WEFT_KERNEL_OK;
"""

# What every kernel of LLVM text begins with: the data of the first input and output, and how long the input is.
_OPERANDS = """
  %inputs = getelementptr i8, ptr %call, i64 8
  %in = load ptr, ptr %inputs
  %outputs = getelementptr i8, ptr %call, i64 24
  %out = load ptr, ptr %outputs
  %x = load ptr, ptr %in
  %y = load ptr, ptr %out
  %shapes = getelementptr i8, ptr %in, i64 16
  %shape = load ptr, ptr %shapes
  %n = load i64, ptr %shape"""
_IR = {
    TWICE: """
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %value = load float, ptr %from
  %doubled = fadd float %value, %value
  store float %doubled, ptr %to
  %next = add i64 %i, 1
  br label %head
done:
  ret i32 0""",
    FAILS: """
  %place = getelementptr i8, ptr %call, i64 32
  %message = load ptr, ptr %place
  store [12 x i8] c"no solution\\00", ptr %message
  ret i32 7""",
    WAITS: """
  %flag = getelementptr float, ptr %x, i64 1
  store volatile float 1.0, ptr %flag
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %again]
  %value = load volatile float, ptr %x
  %ready = fcmp une float %value, 0.0
  br i1 %ready, label %done, label %again
again:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, 20000000000
  br i1 %more, label %head, label %failed
done:
  store float %value, ptr %y
  ret i32 0
failed:
  ret i32 1""",
    STEPS: """
  %second = getelementptr i8, ptr %in, i64 32
  %number = load ptr, ptr %second
  %k = load i64, ptr %number
  %factor = sitofp i64 %k to double
  %others = getelementptr i8, ptr %out, i64 32
  %last = load ptr, ptr %others
  store double 0.0, ptr %last
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %body], [%next, %step]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %from = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %from
  store double %value, ptr %last
  %next = add i64 %i, 1
  %has = icmp slt i64 %next, %n
  br i1 %has, label %step, label %head
step:
  %after = getelementptr double, ptr %x, i64 %next
  %beyond = load double, ptr %after
  %rise = fsub double %beyond, %value
  %product = fmul double %factor, %rise
  %to = getelementptr double, ptr %y, i64 %i
  store double %product, ptr %to
  br label %head
done:
  ret i32 0""",
    STRIDES: """
  %steps = getelementptr i8, ptr %in, i64 24
  %strides = load ptr, ptr %steps
  %first = load i64, ptr %strides
  store i64 %first, ptr %y
  ret i32 0""",
}


def build(
    library: Path,
    body: str = TWICE,
    symbol: str = "twice_f32",
    signature: str = "f32[n] -> f32[n]",
    abi: int | None = 1,
) -> Path:
    """Build a library with one kernel; without a number it does not declare its interface version."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return _from_llvm(library, body, symbol, signature, abi)
    source = library.with_suffix(".c")
    version = "" if abi is None else "WEFT_KERNEL_LIBRARY" if abi == 1 else f"const int32_t weft_kernel_abi = {abi};"
    source.write_text(f'#include "weft_kernel.h"\n{version}\nWEFT_KERNEL({symbol}, "{signature}") {{{body}}}\n')
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", f"-I{weft.include_dir()}"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    return library


def _from_llvm(library: Path, body: str, symbol: str, signature: str, abi: int | None) -> Path:
    import llvmlite.binding as llvm
    from weft.runtime.aot.link import link

    text = f'@{symbol}_signature = constant [{len(signature) + 1} x i8] c"{signature}\\00"\n'
    text += "" if abi is None else f"@weft_kernel_abi = constant i32 {abi}\n"
    text += f"define i32 @{symbol}(ptr %call) {{\nentry:{_OPERANDS}{_IR[body]}\n}}\n"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic")
    library.write_bytes(link(machine.emit_object(llvm.parse_assembly(text)), library.name)[0])
    return library
