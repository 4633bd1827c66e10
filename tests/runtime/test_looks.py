"""Test what tools see: type checkers the wrapped function's signature, `dir(weft)` the public names."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_overloads

import weft
from weft import jitted

CHECKED = """
from collections.abc import Callable
from jitted import Jitted, P, R

def use(jit: Callable[[Callable[P, R]], Jitted[P, R]], f: Callable[P, R]) -> Jitted[P, R]:
    return jit(f)

def wave(x: float, k: int = 2) -> str:
    return ""

def check(fast: Jitted[[float, int], str]) -> None:
    reveal_type(fast(1.0, 3))
    reveal_type(fast(1.0, out=3))
    fast("x", 3)
"""


def test_type_checkers_keep_the_signature(tmp_path: Path) -> None:
    assert [inspect.get_annotations(f)["return"] for f in get_overloads(weft.jit)] == [
        "Jitted[P, R]",
        "Callable[[Callable[P, R]], Jitted[P, R]]",
    ]
    source = inspect.getsource(jitted)  # alone: all of Weft takes mypy a minute, and `make types` does that
    (tmp_path / "jitted.py").write_text(re.sub(r"(?m)^    from \.(\S+) import (\w+)$", r"    \2 = str", source))
    (tmp_path / "checked.py").write_text(CHECKED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "checked.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert found.count('Revealed type is "str"') == 2, found
    assert 'No overload variant of "__call__" of "Jitted" matches argument types "str", "int"' in found
    assert "Found 1 error" in found


def test_dir_lists_the_public_names() -> None:
    weft.jit(lambda x: x)(1.0)  # imports modules of Weft, which become attributes
    assert dir(weft) == sorted(weft.__all__)
