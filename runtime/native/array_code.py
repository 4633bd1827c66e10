"""Describe NumPy arrays whose data is a block of the free list; `blocks.routine` makes and frees them.

NumPy frees and resizes an array's data with functions that the array itself names. If a resize makes the data small, it
moves to memory from the C library's `malloc`, behind 64 bytes whose first word is 0. A block has its size in that word.
"""

from __future__ import annotations

import os

from . import abi, block_code

LEAST = 1 << 16  # bytes from which an array's data is a block; smaller data comes from the C library without new pages
OWNED, C_ARRAY, F_ARRAY = 0x4, 0x501, 0x502  # NumPy's flags; the last two are of aligned, writeable arrays
TRACED = 389047  # NumPy's domain in tracemalloc
OUTSIDE = (*block_code.OUTSIDE, "malloc", "free")
EXPORTED = ("block_malloc", "block_calloc", "block_realloc", "block_free", "new_array", "set_limit")


def text() -> str:
    """Return the whole module, including the list of blocks."""
    from ...backends.llvm.code.routine_types import Layout
    from ...backends.llvm.code.routines import Routines

    numbers = {
        "LEAST": LEAST, "OWNED": OWNED, "C_ARRAY": C_ARRAY, "F_ARRAY": F_ARRAY, "TRACED": TRACED,
        "HANDLER": abi.HANDLER, "FLAGS": abi.FLAGS, "SLOTS": block_code.SLOTS, "SLOT": block_code.SLOT,
        "PAGE": block_code.PAGE, "HUGE": block_code.HUGE, "NEAR": block_code.NEAR, "READ_WRITE": 3,
        "PRIVATE_ANONYMOUS": 34, "HUGE_PAGES": 14,
    }  # fmt: skip
    addresses = ("new_array", "numpy", "trace", "handler", "malloc", "free")
    fields = {name: (at, "ptr" if name in addresses else "i64") for name, at in block_code.FIELDS.items()}
    with open(os.path.join(os.path.dirname(__file__), "blocks.routine"), encoding="utf-8") as file:
        routines = Routines(file.read(), {"State": Layout(fields, block_code.SIZE)}, numbers, {"state": "State"})
    return routines.llvm()
