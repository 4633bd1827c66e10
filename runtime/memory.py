"""Allocate large results from a bounded free list.

New pages make a large result expensive, because the system clears each of them. So freed blocks are kept in a bounded
list (`native/block_code.py`). An array allocated here owns its data like any other. When NumPy frees it, after the last
reference to it or to a view of it is gone, its block returns to the list.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from ..ir.errors import MemoryProblem, ValueProblem
from ..ir.footprints import check_array
from ..ir.limits import limiter
from ..ir.support.forking import lock, make_once
from ..ir.tuples import NamedTuple
from .native import abi, block_code
from .native.block_code import CHUNKS, FIELDS, LEAST, SIZE

Array = np.ndarray[Any, Any]
NEVER = (1 << 63) - 1
MOST = 1 << 30  # the default limit, unless a sixteenth of the memory is less
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_NEW = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
    ctypes.c_int, ctypes.c_int64,
)  # fmt: skip


class _Allocator(ctypes.Structure):
    """NumPy's memory handler: a name, a version, and the functions with their context."""

    _fields_ = [
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]  # fmt: skip


class MemoryInfo(NamedTuple):
    """Bytes held in the list and in use by arrays, counts of reused and fresh blocks, and the list's limit in bytes."""

    held: int
    in_use: int
    reused: int
    fresh: int
    limit: int


class FreeList:
    """The list of blocks and its code. Arrays may outlive the interpreter's modules, so nothing here is ever freed."""

    def __init__(self) -> None:
        from ..backends.llvm.engine.library import LoadedCode
        from .disk.code import routine_code

        self._state = ctypes.create_string_buffer(SIZE)
        self.base = ctypes.addressof(self._state)
        libc = ctypes.CDLL(None)
        outside = {name: ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0 for name in block_code.OUTSIDE}
        allowed = frozenset(("state", *outside))
        code = routine_code("blocks", block_code.text, allowed, effort="SELDOM")
        self._library = LoadedCode(code, list(block_code.EXPORTED), {"state": self.base, **outside})
        found = self._library.addresses
        self._new = _NEW(found["new_array"])
        self._set_limit = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(found["set_limit"])
        functions = [found[f"block_{name}"] for name in ("malloc", "calloc", "realloc", "free")]
        self._allocator = _Allocator(b"weft", 1, None, *functions)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._handler = make(ctypes.addressof(self._allocator), abi.HANDLER_NAME, None)
        for name, symbol in (("new_array", "new_array"), ("malloc", "block_malloc"), ("free", "block_free")):
            self.write(name, found[symbol])
        self.write("numpy", abi.numpy_table()[abi.NEW_ARRAY])
        self.write("trace", abi.address("PyTraceMalloc_Track"))
        self.write("handler", id(self._handler))
        self.write("most", result_limit())
        self.set_limit(_default_limit())
        os.register_at_fork(after_in_child=self._forget_others)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def read(self, name: str) -> int:
        return ctypes.c_int64.from_address(self.base + FIELDS[name]).value

    def write(self, name: str, value: int) -> None:
        ctypes.c_int64.from_address(self.base + FIELDS[name]).value = value

    def set_limit(self, limit: int) -> None:
        self.write("least", LEAST if limit else NEVER)
        self._set_limit(limit)

    def _forget_others(self) -> None:
        """Reset the list in a forked child if another thread was changing it."""
        if self.read("lock"):
            ctypes.memset(self.base + CHUNKS, 0, SIZE - CHUNKS)
            for name in ("count", "held", "lock"):
                self.write(name, 0)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]) -> Array:
        words = ctypes.c_int64 * len(shape)
        sizes, steps = words(*shape), words(*strides)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the function steals this reference
        made: Array = self._new(
            np.ndarray, id(dtype), len(shape), ctypes.addressof(sizes), ctypes.addressof(steps),
            math.prod(shape) * dtype.itemsize, 0, 0,
        )  # fmt: skip
        return made


_made: list[FreeList] = []
_making = lock()


