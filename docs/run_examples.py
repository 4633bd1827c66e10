"""Run the Python examples of the pages, and compare what they print with what the pages show.

    python docs/run_examples.py [PAGE ...]

The `python` blocks of a page run in order, as one script in an empty folder. A `text` block right after one is its
output; `...` in it stands for anything. Blocks such as "```weft layers.weft" are written to files first. Code between
`<!-- setup` and `-->` runs too, but readers do not see it. `<!-- run by make scale -->` before a block names what else
runs it, `<!-- examples run by tests/... -->` does it for a page. PICTURES=1 copies pictures to docs/pictures.

Commands (`console` blocks) are run by tests/command/test_docs.py. Those that take long have `<!-- run by make docs -->`
before them, and are run here, with the files of the tutorial.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ELSEWHERE = re.compile(r"^<!-- run by [^\n]+ -->\n```python\n.*?^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?|^<!-- setup\n(?P<setup>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"^```weft (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHOLE = "<!-- examples run by tests/"
SLOW = re.compile(r"^<!-- run by make docs -->\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "\x1e"
PRELUDE = "import numpy as np\nimport weft\n"  # what every reader has at the top of a file


def problems(page: Path) -> list[str]:
    """Run a page and return what is wrong with it."""
    text = ELSEWHERE.sub("", page.read_text(encoding="utf-8"))
    failed = [problem for block in SLOW.findall(text) for problem in _commands(page, block)]
    if failed:
        return failed
    steps = list(STEP.finditer(text))
    if WHOLE in text or not any(step["code"] for step in steps):
        return []
    script = PRELUDE + "".join(f"{step['code'] or step['setup']}\nprint({MARK!r}, flush=True)\n" for step in steps)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(DOCS.parent / "examples")
        for name, content in FILE.findall(text):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        (Path(folder) / "page.py").write_text(script, encoding="utf-8")
        env = {**os.environ, "MPLBACKEND": "Agg", "WEFT_HISTORY": f"{folder}/history.json"}
        done = subprocess.run([sys.executable, "page.py"], cwd=folder, env=env, capture_output=True, text=True)
        if os.environ.get("PICTURES"):
            for picture in sorted(Path(folder).glob("*.png")):
                shutil.copy(picture, DOCS / "pictures" / picture.name)
    if done.returncode:
        return [f"{page.name}: {done.stderr}"]
    return _differences(page, steps, done.stdout.split(f"{MARK}\n"))


def _commands(page: Path, block: str) -> list[str]:
    """Run the commands of a block and return those that fail."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILE.findall((DOCS / "tutorial.md").read_text(encoding="utf-8")):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        for line in re.findall(r"^\$ weft (.*)$", block, re.MULTILINE):
            words = [sys.executable, "-m", "weft", *shlex.split(line)]
            env = {**os.environ, "WEFT_HISTORY": f"{folder}/history.json"}
            done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
            found += [f"{page.name}: $ weft {line}\n{done.stdout}{done.stderr}"] if done.returncode else []
    return found


def _differences(page: Path, steps: list[re.Match[str]], outputs: list[str]) -> list[str]:
    checker, found = OutputChecker(), []
    for step, printed in zip(steps, outputs, strict=False):
        wanted = step["output"]
        if step["code"] and not checker.check_output(wanted or "", printed, ELLIPSIS | NORMALIZE_WHITESPACE):
            found.append(f"{page.name} shows\n{wanted or '(nothing)'}\nbut its code prints\n{printed}\n{step['code']}")
    return found


def pages() -> list[Path]:
    """Return the pages that have examples."""
    return [page for page in sorted(DOCS.rglob("*.md")) if "```python\n" in page.read_text(encoding="utf-8")]


def main() -> int:
    named = [Path(name) for name in sys.argv[1:]]
    found = [problem for page in named or pages() for problem in problems(page)]
    print("\n".join(found) or "all examples run and print what the pages show")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
