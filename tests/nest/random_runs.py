"""Run random nests in machine code between pages that must not be touched, and compare with the interpreter.

A wrong access kills the process, so `test_random.py` runs this file in one of its own:

    python random_runs.py FIRST END [FAULT]

It prints how many nests of these seeds the verifier accepts and refuses; every one that it accepts gives the same bits
serially and in lockstep, and in machine code on one and three threads.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest import mock

import numpy as np
import weft
from random_nests import draw_rich
from weft.backends import nests
from weft.backends.llvm.engine.target import x86
from weft.backends.llvm.loops import columns
from weft.backends.llvm.nests import loops, memory, sharing
from weft.backends.llvm.nests.points import Point
from weft.ir.errors import WeftError
from weft.ir.graph import Graph
from weft.ir.nest.text import parse_nest
from weft.runtime import threads
from weft.runtime.nests.compiling import NativeNest, compile_nests

Array = np.ndarray[Any, Any]
BATCH = 64  # nests that are compiled as one module
SHAPES = ((7, 6), (13, 20))
REFUSALS = re.compile("can't be a|can't be shared|must be the only|runs along|at most 2 shared")
libc = ctypes.CDLL(None)


class Memory:
    """Memory for one buffer, with a page before and after it that can be neither read nor written."""

    def __init__(self) -> None:
        self.whole = mmap.mmap(-1, 4 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.whole))
        for page in (0, 3):
            assert libc.mprotect(ctypes.c_void_p(start + page * mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0

    def holding(self, x: Array, at_end: bool, is_strided: bool) -> Array:
        """A copy of an array at one end of the memory; every second element counts if it is strided."""
        shape = (*x.shape[:-1], 2 * x.shape[-1] - 1) if is_strided else x.shape
        count = int(np.prod(shape)) * x.itemsize
        start = 3 * mmap.PAGESIZE - count if at_end else mmap.PAGESIZE
        found = np.ndarray(shape, x.dtype, self.whole, start)
        found = found[..., ::2] if is_strided else found
        found[...] = x
        return found


def examples(nest: Graph, seed: int, shape: tuple[int, int]) -> list[Array]:
    """Arguments of a nest. Whole numbers are small, because some of them are indices."""
    found, random = [], np.random.default_rng(seed)
    for value in nest.inputs:
        dtype, own = value.type.dtype.numpy, shape[: value.type.rank]
        numbers = random.standard_normal(own) if dtype.kind == "f" else random.integers(0, 5, own)
        found.append(numbers.astype(dtype))
    return found


def outcome(run: Callable[[list[Array]], None], arrays: list[Array]) -> Any:
    """The bits that a run leaves in its arrays, all NaN alike, or its error."""
    try:
        run(arrays)
    except WeftError as error:
        return type(error).__name__, error.message
    return [np.where(np.isnan(a), np.nan, a).tobytes() if a.dtype.kind == "f" else a.tobytes() for a in arrays]


def check(seed: int, nest: Graph, native: NativeNest, fences: Sequence[Memory]) -> None:
    layouts = nest.attrs.get("layouts") or ("C",) * len(nest.inputs)
    assert isinstance(layouts, tuple)
    for at_end, shape in enumerate(SHAPES):
        arrays = examples(nest, seed, shape)
        wanted = outcome(lambda own: nests.run(nest, own), [a.copy() for a in arrays])
        if not at_end:
            locked = outcome(lambda own: nests.run(nest, own, {}, True, 1), [a.copy() for a in arrays])
            assert locked == wanted, f"seed {seed}: not the same in lockstep"
        for count in (1, 3):
            weft.set_threads(count)
            given = [
                fence.holding(a, bool(at_end), layout == "S")
                for fence, a, layout in zip(fences, arrays, layouts, strict=True)
            ]
            found = outcome(native.run, given)
            assert found == wanted, f"seed {seed}, shape {shape}, {count} threads: not the interpreter's bits"


FAULTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "": nullcontext,
    "a hoisted load of a written buffer": lambda: mock.patch.object(memory, "_is_read_only", lambda f, owner: True),
    "a dropped mask at the end": lambda: mock.patch.multiple(
        loops, lane_mask=lambda e, width, at, end: e.const("i1", 1, width)
    ),
    "a dropped mask of a walk": lambda: mock.patch.multiple(
        columns, lane_masks=lambda e, width, at, end, offsets: [e.const("i1", 1, width) for _ in offsets]
    ),
    "a dropped mask of a branch": lambda: mock.patch.object(Point, "masked", lambda point, mask: point.step()),
}


def main(first: int, end: int, fault: str = "") -> None:
    accepted: list[tuple[int, Graph]] = []
    for seed in range(first, end):
        try:
            accepted.append((seed, parse_nest(draw_rich(seed))))
        except WeftError as error:
            assert REFUSALS.search(str(error)), f"seed {seed}: {error}"
    fences = [Memory() for _ in range(3)]
    # Loops this short are not worth a thread: they are shared as if each step took a millisecond.
    long_steps = mock.patch.object(sharing, "middle_cost", lambda loops: 10**9)
    with long_steps, mock.patch.object(threads, "is_shared", lambda time: True), FAULTS[fault]():
        for k in range(0, len(accepted), BATCH):
            batch = accepted[k : k + BATCH]
            # every second batch for vectors of half the width, which give the same bits
            target = x86(3) if k // BATCH % 2 and platform.machine() == "x86_64" else None
            for (seed, nest), native in zip(batch, compile_nests([nest for _, nest in batch], target), strict=True):
                check(seed, nest, native, fences)
    print(f"{len(accepted)} accepted, {end - first - len(accepted)} refused")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