def blocks() -> FreeList:
    """Return the free list of this process. Call it only if `abi.has_handlers()`."""
    if _made:
        return _made[0]
    made = make_once(_made, FreeList, _making)
    settle_worker()
    return made


def settle_worker() -> None:
    """Limit the free list and the pool in a worker of dask, whatever calls the first kernel there."""
    if "distributed.worker" in sys.modules:
        from .chunks.settling import settle

        settle()


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...] | None = None) -> Array:
    """Allocate an uninitialised array whose axes have this order in memory, or C order."""
    size = math.prod(shape) * dtype.itemsize
    if size >= LEAST:
        _check_result(size, shape, dtype)
    from_list = size >= LEAST and abi.has_handlers() and size >= blocks().read("least")
    if not from_list and order is None:
        return np.empty(shape, dtype)
    strides, step = [0] * len(shape), dtype.itemsize
    for axis in reversed(order if order is not None else range(len(shape))):
        strides[axis] = step
        step *= max(1, shape[axis])
    make = blocks().array if from_list else np.ndarray
    return make(shape, dtype, strides=tuple(strides))


def result_limit() -> int:
    """Return the most bytes that one array may have."""
    return min(limiter.now.result_bytes or _memory_at_start(), NEVER)


@cache
def _memory_at_start() -> int:
    """Return the memory of the machine, read once because large results are frequent."""
    return _memory_there_is()


def limit_results() -> None:
    """Tell native code the current limit on results."""
    if _made:
        blocks().write("most", result_limit())


def _check_result(size: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an array that is too large; some systems would grant the memory and then kill the process for using it."""
    check_array(shape, dtype.itemsize)
    limit = result_limit()
    if size > limit:
        raise MemoryProblem(
            f"Unable to allocate {_readable(size)} for an array with shape {shape} and data type {dtype}",
            hint=f"the limit is {limit} bytes; set WEFT_MAX_RESULT_BYTES or weft.set_limits(result_bytes=...)",
        )


def _readable(size: int) -> str:
    """Return a number of bytes as a text such as 1.5 MiB."""
    power = min(max(size.bit_length() - 1, 0) // 10, 6)
    return f"{size / 2 ** (10 * power):.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[power]}"


def memory_info() -> MemoryInfo:
    """Return how much memory Weft keeps for large results, and how often it was reused.

        weft.memory_info().held

    The fields are `held` and `in_use` (bytes), `reused` and `fresh` (blocks), and `limit` (bytes).
    """
    if not abi.has_handlers():
        return MemoryInfo(0, 0, 0, 0, 0)
    return MemoryInfo(*(blocks().read(name) for name in ("held", "used", "reused", "fresh", "limit")))


def set_memory_limit(limit: int) -> None:
    """Set how many bytes Weft keeps for future results.

        weft.set_memory_limit(256 << 20)

    limit: a number of bytes; 0 keeps none, so that NumPy allocates all arrays.
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit < NEVER:
        raise ValueProblem(f"the memory limit must be a whole number of bytes, not {limit!r}", hint="0 keeps no memory")
    if abi.has_handlers():
        blocks().set_limit(limit)


def _default_limit() -> int:
    """Return `WEFT_MEMORY_LIMIT` if it is set, otherwise a sixteenth of the memory, but at most a gigabyte."""
    given = os.environ.get("WEFT_MEMORY_LIMIT", "").strip()
    if not given:
        return min(MOST, _memory_there_is() // 16)
    if not given.isascii() or not given.isdigit() or int(given) >= NEVER:
        raise ValueProblem(f"WEFT_MEMORY_LIMIT must be a number of bytes, not {given!r}", hint="0 keeps no memory")
    return int(given)


def _memory_there_is() -> int:
    """Return the memory of the machine, or of its container if that is less."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in CONTAINER_LIMITS:
        with suppress(OSError, ValueError), open(path, "rb", buffering=0) as file:
            found.append(int(file.read()))  # a file with the word "max" sets no limit
    return min(found)
