"""Test that `docs/kernels.md` lists every library kernel as its file declares it, and run its examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from weft.loading.library import entries

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"
_TABLE = re.compile(r"(<!-- kernels of (\w+)\.weft -->\n)(?:\|.*\n)*")
HEAD = "| kernel | |\n| --- | --- |\n"


def table(stem: str) -> str:
    own = [e for e in entries().values() if os.path.basename(e.file) == f"{stem}.weft"]
    return HEAD + "".join(f"| `{e.signature}` | {e.doc} |\n" for e in own)


def test_the_page_lists_every_kernel(pytestconfig: pytest.Config) -> None:
    text = PAGE.read_text()
    made = _TABLE.sub(lambda found: found[1] + table(found[2]), text)
    if pytestconfig.getoption("update_goldens"):
        PAGE.write_text(made)
    assert made == PAGE.read_text(), "pytest tests/kernels --update-goldens writes the tables"
    assert {os.path.basename(e.file) for e in entries().values()} == {f"{m[1]}.weft" for m in _TABLE.findall(text)}


def test_its_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True)
    assert blocks and (done.returncode, done.stderr) == (0, "")
