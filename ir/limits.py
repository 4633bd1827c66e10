"""Hold the limits that keep kernel text and graphs from exhausting the machine.

They apply to the whole process: `weft.set_limits` sets them, and `api/limits.py` reads the environment once. Exceeding
one raises `LimitExceeded`; a result that is too large raises `MemoryProblem`.
"""

from __future__ import annotations

import time
from _thread import _local as local
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import LimitExceeded, Span
from .records import record


@record
class Limits:
    """The limits on kernel text and on a compile."""

    text: int = 1_000_000  # characters in one file
    depth: int = 100  # nesting of brackets, blocks and operators; a chain such as `a + b + c` counts once
    nodes: int = 10_000  # operations of one kernel, once every call is inlined
    seconds: float = 10.0  # seconds of CPU time to build a graph and run the passes, and again to generate its code
    result_bytes: int | None = None  # bytes of one array that Weft makes; None means the memory of the machine


class Limiter:
    """The current limits, and the time at which this thread began to compile."""

    def __init__(self) -> None:
        self.now = Limits()
        self._thread = local()

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Counts the time of a compile; nested compiles count as part of the outer one."""
        before = getattr(self._thread, "start", None)
        if before is not None:
            yield
            return
        from .support.garbage import rare_collections

        self._thread.start = time.thread_time()
        try:
            with rare_collections.during():
                yield
        finally:
            self._thread.start = None

    def check_time(self, span: Span | None = None, to_come: float = 0.0) -> None:
        """Ends a compile that has taken too long, or will if the given seconds are added."""
        start = getattr(self._thread, "start", None)
        if start is None or time.thread_time() - start + to_come <= self.now.seconds:
            return
        hint = "split the kernel into several, or allow more with WEFT_MAX_SECONDS or weft.set_limits(seconds=...)"
        raise LimitExceeded(f"the compile would take more than {self.now.seconds:g} s", span, hint)


limiter = Limiter()
