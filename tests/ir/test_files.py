"""Test that files are written whole or not at all, and that only plain files are replaced."""

from __future__ import annotations

import ast
import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from weft.ir.errors import FileProblem
from weft.ir.support import files
from weft.ir.support.files import OutputFile, is_plain, is_stream, put_file, read_plain, write_file, write_files

ROOT = Path(__file__).parents[2]
LAYERS = ("api", "backends", "frontend", "ir", "passes", "runtime")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def listed() -> list[str]:
    return sorted(os.listdir())


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_written_replaces_the_old_file_and_keeps_its_mode() -> None:
    old = os.umask(0o027)
    try:
        write_file("new", b"one")
        write_files(OutputFile("tool", b"code", 0o777), OutputFile("long" * 60, lambda file: file.write(b"made")))
    finally:
        os.umask(old)
    assert Path("new").read_bytes() == b"one" and stat.S_IMODE(os.stat("new").st_mode) == 0o640
    assert stat.S_IMODE(os.stat("tool").st_mode) == 0o750 and Path("long" * 60).read_bytes() == b"made"
    os.chmod("new", 0o604)
    os.symlink("new", "link")
    write_file("link", b"two")
    assert Path("new").read_bytes() == b"two" and stat.S_IMODE(os.stat("new").st_mode) == 0o604
    assert os.readlink("link") == "new" and listed() == sorted(["link", "long" * 60, "new", "tool"])
    put_file("own", b"mine")
    assert stat.S_IMODE(os.stat("own").st_mode) == 0o600
    with pytest.raises(FileExistsError):
        put_file("own", b"other", keeps_old=True)
    assert Path("own").read_bytes() == b"mine" and len(listed()) == 5


def test_a_failure_at_any_step_leaves_all_files_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").write_bytes(b"old a")
    Path("b").write_bytes(b"old b")
    for step in ("fsync", "rename", "fchmod"):
        with monkeypatch.context() as patch:
            patch.setattr(files.os, step, full)
            with pytest.raises(FileProblem, match=r"can't write .*a: No space left on device"):
                write_files(OutputFile("a", b"new a"), OutputFile("b", b"new b"))
    with pytest.raises(FileProblem, match="can't write b: No space left on device"):
        write_files(OutputFile("a", b"new a"), OutputFile("b", full))

    def interrupted(file: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_files(OutputFile("a", b"new a"), OutputFile("b", interrupted))
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        for keeps_old in (False, True):
            with pytest.raises(OSError, match="No space left"):
                put_file("c", b"x", keeps_old=keeps_old)
    assert listed() == ["a", "b"]
    assert (Path("a").read_bytes(), Path("b").read_bytes()) == (b"old a", b"old b")


def test_what_may_not_be_written_is_told() -> None:
    os.mkdir("folder")
    for path, reason in (("folder", "Is a directory"), ("none/x", "No such file"), ("x" * 300, "File name too long")):
        with pytest.raises(FileProblem, match=f"can't write .*: {reason}"):
            write_file(path, b"x")
    os.symlink("loop", "loop")
    with pytest.raises(FileProblem, match="can't write loop"):
        write_file("loop", b"x")
    if os.geteuid():
        Path("kept").write_bytes(b"old")
        os.chmod("kept", 0o444)
        with pytest.raises(FileProblem, match="can't write kept: Permission denied"):
            write_file("kept", b"x")


def test_devices_and_pipes_are_written_to_and_stay() -> None:
    before = os.stat(os.devnull)
    write_file(os.devnull, b"nothing")
    os.symlink(os.devnull, "null")
    write_file("null", b"nothing")
    assert os.stat(os.devnull).st_ino == before.st_ino and os.path.islink("null")
    with pytest.raises(FileProblem, match="can't write /dev/full: No space left on device"):
        write_file("/dev/full", b"x")
    os.mkfifo("pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_bytes()))
    reader.start()
    write_file("pipe", b"through")
    reader.join()
    assert found == [b"through"] and stat.S_ISFIFO(os.stat("pipe").st_mode)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(FileProblem, match="can't write socket"):
            write_file("socket", b"x")
    assert listed() == ["null", "pipe", "socket"]


def test_open_files_of_the_process_are_written_to_and_not_replaced() -> None:
    """/dev/stdout leads to a plain file if the shell has redirected it there."""
    script = (
        "from weft.ir.support.files import write_file; print('printed'); write_file('/dev/stdout', b'one\\n'); "
        "write_file('/dev/fd/1', b'two\\n'); write_file('/proc/self/fd/1', b'three\\n'); print('after')"
    )
    with open("out", "wb") as out:
        number = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert Path("out").read_text() == "printed\none\ntwo\nthree\nafter\n" and os.stat("out").st_ino == number
    assert is_stream("/dev/stdout") and not is_stream("out") and not is_stream("none")
    assert listed() == ["out"]


def test_plain_files_alone_are_plain() -> None:
    Path("file").write_bytes(b"content")
    os.symlink("file", "link")
    os.mkfifo("pipe")
    os.mkdir("folder")
    assert [is_plain(x) for x in ("file", "none", "link", "pipe", "folder", os.devnull)] == [True, True, *[False] * 4]
    assert read_plain("file", 7) == b"content"
    for path, limit in (("file", 6), ("link", 9), ("pipe", 9), ("folder", 9), (os.devnull, 9), ("none", 9)):
        with pytest.raises(OSError):
            read_plain(path, limit)


def _writes(node: ast.AST) -> bool:
    """Tell whether a call writes or renames a file, or creates one with its own name."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("write_text", "write_bytes", "rename", "replace", "renames", "tofile", "savez", "mkstemp", "mktemp",
                "NamedTemporaryFile", "link", "touch"):  # fmt: skip
        return name not in ("replace", "link") or getattr(getattr(node.func, "value", None), "id", "") == "os"
    modes = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Constant)]
    return name == "open" and any(isinstance(m, str) and set(m) & set("wax+") and len(m) <= 3 for m in modes)


def test_nothing_else_writes_files() -> None:
    """Exceptions are copies of libraries in memory or in temporary folders, and archives."""
    allowed = {"ir/support/files.py", "api/command/files.py", "runtime/libraries/handles.py"}
    found = {
        str(path.relative_to(ROOT))
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
        if any(map(_writes, ast.walk(ast.parse(path.read_text()))))
    }
    assert found <= allowed, found - allowed
