"""The examples of docs/registry.md run from top to bottom, and its tables are what they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft

from .pages import ROOT, compare, marked

PAGE = ROOT / "docs" / "registry.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return what the examples have defined at the end, with everything that they have registered."""
    found: dict[str, Any] = {"__name__": "page"}
    with weft.registry.scope():
        for block in BLOCKS:
            _run(block, found, tmp_path_factory.mktemp("page"))
        yield found


def _run(block: str, names: dict[str, Any], folder: Path) -> None:
    """Run code from a file, because tracing shows its lines."""
    import importlib.util
    import sys

    path = folder / "page.py"
    path.write_text(block, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("page", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(names)
    sys.modules["page"] = module
    spec.loader.exec_module(module)
    names.update(module.__dict__)


def test_blocks_are_there() -> None:
    assert len(BLOCKS) >= 10 and marked(PAGE) == ["explain", "guard"]


def test_explain(names: dict[str, Any], request: pytest.FixtureRequest) -> None:
    compare(PAGE, "explain", lambda: str(weft.registry.explain("add", "f32", "f32", size=1000)), _update(request))


def test_guard(names: dict[str, Any], request: pytest.FixtureRequest) -> None:
    def guards() -> str:
        one = np.ones(4096, np.float32)
        line = names["j"].lower(one, one).ir(after="select-kernels").splitlines()[1]
        return re.search(r"guards = \[.*?\]", line)[0]  # type: ignore[index]

    compare(PAGE, "guard", guards, _update(request))


def _update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))
