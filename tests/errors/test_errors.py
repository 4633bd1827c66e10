"""Test golden errors: each `.weft` file here holds one mistake, and below its line Weft's message, in `#!` comments.

A file is loaded; `# call: f(f32[3, 4], 2)` in it then calls a kernel with arguments of these dtypes and shapes, or with
these Python numbers. `pytest --update-goldens` writes the messages anew.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from weft.frontend.language.source import parse_module
from weft.ir import dtypes
from weft.ir.errors import WeftError
from weft.ir.source import ArgType

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.weft"))
CALL = re.compile(r"^# call: (\w+)\((.*)\)$", re.MULTILINE)
ARGUMENT = re.compile(r"(\w+)\[([\d, ]*)\]|([-+.\w]+)")


def arguments(text: str) -> list[ArgType]:
    found = []
    for name, shape, number in ARGUMENT.findall(text):
        if number:
            value = int(number) if re.fullmatch(r"-?\d+", number) else float(number)
            found.append(ArgType(dtypes.WEAK[type(value).__name__], (), value))
        else:
            found.append(ArgType(dtypes.parse(name), tuple(int(s) for s in shape.split(",") if s.strip())))
    return found


def provoke(source: str, file: str) -> WeftError:
    with pytest.raises(WeftError) as caught:
        module = parse_module(source, file, ())
        for name, args in CALL.findall(source):
            kernel = module.kernels[name]
            kernel.build(kernel.bind(arguments(args)))
    return caught.value


def annotated(source: str, error: WeftError) -> str:
    """Return the source with the error below its line, or at the end if it has none."""
    lines = source.splitlines()
    message = [f"#! {line}".rstrip() for line in f"{type(error).__name__}: {error}".splitlines()]
    at = error.span.line if error.span else len(lines)
    return "\n".join([*lines[:at], *message, *lines[at:]]) + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_error(path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    expected = path.read_text()
    source = "".join(line for line in expected.splitlines(keepends=True) if not line.startswith("#!"))
    got = annotated(source, provoke(source, path.name))
    if request.config.getoption("--update-goldens"):
        path.write_text(got)
        return
    assert got == expected


def test_there_are_many_distinct_mistakes() -> None:
    messages = Counter(line for path in FILES for line in path.read_text().splitlines() if line.startswith("#! "))
    firsts = [m for m in messages if re.match(r"#! \w+(Problem|Name|Exceeded|Unsupported|Zero)?: ", m)]
    assert len(FILES) >= 35 and len(firsts) >= 35


def test_most_mistakes_have_advice_and_all_but_few_a_caret() -> None:
    texts = [path.read_text() for path in FILES]
    assert sum("#! hint: " in t for t in texts) >= 0.75 * len(texts)
    assert sum(bool(re.search(r"^#! +\| +\^+$", t, re.MULTILINE)) for t in texts) >= len(texts) - 2
