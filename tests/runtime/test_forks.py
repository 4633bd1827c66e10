"""Test children that are forked at a bad moment: while other threads compile, import or call."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from weft.ir.support import forking

from .forked import compile_something, compiling_threads, succeeds_in_a_child

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compilers() -> Iterator[None]:
    with compiling_threads():
        yield


@pytest.mark.usefixtures("compilers")
def test_a_child_compiles_while_threads_of_its_parent_do() -> None:
    assert all(succeeds_in_a_child(compile_something) for _ in range(4))


class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A module whose import ends only after the main thread has begun to fork."""

    begun = threading.Event()

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self) if name == "weft.ir.slow" else None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self.begun.set()
        while not _is_in(threading.main_thread().ident, forking._before):
            self.begun.wait(0)
        module.__dict__["answer"] = 42


def _is_in(thread: int | None, function: Any) -> bool:
    frame = sys._current_frames().get(thread or 0)
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def test_a_fork_waits_for_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [Slow(), *sys.meta_path])
    importing = threading.Thread(target=__import__, args=("weft.ir.slow",))
    importing.start()
    Slow.begun.wait()

    def use() -> None:
        import weft.ir.slow  # type: ignore[import-not-found]

        assert weft.ir.slow.answer == 42

    assert succeeds_in_a_child(use)
    importing.join()
    del sys.modules["weft.ir.slow"]


def test_locks_in_a_child() -> None:
    """A lock that another thread holds is free in the child; one that the forking thread holds stays its own."""
    held, own, told = forking.lock(), forking.lock(), forking.event()
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with held, told._cond:  # type: ignore[attr-defined]
            holds.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()

    def use() -> None:
        assert held.acquire(timeout=1) and own._is_owned()
        told.set()

    with own:
        assert succeeds_in_a_child(use) and not held.acquire(blocking=False)
    ends.set()
    thread.join()


def test_every_lock_is_made_to_survive_a_fork() -> None:
    """Locks are made in one module; the owner of a `Semaphore` replaces it in a child."""
    found = []
    for folder in ("api", "backends", "frontend", "ir", "passes", "runtime"):
        for path in (ROOT / folder).rglob("*.py"):
            if re.search(r"\b(R?Lock|Event|Condition|allocate_lock)\(", path.read_text()):
                found.append(path.relative_to(ROOT).as_posix())
            assert "functools import cached_property" not in path.read_text() or path.name == "lazy.py", path
    assert found == ["ir/support/forking.py"]
