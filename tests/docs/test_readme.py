"""Check README.md: its Python prints what it shows, and the files that it names exist."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from .pages import ROOT

PAGE = ROOT / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
RUN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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


def test_nothing_is_left_out() -> None:
    assert TEXT.count("```python\n") == len(RUN.findall(TEXT)) == 2


def test_folders_and_links_exist() -> None:
    folders = re.findall(r"^\| `(\w+)/` \|", TEXT, re.MULTILINE)
    assert len(folders) >= 10
    for name in [*folders, *re.findall(r"\]\(([^)#]+)\)", TEXT)]:
        assert (ROOT / name).exists(), name


def test_make_has_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("run", "test"):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE) and f"make {command}" in TEXT
