"""Compile loop nests and call them: the arguments are checked, then native code updates the arrays in place.

`compile_nest(nest)` gives a `NativeNest`. Its `run(buffers, numbers)` checks nothing and costs little: programs that
have checked their arrays use it. It returns when the nest is done. If a `check`, a number out of range or Ctrl-C ends
the nest, it raises that error.

    nest = parse_nest(text)
    compile_nest(nest).run([a, b], {"steps": 10})   # buffers in the order of the nest, sizes that no array has by name

`runtime/nests/kernels.py` has the `NestKernel` that users call.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.llvm.engine.library import LoadedCode
from ...backends.llvm.nests.code import NestCode
from ...ir import dims
from ...ir.errors import ValueProblem
from ...ir.graph import Graph
from ...ir.limits import limiter
from ...ir.types import TensorType
from .. import threads
from ..disk.code import machine_code
from ..memory import empty
from ..size_bound import address_of

if TYPE_CHECKING:
    from ...backends.llvm.engine.target import Target

Array = np.ndarray[Any, Any]
NATIVE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *([ctypes.c_int64] * 5))
MOST_CALLS = 64  # sets of sizes and strides that a nest remembers
SECONDS_PER_BYTE = 2e-6  # of LLVM with its passes, for the text of nests
ZEROS = (0, 0, 0, 0, 0)
BYTE = np.dtype(np.uint8)


def compile_nest(nest: Graph, target: Target | None = None) -> NativeNest:
    """Compiles a verified nest for a target, or for this machine; its machine code is kept on disk."""
    return compile_nests([nest], target)[0]


def compile_nests(nests: Sequence[Graph], target: Target | None = None) -> list[NativeNest]:
    """Compiles several nests as one module, which is faster than one by one."""
    codes, found = object_of(nests, target)
    library = LoadedCode(found, [name for code in codes for name in code.names])
    return [NativeNest([v.type for v in nest.inputs], code, library) for nest, code in zip(nests, codes, strict=True)]


def object_of(nests: Sequence[Graph], target: Target | None = None) -> tuple[list[NestCode], bytes]:
    """Compile nests as one module without loading it."""
    from ...backends.llvm.engine.target import host

    target = target or host()
    codes, text = text_of(nests, target)
    limiter.check_time(to_come=len(text) * SECONDS_PER_BYTE)
    names = [name for code in codes for name in code.names]
    return codes, machine_code(text, effort="LOOPS", target=target, kernels=names)


def text_of(nests: Sequence[Graph], target: Target, name: str = "nest") -> tuple[list[NestCode], str]:
    """Emit nests as the LLVM text of one module; the names of its functions start with `name`."""
    from ...backends.llvm.nests.emit import emit_nest

    codes = [emit_nest(nest, f"{name}_{k}", target.vector_bytes) for k, nest in enumerate(nests)]
    declared = {name: text for code in codes for name, text in code.declared.items()}
    names = [name for code in codes for name in code.names]
    text = "\n".join([*(code.text for code in codes), *declared.values(), ""])
    return codes, _kept_apart(text, names)


def _kept_apart(text: str, names: Sequence[str]) -> str:
    """Keep LLVM from copying functions into their callers, and from calling functions of the C library."""
    for name in names:
        start = text.index(f"define i32 @{name}(")
        end = text.index(") {", start)
        text = f'{text[:end]}) noinline "no-builtins" {{{text[end + 3 :]}'
    return text


class NativeNest:
    """A nest in machine code."""

    def __init__(self, types: Sequence[TensorType], code: NestCode, library: LoadedCode) -> None:
        self.code, self._library = code, library
        self.address = library.addresses[code.names[0]]
        self.call = NATIVE(self.address)
        self.places = size_places(types)
        self.shares = any(e.kind == "launch" for e in code.entries)
        self._failure = next((k for k, e in enumerate(code.entries) if e.kind == "failure" and e.slot == 0), None)
        self._calls: dict[Any, NestCall] = {}

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Runs the nest on arrays that fit it; nothing is checked."""
        key = (*((a.shape, a.strides) for a in buffers), *(numbers or {}).items())
        found = self._calls.get(key)
        if found is None:
            if len(self._calls) >= MOST_CALLS:
                self._calls.clear()
            found = self._calls[key] = NestCall(self, buffers, numbers or {})
        found.run(buffers)

    def sizes(self, buffers: Sequence[Array], numbers: Mapping[str, int]) -> dict[str, int]:
        """The numbers of all sizes in a call."""
        found = {name: buffers[slot].shape[axis] for name, (slot, axis) in self.places.items()}
        return {**found, **numbers}

    def fail(self, words: array[int]) -> None:
        """Raises what ended the nest."""
        if self.code.asks:
            threads.raise_pending()
        if self._failure is None or not words[self._failure]:
            raise ValueProblem("the nest was stopped")
        details = [
            words[k] for k, e in enumerate(self.code.entries) if e.kind == "failure" and e.slot > 0
        ]  # in their order
        raise self.code.failures[words[self._failure] - 1].error(details)


