"""Test `weft bench` at tiny sizes with NumPy alone: its output and files. Times are never checked here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from weft.bench import markdown
from weft.bench.suites import SUITES

Weft = Callable[..., tuple[int, str, str]]
QUICK = ("--sizes", "40,130", "--seconds", "0", "--threads", "1")


def test_a_suite_is_printed_with_times_and_ratios(weft: Weft) -> None:
    status, out, err = weft("bench", "elementwise", *QUICK, "--only", "a + b")
    assert (status, err) == (0, "")
    lines = [line for line in out.splitlines() if line.startswith("a + b")]
    assert [line.split()[3:5] for line in lines] == [["40", "f32"], ["130", "f32"], ["40", "f64"], ["130", "f64"]]
    assert all(float(x) > 0 for line in lines for x in line.rstrip("< ").split()[5:])
    assert "elementwise: µs per call, 1 thread\n" in out and "NumPy" in out
    assert "geometric mean" in out and "\x1b" not in out


def test_json_holds_every_case_and_can_be_shown_again(weft: Weft, folder: Path) -> None:
    assert weft("bench", "calls", "--only", "maximum", *QUICK, "--json", "r.json")[0] == 0
    found = json.loads((folder / "r.json").read_text())
    assert found["threads"] == 1 and found["libraries"] == ["Weft", "NumPy"]
    assert set(found["machine"]) >= {"cpu", "cores", "system", "python", "Weft", "NumPy"}
    assert [(o["size"], o["dtype"]) for o in found["outcomes"]] == [
        (10, "f32"),
        (100, "f32"),
        (10, "f64"),
        (100, "f64"),
    ]
    for outcome in found["outcomes"]:
        assert outcome["ratio"] == outcome["seconds"]["NumPy"] / outcome["seconds"]["Weft"]
        assert outcome["best"] == "NumPy" and not outcome["notes"]
    status, out, _ = weft("bench", "--read", "r.json")
    assert status == 0
    assert out.count("\nmaximum(x, 0)") == 4 and "calls" in out


def test_plot_and_markdown_show_every_row(weft: Weft, folder: Path) -> None:
    page = f"before\n{markdown.BEGIN}\nold\n{markdown.END}\nafter\n"
    (folder / "page.md").write_text(page)
    assert weft("bench", "mixed", "--only", "sum", *QUICK, "--plot", "p.svg", "--markdown", "page.md")[0] == 0
    picture = ElementTree.parse(folder / "p.svg")
    assert len(picture.findall(".//{*}circle/{*}title")) == 4
    text = (folder / "page.md").read_text()
    assert text.startswith(f"before\n{markdown.BEGIN}\n") and text.endswith(f"{markdown.END}\nafter\n")
    assert "old" not in text and "| `sum(x)` | i32 |" in text and "| `sum(x > 0)` | i32 |" in text


def test_a_page_without_a_place_for_tables_is_left_alone(weft: Weft, folder: Path) -> None:
    (folder / "page.md").write_text("mine\n")
    status, _, err = weft("bench", "calls", "--only", "maximum", *QUICK, "--markdown", "page.md")
    assert status == 1 and "has no lines <!--" in err
    assert (folder / "page.md").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("call",), "unknown suite 'call'"),
        (("calls", "--peer", "fortran"), "there is no peer 'fortran' here"),
        (("calls", "--json", "no/where.json"), "there is no folder for no/where.json"),
        (("--read", "one.weft"), "one.weft is not what weft bench --json writes"),
        (("--read", "gone.json"), "gone.json: No such file"),
    ],
)
def test_mistakes_are_told_at_once(weft: Weft, argv: tuple[str, ...], message: str) -> None:
    status, out, err = weft("bench", *argv)
    assert status == 1 and not out
    assert message in err


@pytest.mark.parametrize("argv", [("--threads", "0"), ("--sizes", "10,x"), ("--seconds", "-1"), ("--seconds", "nan")])
def test_wrong_usage(weft: Weft, argv: tuple[str, ...]) -> None:
    assert weft("bench", *argv)[0] == 2


def test_help_names_every_suite(weft: Weft) -> None:
    status, out, _ = weft("bench", "--help")
    assert status == 0
    assert f"suites: {' '.join(SUITES)};" in out
