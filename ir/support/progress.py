"""Show on a terminal that a compile takes long, and which part it is in.

Nothing is printed, and no thread is started, where standard error is not a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .forking import event

PATIENCE = 1.0  # seconds before a compile is worth a line
PERIOD = 0.25  # seconds between two updates of the line
CLEAR = "\x1b[K"  # the rest of a line


class _Compile:
    """A compile that is under way."""

    def __init__(self, name: str, part: str, stream: Any, patience: float) -> None:
        from threading import Thread  # only compiles on a terminal need this module, and importing it takes a while

        self.name, self.part = name, part
        self._stream, self._patience, self._start = stream, patience, time.monotonic()
        self._done, self._is_shown = event(), False
        self._thread = Thread(target=self._tell, name="weft-progress", daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        pause = self._patience
        while not self._done.wait(pause):
            self._is_shown, pause = True, PERIOD
            self._write(f"\rweft: compiling {self.name} for {self._seconds}: {self.part}{CLEAR}")

    def end(self) -> None:
        self._done.set()
        self._thread.join()
        if self._is_shown:
            self._write(f"\rweft: compiled {self.name} in {self._seconds}{CLEAR}\n")

    @property
    def _seconds(self) -> str:
        return f"{time.monotonic() - self._start:.1f} s"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone
            self._done.set()


_CURRENT: ContextVar[_Compile | None] = ContextVar("weft_compile", default=None)


@contextmanager
def compiling(name: str, part: str = "reading the source", patience: float = PATIENCE) -> Iterator[None]:
    """Show on a terminal what is compiled, and which part it is in, if it takes longer than `patience` seconds."""
    stream = sys.stderr
    if _CURRENT.get() is not None or not _is_terminal(stream):
        yield
        return
    compile = _Compile(name, part, stream, patience)
    token = _CURRENT.set(compile)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        compile.end()


def part(name: str) -> None:
    """Note which part the compile of this thread is in."""
    compile = _CURRENT.get()
    if compile is not None:
        compile.part = name


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        return False
