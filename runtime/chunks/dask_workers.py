"""Set up dask's workers for Weft: their threads and the memory that they keep."""

from __future__ import annotations

from typing import Any

import distributed

from .settling import bound


class WorkerPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
    """Bound Weft in each worker: `client.register_plugin(weft.dask.WorkerPlugin(threads=2))`.

    threads: the most threads of one kernel; None divides the cores by the worker's threads.
    memory: the bytes kept for future results; None is a sixteenth of the worker's memory.
    """

    name = "weft"

    def __init__(self, threads: int | None = None, memory: int | None = None) -> None:
        self.threads, self.memory = threads, memory

    def setup(self, worker: Any) -> None:
        bound(worker, self.threads, self.memory)
