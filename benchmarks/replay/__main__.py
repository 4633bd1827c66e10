"""List the kernels whose LLVM text differs from that of a git revision: `python -m benchmarks.replay --against REV`.

`--write FILE` stores the digests of this tree instead, and `--compare FILE` compares with stored digests. `--texts DIR`
stores the texts too, so that `--diff` can show the differences. Other words select kernels by name.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

Digests = dict[str, dict[str, str]]
"""By kernel and level, then by sizes."""
SHOWN = 60  # lines of each difference


def main() -> int:
    given = _arguments()
    os.environ |= {"WEFT_CACHE": "0", "WEFT_HISTORY": "0"}
    if given.against:
        return _against(given)
    if given.write:
        kept = Path(given.texts) if given.texts else None
        digests = {name: dict(_digests(rows, kept)) for name, rows in _rows(given.words, None)}
        Path(given.write).write_text(json.dumps(digests, indent=0))
        print(f"{len(digests)} kernels, {sum(map(len, digests.values()))} texts")
        return 0
    return _compare(json.loads(Path(given.compare).read_text()), given)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--against", metavar="REV", help="compare with the compiler of a git revision")
    what.add_argument("--compare", metavar="FILE", help="compare with digests that were kept")
    what.add_argument("--write", metavar="FILE", help="keep the digests of this tree")
    parser.add_argument("--texts", metavar="DIR", help="where the texts are, or are kept")
    parser.add_argument("--diff", action="store_true", help="show how the first text of each kernel differs")
    parser.add_argument("words", nargs="*", help="only kernels whose name has one of these words in it")
    return parser.parse_args()


def _rows(words: Sequence[str], known: Digests | None) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    from .cases import kernels
    from .texts import LEVELS, texts

    for kernel in kernels():
        if words and not any(word in kernel.name for word in words):
            continue
        for level in LEVELS:
            name = f"{kernel.name} {level}"
            if known is None or name in known:
                yield name, texts(kernel, level, None if known is None else list(known[name]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _digests(rows: Iterator[tuple[str, str]], kept: Path | None) -> Iterator[tuple[str, str]]:
    for sizes, text in rows:
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
            (kept / _digest(text)).write_text(text)
        yield sizes, _digest(text)


def _compare(known: Digests, given: argparse.Namespace) -> int:
    """Print the rows that differ; the exit status is 1 if there are any."""
    count = different = 0
    for name, rows in _rows(given.words, known):
        shown = False
        for sizes, text in rows:
            count += 1
            before = known[name].get(sizes)
            if before == _digest(text):
                continue
            different += 1
            print(f"{name} at {sizes}")
            if given.diff and given.texts and before and not shown:
                shown = True
                old = (Path(given.texts) / before).read_text()
                lines = difflib.unified_diff(old.splitlines(), text.splitlines(), "before", "after", lineterm="", n=2)
                print("\n".join(f"    {line}" for line in list(lines)[:SHOWN]))
    print(f"{different} of {count} texts differ")
    return 1 if different else 0


def _against(given: argparse.Namespace) -> int:
    """Let a revision write its digests, then compare."""
    with tempfile.TemporaryDirectory(prefix="weft-replay-") as folder:
        place = Path(folder)
        with tarfile.open(fileobj=io.BytesIO(_git("archive", _with_harness(given.against)))) as tar:
            tar.extractall(place / "tree", filter="data")
        _link(place / "tree", place / "package")
        given.texts = given.texts or str(place / "texts")
        command = [sys.executable, "-m", "benchmarks.replay", "--write", str(place / "digests.json")]
        command += ["--texts", given.texts, *given.words]
        # The harness imports the compiler's own modules, so each tree is read by its own harness.
        environment = {**os.environ, "PYTHONPATH": str(place / "package")}
        subprocess.run(command, cwd=place / "tree", check=True, env=environment)
        return _compare(json.loads((place / "digests.json").read_text()), given)


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=Path(__file__).parents[2], check=True, capture_output=True).stdout


def _with_harness(revision: str) -> str:
    """Return the revision if it has this harness, else the first commit after it that has."""
    if _git("ls-tree", "--name-only", revision, "benchmarks/replay"):
        return revision
    later = _git("rev-list", "--reverse", f"{revision}..HEAD", "--", "benchmarks/replay").decode().split()
    if not later:
        raise SystemExit(f"neither {revision} nor a commit after it has benchmarks/replay")
    print(f"{revision} has no harness yet: comparing with {later[0][:7]}, which brought it")
    return later[0]


def _link(tree: Path, package: Path) -> None:
    """Make a folder in which a tree's packages can be imported without being installed."""
    folders = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    top = package / "weft"
    top.mkdir(parents=True)
    for each in (tree / folders["weft"]).iterdir():
        (top / each.name).symlink_to(each)
    for name, folder in folders.items():
        if name.count(".") == 1 and not (top / name.split(".")[1]).exists():
            (top / name.split(".")[1]).symlink_to(tree / folder)


if __name__ == "__main__":
    sys.exit(main())
