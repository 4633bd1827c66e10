"""Describe the free list of memory blocks, which are kept for reuse when nobody needs them (`blocks.routine`).

A block begins on a page. The page before it ends in a cache line whose words all hold the size of the block. So the
size can be read 64 bytes before the data of an array, wherever in the block's first line the data begins. The newest
block is last in the list; the oldest are returned to the system when the list exceeds its limit. No system call is made
while the list is locked.

NumPy frees and resizes an array's data with functions that the array itself names. If a resize makes the data small, it
moves to memory from the C library's `malloc`, behind 64 bytes whose first word is 0. A block has its size in that word.

Data of 1 to 64 KB are chunks: whole kilobytes from the C library, behind a line whose words all hold their number. Some
of each size are kept, because the C library does not keep blocks of that size, and allocating one takes longer than
many calls.
"""

from __future__ import annotations

import os

from . import abi

FIELDS = {
    name: 8 * k
    for k, name in enumerate(
        (
            "lock", "limit", "held", "used", "reused", "fresh", "count", "least", "new_array", "numpy", "trace",
            "handler", "malloc", "free", "most",
        )
    )
}  # fmt: skip
PAGE, HUGE = 4096, 1 << 21
NEAR = 2  # a block is reused for arrays down to 1 - 1 / 2**NEAR of its size
LEAST = 1 << 16  # bytes from which an array's data is a block; smaller data comes from the C library without new pages
CHUNK = 1 << 10  # bytes from which smaller data is a chunk; NumPy keeps what is below, the C library does not
KIB = LEAST // CHUNK
SLOTS = 64  # blocks in the list
SLOT = 128  # where the list begins
CHUNKS = SLOT + 16 * (SLOTS + 1)  # where the lists of chunks begin
KEPT = 4  # chunks of a size
SIZE = CHUNKS + 64 * (KIB + 1)
OWNED, C_ARRAY, F_ARRAY = 0x4, 0x501, 0x502  # NumPy's flags; the last two are of aligned, writeable arrays
TRACED = 389047  # NumPy's domain in tracemalloc
OUTSIDE = ("mmap", "munmap", "madvise", "sched_yield", "malloc", "aligned_alloc", "free")
EXPORTED = ("block_malloc", "block_calloc", "block_realloc", "block_free", "new_array", "set_limit")


def text() -> str:
    """Return the whole module, including the list of blocks."""
    from ...backends.llvm.code.routine_types import Layout
    from ...backends.llvm.code.routines import Routines

    numbers = {
        "LEAST": LEAST, "OWNED": OWNED, "C_ARRAY": C_ARRAY, "F_ARRAY": F_ARRAY, "TRACED": TRACED,
        "HANDLER": abi.HANDLER, "FLAGS": abi.FLAGS, "SLOTS": SLOTS, "SLOT": SLOT,
        "CHUNK": CHUNK, "CHUNKS": CHUNKS, "KEPT": KEPT, "KIB": KIB,
        "PAGE": PAGE, "HUGE": HUGE, "NEAR": NEAR, "READ_WRITE": 3,
        "PRIVATE_ANONYMOUS": 34, "HUGE_PAGES": 14,
    }  # fmt: skip
    addresses = ("new_array", "numpy", "trace", "handler", "malloc", "free")
    fields = {name: (at, "ptr" if name in addresses else "i64") for name, at in FIELDS.items()}
    with open(os.path.join(os.path.dirname(__file__), "blocks.routine"), encoding="utf-8") as file:
        routines = Routines(file.read(), {"State": Layout(fields, SIZE)}, numbers, {"state": "State"})
    return routines.llvm()
