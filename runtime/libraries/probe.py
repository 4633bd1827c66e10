"""Load a library and call its functions in a child process first, so that a crash does no harm here.

The child is a plain fork, so it has the same memory and libraries, and the dynamic linker does there what it would do
here. It loads and looks up symbols, or calls a function, and exits without returning to the interpreter. Python's own
`fork` is not used: it runs the handlers of other packages and warns if there are threads. The child needs none of
these, and the C library releases the linker's own lock in the child. But no thread may be asking for Python's lock at
the fork. The child would give the lock up and wait for ever, because the thread that asked does not exist there.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

SECONDS = 20
FIRST_SECONDS = 2
UNDEMANDED = 0.1  # seconds, longer than from the last release of Python's lock to the fork
CALL_SECONDS = 1
_FATAL = [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS]
_NOT_DUMPABLE = 4  # PR_SET_DUMPABLE: no core files
_LATE, _NO_CHILD = "late", "no child"  # the child did not finish in time; there is none
_SAYS_NOTHING = frozenset((_LATE, _NO_CHILD, "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"))


def what_kills(place: str, mode: int, names: Sequence[str]) -> str:
    """Describe how a process dies that loads a library and looks up symbols; return nothing if it survives.

    A child that is late is tried again: it may wait for a lock that another thread held in the fork.
    """
    wanted, file = [name.encode() for name in names], os.fsencode(place)

    def load(libc: ctypes.PyDLL) -> None:
        handle = libc.dlopen(file, mode)
        for name in wanted if handle else ():
            libc.dlsym(handle, name)

    how = _ending(load, min(FIRST_SECONDS, SECONDS))
    if how == _LATE:
        how = _ending(load, SECONDS)
    if how == _LATE:
        return f"loading it takes longer than {SECONDS} seconds"
    if how == _NO_CHILD:
        return "there is no process to try it in"
    return f"it kills the process that loads it ({how})" if how else ""


def what_kills_a_call(address: int, argument: int) -> str:
    """Describe how a process dies that calls a function; return nothing if it survives.

    A call that takes long proves nothing. Neither does a child that was ended by something else, such as a system short
    of memory.
    """
    call = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address)  # it keeps Python's lock, as the child must
    how = _ending(lambda libc: call(argument), CALL_SECONDS)
    return "" if how in _SAYS_NOTHING else how


def _ending(work: Callable[[ctypes.PyDLL], object], seconds: int) -> str:
    """Describe what ended a child before its work was done (a signal, an exit or the time limit), or return nothing."""
    libc = ctypes.PyDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    libc.dlsym.restype, libc.dlsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    own = os.getpid()
    reading, writing = os.pipe()
    child = -1
    try:
        with _undemanded():
            child = libc.fork()
        if child == 0:
            _quieten(libc)
            work(libc)
            libc.write(writing, b"+", 1)
            libc._exit(0)
        if child < 0:
            return _NO_CHILD
        os.close(writing)
        writing = -1
        return _verdict(child, reading, seconds)
    finally:
        if os.getpid() != own:
            libc._exit(1)
        for each in (reading, writing):
            if each >= 0:
                os.close(each)
        if child > 0:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


@contextmanager
def _undemanded() -> Iterator[None]:
    """Keep threads from asking for Python's lock meanwhile: waiting threads ask after an interval, which is made long
    here.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(UNDEMANDED)
    try:
        if len(sys._current_frames()) > 1:
            time.sleep(2 * before)  # those that wait already ask after the interval from before
        yield
    finally:
        sys.setswitchinterval(before)


def _quieten(libc: ctypes.PyDLL) -> None:
    """Discard the child's output, and don't report signals as this process's own."""
    for number in _FATAL:
        libc.signal(int(number), None)
    libc.prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    nowhere = libc.open(b"/dev/null", os.O_WRONLY)
    libc.dup2(nowhere, 1)
    libc.dup2(nowhere, 2)


def _verdict(child: int, reading: int, seconds: int) -> str:
    waiting = select.poll()
    waiting.register(reading, select.POLLIN)
    if not waiting.poll(seconds * 1000):
        return _LATE
    if os.read(reading, 1):
        return ""
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:  # somebody else has waited for it
        return "nobody knows how"
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
