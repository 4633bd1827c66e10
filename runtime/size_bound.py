"""Bind a region to the sizes of a call, fill its frame, and run its functions through ctypes."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.errors import ValueProblem
from ..ir.footprints import check_array
from ..ir.graph import Value
from ..ir.types import sizes
from . import threads
from .native import abi

if TYPE_CHECKING:
    from ..backends.llvm.functions import NativeFunction
    from .launch import NativeRegion

Array = np.ndarray[Any, Any]
Results = Mapping[Value, Callable[[tuple[int, ...]], Array]]


class SizedKernel:
    """One region, bound to the sizes of a call."""

    def __init__(self, kernel: NativeRegion, env: Mapping[str, int]) -> None:
        code = kernel.code
        self.kernel, self.env = kernel, env
        region = kernel.region
        check_array([dims.evaluate(s, env) for s in sizes(region.attrs, "space")], 1, region.span)
        self.is_cut = bool(code.chunks) and dims.evaluate(code.columns, env) >= code.cut_from
        self.parts = [_SizedPart(kernel, part, env) for part in (code.chunks if self.is_cut else code.whole)]
        self.time = max(part.time for part in self.parts)
        # NumPy checks indices even if the result is empty; no loop does.
        space = sizes(region.attrs, "space")
        self.looks_nowhere = not all(dims.evaluate(space[axis], env) for axis in kernel.unlooked)
        self.words = np.zeros(len(kernel.entries), np.int64)
        self.pointers: list[tuple[int, int]] = []
        self.strides: list[tuple[int, int, int]] = []
        self.scratch: list[tuple[int, str, int]] = []
        for at, entry in enumerate(kernel.entries):
            if entry.kind == "pointer":
                self.pointers.append((at, entry.slot))
            elif entry.kind == "size":
                self.words[at] = env[entry.symbol]
            elif entry.kind == "stride":
                self.strides.append((at, entry.slot, entry.axis))
            elif entry.kind == "question":
                self.words[at] = threads.pool().question_address
            else:
                self.scratch.append((at, entry.kind, dims.evaluate(entry.bytes, env)))

    def run(self, arrays: Sequence[Array]) -> None:
        threads.note_work(self.time)
        is_shared = threads.is_shared(self.time)
        workers = threads.pool().read("threads") if is_shared else 1
        words, memory = self.words.copy(), []
        for at, slot in self.pointers:
            words[at] = address_of(arrays[slot])
        for at, slot, axis in self.strides:
            words[at] = arrays[slot].strides[axis]
        for at, kind, count in self.scratch:
            times = {"scratch": workers, "chunked": workers * self.is_cut, "shared": int(self.is_cut)}[kind]
            memory.append(np.empty(times * count, np.uint8))
            words[at] = address_of(memory[-1])
        frame = address_of(words)
        failed = False
        for part in self.parts:
            failed = part.run(frame, workers, is_shared) != 0 or failed
        if failed or self.looks_nowhere:
            self._report(arrays, failed)

    def _report(self, arrays: Sequence[Array], failed: bool) -> None:
        """Raise an error if the run failed."""
        if failed and self.kernel.asks:
            threads.raise_pending()
        problem = self.kernel.problem(arrays, self.env)
        if problem is None and failed and not self.looks_nowhere:  # an index that no element uses is never wrong
            problem = ValueProblem("an argument has a value that is not allowed here", self.kernel.region.span)
        if problem is not None:
            raise problem


class _SizedPart:
    """One function of a kernel, bound to the sizes of a call."""

    def __init__(self, kernel: NativeRegion, part: NativeFunction, env: Mapping[str, int]) -> None:
        self.function, self.address = kernel.functions[part.name], kernel.addresses[part.name]
        self.extents = [dims.evaluate(s, env) for s in part.extents]
        self.unit, self.grains, self.tile = dims.evaluate(part.unit, env), part.grains, part.tile
        self.time = math.prod(self.extents) * self.unit
        self.whole = [ctypes.c_int64(n) for n in (0, self.extents[0], 0, self.extents[1], 0)]  # converted once

    def run(self, frame: int, workers: int, is_shared: bool) -> int:
        """Run the function; return 0 if it succeeded."""
        if not is_shared or self.time < threads.SHARED:
            return int(self.function(frame, *self.whole))
        shape = (*self.extents, self.unit, *self.grains, self.tile)
        return int(threads.pool().launch(self.address, frame, *shape, workers))


def address_of(x: Array) -> int:
    """Return the address of an array's data."""
    if abi.is_known():  # ten times as fast as `x.ctypes`
        return ctypes.c_int64.from_address(id(x) + abi.DATA).value
    return int(x.ctypes.data)
