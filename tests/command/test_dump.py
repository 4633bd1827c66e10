"""Test `weft dump`: types, passes, and output formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from weft.backends.llvm.engine import target
from weft.frontend.printed import stage_after
from weft.ir.errors import UnsupportedTarget
from weft.ir.text.parser import parse_text
from weft.ir.verifier.verify import verify

Weft = Callable[..., tuple[int, str, str]]
PASSES = [
    "promote-dtypes", "canonicalize", "merge-duplicates", "drop-dead", "select-kernels",
    "split-complex", "widen-halves", "split-pieces", "fuse", "lower-reductions", "schedule", "choose-forms",
    "to-nest",
]  # fmt: skip


def inputs(text: str) -> str:
    found = re.search(r"\^bb0\((.*)\):", text)
    assert found
    return re.sub(r"tensor<(?:[?\d]+x)+(\w+), #weft\.dims<([^>]*)>>", r"\1[\2]", found[1]).replace("%", "")


@pytest.mark.parametrize(
    ("kernel", "types", "expected"),
    [
        ("bias", [], "x : f32[n, m], b : f32[m]"),
        ("softmax", [], "x : f32[x_0, m]"),
        ("softmax", ["x=f64[?]"], "x : f64[m]"),
        ("softmax", ["x=f64[?,?,?]"], "x : f64[x_0, x_1, m]"),
        ("softmax", ["x = f64[ ?, 1 ]"], "x : f64[x_0, 1]"),
        ("softmax", ["x=f64[7,m]"], "x : f64[x_0, m]"),
        ("bias", ["x=f32[?,1]"], "x : f32[n, 1], b : tensor<1xf32>"),
        ("bias", ["x=f32[?,?], b=f32[512]"], "x : f32[n, m], b : f32[m]"),
        ("bias", ["x=f32[?,?]", "b=f32[?]"], "x : f32[n, m], b : f32[m]"),
        ("bias", ["x=f32[?,?] b=f32[?]"], "x : f32[n, m], b : f32[m]"),
        ("scale", ["k=i32; x=f64[]"], "x : tensor<f64>, k : tensor<i32>"),
    ],
)
def test_types_are_declared_or_given(weft: Weft, kernel: str, types: list[str], expected: str) -> None:
    given = [part for text in types for part in ("--types", text)]
    status, out, err = weft("dump", "kernels.weft", kernel, "--after", "input", *given)
    assert (status, err) == (0, "")
    assert inputs(out) == expected


def test_classes_take_defaults(weft: Weft, folder: Path) -> None:
    params = ", ".join(f"{c}_: {c}[n]" for c in ("int", "uint", "float", "complex", "number", "any"))
    body = " , ".join(f"{c}_" for c in ("int", "uint", "float", "complex", "number", "any"))
    (folder / "classes.weft").write_text(f"kernel f({params}) {{ return {body} }}\n")
    status, out, err = weft("dump", "classes.weft", "--after", "input")
    assert (status, err) == (0, "")
    assert re.findall(r"%\w+_ : tensor<\?x([\w<>]+),", out) == ["i32", "ui32", "f32", "complex<f32>", "f32", "f32"]


def test_leading_dimensions_are_shared_or_broadcast(weft: Weft, folder: Path) -> None:
    (folder / "add.weft").write_text("kernel add_(x: f32[..., m], y: f32[..., m]) { return x + y }\n")
    _, out, _ = weft("dump", "add.weft", "--after", "input", "--types", "x=f32[?,?,?], y=f32[?,?]")
    assert inputs(out) == "x : f32[x_0, x_1, m], y : f32[x_1, m]"
    _, out, _ = weft("dump", "add.weft", "--after", "input", "--types", "x=f32[?,?,?], y=f32[1,?]")
    assert inputs(out) == "x : f32[x_0, x_1, m], y : f32[1, m]"


def test_fixed_sizes_stay(weft: Weft, folder: Path) -> None:
    (folder / "fixed.weft").write_text("kernel f(x: f32[3, n], y: f32[3, 3]) { return x, y }\n")
    assert weft("dump", "fixed.weft", "--after", "input")[0] == 0
    status, _, err = weft("dump", "fixed.weft", "--types", "x=f32[4,?]")
    assert status == 1 and "expected size 3 on axis 0, got 4" in err


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("x=f64[?,?", "--types can't read 'x=f64[?,?'"),
        ("x=f64[?] oops", "--types can't read 'oops'"),
        ("x=f64[?], x=f32[?]", "--types gives 'x' twice"),
        ("x=float[?]", "'x' needs a dtype, not the class 'float'"),
        ("x=f99[?]", "--types: unknown dtype 'f99'"),
        ("x=f64", "f64 does not match 'x', which is declared float[..., m]"),
        ("x=i32[?]", "i32[?] does not match 'x', which is declared float[..., m]"),
        ("x=f64[a]", "'a' in x=f64[a] is not a size"),
        ("x=f64[-1]", "'-1' in x=f64[-1] is not a size"),
        ("x=f64[?,]", "'' in x=f64[?,] is not a size"),
        ("y=f64[?]", "softmax has no argument 'y'"),
    ],
)
def test_types_that_do_not_fit_are_refused(weft: Weft, types: str, message: str) -> None:
    status, out, err = weft("dump", "kernels.weft", "softmax", "--types", types)
    assert (status, out) == (1, "")
    assert err.startswith("error: ") and message in err


@pytest.mark.parametrize("name", ["input", *PASSES])
def test_every_dump_can_be_read_back(weft: Weft, name: str) -> None:
    status, out, _ = weft("dump", "kernels.weft", "softmax", "--after", name)
    assert status == 0
    parsed = parse_text(out)
    verify(parsed.graph, stage_after(name, PASSES), parsed.places)
    assert parsed.text() == out and parsed.after == name


def test_without_after_the_last_graph_is_printed(weft: Weft) -> None:
    assert weft("dump", "one.weft")[1] == weft("dump", "one.weft", "--after", "to-nest")[1]
    assert "weft.region" in weft("dump", "one.weft")[1]


def test_after_all_shows_every_pass(weft: Weft) -> None:
    _, out, _ = weft("dump", "kernels.weft", "softmax", "--after-all")
    assert re.findall(r"^// (?:after )?([\w-]+)", out, re.MULTILINE) == ["input", *PASSES]
    assert "// after drop-dead (unchanged)\n" in out
    assert out.count('"builtin.module"') == out.count("// ") - out.count("(unchanged)")


def test_an_unknown_pass_shows_the_nearest(weft: Weft) -> None:
    status, out, err = weft("dump", "one.weft", "--after", "fused")
    assert (status, out, err) == (1, "", "error: pass 'fused' was not run\nhint: did you mean 'fuse'?\n")


def test_locations_are_printed_on_request(weft: Weft) -> None:
    assert 'loc("one.weft":2:12)' in weft("dump", "one.weft", "--after", "input", "--locations")[1]
    assert "loc(" not in weft("dump", "one.weft", "--after", "input")[1]


def test_code_is_printed(weft: Weft) -> None:
    assert "define i32 @weft_twice_0" in weft("dump", "one.weft", "--emit", "llvm")[1]
    assert "weft_twice_0:" in weft("dump", "one.weft", "--emit", "asm")[1]


def test_a_picture_is_printed(weft: Weft) -> None:
    _, out, _ = weft("dump", "one.weft", "--emit", "dot", "--after", "input")
    assert out.startswith('digraph "twice" {') and out.endswith("}\n")
    _, out, _ = weft("dump", "one.weft", "--emit", "dot", "--after-all")
    assert out.count("digraph") == out.count("// ") - out.count("(unchanged)")


@pytest.mark.parametrize(
    "argv",
    [
        ["--emit", "llvm", "--after", "fuse"],
        ["--emit", "asm", "--after-all"],
        ["--emit", "dot", "--locations"],
        ["--after", "fuse", "--after-all"],
        ["--emit", "wasm"],
    ],
)
def test_options_that_contradict_are_wrong_usage(weft: Weft, argv: list[str]) -> None:
    status, out, err = weft("dump", "one.weft", *argv)
    assert (status, out) == (2, "")
    assert err.startswith("usage: weft dump")


def test_where_there_is_no_native_code_graphs_are_still_printed(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise UnsupportedTarget("no native code for Plan9 on mips", hint="another way")

    monkeypatch.setattr(target, "host", refuse)
    status, out, err = weft("dump", "kernels.weft", "softmax")
    assert status == 0 and "width = 8 : i64" in out
    assert err == "note: no native code for Plan9 on mips; graphs are planned for vectors of 32 bytes\n"
    assert weft("dump", "one.weft", "--emit", "llvm")[0] == 0
    status, out, err = weft("dump", "one.weft", "--emit", "asm")
    assert (status, out) == (1, "") and err.startswith("error: no native code for Plan9 on mips\n")
