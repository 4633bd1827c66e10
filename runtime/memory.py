"""Allocate large results from a bounded free list.

New pages are what a large result costs: the system clears each before it hands it out. So blocks of memory are kept
in a bounded list (`native/block_code.py`). An array made here owns its data as any other does, and its block enters the
list when NumPy frees it, which is when nothing refers to it or to a view of it.
"""

from __future__ import annotations

import ctypes
import math
import os
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from ..ir.errors import MemoryProblem, ValueProblem
from ..ir.footprints import check_array
from ..ir.forking import lock
from ..ir.limits import limiter
from ..ir.tuples import NamedTuple
from .native import abi, array_code
from .native.array_code import LEAST
from .native.block_code import FIELDS, SIZE

Array = np.ndarray[Any, Any]
NEVER = (1 << 63) - 1
MOST = 1 << 30  # the default limit, where it is less than a sixteenth of the memory there is
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_NEW = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
    ctypes.c_int, ctypes.c_int64,
)  # fmt: skip


class _Allocator(ctypes.Structure):
    """What NumPy calls a handler: a name, a version, and the functions with their context."""

    _fields_ = [
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]  # fmt: skip


class MemoryInfo(NamedTuple):
    """Bytes in the list and in arrays, how often a block was used again or had to be new, and the list's limit."""

    held: int
    in_use: int
    reused: int
    fresh: int
    limit: int


class FreeList:
    """The list of blocks and its code. Arrays outlive the interpreter's modules, so nothing of it is ever freed."""

    def __init__(self) -> None:
        from ..backends.llvm.engine.library import LoadedCode
        from .disk.code import object_code

        self._state = ctypes.create_string_buffer(SIZE)
        self.base = ctypes.addressof(self._state)
        libc = ctypes.CDLL(None)
        outside = {name: ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0 for name in array_code.OUTSIDE}
        allowed = frozenset(("state", *outside))
        code = object_code(array_code.text(), allowed, effort="SELDOM")
        self._library = LoadedCode(code, list(array_code.EXPORTED), {"state": self.base, **outside})
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
        """In a forked child a thread that was changing the list is gone, and the list may be half changed."""
        if self.read("lock"):
            for name in ("count", "held", "lock"):
                self.write(name, 0)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]) -> Array:
        words = ctypes.c_int64 * len(shape)
        sizes, steps = words(*shape), words(*strides)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the function takes the reference over
        made: Array = self._new(
            np.ndarray, id(dtype), len(shape), ctypes.addressof(sizes), ctypes.addressof(steps),
            math.prod(shape) * dtype.itemsize, 0, 0,
        )  # fmt: skip
        return made


_made: list[FreeList] = []
_making = lock()


def blocks() -> FreeList:
    """The one list of this process, where `abi.has_handlers()`."""
    if not _made:
        with _making:
            if not _made:
                made = FreeList()
                _made[:] = _made or [made]  # a signal's handler may have made one meanwhile
    return _made[0]


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...] | None = None) -> Array:
    """A new array whose elements are not set and whose axes lie in memory in this order, C's if it is None."""
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
    """The most bytes that one array may have."""
    return min(limiter.now.result_bytes or _memory_at_start(), NEVER)


@cache
def _memory_at_start() -> int:
    """Asked once: large results are made often, and files have to be read for it."""
    return _memory_there_is()


def limit_results() -> None:
    """Native code goes by the limit that has been set."""
    if _made:
        blocks().write("most", result_limit())


def _check_result(size: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuses what can't be there, which some systems would hand out and then end the process for using it."""
    check_array(shape, dtype.itemsize)
    limit = result_limit()
    if size > limit:
        raise MemoryProblem(
            f"Unable to allocate {size / 2**30:.3g} GiB for an array with shape {shape} and data type {dtype}",
            hint=f"the limit is {limit} bytes; WEFT_MAX_RESULT_BYTES or weft.set_limits(result_bytes=...) sets it",
        )


def memory_info() -> MemoryInfo:
    """What the list of memory for large results holds, and how well it does."""
    if not abi.has_handlers():
        return MemoryInfo(0, 0, 0, 0, 0)
    return MemoryInfo(*(blocks().read(name) for name in ("held", "used", "reused", "fresh", "limit")))


def set_memory_limit(limit: int) -> None:
    """From now on at most so many bytes are kept for results to come; 0 keeps none, and NumPy allocates all arrays."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit < NEVER:
        raise ValueProblem(f"the memory limit must be a whole number of bytes, not {limit!r}", hint="0 keeps no memory")
    if abi.has_handlers():
        blocks().set_limit(limit)


def _default_limit() -> int:
    """`WEFT_MEMORY_LIMIT` in bytes, else a sixteenth of the memory there is, and no more than a gigabyte."""
    given = os.environ.get("WEFT_MEMORY_LIMIT", "").strip()
    if not given:
        return min(MOST, _memory_there_is() // 16)
    if not given.isascii() or not given.isdigit() or int(given) >= NEVER:
        raise ValueProblem(f"WEFT_MEMORY_LIMIT must be a number of bytes, not {given!r}", hint="0 keeps no memory")
    return int(given)


def _memory_there_is() -> int:
    """The machine's memory, or what its container may use."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in CONTAINER_LIMITS:
        with suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            found.append(int(file.read()))  # the word "max" is no limit
    return min(found)
