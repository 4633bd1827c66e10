"""Choose the number of threads for kernels, and own the thread pool.

Workers are Python threads that enter native code once, without the interpreter's lock, and stay there; a sleeping
worker costs nothing. The first call that needs them starts them.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import platform
from functools import cache

from ..backends.llvm.engine.library import LoadedCode
from ..ir.errors import ValueProblem
from ..ir.support.forking import lock, make_once
from .disk.code import routine_code
from .memory import settle_worker
from .native import pool_code
from .native.abi import address
from .native.pool_code import FIELDS
from .native.steps import tell_pool

MOST = 1024
SHARED = pool_code.LONG  # estimated picoseconds from which the lock is released while threads share the work
SHORT = 3_000_000  # estimated picoseconds from which work is shared with threads that are awake
MAKING = 10_000_000_000  # picoseconds that it takes to create the pool
_LAUNCH = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *([ctypes.c_int64] * 7))


def set_threads(count: int) -> None:
    """Set the most threads that a kernel may use, including the caller's. Results do not depend on it.

        weft.set_threads(4)

    count: from 1 to 1024; 1 disables the pool.
    """
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
        raise ValueProblem(f"the number of threads must be from 1 to {MOST}, not {count!r}", hint="1 disables the pool")
    with _making:
        _wanted[:] = [count]
        for made in _made:
            made.write("threads", count)


def get_threads() -> int:
    """Return the most threads that a kernel may use: `WEFT_NUM_THREADS`, or all cores available to this process."""
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
    """The pool's memory and code. They last as long as the process, because workers never leave them."""

    def __init__(self) -> None:
        from .calibration import shared_from

        self._lock = lock()
        self._memory = ctypes.create_string_buffer(pool_code.SIZE + pool_code.LINE)
        start = ctypes.addressof(self._memory)
        self.base = start + -start % pool_code.LINE
        code = routine_code("pool", lambda: pool_code.text(platform.machine()), frozenset(("pool",)))
        self._library = LoadedCode(code, ["worker", "launch", "question", "turn"], {"pool": self.base})
        self.launch_address = self._library.addresses["launch"]
        self.launch = _LAUNCH(self.launch_address)
        self.question_address = self._library.addresses["question"]
        self.turn_address = self._library.addresses["turn"]
        self._worker = ctypes.CFUNCTYPE(None)(self._library.addresses["worker"])
        self._starter = self._start_workers  # native code calls this object: a ctypes callback would need a page
        # that is both writable and executable
        words = {
            "threads": get_threads(),
            "long": shared_from(),
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
        """Start the missing workers. If the system allows no more threads, calls run on fewer."""
        with self._lock:
            try:
                while self.read("started") < self.read("threads") - 1:
                    _thread.start_new_thread(self._worker, ())
                    self.write("started", self.read("started") + 1)
            except RuntimeError:
                return

    def _forget_workers(self) -> None:
        """Reset the pool in a forked child, which has no workers and none of the parent's calls."""
        for name in ("posted", "gate", "busy", "sleepers", "started", "named"):
            self.write(name, 0)


_made: list[Pool] = []
_wanted: list[int] = []  # the number that the user set, known without creating a pool
_alone = [0]  # picoseconds of work that a pool would have shared
_making = lock()


def pool() -> Pool:
    """Return the pool of this process."""
    if _made:
        return _made[0]
    made = make_once(_made, Pool, _making)
    settle_worker()
    tell_pool(made)
    return made


def has_pool() -> bool:
    """Tell whether there is a pool already."""
    return bool(_made)


def raise_pending() -> None:
    """Raise the exception of a signal handler that stopped a native loop; only the main thread has one."""
    if not _made:
        return
    import threading

    if threading.get_ident() != threading.main_thread().ident:
        return
    found = [_made[0].read(name) for name in ("raised", "value", "trace")]
    if not found[0]:
        return
    for name in ("raised", "value", "trace", "stopped"):
        _made[0].write(name, 0)
    restore = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(address("PyErr_Restore"))
    restore(*found)  # raises it


def is_shared(time: int) -> bool:
    """Tell whether to share work. The pool is created once the work that it could have shared outweighs its creation.

    So a first call does not wait for the pool unless the call is long.
    """
    return time >= SHARED and (bool(_made) or _alone[0] >= MAKING)


def note_work(time: int) -> None:
    """Count work that a pool could have shared."""
    if time >= SHARED and not _made:
        _alone[0] += time
