"""Test `weft opt`: printed graphs, pipelines, replays, and files that are not graphs."""

from __future__ import annotations

import io
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from weft.ir.dtypes import I32
from weft.ir.graph import Graph
from weft.ir.types import TensorType
from weft.passes.drop_dead import DropDead
from weft.passes.fuse import Fuse

Weft = Callable[..., tuple[int, str, str]]
ALL = "promote-dtypes,canonicalize,merge-duplicates,drop-dead,select-kernels,fuse,lower-reductions,schedule"


@pytest.fixture
def printed(weft: Weft, folder: Path) -> str:
    """Write the graph of softmax, before the passes, to `in.mlir`."""
    text = weft("dump", "kernels.weft", "softmax", "--after", "input")[1]
    (folder / "in.mlir").write_text(text)
    return text


def test_all_passes_lead_where_dump_leads(weft: Weft, printed: str) -> None:
    status, out, err = weft("opt", "in.mlir", "--passes", ALL, "--verify")
    assert (status, err) == (0, "")
    assert out == weft("dump", "kernels.weft", "softmax", "--after", "schedule")[1]


@pytest.mark.parametrize("cut", range(1, ALL.count(",") + 1))
def test_passes_go_on_from_any_dump(weft: Weft, folder: Path, cut: int) -> None:
    names = ALL.split(",")
    (folder / "mid.mlir").write_text(weft("dump", "kernels.weft", "moments", "--after", names[cut - 1])[1])
    status, out, _ = weft("opt", "mid.mlir", "--passes", ",".join(names[cut:]), "--verify")
    assert status == 0
    assert out == weft("dump", "kernels.weft", "moments", "--after", "schedule")[1]


def test_no_passes_print_the_graph_again(weft: Weft, printed: str) -> None:
    assert weft("opt", "in.mlir", "--passes", "") == (0, printed, "")


def test_a_graph_comes_from_stdin(weft: Weft, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(printed.encode())))
    assert weft("opt", "-", "--passes", "") == (0, printed, "")


def test_options_of_passes_are_read(weft: Weft, printed: str) -> None:
    text = ALL + "{vector-bytes=32}"
    assert "width = 8 : i64" in weft("opt", "in.mlir", "--passes", text)[1]
    text = ALL + "{vector-bytes=16}"
    assert "width = 4 : i64" in weft("opt", "in.mlir", "--passes", text)[1]


def test_what_is_said_beside_the_result_goes_to_stderr(weft: Weft, folder: Path) -> None:
    (folder / "in.mlir").write_text(weft("dump", "one.weft", "--after", "input")[1])
    plain = weft("opt", "in.mlir", "--passes", "promote-dtypes,drop-dead")[1]
    argv = ["--passes", "promote-dtypes,drop-dead", "--print-after-all", "--timing"]
    status, out, err = weft("opt", "in.mlir", *argv)
    assert (status, out) == (0, plain)
    assert "// after promote-dtypes\n" in err and "// after drop-dead (unchanged)\n" in err
    assert re.search(r"[\d.]+ [mµn]s  drop-dead\n +[\d.]+ [mµn]s  in all\n$", err)


def test_locations_survive(weft: Weft, folder: Path) -> None:
    text = weft("dump", "one.weft", "--after", "input", "--locations")[1]
    (folder / "in.mlir").write_text(text)
    assert weft("opt", "in.mlir", "--passes", "", "--locations") == (0, text, "")


def test_a_failing_pass_leaves_a_file_that_replays_it(
    weft: Weft, printed: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Fuse, graph: object) -> None:
        raise RuntimeError("out of thread")

    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with monkeypatch.context() as broken:
        broken.setattr(Fuse, "run", fail)
        status, out, err = weft("opt", "in.mlir", "--passes", ALL)
        assert (status, out) == (1, "")
        assert err.startswith("error: the pass 'fuse' failed with RuntimeError: out of thread\nhint: this is a bug")
        (replay,) = folder.glob("weft-fuse-*.mlir")
        assert str(replay) in err
        again = weft("opt", str(replay))
        assert again[0] == 1 and "the pass 'fuse' failed" in again[2]
    status, out, _ = weft("opt", str(replay))
    assert (status, out) == (0, weft("dump", "kernels.weft", "softmax", "--after", "schedule")[1])
    assert '"weft.region"' not in weft("opt", str(replay), "--passes", "")[1]


