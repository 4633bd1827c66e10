"""Test the command as a whole: exit statuses, streams, signals and colours."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import weft as package
from weft.command import main as command
from weft.command.main import main

Weft = Callable[..., tuple[int, str, str]]
Process = Callable[..., "subprocess.Popen[bytes]"]


def test_the_commands_are_listed(weft: Weft) -> None:
    status, out, _ = weft("--help")
    assert status == 0
    listed = re.findall(r"^    ([a-z]+)(?: |$)", out, re.MULTILINE)
    assert listed == [
        "run", "dump", "explain", "opt", "explore", "build", "profile", "bench", "registry", "cache", "list", "env",
        "info", "completion",
    ]  # fmt: skip


def test_the_version_is_told(weft: Weft) -> None:
    assert weft("--version") == (0, f"weft {package.__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "weft: error: name a command; weft --help lists them"),
        ("rnu softmax", "weft: error: there is no command 'rnu'; did you mean 'run'?"),
        ("weave", "weft: error: there is no command 'weave'; weft --help lists them"),
        ("build", "weft build: error: the following arguments are required: FILE, -o/--out"),
        ("profile", "weft profile: error: the following arguments are required: SCRIPT"),
        ("run nowhere", "there is neither a file nor a kernel called 'nowhere'\nhint: weft list shows the library"),
        ("run relu --arg x=ones(2):float", "unknown dtype 'float'\nhint: dtypes are bool, i8 to i64"),
        ("explain softmax --size mm=2", "softmax has no dimension 'mm'\nhint: did you mean 'm'?"),
        ("explain softmax --size count=2", "softmax has no dimension 'count'\nhint: it has m"),
        ("bench elementwise --only nothing", "no row of elementwise has 'nothing' in its name"),
    ],
)
def test_wrong_words_are_told_with_what_to_write(weft: Weft, line: str, told: str) -> None:
    status, out, err = weft(*line.split())
    assert status in (1, 2) and not out and told in err


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["weave"],
        ["run"],
        ["run", "one.weft", "--arg", "x"],
        ["run", "one.weft", "--arg", "=3"],
        ["run", "one.weft", "--arg", "x=ones(2)", "--arg", "x=ones(3)"],
        ["run", "one.weft", "--seed", "-1"],
        ["run", "one.weft", "--out", "r.txt"],
        ["run", "one.weft", "--tim"],
        ["opt"],
        ["info", "all"],
    ],
)
def test_wrong_usage_is_2(weft: Weft, argv: list[str]) -> None:
    status, out, err = weft(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("usage: weft")


def test_a_fault_of_weft_shows_no_traceback_unless_asked(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of thread")

    monkeypatch.setattr("weft.command.run.find_source", fail)
    told = "error: RuntimeError: out of thread\nhint: this is a bug in Weft; --traceback shows where it happened\n"
    assert weft("run", "one.weft") == (1, "", told)
    status, _, err = weft("run", "one.weft", "--traceback")
    assert status == 1 and err.startswith("Traceback") and err.endswith("RuntimeError: out of thread\n")


def test_too_little_memory_is_told(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr("weft.command.run.find_source", fail)
    assert weft("run", "one.weft") == (1, "", "error: not enough memory: Unable to allocate 8 TiB\n")


def test_an_interrupt_is_quiet(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("weft.command.run.find_source", interrupt)
    assert weft("run", "one.weft") == (130, "", "")


def test_kernel_text_comes_from_stdin(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"kernel thrice(x: f32[n]) { return 3 * x }"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert weft("run", "-", "--arg", "x=ones(2)") == (0, "out: f32[2]\n[3. 3.]\n", "")


def test_the_streams_need_not_exist(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["run", "one.weft", "--arg", "x=ones(2)"]) == 0
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["run", "nosuch.weft"]) == 1


# -- as a process


def finished(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


def test_python_m_weft_is_the_command(process: Process) -> None:
    assert finished(process("run", "one.weft", "--arg", "x=ones(2)")) == (0, "out: f32[2]\n[2. 2.]\n", "")
    told = "error: one.weft has no kernel 'tice'\nhint: did you mean 'twice'?\n"
    assert finished(process("run", "one.weft", "tice")) == (1, "", told)
    assert finished(process("walk"))[0] == 2


def test_ctrl_c_exits_130_and_says_nothing(process: Process) -> None:
    reader, writer = os.pipe()
    running = process("opt", "-", "--passes", "", stdin=reader)
    os.write(writer, b"//")
    deadline = time.monotonic() + 30
    while fcntl.ioctl(reader, termios.FIONREAD, bytes(4)) != bytes(4):  # until the command has begun to read
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    assert finished(running) == (130, "", "")
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("argv", [["dump", "kernels.weft", "softmax", "--after-all"], ["--help"]])
def test_a_reader_that_goes_away_is_no_error(process: Process, argv: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    running = process(*argv, stdout=writer)
    os.close(writer)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (141, b"")


def test_a_full_disk_is_told(process: Process) -> None:
    with open("/dev/full", "wb") as full:
        running = process("info", stdout=full)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (1, b"error: can't write the output: No space left on device\n")


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb", "NO_COLOR": ""}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(process: Process, env: dict[str, str], coloured: bool) -> None:
    terminal, end = pty.openpty()
    running = process("run", "kernels.weft", "bias", "--arg", "x=ones(2)", "--arg", "b=ones(2)", env=env, stderr=end)
    os.close(end)
    running.communicate(timeout=60)
    text = _drained(terminal).decode()
    os.close(terminal)
    assert running.returncode == 1
    assert ("\x1b[" in text) == coloured
    assert ("\x1b[1;31merror:\x1b[0m kernels.weft:1:13:" in text) == coloured


def _drained(terminal: int) -> bytes:
    found = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux tells the end of a terminal so
            return found
        if not part:
            return found
        found += part


def test_a_pipe_gets_no_colour(process: Process) -> None:
    assert "\x1b" not in finished(process("run", "nosuch.weft", env={"TERM": "xterm", "NO_COLOR": ""}))[2]


def test_units_do_not_need_a_unicode_terminal(process: Process) -> None:
    env: dict[str, Any] = {"PYTHONIOENCODING": "ascii"}
    status, out, err = finished(process("run", "one.weft", "--arg", "x=ones(9)", "--time", env=env))
    assert (status, err) == (0, "") and " per call" in out


def test_statuses_are_those_of_a_shell() -> None:
    assert (command.INTERRUPTED, command.READER_GONE) == (128 + signal.SIGINT, 128 + signal.SIGPIPE)


def test_common_slips_are_named(weft: Weft) -> None:
    for words, shown in (
        (("run", "kernels.weft", "softmax", "x=ones(3)"), "unrecognized arguments: x=ones(3) (write --arg x=ones(3))"),
        (("opt", "kernels.weft", "--passes", "fuse"), "print its graph first: weft dump kernels.weft | weft opt -"),
        (("registry", "explain", "ad", "f32", "f32"), "did you mean 'add'?"),
    ):
        status, out, err = weft(*words)
        assert status in (1, 2) and not out and shown in err
