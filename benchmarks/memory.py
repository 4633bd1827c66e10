"""Print the figures of docs/memory.md: the cost of new memory, and what reusing the memory of results saves.

    python benchmarks/memory.py

The alternatives are timed in turns, on one thread; each figure is the best of several. "Results kept" holds the last
result while the next one is made, as `y = f(x)` in a loop does.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import weft

MEGABYTE = 1 << 20
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
ROUNDS = 8


def best(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest time of each alternative in milliseconds; they take turns."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, run in ways.items():
            run()
            start = time.perf_counter()
            run()
            found[name] = min(found[name], 1e3 * (time.perf_counter() - start))
    return found


def line(title: str, found: dict[str, float]) -> None:
    print(f"{title:26}  " + "  ".join(f"{name} {ms:8.3f} ms" for name, ms in found.items()))


def new_memory(megabytes: int) -> None:
    """Time writes to new memory in 4 KB pages, to new memory in huge pages (if there are any), and to used memory."""
    size = megabytes * MEGABYTE
    used = np.ones(size, np.uint8)

    def small_pages() -> None:
        with mmap.mmap(-1, size, PRIVATE) as memory:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            array = np.frombuffer(memory, np.uint8)
            array.fill(1)
            del array

    def huge_pages() -> None:
        with mmap.mmap(-1, size, PRIVATE) as memory:
            memory.madvise(mmap.MADV_HUGEPAGE)
            array = np.frombuffer(memory, np.uint8)
            array.fill(1)
            del array

    line(f"{megabytes} MB", best({"4 KB pages": small_pages, "huge pages": huge_pages, "used": lambda: used.fill(1)}))


def results(name: str, function: Callable[..., Any], elements: int) -> None:
    """Time a function of three f32 arrays with the free list, and without it."""
    kernel = weft.jit(function)
    rng = np.random.default_rng(0)
    arrays = [rng.random(elements, dtype=np.float32) for _ in range(3)]
    last: list[Any] = [None]

    def kept(limit: int) -> None:
        if weft.memory_info().limit != limit:
            weft.set_memory_limit(limit)
            last[0] = None
            last[0] = kernel(*arrays)
        last[0] = kernel(*arrays)

    limit = weft.memory_info().limit
    line(f"{name}, {elements:,}", best({"with the list": lambda: kept(limit), "without": lambda: kept(0)}))
    weft.set_memory_limit(limit)


def main() -> None:
    weft.set_threads(1)
    print("Writing to memory:")
    for megabytes in (1, 4, 16, 64):
        new_memory(megabytes)
    print("The last results kept:")
    for elements in (300_000, 1_000_000, 4_000_000, 10_000_000, 40_000_000):
        results("a*b + c*a - b", lambda a, b, c: a * b + c * a - b, elements)
    for elements in (1_000_000, 4_000_000):
        results("four results", lambda a, b, c: (a * b, b * c, a * c, a - b), elements)


if __name__ == "__main__":
    main()
