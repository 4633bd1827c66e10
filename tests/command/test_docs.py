"""Run every command of the pages; `...` in its output stands for anything, `[1]` for the status.

A line that needs a shell gets one. The others run in this process, which is ready.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest
from weft.command.main import main

from .conftest import PATHS

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```weft (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OWN = ("command.md", "aot.md")  # pages with tests of their own: this one, and tests/aot/test_docs.py
BY_MAKE = ("pip install .", 'pip install "weft[dask]" zarr bokeh')
STEP = re.compile(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)


def shell(line: str, folder: Path) -> str:
    """Return what a line prints on both streams, and its status if that is not 0."""
    python = shlex.quote(sys.executable)
    setup = f'weft() {{ {python} -m weft "$@"; }}; python() {{ {python} "$@"; }}; '
    env = {**os.environ, "PYTHONPATH": PATHS}
    sh = shutil.which("sh")
    assert sh
    done = subprocess.run([sh, "-c", setup + line], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr + (f"[{done.returncode}]\n" if done.returncode else "")


def test_the_page_has_examples() -> None:
    assert len(FILES) == 1 and sum(len(STEP.findall(block)) for block in BLOCKS) >= 12
    for command in ("run", "dump", "opt", "cache", "info"):
        assert re.search(rf"^\$ .*weft {command}", PAGE, re.MULTILINE)


def test_examples_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    checker = OutputChecker()
    monkeypatch.chdir(tmp_path)
    for line, expected in (step for block in BLOCKS for step in STEP.findall(block)):
        if line.startswith("weft ") and not set(line) & set("|<>&"):
            status = main(shlex.split(line)[1:])
            got = "".join(capsys.readouterr()) + (f"[{status}]\n" if status else "")
        else:
            got = shell(line, tmp_path)
        if not checker.check_output(expected, got, ELLIPSIS):
            pytest.fail(f"$ {line}\n{got}\nbut the page has\n{expected}")


def test_commands_of_other_pages_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.c").write_text('#include "layers.h"\nint main(void) { return 0; }\n')
    (tmp_path / "script.py").write_text("import numpy, weft\nweft.jit(lambda x: x + 1)(numpy.ones(3))\n")
    checker, seen = OutputChecker(), 0
    docs = Path(__file__).parents[2] / "docs"
    pages = [page for page in sorted(docs.rglob("*.md")) if page.name not in OWN]
    for page in (docs / "tutorial.md", *pages):  # its kernels are those of the how-to pages
        text = page.read_text(encoding="utf-8")
        for name, kernels in re.findall(r"^```weft (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            (tmp_path / name).write_text(kernels)
        for block in re.findall(r"(?<!make docs -->\n)^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            for line, expected in STEP.findall(block):
                if line in BY_MAKE or (line.startswith("cc ") and shutil.which("cc") is None):
                    continue
                if line.startswith("weft "):
                    status = main(shlex.split(line)[1:])
                    got = "".join(capsys.readouterr()) + (f"[{status}]\n" if status else "")
                else:
                    got = shell(line, tmp_path)
                is_right = checker.check_output(expected or "...", got, ELLIPSIS)
                assert is_right and not re.search(r"^\[\d+\]\n\Z", got, re.MULTILINE), f"{page}: $ {line}\n{got}"
                seen += 1
    assert seen >= 6
