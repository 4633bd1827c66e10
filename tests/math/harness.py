"""Make an emitter function callable on NumPy arrays.

`build(exp, "float", 16, "avx2")` compiles a loop that applies `exp(e, x)` to vectors of 16 floats with the
instructions of AVX2 only, so that a test can compare vector widths and instruction sets bit for bit. Code that
calls any library routine is refused.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from weft.backends.llvm.code.text import Emitter, Val

DTYPES = {"float": np.float32, "double": np.float64}
CPUS = {"avx2": "x86-64-v3", "avx512": "x86-64-v4"}
WIDTHS = {"avx2": (0, 4, 8), "avx512": (0, 4, 8, 16)}

Array = np.ndarray[Any, Any]


@functools.cache
def host_features() -> dict[str, bool]:
    return dict(llvm.get_host_cpu_features())


def available() -> list[str]:
    """The instruction sets that this machine can run, the smallest first."""
    return ["avx2", *(["avx512"] if host_features().get("avx512vl") else [])]


@functools.cache
def target_machine(features: str) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    if features == "host":
        flags = llvm.get_host_cpu_features().flatten()
        return target.create_target_machine(llvm.get_host_cpu_name(), flags, opt=3, jit=True)
    return target.create_target_machine(CPUS[features], "", opt=3, jit=True)


def loop_text(
    emit: Callable[..., Val | Sequence[Val]], elem: str, lanes: int, arity: int, unroll: int, vector_bytes: int
) -> str:
    """Return a function `loop(count, out, inputs...)`; the count is a multiple of `lanes * unroll`.

    If an emitter has several results, they follow one another in `out`, `count` of each.
    """
    e = Emitter()
    e.vector_bytes = vector_bytes
    size = np.dtype(DTYPES[elem]).itemsize
    e.br("head")
    e.place("head")
    step = max(lanes, 1)
    count, index = Val("%count", "i64", 0), Val("%index", "i64", 0)
    for part in range(unroll):
        first = e.op("add", index, e.const("i64", part * step))
        offset = e.op("mul", first, e.const("i64", size))
        inputs = [e.load(e.offset(Val(f"%in{i}", "ptr", 0), offset), elem, lanes, size) for i in range(arity)]
        results = emit(e, *inputs)
        for place, result in enumerate([results] if isinstance(results, Val) else results):
            ahead = e.op("mul", count, e.const("i64", place * size))
            e.store(result, e.offset(Val("%out", "ptr", 0), e.op("add", offset, ahead)), size)
    following = e.op("add", index, e.const("i64", step * unroll))
    e.cbr(e.icmp("ult", following, count), "head", "exit")
    latch = e.block
    phi = f"  %index = phi i64 [ 0, %entry ], [ {following.text}, %{latch} ]"
    body = "\n".join(e.lines).replace("head:", f"head:\n{phi}", 1)
    params = ", ".join(["i64 %count", "ptr noalias %out", *(f"ptr noalias %in{i}" for i in range(arity))])
    declarations = "\n".join(e.declared.values())
    return f"{declarations}\ndefine void @loop({params}) {{\nentry:\n{body}\nexit:\n  ret void\n}}\n"


class Kernel:
    """Compiled code: call it with arrays, or use `into` to time it without allocation."""

    def __init__(self, text: str, features: str, elem: str, arity: int, block: int) -> None:
        machine = target_machine(features)
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.verify()
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
        passes.getModulePassManager().run(module, passes)
        self.assembly: str = machine.emit_assembly(module)
        called = re.findall(r"(?:callq?\s+|movabsq?\s+\$)\"?([A-Za-z_][\w.]*)", self.assembly)
        if any(not name.startswith("weft.") for name in called):  # our own functions are defined in the module
            raise RuntimeError("the code calls a library routine")
        self.dtype = DTYPES[elem]
        self.block = block
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        address = self._engine.get_function_address("loop")
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + 1))(address)

    def into(self, out: Array, *inputs: Array) -> None:
        """Fill `out`; every array is contiguous and its size a multiple of `block`."""
        self._run(out.size, out.ctypes.data, *(x.ctypes.data for x in inputs))

    def parts(self, count: int, *inputs: Array) -> list[Array]:
        """What an emitter with `count` results gives."""
        size = inputs[0].size
        padded = -(-size // self.block) * self.block
        full = [np.resize(np.asarray(x, self.dtype), padded) for x in inputs]
        out = np.empty((count, padded), self.dtype)
        self._run(padded, out.ctypes.data, *(x.ctypes.data for x in full))
        return [part[:size].reshape(inputs[0].shape) for part in out]

    def __call__(self, *inputs: Array) -> Array:
        return self.parts(1, *inputs)[0]


@functools.cache
def build(
    emit: Callable[..., Val | Sequence[Val]],
    elem: str,
    lanes: int,
    features: str = "host",
    arity: int = 1,
    unroll: int = 1,
) -> Kernel:
    """Compile `emit` over arrays of `elem` ("float" or "double"), `lanes` elements at a time (0: scalar code)."""
    has_avx512 = features == "avx512" or (features == "host" and "avx512" in available())
    text = loop_text(emit, elem, lanes, arity, unroll, 64 if has_avx512 else 32)
    return Kernel(text, features, elem, arity, max(lanes, 1) * unroll)
