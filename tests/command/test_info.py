"""Test `weft info`: versions, the machine and its backend."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft as package
from weft.backends.llvm.engine import target
from weft.command import info
from weft.ir.errors import UnsupportedTarget
from weft.runtime.calibration import Calibration
from weft.runtime.native import abi

Weft = Callable[..., tuple[int, str, str]]


def rows(text: str) -> dict[str, str]:
    joined = text.replace("\n          ", " ")
    return {line[:9].strip(): line[10:] for line in joined.splitlines()}


def test_info_names_versions_and_machine(weft: Weft) -> None:
    status, out, err = weft("info")
    found = rows(out)
    assert (status, err) == (0, "")
    assert found["weft"] == package.__version__
    assert found["python"].startswith(platform.python_version())
    assert found["numpy"] == np.__version__
    machine = ["system", "cpu", "features", "vectors", "caches", "cores", "threads"]
    assert list(found)[3:] == ["llvmlite", "llvm", *machine, "backend", "calls"]
    assert found["vectors"] == f"{8 * target.host().vector_bytes} bits"
    assert (found["backend"], found["calls"]) == ("llvm is usable", "native")
    assert found["threads"] == "work is shared with sleeping threads from 16 µs on, which was not measured here"


def test_info_shows_what_was_measured(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "calibration", lambda: Calibration(8e-6, 1.7e9))
    text = r"waking one takes 8.0 µs \(measured 2023-11-1[45]\); work is shared with sleeping ones from 32 µs on"
    assert re.fullmatch(text, rows(weft("info")[1])["threads"])


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("abiflags", "t", "this Python is free-threaded, and its objects have another layout"),
        ("version_info", (3, 10, 2), "this Python is not CPython 3.11, 3.12 or 3.13"),
    ],
)
def test_info_says_why_calls_go_through_ctypes(
    weft: Weft, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, reason: str
) -> None:
    monkeypatch.setattr(sys, name, value)
    assert abi.obstacle.__wrapped__() == reason
    monkeypatch.setattr(abi, "is_known", lambda: False)
    monkeypatch.setattr(abi, "obstacle", lambda: reason)
    assert rows(weft("info")[1])["calls"] == f"through ctypes: {reason}"


def test_info_says_why_there_is_no_native_code(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise UnsupportedTarget("no native code for Plan9 on mips")

    monkeypatch.setattr(target, "host", refuse)
    status, out, _ = weft("info")
    assert status == 0
    assert rows(out)["backend"] == "llvm is not usable: no native code for Plan9 on mips"
    assert rows(out)["vectors"] == "none (no native code for Plan9 on mips)"


def test_info_tries_the_backend(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "_TRIAL", "kernel trial(x: f32[n]) { return 3 * x }")
    assert rows(weft("info")[1])["backend"] == "llvm is not usable: a trial kernel gave wrong results"
