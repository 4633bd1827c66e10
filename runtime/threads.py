"""Choose how many threads kernels run on, and own their pool.

Workers are threads of the interpreter that enter native code once, without its lock, and stay there: a sleeping one
costs nothing. They are started by the first call that wants them.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import platform
import threading
from functools import cache

from ..backends.llvm.engine.library import LoadedCode
from ..ir.errors import ValueProblem
from ..ir.forking import lock
from .disk.code import object_code
from .native import pool_code
from .native.abi import address
from .native.pool_code import FIELDS

MOST = 1024
SHARED = pool_code.LONG  # picoseconds, as estimated, from which others may use Python while threads share the work
SHORT = 3_000_000  # picoseconds from which it is shared with threads that are awake
MAKING = 10_000_000_000  # picoseconds that it takes to make the pool
_LAUNCH = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *([ctypes.c_int64] * 7))


def set_threads(count: int) -> None:
    """From now on kernels run on at most so many threads, the caller's among them. Results do not depend on it."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
        raise ValueProblem(f"the number of threads must be from 1 to {MOST}, not {count!r}", hint="1 disables the pool")
    with _making:
        _wanted[:] = [count]
        for made in _made:
            made.write("threads", count)


def get_threads() -> int:
    """How many threads kernels may run on: `WEFT_NUM_THREADS`, or else the cores that this process may use."""
    return _wanted[0] if _wanted else _default()


@cache
def _default() -> int:
    given = os.environ.get("WEFT_NUM_THREADS", "").strip()
    if not given:
        return min(MOST, len(os.sched_getaffinity(0)))
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= MOST:
        raise ValueProblem(f"WEFT_NUM_THREADS must be from 1 to {MOST}, not {given!r}", hint="1 disables the pool")
    return int(given)


class Pool:
    """The memory of the pool and its code, which lasts as long as the process: workers never leave it."""

    def __init__(self) -> None:
        self._lock = lock()
        self._memory = ctypes.create_string_buffer(pool_code.SIZE + pool_code.LINE)
        start = ctypes.addressof(self._memory)
        self.base = start + -start % pool_code.LINE
        code = object_code(pool_code.text(platform.machine()), allowed=frozenset(("pool",)))
        self._library = LoadedCode(code, ["worker", "launch", "question"], {"pool": self.base})
        self.launch_address = self._library.addresses["launch"]
        self.launch = _LAUNCH(self.launch_address)
        self.question_address = self._library.addresses["question"]
        self._worker = ctypes.CFUNCTYPE(None)(self._library.addresses["worker"])
        self._starter = self._start_workers  # native code calls the object: a callback of ctypes would be code on a
        # page that can be written and run
        words = {
            "threads": get_threads(),
            "syscall": ctypes.cast(ctypes.CDLL(None).syscall, ctypes.c_void_p).value or 0,
            "call": address("PyObject_CallNoArgs"),
            "starter": id(self._starter),
            "drop": address("Py_DecRef"),
            "clock": ctypes.cast(ctypes.CDLL(None).clock_gettime, ctypes.c_void_p).value or 0,
            "save": address("PyEval_SaveThread"),
            "restore": address("PyEval_RestoreThread"),
            "signals": address("PyErr_CheckSignals"),
            "ensure": address("PyGILState_Ensure"),
            "release": address("PyGILState_Release"),
            "fetch": address("PyErr_Fetch"),
        }
        for name, value in words.items():
            self.write(name, value)
        os.register_at_fork(after_in_child=self._forget_workers)

    def place(self, name: str) -> int:
        """The address of a field."""
        return self.base + FIELDS[name]

    def read(self, name: str) -> int:
        return ctypes.c_int64.from_address(self.place(name)).value

    def write(self, name: str, value: int) -> None:
        ctypes.c_int64.from_address(self.place(name)).value = value

    def _start_workers(self) -> None:
        """Starts those that are missing. Where no thread can be started any more, calls do their work alone."""
        with self._lock:
            try:
                while self.read("started") < self.read("threads") - 1:
                    _thread.start_new_thread(self._worker, ())
                    self.write("started", self.read("started") + 1)
            except RuntimeError:
                return

    def _forget_workers(self) -> None:
        """In a forked child, which has none of them, nor the call that some thread of its parent was in."""
        for name in ("posted", "gate", "busy", "sleepers", "started", "named"):
            self.write(name, 0)


_made: list[Pool] = []
_wanted: list[int] = []  # threads that were asked for, which is cheaper to know than to have a pool
_alone = [0]  # picoseconds of work that would have been shared had there been a pool
_making = lock()


def pool() -> Pool:
    """The one pool of this process."""
    if not _made:
        with _making:
            if not _made:
                made = Pool()
                _made[:] = _made or [made]  # a signal's handler may have made one meanwhile
    return _made[0]


def raise_pending() -> None:
    """Raises what a signal's handler has raised in a loop that asked whether to stop; only the main thread has that."""
    if not _made or threading.get_ident() != threading.main_thread().ident:
        return
    found = [_made[0].read(name) for name in ("raised", "value", "trace")]
    if not found[0]:
        return
    for name in ("raised", "value", "trace", "stopped"):
        _made[0].write(name, 0)
    restore = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(address("PyErr_Restore"))
    restore(*found)  # which raises it


def is_shared(time: int) -> bool:
    """Whether work is shared. The pool is made when there was as much work for it as making it takes.

    So a first call does not wait for it, unless it is long.
    """
    return time >= SHARED and (bool(_made) or _alone[0] >= MAKING)


def note_work(time: int) -> None:
    """Adds to the work for which a pool would be worth making."""
    if time >= SHARED and not _made:
        _alone[0] += time
