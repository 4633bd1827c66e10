"""Test `weft list`, `weft env`, `weft explain`, `weft completion` and the log of compiles."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import weft as package
from weft.environment import VARIABLES

Weft = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]
# C macros and parts of messages that are no variables.
OTHERS = {"WEFT_", "WEFT_MAX", "WEFT_MAX_", "WEFT_OK", "WEFT_C_INTERFACE"}


def test_kernels_are_listed_with_their_comments(weft: Weft, tmp_path: Path) -> None:
    _, out, _ = weft("list")
    assert "softmax(x: float[..., m]) -> float[..., m]\n    The exponentials divided by their sum" in out
    file = tmp_path / "own.weft"
    file.write_text("# Doubles.\nkernel double(x: f32[n]) -> f32[n] = x + x\nkernel same(x: f32[n]) -> f32[n] = x\n")
    _, out, _ = weft("list", str(file))
    assert out == "double(x: f32[n]) -> f32[n]\n    Doubles.\nsame(x: f32[n]) -> f32[n]\n"


def test_all_variables_are_listed(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_EXPLORE", "0.5")
    _, out, _ = weft("env")
    assert "WEFT_EXPLORE (set to 0.5)" in out
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    for variable in VARIABLES:
        assert f"| `{variable.name}` | {variable.default} | {variable.meaning} |" in page
    monkeypatch.setenv("WEFT_CACH_DIR", "here")
    _, _, err = weft("env")
    assert "note: WEFT_CACH_DIR is set, but Weft reads no such variable; did you mean 'WEFT_CACHE_DIR'?" in err


def test_every_variable_in_the_code_is_in_the_table() -> None:
    found = set()
    for folder in ("api", "backends", "frontend", "ir", "passes", "runtime"):
        for file in (ROOT / folder).rglob("*.py"):
            found |= set(re.findall(r"\bWEFT_[A-Z_]*", file.read_text(encoding="utf-8")))
    macros = {name for name in found if name.startswith(("WEFT_KERNEL", "WEFT_STRIDED", "WEFT_BAD"))}
    assert found - OTHERS - macros == {variable.name for variable in VARIABLES}


def test_explain_says_what_is_not_fused(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "cube.weft"
    file.write_text("kernel cube(x: f32[n, n]) -> f32[n, n] = (x @ x) @ x\n")
    status, out, _ = weft("explain", str(file), "--size", "n=8")
    assert status == 0 and "2 native kernels" in out and "a product reads whole rows and columns" in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(weft: Weft, shell: str) -> None:
    status, out, _ = weft("completion", shell)
    assert status == 0 and all(word in out for word in ("explore", "registry", "after-all", "emit", "clear"))
    if shell == "bash" and shutil.which("bash"):
        script = f"{out}\nCOMP_WORDS=(weft expl); COMP_CWORD=1; _weft; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert done.stdout.split() == ["explain", "explore"], done.stderr


def test_compiles_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    kernel = package.compile("kernel logged(x: f32[n]) -> f32[n] = x * 31").logged

    @package.jit
    def filled(x):  # type: ignore[no-untyped-def]
        for k in range(x.size):
            x[k] = 17 * k + 5
        return x

    with caplog.at_level(logging.INFO, "weft.compile"):
        kernel.lower(np.ones(3, np.float32)).launcher  # noqa: B018 - asking compiles
        filled(np.ones(3))
    assert any("nest" in r.getMessage() for r in caplog.records)
    assert any("logged: 1 native kernel" in r.getMessage() and "LLVM codegen" in r.getMessage() for r in caplog.records)
