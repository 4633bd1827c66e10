"""Import the compiler ahead of time if a signal handler of the user might call a kernel.

Most modules are imported when they are first used. A handler that interrupts such an import and needs the same module
would find half of it. So if there is a handler, another thread imports everything first: a handler that runs meanwhile
waits for that thread, as for any module that another thread imports.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # importing `signal` and `threading` takes longer than the check
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threading import Thread

_PARTS = ("ir", "frontend", "passes", "backends", "runtime", "settings", "loading", "function")
_OTHERS = frozenset(("aot", "chunks", "explorer", "build_tables"))  # what no call needs


class Preloader:
    """Imports all modules that calls and compiles need, once."""

    def __init__(self) -> None:
        self._is_done = False
        self._thread: Thread | None = None

    def prepare(self) -> None:
        """Import everything, unless that is done or no handler can interrupt this thread."""
        if self._is_done or not _has_handler():
            return
        import threading

        if threading.current_thread() is not threading.main_thread():
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._load, name="weft imports")
            self._thread.start()
        self._thread.join()

    def _load(self) -> None:
        root = __name__.partition(".")[0]
        for part in _PARTS:
            _import_all(f"{root}.{part}")
        self._is_done = True


preloader = Preloader()


def _import_all(name: str) -> None:
    import pkgutil

    module: Any = import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if found.name not in _OTHERS:
            _import_all(f"{name}.{found.name}")


def _has_handler() -> bool:
    """Whether a signal runs Python code other than Ctrl-C's usual exception."""
    handlers = sum(map(callable, map(_signal.getsignal, range(1, _signal.NSIG))))
    return handlers > (_signal.getsignal(_signal.SIGINT) is _signal.default_int_handler)
