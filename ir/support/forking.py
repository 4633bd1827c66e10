"""Make locks that can't deadlock in a forked child or in a signal handler.

A forked child has one thread. A lock that another thread of the parent held at that moment would never be released. So
every lock made here is free in a child, unless the forking thread holds it itself, and the data that it protects must
be consistent after each statement. A signal handler interrupts the main thread, so locks are re-entrant, and the data
may have changed after any call that runs Python code.

Two things must not be interrupted by a fork: LLVM at work, and an import (the child would wait for the module for
ever). A fork waits for both. It waits at most `PATIENCE` for imports, because one that waits for the forking thread
would never end.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from threading import Event

T = TypeVar("T")

PATIENCE = 10.0  # seconds
# Both import parts of themselves when they are first used.
_PACKAGES = frozenset((__name__.partition(".")[0], "numpy"))
_ours: WeakSet[Any] = WeakSet()  # locks and events that are replaced in a forked child
_native = RLock()


def lock() -> Any:
    """A re-entrant lock that is free in a forked child."""
    made = RLock()
    _ours.add(made)
    return made


def make_once(kept: list[T], make: Callable[[], T], making: Any) -> T:
    """Return the one value of this process. It is kept in a list, and made under a lock when it is first needed."""
    with making:
        if not kept:
            made = make()
            kept[:] = kept or [made]  # a signal handler may have made one meanwhile
    return kept[0]


def event() -> Event:
    """An event that can be used in a forked child."""
    from threading import Event  # only who waits for another thread needs this module, and importing it takes a while

    made = Event()
    _ours.add(made)
    return made


def native_lock() -> Any:
    """The one lock for code that can't handle forks, such as LLVM: no process forks while another thread holds it.

    Code that holds it must not import, take another lock or run code of users.
    """
    return _native


def _before() -> None:
    _native.acquire()
    if len(sys._current_frames()) == 1:
        return
    end = time.monotonic() + PATIENCE
    time.sleep(0)  # from here on this thread is not interrupted, and no other begins an import before the fork
    while _others_import() and time.monotonic() < end:
        time.sleep(0.001)


def _others_import() -> bool:
    """Whether another thread is importing a module of these packages, directly or through another import."""
    own = get_ident()
    return any(_imports(frame) for thread, frame in sys._current_frames().items() if thread != own)


def _imports(frame: Any) -> bool:
    while frame is not None:
        code, asks = frame.f_code, frame.f_back
        if code.co_name == "_find_and_load" and code.co_filename == "<frozen importlib._bootstrap>":
            asker = asks.f_globals.get("__name__") if asks is not None else None
            if not _PACKAGES.isdisjoint(str(name).partition(".")[0] for name in (asker, frame.f_locals.get("name"))):
                return True
        frame = asks
    return False


def _after_in_child() -> None:
    for each in list(_ours):
        is_owned = getattr(each, "_is_owned", lambda: False)  # nobody owns an event
        if not is_owned():
            each._at_fork_reinit()
    _native.release()


os.register_at_fork(before=_before, after_in_parent=_native.release, after_in_child=_after_in_child)
