"""Test passes as text: each `.mlir` file has a RUN line, a graph of ten lines or fewer, and the output after CHECK.

    // RUN: promote-dtypes,canonicalize
    "weft.kernel"() <{sym_name = "f"}> ({ ... }) : () -> ()
    // CHECK
    "builtin.module"() ({ ... }) : () -> ()

An error that the passes must raise stands there as comment lines. `pytest --update-goldens` rewrites what follows
CHECK.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from weft.ir.errors import WeftError
from weft.ir.text.parser import parse_graph
from weft.ir.text.printer import print_graph
from weft.passes.manager import PipelineOptions, run_pipeline
from weft.passes.pipeline import pipeline
from weft.passes.pipeline_text import parse_pipeline

from tests.passes.all_inline import AllInline

FILES = sorted(Path(__file__).parent.glob("*.mlir"))
RUN, CHECK = "// RUN: ", "// CHECK\n"


PIPELINE = pipeline(AllInline(), 32)


def outcome(passes: str, text: str, name: str) -> str:
    graph = parse_graph(text, name)
    assert print_graph(parse_graph(print_graph(graph))) == print_graph(graph)
    try:
        result = run_pipeline(graph, parse_pipeline(passes, PIPELINE), PipelineOptions(verify=True))
    except WeftError as error:
        return "".join(f"// {line}\n" for line in f"{type(error).__name__}: {error}".splitlines())
    again = run_pipeline(result.graph, parse_pipeline(passes, PIPELINE), PipelineOptions(verify=True))
    assert again.ir() == result.ir(), "running the passes on their own result changes it"
    return print_graph(result.graph)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    head, _, expected = path.read_text().partition(CHECK)
    run, _, text = head.partition("\n")
    assert run.startswith(RUN), "the first line names the passes"
    assert len(text.strip().splitlines()) <= 10, "a golden test is ten lines or fewer"
    got = outcome(run.removeprefix(RUN), "\n" + text, path.name)
    if request.config.getoption("--update-goldens"):
        path.write_text(f"{head}{CHECK}{got}")
    assert got == expected or request.config.getoption("--update-goldens")


def test_there_are_enough() -> None:
    assert len(FILES) >= 30
