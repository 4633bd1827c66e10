"""Run a notebook in a real kernel: `%%weft` cells, HTML, and errors that are short. `make test-browser` runs it."""

from __future__ import annotations

from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS = {
    "load": "%load_ext weft\nimport numpy as np, weft",
    "define": "%%weft\n# Doubles.\nkernel double(x: f32[n]) -> f32[n] { return x + x }",
    "call": "double(np.ones(3, np.float32))",
    "kernel": "double",
    "lowered": "double.lower(np.ones(3, np.float32))",
    "explained": "double.explain(np.ones(3, np.float32))",
    "report": "weft.selection.report()",
    "syntax": "%%weft\nkernel bad(x: f32[n]) -> f32[n] {\n  return x +\n}",
    "text": "weft.compile('kernel bad(x: f32[n]) -> f32[n] { return x +')",
    "traced": "@weft.jit(whole=True)\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\nf(np.ones(3))",
    "argument": "double(np.ones((3, 3), np.float32))",
}


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    notebook = new_notebook(cells=[new_code_cell(text) for text in CELLS.values()])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=120).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def test_cells_define_kernels(outputs: dict[str, list[Any]]) -> None:
    assert "Doubles." in outputs["define"][0].data["text/html"]
    assert "array([2., 2., 2.]" in outputs["call"][0].data["text/plain"]


@pytest.mark.parametrize("name", ["kernel", "lowered", "explained", "report"])
def test_things_are_shown_as_html(outputs: dict[str, list[Any]], name: str) -> None:
    assert outputs[name][0].data["text/html"].startswith('<div class="weft">')


@pytest.mark.parametrize("name", ["syntax", "text", "traced", "argument"])
def test_errors_are_short(outputs: dict[str, list[Any]], name: str) -> None:
    (shown,) = outputs[name]
    assert shown.output_type == "error" and len(shown.traceback) <= 6
    assert any("^" in line for line in shown.traceback) and not any("site-packages" in line for line in shown.traceback)


def test_errors_name_their_cell(outputs: dict[str, list[Any]]) -> None:
    assert "Cell In[8]:2:" in outputs["syntax"][0].traceback[0]
    assert "Cell In[10]:3:" in outputs["traced"][0].traceback[0]
