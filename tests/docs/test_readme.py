"""README.md: its Python runs and prints what it shows, its IR is what the compiler prints, what it names exists."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import weft
from weft.runtime.compiler import Lowered

from .pages import ROOT, compare, marked

PAGE = ROOT / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
RUN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAGES = ("input", "fuse")


@cache
def lowered() -> Lowered:
    layers = weft.load(ROOT / "examples" / "layers.weft")
    low: Lowered = layers.softmax.lower(np.ones((8, 64), np.float32))
    return low


@pytest.mark.parametrize("k", range(len(RUN.findall(TEXT))))
def test_python_prints_what_is_shown(k: int, request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    block = list(RUN.finditer(page))[k]
    done = subprocess.run([sys.executable, "-"], input=block[1], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(page[: block.start(2)] + done.stdout + page[block.end(2) :], encoding="utf-8")
    else:
        assert done.stdout == block[2]


@pytest.mark.parametrize("stage", STAGES)
def test_ir_is_real(stage: str, request: pytest.FixtureRequest) -> None:
    update = request.config.getoption("--update-goldens")
    compare(PAGE, f"softmax {stage}", lambda: lowered().ir(after=stage), update)


def test_nothing_is_left_out() -> None:
    assert TEXT.count("```python\n") == len(RUN.findall(TEXT)) == 2
    assert marked(PAGE) == [f"softmax {stage}" for stage in STAGES]
    assert len(lowered().kernels) == 1


def test_folders_and_links_exist() -> None:
    folders = re.findall(r"^\| `(\w+)/` \|", TEXT, re.MULTILINE)
    assert len(folders) >= 10
    for name in [*folders, *re.findall(r"\]\(([^)#]+)\)", TEXT)]:
        assert (ROOT / name).exists(), name


def test_make_has_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("run", "test"):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE) and f"make {command}" in TEXT
