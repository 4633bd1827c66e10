"""Test docs/aot.md: the example is built, compiled and run as the page says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from weft.command.main import main
from weft.runtime.aot.status import MEANINGS, Status

PAGE = (Path(__file__).parents[2] / "docs" / "aot.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(STEPS,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES:
        Path(name).write_text(text)
    for step in STEPS.removeprefix("$ ").split("\n$ "):
        line, _, shown = step.partition("\n")
        words = shlex.split(line)
        if words[0] == "weft":
            status = main(words[1:])
            told = capsys.readouterr()
            if shutil.which("cc") is None:
                assert status == 1 and "there is no linker here" in told.err and Path("libblend.o").exists()
                return
            assert told.out.strip() == shown.strip()
        else:
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert (done.stdout + done.stderr).strip() == shown.strip()


def test_every_status_is_on_the_page() -> None:
    for status in Status:
        assert f"| `WEFT_{status.name}` | {MEANINGS[status].partition(';')[0]}" in PAGE