def test_a_file_that_names_no_passes_needs_the_option(weft: Weft, printed: str) -> None:
    status, out, err = weft("opt", "in.mlir")
    assert (status, out) == (2, "")
    assert "--passes is missing" in err and "there are promote-dtypes, canonicalize" in err


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("fused", "unknown pass 'fused'\nhint: did you mean 'fuse'?"),
        ("fuse{rows=1}", "the pass 'fuse' has no option 'rows'"),
        ("schedule{vector-bytes=x}", "option 'vector-bytes' of 'schedule' must be a whole number, not 'x'"),
        ("choose-forms{sizes=n}", "sizes must look like 'm=8,n=4096', not 'n'"),
        ("fuse;", "can't parse pipeline 'fuse;' at column 1"),
    ],
)
def test_a_pipeline_that_is_none_is_an_error(weft: Weft, printed: str, passes: str, message: str) -> None:
    status, out, err = weft("opt", "in.mlir", "--passes", passes)
    assert (status, out) == (1, "")
    assert f"error: {message}" in err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"weft.exp"', '"weft.expp"', "unknown op 'expp'"),
        ("axes = array<i64: 1>", "axis = array<i64: 1>", "unknown attribute 'axis'; did you mean 'axes'?"),
        ("axes = array<i64: 1>", "axes = array<i64: x>", "'x' is not a whole number"),
        ("axes = array<i64: 1>", "axes = 1.5 : i64", "'1.5' is not a whole number"),
        ("tensor<?x?xf32, #weft.dims<x_0, m>>", "tensor<?x?xf32>", "has unnamed sizes"),
        ("guards = [", 'guards = ["n", ', "guard 'n' is not an equation"),
        ("%2)", "%99)", "unknown value '%99'"),
        ("axes = array<i64: 1>", "axes = array<i64: 7>", "axes"),
        ("}) : () -> ()", "", "expected"),
    ],
)
def test_a_broken_edit_is_shown_at_its_place(
    weft: Weft, printed: str, folder: Path, old: str, new: str, message: str
) -> None:
    assert old in printed
    (folder / "in.mlir").write_text(printed.replace(old, new, 1))
    status, out, err = weft("opt", "in.mlir", "--passes", "")
    assert (status, out) == (1, "")
    assert re.match(r"error: in\.mlir:\d+:\d+: ", err) and message in err and "^" in err


@pytest.mark.parametrize("kind", ["missing", "folder", "binary", "empty", "deep", "long"])
def test_a_file_that_is_no_graph_is_an_error(weft: Weft, folder: Path, kind: str) -> None:
    path = folder / "x.mlir"
    if kind == "folder":
        path.mkdir()
    elif kind == "long":
        path.write_bytes(b" " * ((64 << 20) + 1))
    elif kind != "missing":
        deep = b'"weft.kernel"() <{a = ' + b"[" * 100_000
        path.write_bytes({"binary": b"\xff\xfe", "empty": b"", "deep": deep}[kind])
    status, out, err = weft("opt", "x.mlir", "--passes", "")
    assert (status, out) == (1, "")
    assert err.startswith("error: ") and "x.mlir" in err and "bug in Weft" not in err


def test_spoilt_text_never_reaches_python(weft: Weft, printed: str, folder: Path) -> None:
    chance = random.Random(7)
    parts = re.findall(r"\s+|\w+|.", printed)
    for _ in range(250):
        spoilt = list(parts)
        for _ in range(chance.randint(1, 3)):
            spoilt[chance.randrange(len(spoilt))] = chance.choice(["", "0", "-1", "?", '"', "<", ")", *parts[::7]])
        (folder / "in.mlir").write_text("".join(spoilt))
        status, _, err = weft("opt", "in.mlir", "--passes", "")
        assert status in (0, 1) and (status == 1) == bool(err)
        assert "bug in Weft" not in err, err


def test_an_edited_graph_is_checked_before_any_pass(weft: Weft, folder: Path) -> None:
    text = weft("dump", "one.weft", "--after", "input")[1]
    (folder / "in.mlir").write_text(text.replace("value = 2 : i64", "value = 2.5 : f64"))
    status, out, err = weft("opt", "in.mlir", "--passes", "")
    assert (status, out) == (1, "")
    assert "error: in.mlir:4:37: %0 (constant): the value 2.5 is not a weak int\n" in err


def test_verify_checks_what_a_pass_leaves(weft: Weft, printed: str, folder: Path, monkeypatch: Any) -> None:
    def spoil(self: DropDead, graph: Graph) -> Graph:
        graph.nodes[0].result.type = TensorType(I32, (7,))
        return Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, graph.attrs)

    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(DropDead, "run", spoil)
    assert weft("opt", "in.mlir", "--passes", "drop-dead")[0] == 0
    status, out, err = weft("opt", "in.mlir", "--passes", "drop-dead", "--verify")
    assert (status, out) == (1, "")
    assert "the pass 'drop-dead' failed with VerifyProblem" in err
