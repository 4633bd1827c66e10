"""Time a plain loop over the memory of a case: the speed at which the machine reads and writes.

The loop adds up its inputs and stores the sum, or keeps it where the result is one number. It is scalar LLVM code,
vectorised by LLVM as a C compiler would do it, and each thread has its own part of the arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ..backends.llvm.engine import target as targets
from ..backends.llvm.engine.library import LoadedCode
from .library import TimedCall
from .row import Case

CACHED = 1 << 21  # bytes below which the caches of a core would be measured
REPEATS = 3  # passes over the memory per start of several threads, because a start takes a while
_TYPES = {"f": ("float", 4), "d": ("double", 8)}


def applies(case: Case, answer: Any) -> bool:
    """Tell whether a plain loop reads and writes as many bytes: floats of one dtype and size, too many for the
    caches.
    """
    if not case.row.streams:
        return False
    arrays = _long(case)
    same = all(x.dtype == arrays[0].dtype and x.flags.forc for x in arrays)
    short = all(64 * x.size <= arrays[0].size for x in case.arrays if x.size != arrays[0].size)
    return same and short and answer.size in (1, arrays[0].size) and arrays[0].nbytes >= CACHED


def _long(case: Case) -> list[Any]:
    """Return the inputs that are as long as the case. A single row or column stays in a cache."""
    longest = max(x.size for x in case.arrays)
    return [x for x in case.arrays if x.size == longest]


class MemoryLoop:
    """Compile plain loops once for each number of inputs and dtype, and run them on threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(max(1, threads - 1))
        self._libraries: dict[tuple[int, str, bool], LoadedCode] = {}

    def __enter__(self) -> MemoryLoop:
        return self

    def __exit__(self, *problem: object) -> None:
        self._pool.shutdown()

    def call(self, case: Case, answer: Any) -> TimedCall:
        """Return the loop over the inputs of a case, with its own memory for the result."""
        arrays = _long(case)
        stores, kind = answer.size > 1, arrays[0].dtype.char
        library = self._library(len(arrays), kind, stores)
        out = np.empty_like(arrays[0]) if stores else np.empty(self.threads * 16, arrays[0].dtype)
        out.fill(0)
        part = -(-arrays[0].size // self.threads)
        parts = [self._part(library, arrays, out, k, part, stores) for k in range(self.threads)]
        return TimedCall(lambda count: self._run(parts, count), lambda: out)

    def _library(self, inputs: int, kind: str, stores: bool) -> LoadedCode:
        key = inputs, kind, stores
        if key not in self._libraries:
            self._libraries[key] = _compiled(_loop(inputs, _TYPES[kind][0], stores))
        return self._libraries[key]

    def _part(
        self, library: LoadedCode, arrays: list[Any], out: Any, k: int, part: int, stores: bool
    ) -> Callable[[int], None]:
        begin, end = min(k * part, arrays[0].size), min((k + 1) * part, arrays[0].size)
        size = out.itemsize
        pointers = [x.ctypes.data + begin * size for x in arrays]
        pointers.append(out.ctypes.data + (begin if stores else 16 * k) * size)  # each sum has its own cache line
        made = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers), ctypes.c_int64)
        function = made(library.addresses["plain"])

        def run(count: int, keep: Any = (library, arrays, out)) -> None:
            for _ in range(count):
                function(*pointers, end - begin)

        return run

    def _run(self, parts: list[Callable[[int], None]], count: int) -> float:
        repeats = REPEATS if len(parts) > 1 else 1
        start = perf_counter()
        others = [self._pool.submit(part, repeats * count) for part in parts[1:]]
        parts[0](repeats * count)
        for other in others:
            other.result()
        return (perf_counter() - start) / repeats


def _loop(inputs: int, kind: str, stores: bool) -> str:
    """Write a C programmer's loop over one index."""
    names = [f"%x{k}" for k in range(inputs)]
    lines = []
    for k, name in enumerate(names):
        lines += [f"%p{k} = getelementptr {kind}, ptr {name}, i64 %i", f"%v{k} = load {kind}, ptr %p{k}"]
        lines += [f"%s{k} = fadd fast {kind} {f'%s{k - 1}' if k else 'zeroinitializer'}, %v{k}"]
    last = f"%s{inputs - 1}"
    if stores:
        lines += [f"%q = getelementptr {kind}, ptr %out, i64 %i", f"store {kind} {last}, ptr %q"]
    total = "" if stores else f"%total = phi {kind} [ 0.0, %entry ], [ %sum, %body ]\n"
    lines += [] if stores else [f"%sum = fadd fast {kind} %total, {last}"]
    body = "\n".join(lines)
    end = "" if stores else f"store {kind} %sum, ptr %out"
    arguments = ", ".join(f"ptr noalias {name}" for name in (*names, "%out"))
    return f"""\
define void @plain({arguments}, i64 %n) {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %body, label %done
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  {total}
  {body}
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %last
last:
  {end}
  br label %done
done:
  ret void
}}
"""


def _compiled(text: str) -> LoadedCode:
    """Compile with LLVM's whole pipeline, as for C: Weft's own kernels are already vectorised and need less."""
    target = targets.host()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small", jit=True
    )
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.loop_interleaving = tuning.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return LoadedCode(bytes(machine.emit_object(module)), ["plain"])
