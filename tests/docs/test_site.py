"""Test the pages of the site: links lead somewhere, every page is listed, every example is run by something.

`make docs` runs all examples and the generator; here only one page runs, because each is a process of its own.
"""

from __future__ import annotations

import re
import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import weft

from .pages import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
TOOL: dict[str, Any] = runpy.run_path(str(DOCS / "run_examples.py"))


def prose(page: Path) -> str:
    """Return a page without its code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and Sphinx name them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target, anchor in LINK.findall(prose(page)):
            if target.startswith("http"):
                continue
            place = page.parent / target if target else page
            assert place.exists(), f"{page.name} links to {target}"
            if anchor and place.suffix == ".md":
                assert anchor in anchors(place), f"{page.name} links to {target}#{anchor}"


def test_every_page_is_in_the_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([\w/-]+)$", index, re.MULTILINE))
    assert {str(p.relative_to(DOCS).with_suffix("")) for p in PAGES} - {"index"} <= listed


def test_what_else_runs_examples_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for file in re.findall(r"<!-- examples run by (\S+) -->", text):
            assert (ROOT / file).exists() and page.name in (ROOT / file).read_text(encoding="utf-8")
        for target in re.findall(r"<!-- run by make (\S+) -->", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_examples_print_what_the_page_shows() -> None:
    assert TOOL["problems"](DOCS / "jit.md") == []


def test_a_wrong_example_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n\n<!-- setup\nx = 3\n-->\n```python\nprint(x)\n```\n")
    found = TOOL["problems"](page)
    assert len(found) == 2 and "2" in found[0] and "(nothing)" in found[1]
    page.write_text("```python\nraise ValueError(7)\n```\n")
    assert "ValueError: 7" in TOOL["problems"](page)[0]


def test_the_reference_has_every_public_name() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in weft.__all__:
        assert re.search(rf"(:: |`)weft\.{name}\b", text), name
    for module, name in re.findall(r"^\.\. auto(?:function|class):: ([\w.]+)\.(\w+)$", text, re.MULTILINE):
        assert getattr(import_module(module), name).__doc__, f"{module}.{name}"


def test_every_command_is_run_by_something() -> None:
    """All `console` blocks are run: by tests/command/test_docs.py, or by the tests that these pages name."""
    run = (ROOT / "tests" / "command" / "test_docs.py").read_text(encoding="utf-8")
    for page in PAGES:
        fences = re.findall(r"^```(\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert "bash" not in fences and "shell" not in fences, f"{page.name}: call it console"
    assert 'rglob("*.md")' in run


def test_the_gallery_has_twelve_pictures() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\(pictures/(\S+)\)", text)
    assert len(pictures) == 12 and all(f'imsave("{name}"' in text for name in pictures)
