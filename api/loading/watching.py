"""Reload files when they change; a thread checks them several times a second.

A file is reloaded once it has stopped changing. A broken edit keeps the old kernels and is reported once; it is tried
again when any file changes. Calling a kernel never checks files.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..ir.errors import LoadWarning, WeftError
from ..ir.support.forking import event

if TYPE_CHECKING:
    from .load import Loader

SECONDS = 0.2  # seconds between two checks
Stamp = tuple[int, int, int, int] | None


class Watch:
    """Watch a loader's files for as long as its module lives."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._read = {file: self._stamps(file) for file in self._files()}
        self._seen = dict(self._read)

    def start(self) -> Callable[[], None]:
        """Start checking on a background thread, and return a function that stops it."""
        ended = event()
        # The thread must not keep the module alive; it ends when the module is gone.
        weakref.finalize(self._loader.module, ended.set)
        thread = threading.Thread(target=_look, args=(weakref.ref(self), ended), name="weft-watch", daemon=True)
        thread.start()
        return ended.set

    def look(self) -> bool:
        """Reload files that have changed and are now stable. Return whether any were reloaded."""
        now = {file: self._stamps(file) for file in self._files()}
        changed = [file for file, stamps in now.items() if stamps != self._read.get(file) and _is_there(stamps)]
        settled = [file for file in changed if now[file] == self._seen.get(file)]
        self._seen = now
        if not settled:
            return False
        broken = [file for file in self._loader.module._problems if file in now and file not in changed]
        for file in (*settled, *broken):
            self._again(file, is_news=file in settled)
        return True

    def _again(self, file: str, is_news: bool) -> None:
        self._read[file] = self._stamps(file)  # before it is read, so that a change meanwhile is noticed later
        try:
            self._loader.read(file)
        except WeftError as error:
            self._loader.module._problems[file] = error
            if is_news:
                _report(file, error)
        else:
            self._read[file] = self._stamps(file) if self._is_as_read(file) else ()

    def _is_as_read(self, file: str) -> bool:
        """Tell whether the file and its imports are still as they were when they were read."""
        known = dict(self._read[file])
        return all(known.get(path, stamp) == stamp for path, stamp in self._stamps(file))

    def _files(self) -> list[str]:
        known = list(self._loader.sources) + list(self._loader.module._problems)
        if self._loader.folder is None:
            return list(dict.fromkeys(known))
        try:
            return list(dict.fromkeys([*self._loader.files(), *known]))
        except WeftError:
            return list(dict.fromkeys(known))

    def _stamps(self, file: str) -> tuple[tuple[str, Stamp], ...]:
        """Stamp a file and everything it was made from."""
        paths = dict.fromkeys((file, *self._loader.sources.get(file, ())))
        return tuple((path, _stamp(path)) for path in paths)


def _look(watch: weakref.ref[Watch], ended: threading.Event) -> None:
    while not ended.wait(SECONDS):
        found = watch()
        if found is None:
            return
        found.look()
        del found


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _is_there(stamps: tuple[tuple[str, Stamp], ...]) -> bool:
    """Tell whether the file exists. Editors remove it for a moment; a file that is gone keeps its kernels."""
    return stamps[0][1] is not None


def _report(file: str, error: WeftError) -> None:
    """Warn at the place in the file, even if the same warning was shown before."""
    line = 1 if error.span is None else error.span.line
    text = f"{file} was not loaded again, its old kernels stay: {error}"
    with suppress(LoadWarning):  # if warnings are errors nobody can catch this one here; `problems` has it
        warnings.warn_explicit(text, LoadWarning, file, line, registry={})