class NestCall:
    """A nest bound to the sizes and strides of a call; only addresses differ between such calls."""

    def __init__(self, native: NativeNest, buffers: Sequence[Array], numbers: Mapping[str, int]) -> None:
        self.native, entries = native, native.code.entries
        self.words = array("q", bytes(8 * len(entries)))
        self.pointers = [(at, entry.slot) for at, entry in enumerate(entries) if entry.kind == "pointer"]
        self.scratch: list[tuple[int, int]] = []
        self.threads: list[tuple[int, str]] = []
        env = native.sizes(buffers, numbers)
        for at, entry in enumerate(entries):
            if entry.kind == "stride":
                self.words[at] = buffers[entry.slot].strides[entry.axis]
            elif entry.kind == "size":
                self.words[at] = env[entry.symbol]
            elif entry.kind == "question":
                self.words[at] = threads.pool().question_address
            elif entry.kind in ("launch", "workers"):
                self.threads.append((at, entry.kind))
            elif entry.kind == "scratch":
                self.scratch.append((at, dims.evaluate(entry.bytes, env)))
        self.time = dims.evaluate(native.code.time, env) if native.shares else 0

    def run(self, buffers: Sequence[Array]) -> None:
        """Run the nest on arrays of these sizes and strides."""
        words, memory, workers = self.words[:], [], 1
        for at, slot in self.pointers:
            words[at] = address_of(buffers[slot])
        if self.threads:
            threads.note_work(self.time)
            workers = threads.get_threads() if threads.is_shared(self.time) else 1
            for at, kind in self.threads if workers > 1 else ():
                words[at] = threads.pool().launch_address if kind == "launch" else workers
        for at, count in self.scratch:
            memory.append(empty((workers * count,), BYTE))  # from the free list: new pages are slow
            words[at] = address_of(memory[-1])
        if self.native.code.asks:
            threads.raise_pending()  # a native call that was interrupted ends up here
        if self.native.call(words.buffer_info()[0], *ZEROS):
            self.native.fail(words)


def size_places(types: Sequence[TensorType]) -> dict[str, tuple[int, int]]:
    """Return the buffer and axis that determine each size that some array has."""
    found: dict[str, tuple[int, int]] = {}
    for slot, type in enumerate(types):
        for axis, size in enumerate(type.shape):
            if dims.is_symbol(size):
                found.setdefault(str(size), (slot, axis))
    return found


def overlaps_itself(given: Array) -> bool:
    """Whether two indices of an array may mean the same memory."""
    if not given.size:
        return False
    axes = sorted((abs(s), n) for s, n in zip(given.strides, given.shape, strict=True) if n > 1)
    reach = given.itemsize
    for stride, size in axes:
        if stride < reach:
            return True
        reach = stride * size
    return False
