"""Load a library in a child process first, so that one that kills or stops its process does no harm here.

The child is a plain fork, so it has the same memory and libraries, and the dynamic linker does there what it would do
here. It loads, looks up symbols, and exits without returning to the interpreter. Python's own `fork` is not used: it
runs the handlers of other packages and warns if there are threads. The child needs none of these, and the C library
releases the linker's own lock in the child.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress

SECONDS = 20
_FATAL = [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS]
_NOT_DUMPABLE = 4  # PR_SET_DUMPABLE: no core files
_DONE, _NO_HANDLE = b"+", b"-"


def what_kills(place: str, mode: int, names: Sequence[str]) -> str:
    """Describe how a process dies that loads a library and looks up symbols; return nothing if it survives."""
    libc = ctypes.PyDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    libc.dlsym.restype, libc.dlsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    own, wanted, file = os.getpid(), [name.encode() for name in names], os.fsencode(place)
    reading, writing = os.pipe()
    child = -1
    try:
        child = libc.fork()
        if child == 0:
            _load(libc, file, mode, wanted, writing)
        if child < 0:
            return "there is no process to try it in"
        os.close(writing)
        writing = -1
        return _verdict(child, reading)
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


def _load(libc: ctypes.PyDLL, file: bytes, mode: int, names: Sequence[bytes], writing: int) -> None:
    """Load the library in the child: discard its output, and don't report signals as this process's own."""
    for number in _FATAL:
        libc.signal(int(number), None)
    libc.prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    nowhere = libc.open(b"/dev/null", os.O_WRONLY)
    libc.dup2(nowhere, 1)
    libc.dup2(nowhere, 2)
    handle = libc.dlopen(file, mode)
    for name in names if handle else ():
        libc.dlsym(handle, name)
    libc.write(writing, _DONE if handle else _NO_HANDLE, 1)
    libc._exit(0)


def _verdict(child: int, reading: int) -> str:
    waiting = select.poll()
    waiting.register(reading, select.POLLIN)
    if not waiting.poll(SECONDS * 1000):
        return f"loading it takes longer than {SECONDS} seconds"
    if os.read(reading, 1):
        return ""  # it is loaded, or the linker refused it and will say why
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:  # somebody else has waited for it
        return "it kills the process that loads it"
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return f"it kills the process that loads it ({how})"
