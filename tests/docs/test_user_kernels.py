"""The examples of docs/user-kernels.md run from top to bottom, with the files that the page shows."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import weft

from tests.user_kernels.libraries import build

from .pages import ROOT

PAGE = (ROOT / "docs" / "user-kernels.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    for block in (*_blocks("weft"), *_blocks("c")):
        named = re.match(r"(?:#|/\*) (\S+)", block)
        assert named is not None
        (tmp_path / named[1]).write_text(block)
    (command,) = _blocks("sh")
    if shutil.which("cc"):
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
        monkeypatch.setenv("PYTHONPATH", str(Path(weft.__file__).parents[1]))
        subprocess.run(command, shell=True, check=True)
    else:
        build(tmp_path / "twice.so")
    names: dict[str, Any] = {}
    with weft.registry.scope():
        for number, block in enumerate(_blocks("python")):
            names.update(_run(block, names, tmp_path / f"page{number}.py"))
    assert len(_blocks("python")) == 4


def _run(block: str, names: dict[str, Any], path: Path) -> dict[str, Any]:
    """Run code from a file, because tracing shows its lines."""
    path.write_text(block, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("page", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(names)
    spec.loader.exec_module(module)
    return module.__dict__
