"""Test the examples: every kernel against NumPy, every Python file as a script, every dump read by xDSL and by Weft."""

from __future__ import annotations

import importlib
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.text.parser import parse_text
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = ("functions.py", "graphs.py", "inside.py")
PICTURES = ("heat", "life", "mandelbrot")
SMALL = 3001
LOCATION = re.compile(r' loc\("[^"\n]*":\d+:\d+\)')


def module(name: str) -> ModuleType:
    """Import a file of the examples, which import one another like scripts in one folder."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(EXAMPLES))


cases, run = module("cases"), module("run")
each_case = pytest.mark.parametrize("case", cases.CASES, ids=lambda c: f"{c.file}:{c.kernel}")


def test_every_kernel_has_a_case() -> None:
    covered = {(c.file, c.kernel) for c in cases.CASES}
    written = {(f.name, name) for f in EXAMPLES.glob("*.weft") for name in weft.load(f)}
    assert written <= covered
    assert len(list(EXAMPLES.glob("*.weft"))) >= 8


@each_case
@pytest.mark.parametrize("count", [SMALL, 50_000])
def test_against_numpy(case: Any, count: int) -> None:
    args = case.make(cases.Data(count))
    kernel = run.kernel_of(case)
    run.check(case, kernel(*args), run.reference_of(case, kernel)(*args))


@each_case
def test_native_code_runs_all_of_it(case: Any) -> None:
    low = run.kernel_of(case).lower(*case.make(cases.Data(SMALL)))
    assert low.fallbacks == ()
    expected = {"outliers": 2, "correlation": 2}  # a reduction of rows or of all, and then what needs the whole
    assert len(low.kernels) == expected.get(case.kernel, 1), str(low.explain())


@each_case
def test_every_dump_is_read_back(case: Any) -> None:
    """A text with locations shows xDSL all that the one without them has, which takes as long to read."""
    low = run.kernel_of(case).lower(*case.make(cases.Data(SMALL)))
    seen = set[str]()
    for name in ("input", *low.passes):
        text, located = (low.ir(after=name, locations=at) for at in (False, True))
        assert LOCATION.sub("", located) == text
        assert parse_text(text).text(False) == text
        unnamed = text.replace(f'after = "{name}"', "after", 1)
        if unnamed not in seen:  # a pass that changes nothing prints the same text again, under its own name
            seen.add(unnamed)
            assert parse_text(located).text(True) == located
            read_by_xdsl(located)
    read_by_xdsl(text)


def read_by_xdsl(text: str) -> None:
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    Parser(context, text).parse_module().verify()


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run(script: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / script], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not done.stderr


def test_scripts_are_all_there_are() -> None:
    tools = {"cases.py", "references.py", "run.py"}
    assert {f.name for f in EXAMPLES.glob("*.py")} == tools | set(SCRIPTS)


def test_run_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["blend", "functions.py: wave"]) == 0
    printed = capsys.readouterr().out
    assert run.machine() in printed
    assert "elementwise.weft: blend" in printed and "functions.py: wave" in printed
    assert "2 kernels and 0 scripts: all agree with NumPy." in printed


@pytest.mark.parametrize("script", run.SCRIPTS)
def test_scripts_of_the_library_run(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.run_script(script, str(tmp_path))
    assert capsys.readouterr().out
    written = list(tmp_path.iterdir())
    assert [p.name for p in written] == ([f"{script}.png"] if script in PICTURES else [])
    for path in written:
        check_picture(path.read_bytes())


def check_picture(data: bytes) -> None:
    """Check a PNG file: its checksums, all its lines, and more than one colour."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body, check = data[at + 4 : at + 8], data[at + 8 : at + 8 + size], data[at + 8 + size : at + 12 + size]
        assert zlib.crc32(kind + body) == int.from_bytes(check)
        chunks[kind] = body
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not lines[:, 0].any() and len(np.unique(lines[:, 1:].reshape(-1, 3), axis=0)) > 1


def test_the_librarys_scripts_are_all_there_are() -> None:
    assert {f.stem for f in run.LIBRARY.glob("*.py")} == {"pictures", *run.SCRIPTS}
    assert len(run.SCRIPTS) >= 10 and set(PICTURES) <= set(run.SCRIPTS)


def test_a_script_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(weft.kernels.haversine, "reference", lambda *args: 0.0)
    assert run.main(["library/cities"]) == 1
    assert "0 kernels and 1 scripts, 1 failed." in capsys.readouterr().out


def test_run_fails_on_a_mismatch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = cases.Case("elementwise.weft", "axpy", lambda d: (2.0, np.ones(3), np.ones(3)), lambda a, x, y: x + y, 4)
    monkeypatch.setattr(run, "CASES", (wrong,))
    assert run.main(["axpy"]) == 1
    assert "ULP apart at [0], allowed 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        (np.ones(2, "f4"), np.ones(2), "got ndarray of float32[2], NumPy gives ndarray of float64[2]"),
        (np.ones((2, 1)), np.ones(2), "got ndarray of float64[2, 1]"),
        (np.ones(()), np.float64(1), "NumPy gives float64 of float64[]"),
        (np.array([1, 3]), np.array([1, 2]), "1 elements differ"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "ULP apart at [1]"),
        (np.array([np.inf]), np.array([1.0]), "ULP apart"),
        (np.array([1.0 + 2e-15]), np.array([1.0]), "9.0 ULP apart"),
    ],
)
def test_check_refuses(got: Any, expected: Any, message: str) -> None:
    with pytest.raises(run.Mismatch) as caught:
        run.check(cases.Case("some.weft", "some", lambda d: (), ulps=8), got, expected)
    assert message in str(caught.value)


def test_check_accepts() -> None:
    case = cases.Case("some.weft", "some", lambda d: (), ulps=8)
    special = np.array([np.nan, np.inf, -np.inf, 0.0])
    assert run.check(case, (special, np.array([1.0 + 4.5e-16])), (special, np.array([1.0]))) == 2.0
