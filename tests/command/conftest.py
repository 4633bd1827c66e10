"""Provide a folder with kernels to run the command in, and the command itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from weft.command.main import main

KERNELS = """\
kernel bias(x: f32[n, m], b: f32[m]) -> f32[n, m] {
    return x + b
}
kernel softmax(x: float[..., m]) -> float[..., m] {
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel moments(x: float[n]) -> (mean: float, var: float) {
    let mu = mean(x)
    return mu, mean((x - mu)**2)
}
kernel scale(x: f64[...], k: i32) -> f64[...] {
    return x * k
}
kernel chosen(x: f64[n], y: f64[n], c: bool) {
    return where(c, x, y), x - y
}
"""
ONE = "kernel twice(x: f32[n]) -> f32[n] {\n    return 2 * x\n}\n"

PATHS = os.pathsep.join(os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)

Status = tuple[int, str, str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: `kernels.weft` with several kernels, `one.weft` with one."""
    (tmp_path / "kernels.weft").write_text(KERNELS)
    (tmp_path / "one.weft").write_text(ONE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def weft(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Status]:
    """Run the command in this process and return its status, stdout and stderr."""

    def run(*argv: str) -> Status:
        status = main(list(argv))
        out, err = capsys.readouterr()
        return status, out, err

    return run


def hear_ctrl_c() -> None:
    """Receive Ctrl-C, which a process started in the background, and its children, ignore by default."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def process(folder: Path) -> Callable[..., Any]:
    """Start the command in a new process."""

    def start(*argv: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        found = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        wanted = {**os.environ, "PYTHONPATH": PATHS, "PYTHONUNBUFFERED": "", **(env or {})}
        return subprocess.Popen([sys.executable, "-m", "weft", *argv], env=wanted, preexec_fn=hear_ctrl_c, **found)

    return start
