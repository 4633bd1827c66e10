"""Test printed graphs as kernels: after every pass, edited or not, and only for fitting arguments."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.command.main import main

from .dumps import ARGUMENTS, TEXT, bits, kernels

MODULE = kernels()


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_dump_runs(name: str) -> None:
    args, kernel = ARGUMENTS[name](), MODULE[name]
    lowered, expected = kernel.lower(*args), bits(kernel(*args))
    for after in ("input", *lowered.passes):
        printed = weft.compile(lowered.ir(after=after))
        assert bits(printed(*args)) == expected, after
        assert printed.lower(*args).ir() == printed.lower(*args).ir(), after
    assert f'after = "{lowered.passes[-1]}"' in lowered.ir()


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert re.search(old, text), old
        text = re.sub(old, new, text)
    return text


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        ("softmax", [("unroll = 2", "unroll = 1")]),
        ("softmax", [("unroll = 2", "unroll = 8")]),
        ("softmax", [(r"width = \d+", "width = 4")]),
        ("softmax", [(r'layouts = \["C", "C"\], width', 'layouts = ["general", "general"], width')]),
        (
            "turned",
            [
                (
                    r'rows = \["0", "1"\], columns = array<i64>, vector = 1',
                    'rows = ["1", "0"], columns = array<i64>, vector = 0',
                )
            ],
        ),
        ("columns", [("unroll = 4", "unroll = 2")]),
        ("product", [(r"width = \d+", "width = 4")]),
    ],
)
def test_edited_plans_change_the_code_and_no_bits(name: str, edits: list[tuple[str, str]]) -> None:
    args, kernel = ARGUMENTS[name](), MODULE[name]
    lowered = kernel.lower(*args)
    printed = weft.compile(edited(lowered.ir(after="schedule"), *edits))
    assert bits(printed(*args)) == bits(kernel(*args))
    assert printed.lower(*args).llvm() != weft.compile(lowered.ir()).lower(*args).llvm()


def test_what_does_not_fit_is_refused() -> None:
    x = np.ones((4, 6), "f4")
    printed = weft.compile(MODULE["softmax"].lower(x).ir())
    refused: list[tuple[type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
        (TypeError, "argument 'x' is declared f32[n, m]: got f64", (x.astype("f8"),), {}),
        (TypeError, "expected 2 dimensions, got 1", (x[0],), {}),
        (TypeError, "must have the layout class 'C', not 'F'", (np.asfortranarray(x),), {}),
        (TypeError, "not 'general'", (np.broadcast_to(x[:, :1], (4, 6)),), {}),
        (ValueError, "relies on max(1, m) == m", (x[:, :0],), {}),
        (ValueError, "declared layout class 'C' of result 0, not 'F'", (x,), {"out": np.empty((4, 6), "f4", "F")}),
        (TypeError, "'x' is missing", (), {}),
    ]
    for kind, message, args, kwargs in refused:
        with pytest.raises(kind) as caught:
            printed(*args, **kwargs)
        assert isinstance(caught.value, weft.errors.WeftError) and message in str(caught.value)
    assert bits(printed(x)) == bits(MODULE["softmax"](x))


def test_guards_that_were_deleted_come_back() -> None:
    """Without the guard, elements before the first and after the last would be read."""
    u = np.ones(2)
    for name, args in (("stencil", (u, 0.5)), ("best", (np.ones((3, 4)),))):
        text = MODULE[name].lower(*ARGUMENTS[name]()).ir()
        printed = weft.compile(re.sub(r", guards = \[[^\]]*\]", "", text))
        assert bits(printed(*args)) == bits(MODULE[name](*args))
    text = MODULE["best"].lower(*ARGUMENTS["best"]()).ir(after="input")
    moved = text.replace("starts = #weft.dims<n - 1, 1>", "starts = #weft.dims<n + 3, 1>")
    assert moved != text
    with pytest.raises(weft.errors.WeftError, match="relies on"):
        weft.compile(moved)(np.ones((3, 4)))


def test_forms_are_for_their_sizes() -> None:
    """Text after the last pass has one form; other sizes are refused."""
    short, long = np.ones((40, 8), "f4"), np.ones((5, 37), "f4")
    printed = weft.compile(MODULE["softmax"].lower(short).ir())
    assert bits(printed(short)) == bits(MODULE["softmax"](short))
    for kernel in (printed, weft.compile(MODULE["softmax"].lower(short).ir())):
        with pytest.raises(ValueError, match=r"has no form for|relies on"):
            kernel(long)


def test_edited_forms_change_the_code_and_no_bits() -> None:
    x = ARGUMENTS["softmax"]()[0]
    text = weft.jit(lambda x: x + x).lower(x).ir(after="choose-forms")
    streamed = weft.compile(text.replace('form = "rows"', 'stream, form = "rows"'))
    assert "stream" not in text and "nontemporal" in streamed.lower(x).llvm()
    assert bits(streamed(x)) == bits(x + x)
    short = np.random.default_rng(0).standard_normal((40, 8)).astype("f4")
    text = MODULE["softmax"].lower(short).ir()
    assert "vector = 0" in text
    long_ways = weft.compile(MODULE["softmax"].lower(short).ir(after="schedule").replace("chunk = 32", "chunk = 16"))
    assert bits(long_ways(short)) == bits(MODULE["softmax"](short))


def test_text_without_its_functions_is_refused() -> None:
    traced = weft.jit(lambda x: np.sort(x) + 1)
    with pytest.raises(NotImplementedError, match=r"the Python function 'numpy\.sort' can't be read back"):
        weft.compile(traced.lower(np.ones(3)).ir())


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.weft").write_text(TEXT)

    def weft_(*argv: str) -> str:
        assert main(list(argv)) == 0
        return capsys.readouterr().out

    given = ("--arg", "x=randn(4,9):f32")
    expected = weft_("run", "k.weft", "softmax", *given)
    last = weft_("dump", "k.weft", "softmax")
    for after in ("input", "canonicalize", "fuse", "schedule"):
        Path("s.mlir").write_text(weft_("dump", "k.weft", "softmax", "--after", after))
        assert weft_("run", "s.mlir", *given) == expected
        assert weft_("dump", "s.mlir") == last
    Path("o.mlir").write_text(weft_("opt", "s.mlir", "--passes", ""))
    assert weft_("run", "o.mlir", *given) == expected
    assert "define i32 @weft_softmax" in weft_("dump", "o.mlir", "--emit", "llvm")
    assert main(["run", "s.mlir", "--arg", "x=randn(4,9):f64"]) == 1
    assert "argument 'x' is declared f32[n, m]: got f64" in capsys.readouterr().err
    Path("s.mlir").write_text(last.replace("unroll = 2", "unroll = 0"))
    assert main(["run", "s.mlir", *given]) == 1
    assert re.match(
        r"error: s\.mlir:\d+:\d+: region: attribute 'unroll' must be a power of two from 1 to 16, not 0",
        capsys.readouterr().err,
    )
