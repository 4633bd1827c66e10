"""Check pages with real blocks: a marker names what a block shows, and the test generates it again.

    <!-- real: after fuse -->
    ```mlir
    ...
    ```

`pytest --update-goldens` rewrites the blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^<!-- real: ([^\n]+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def marked(page: Path) -> list[str]:
    """Return the names of the real blocks of a page."""
    return [name for name, _ in BLOCK.findall(page.read_text(encoding="utf-8"))]


def compare(page: Path, name: str, make: Callable[[], str], update: bool) -> None:
    """Fail if a block is not what `make` gives; rewrite it on request."""
    text = page.read_text(encoding="utf-8")
    found = [m for m in BLOCK.finditer(text) if m[1] == name]
    assert len(found) == 1, f"{page.name} has {len(found)} blocks for '{name}'"
    start, end = found[0].span(2)
    fresh = make().rstrip("\n") + "\n"
    if update:
        page.write_text(text[:start] + fresh + text[end:], encoding="utf-8")
    else:
        assert text[start:end] == fresh, f"pytest --update-goldens rewrites {page.name}"
