"""Describe the free list of memory blocks, which are kept for reuse when nobody needs them (`blocks.routine`).

A block begins on a page. The page before it ends in a cache line whose words all hold the size of the block. So the
size can be read 64 bytes before the data of an array, wherever in the block's first line the data begins. The newest
block is last in the list; the oldest are returned to the system when the list exceeds its limit. No system call is made
while the list is locked.
"""

from __future__ import annotations

FIELDS = {
    name: 8 * k
    for k, name in enumerate(
        (
            "lock", "limit", "held", "used", "reused", "fresh", "count", "least", "new_array", "numpy", "trace",
            "handler", "malloc", "free", "most",
        )
    )
}  # fmt: skip
SLOTS = 64  # blocks in the list
SLOT = 128  # where the list begins
SIZE = SLOT + 16 * (SLOTS + 1)

PAGE, HUGE = 4096, 1 << 21
NEAR = 2  # a block is reused for arrays down to 1 - 1 / 2**NEAR of its size
OUTSIDE = ("mmap", "munmap", "madvise", "sched_yield")
