"""Test every writer on a full disk: the existing file stays, and no other file is left behind."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from weft.bench import main as bench
from weft.bench import markdown
from weft.bench.results import BenchResults, Outcome
from weft.ir.errors import PassFailure
from weft.ir.graph import Graph
from weft.ir.records import record
from weft.passes.manager import PipelineOptions, run_pipeline
from weft.runtime.disk.secret import NoSecret, make_secret
from weft.runtime.disk.store import Store, Unusable
from weft.runtime.selection.history import History
from weft.runtime.selection.workload import Workload
from weft.settings import _history_path

Weft = Callable[..., tuple[int, str, str]]
RUN = BenchResults({"cpu": "c", "cores": "2", "system": "s", "python": "3"}, 2, ("Weft", "NumPy"),
              (Outcome("math", "exp(x)", 1000, "f32", {"Weft": 1e-6, "NumPy": 4e-6}),))  # fmt: skip
NO_SPACE = os.strerror(errno.ENOSPC)


@contextmanager
def no_room(most: int = 16) -> Iterator[None]:
    """Limit files to a few bytes; the system refuses more, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_flush() -> Iterator[None]:
    """Make the system accept all bytes and report only when flushing that there is no room."""
    with pytest.MonkeyPatch.context() as patch:

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, NO_SPACE)

        patch.setattr(os, "fsync", full)
        yield


def state(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_file_of_every_command(weft: Weft, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "page.md").write_text(f"{markdown.BEGIN}\nold\n{markdown.END}\n")
    (folder / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder / "tmp"))
    monkeypatch.setattr(bench, "_measured", lambda _: RUN)
    build = ("build", "one.weft", "--dense", "--cpu-levels", "3", "-o")
    run = ("run", "kernels.weft", "chosen", "--arg", "x=ones(9)", "--arg", "y=ones(9)", "--arg", "c=true", "--out")
    commands = [
        (*build, "libone.so"), (*build, "one.o"), (*run, "r.npz"),
        ("run", "one.weft", "--arg", "x=ones(9)", "--out", "r.npy"),
        ("bench", "--json", "r.json"), ("bench", "--plot", "r.svg"), ("bench", "--markdown", "page.md"),
    ]  # fmt: skip
    for command in commands:
        assert weft(*command)[0] == 0, command
    before = state(folder)
    assert {"libone.so", "one.o", "one.h", "r.npz", "r.npy", "r.json", "r.svg", "page.md"} < before.keys()
    for command in commands:
        for problem, told in ((no_room, "File too large"), (no_flush, NO_SPACE)):
            with problem():
                status, _, err = weft(*command)
            assert status == 1 and "can't write" in err and told in err, (command, err)
            assert state(folder) == before, command


def test_a_library_and_its_header_are_replaced_together(weft: Weft, folder: Path) -> None:
    """A new header beside an old library would be a trap."""
    build = ("build", "one.weft", "--dense", "--cpu-levels", "3", "-o", "one.o")
    assert weft(*build)[0] == 0
    before = state(folder)
    with no_room(len(before["one.h"]) + 8):
        assert weft(*build, "--prefix", "new_")[0] == 1
    assert state(folder) == before


def test_every_file_of_the_runtime(tmp_path: Path) -> None:
    key, load = b"k" * 32, Workload("graph", "k", 1000, 8000, 3000, 1, 0, 1)
    store = Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30)
    store.write(key, b"old" * 50)
    history = History(tmp_path / "data" / "history.json")
    history.add(load, "a", 1e-6)
    history.save()
    (tmp_path / "replays").mkdir()
    (tmp_path / "other").mkdir()
    before = state(tmp_path)
    history.add(load, "b", 1e-6)

    @record
    class Fails:
        name: str = "fails"

        def run(self, graph: Graph) -> Graph:
            raise KeyError("x")

    for problem in (no_room, no_flush):
        with problem():
            with pytest.raises(Unusable, match=f"File too large|{NO_SPACE}"):
                store.write(key, b"new" * 50)
            history.save()
            with pytest.raises(NoSecret, match=f"File too large|{NO_SPACE}"):
                make_secret(str(tmp_path / "other"))
            with pytest.raises(PassFailure, match="the file that replays it could not be written"):
                run_pipeline(Graph("g", (), (), ()), (Fails(),), PipelineOptions(folder=tmp_path / "replays"))
        assert state(tmp_path) == before
    history.save()
    assert len(History(history.path)) == 2


def test_a_history_is_a_plain_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices, pipes, folders and links are never read, replaced or deleted."""
    load = Workload("graph", "k", 1000, 8000, 3000, 1, 0, 1)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "null").symlink_to(os.devnull)
    nodes = [tmp_path / name for name in ("pipe", "folder", "link", "null")]
    if os.geteuid() == 0:
        os.mknod(tmp_path / "device", 0o600 | 0o020000, os.makedev(1, 3))
        nodes.append(tmp_path / "device")
    kinds = [node.lstat().st_mode for node in nodes]
    for node in nodes:
        history = History(node)
        history.add(load, "a", 1e-6)
        history.save()
        with pytest.raises(OSError, match="can't delete the history"):
            history.clear()
        monkeypatch.setenv("WEFT_HISTORY", str(node))
        with pytest.raises(
            ValueError, match=r"WEFT_HISTORY must name a regular file, not .*\nhint: WEFT_HISTORY=0 keeps no history"
        ):
            _history_path()
    assert [node.lstat().st_mode for node in nodes] == kinds and len(os.listdir(tmp_path)) == len(nodes)
    monkeypatch.setenv("WEFT_HISTORY", str(tmp_path / "new.json"))
    assert _history_path() == tmp_path / "new.json"


def test_results_go_into_pipes_as_they_are(weft: Weft, folder: Path) -> None:
    """Neither `.npy` nor `.npz` output needs a seekable file."""
    reading, writing = os.pipe()
    for name, read in (("r.npy", lambda x: x), ("r.npz", lambda x: x["out"])):
        os.symlink(f"/proc/self/fd/{writing}", name)
        assert weft("run", "one.weft", "--arg", "x=ones(9)", "--out", name)[0] == 0
        (folder / f"copy{name}").write_bytes(os.read(reading, 1 << 16))
        assert np.array_equal(read(np.load(f"copy{name}")), np.full(9, 2))
        assert os.path.islink(name)
    os.close(reading)
    os.close(writing)
