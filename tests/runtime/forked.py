"""Fork children while other threads compile, for tests and for the scoreboard."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import weft

X = np.random.default_rng(2).standard_normal((30, 40))
numbers = itertools.count()


def compile_something() -> None:
    k = next(numbers) + os.getpid() / 1000
    kernel = weft.jit(lambda x: np.exp(x) * k + x.sum(axis=0))
    np.testing.assert_allclose(kernel(X), np.exp(X) * k + X.sum(axis=0))


def succeeds_in_a_child(work: Callable[[], object], seconds: int = 60) -> bool:
    """Fork, and return whether the child does its work in time."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)  # ends a child that hangs
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@contextmanager
def compiling_threads() -> Iterator[None]:
    """Let two threads compile meanwhile."""
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            compile_something()

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
