"""The examples of docs/graphs.md and docs/nests.md run from top to bottom and print what the pages show."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

import pytest

from .pages import ROOT

PAGES = {"graphs.md": 7, "nests.md": 2}  # and how many examples they have at least
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_what_it_shows(
    page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    path = ROOT / "docs" / page
    text, made, at = path.read_text(encoding="utf-8"), "", 0
    for block in BLOCK.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], f"{page}:{text[: block.start(1)].count(chr(10)) + 1}", "exec"), names)
        shown = printed.getvalue()
        made += text[at : block.end(1)] + "```\n" + (f"\n```text\n{shown}```\n" if shown else "")
        at = block.end()
    made += text[at:]
    if request.config.getoption("--update-goldens"):
        path.write_text(made, encoding="utf-8")
    else:
        assert made == text, "pytest --update-goldens rewrites the page"
    assert len(BLOCK.findall(text)) >= PAGES[page]
