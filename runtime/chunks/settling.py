"""Limit the threads and the kept memory of a process that runs chunks for dask.

A worker of dask runs several tasks at a time, in as many threads as it was given, and often beside other workers on the
same machine. So a kernel must not take all cores, and the list of free blocks must not fill the worker's memory.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any

from ..memory import memory_info, set_memory_limit
from ..threads import set_threads

SHARE = 16  # a worker keeps at most this part of its memory for future results


def settle() -> None:
    """Limit this process at its first task, if it is a worker and no plugin has done so."""
    if (worker := current_worker()) is not None and not _settled(os.getpid()):
        bound(worker, None, None)


@lru_cache(1)
def _settled(process: int) -> list[bool]:
    """Tell whether a process was limited: the list is empty if not."""
    return []


def current_worker() -> Any:
    """The worker that runs this task, or None."""
    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        return module.get_worker()
    except ValueError:
        return None


def bound(worker: Any, threads: int | None, memory: int | None) -> None:
    """Set the threads of kernels and the memory that is kept, in the process of a worker."""
    _settled(os.getpid())[:] = [True]
    if threads is None and not os.environ.get("WEFT_NUM_THREADS", "").strip():
        threads = threads_for(worker.state.nthreads)
    if threads is not None:
        set_threads(threads)
    is_given = os.environ.get("WEFT_MEMORY_LIMIT", "").strip()
    if memory is None and not is_given and (limit := getattr(worker.memory_manager, "memory_limit", None)):
        memory = min(memory_info().limit, limit // SHARE)
    if memory is not None:
        set_memory_limit(memory)


def threads_for(tasks: int) -> int:
    """Choose the threads of one kernel: OMP_NUM_THREADS, which dask's nannies set to 1, or the cores divided by
    concurrent tasks.
    """
    given = os.environ.get("OMP_NUM_THREADS", "").strip()
    if given.isascii() and given.isdigit() and int(given) > 0:
        return min(1024, int(given))
    return max(1, len(os.sched_getaffinity(0)) // max(1, tasks))
