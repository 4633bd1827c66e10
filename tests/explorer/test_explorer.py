"""Test what the explorer page shows: identities, kin, reasons, drawings and times. `make test-browser` opens it."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.command.main import main
from weft.runtime.explorer.identity import Identities
from weft.runtime.explorer.listing import change, listing
from weft.runtime.explorer.machine import instructions, machine_code

TEXT = """\
kernel softmax(x: f32[n, m]) -> f32[n, m] {
    let e = exp(x / 2 - max(x / 2, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel cubed(x: f32[n, n]) -> f32[n, n] = tanh((x @ x) @ x)
kernel walks(x: f32[n, m]) -> f32[n, m] = cumsum(cumsum(x, axis=0), axis=1)
kernel steps(x: f64[n], count: i64) -> f64[n] {
    var v = x
    for t in 0..count { v = v + sin(v) }
    return v
}
"""
X = np.ones((8, 8), np.float32)


@pytest.fixture(scope="module")
def module() -> Any:
    return weft.compile(TEXT)


@pytest.fixture(scope="module")
def softmax(module: Any) -> Any:
    return module.softmax.lower(X)


def parts(page: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two packed parts of a page."""
    found = [re.search(rf'id="{name}">([^<]*)<', page) for name in ("data", "machine")]
    first, second = (json.loads(gzip.decompress(b64decode(each[1]))) for each in found if each)
    return first, second


def test_operations_keep_their_numbers(softmax: Any) -> None:
    result = softmax.result.whole()
    ids = Identities(result.snapshots)
    listings = dict(zip(("input", *result.passes), (listing(g, ids) for g in result.snapshots), strict=True))
    order = list(listings)
    changes = {b: change(listings[a], listings[b]) for a, b in pairwise(order)}
    # Division by 2 becomes multiplication by a new constant: the same two operations, changed.
    assert len(changes["canonicalize"].changed) == 2 and len(changes["canonicalize"].added) == 2
    # The two quotients are one, and nothing else is renamed.
    assert len(changes["merge-duplicates"].removed) == 3 and len(changes["merge-duplicates"].changed) == 1
    # Fusing puts a box around operations that stay as they are.
    assert len(changes["fuse"].added) == 1 and not changes["fuse"].removed and not changes["fuse"].changed
    assert not any(changes["split-complex"])


@pytest.mark.parametrize("name", ["softmax", "cubed", "walks"])
def test_debug_locations_leave_the_instructions_alone(module: Any, name: str) -> None:
    lowered = module[name].lower(X)
    result = lowered.result.whole()
    code = machine_code(lowered.program, lowered.options.machine, Identities(result.snapshots))
    plain, _ = instructions(lowered.asm())
    assert code.asm == plain and len(plain) > 50
    assert sum(line >= 0 for line in code.lines) > 0.7 * len(code.asm)
    assert all(code.llvm[line].startswith("  ") for line in code.lines if line >= 0)


def test_every_operation_has_code(softmax: Any) -> None:
    result = softmax.result.whole()
    ids = Identities(result.snapshots)
    code = machine_code(softmax.program, softmax.options.machine, ids)
    (region,) = softmax.kernels
    numbers = {node.op.name: ids[node] for node in region.body if node.op.name != "constant"}
    lines = {name: [t for t, op in zip(code.llvm, code.ops, strict=True) if op == n] for name, n in numbers.items()}
    assert all(lines.values()), lines
    assert any("fdiv" in text for text in lines["div"]) and any("fma" in text for text in lines["exp"])
    assert any("fadd" in text for text in lines["sum"]) and not any("fdiv" in text for text in lines["exp"])


def test_the_page_holds_together(softmax: Any) -> None:
    page = softmax.html()
    data, machine = parts(page)
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "") and "https:" not in page
    assert len(data["kin"]) == len(data["spans"])
    source = [row["text"] for row in data["source"]]
    assert source[: TEXT.count("\n")] == TEXT.splitlines()
    spanned = [source[line][at : at + length] for line, at, length in filter(None, data["spans"])]
    assert "sum(e, axis=-1, keepdims=true)" in spanned and "x / 2" in spanned
    names = [step["name"] for step in data["passes"]]
    assert names == ["input", *softmax.passes] and data["passes"][names.index("split-complex")]["lines"] is None
    numbers = {line[1] for step in data["passes"] for line in step["lines"] or ()}
    assert max(numbers) < len(data["kin"]) and set(machine["llvmOps"]) <= {-1, *range(len(data["kin"]))}
    assert len(machine["asm"]) == len(machine["asmLines"]) and max(machine["asmLines"]) < len(machine["llvm"])
    assert 'class="same">split-complex' in page and "as compiled" in page and "GB/s" in page


def test_loops_of_a_region_are_shown() -> None:
    x = np.ones(8, np.float32)
    data, _ = parts(weft.compile("kernel f(x: f32[n]) -> f32[n] = x + 1").f.lower(x).html())
    rows = data["passes"][-1]["lines"]
    assert data["passes"][-1]["name"] == "to-nest" and any("store(" in row[2] for row in rows)


def test_borders_say_why(module: Any) -> None:
    why = "a product reads whole rows and columns, so its operands are made first"
    assert why in str(module.cubed.explain(X)) and why in drawn(module.cubed.lower(X).html())
    assert "they walk along different axes of [n, m]" in drawn(module.walks.lower(X).html())


def drawn(page: str) -> str:
    """Return the reasons in the drawing, which must be well-formed."""
    found = re.search(r'<template id="drawn">(.*)</template>', page)
    assert found
    return " ".join(e.text or "" for e in ElementTree.fromstring(found[1]).iter() if e.tag.endswith("title"))


def test_the_drawing_nests_boxes(module: Any) -> None:
    page = module.steps.lower(np.ones(8), 3).html()
    svg = re.search(r'<template id="drawn">(.*)</template>', page)
    assert svg
    kinds = [e.get("class") for e in ElementTree.fromstring(svg[1]).iter() if e.get("data-op")]
    assert {"loop", "region", "op", "in", "out"} <= set(kinds)
    assert "Not measured" in page and "loop over whole arrays" in page  # random numbers might never leave a loop
    assert "per call" in module.steps.lower(np.ones(8), 3).html([np.ones(8), 3])


def test_traced_functions_show_their_lines() -> None:
    @weft.jit
    def wave(x: Any) -> Any:
        return np.exp(-x) * 2

    data, _ = parts(wave.lower(np.ones(8)).html())
    lit = [row["text"].strip() for row in data["source"] if row["ops"]]
    assert lit == ["return np.exp(-x) * 2"]


def test_a_function_without_source_says_so() -> None:
    data, _ = parts(weft.jit(eval("lambda x: x + 1")).lower(np.ones(3)).html())
    assert data["source"][0]["text"] == "# <string> can't be read; only the numbers of its lines are known"


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "layers.weft", tmp_path / "page.html"
    file.write_text(TEXT)
    assert main(["explore", str(file), "steps", "--arg", "count=2", "--size", "n=100", "-o", str(page)]) == 0
    assert "4 kernels" in capsys.readouterr().out and "n = 100" in page.read_text(encoding="utf-8")
    assert main(["explore", str(file), "steps", "--size", "n=many"]) == 2
    assert "must be a dimension's name and a number" in capsys.readouterr().err
