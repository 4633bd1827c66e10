"""Every kernel of the project, the goldens of passes and random programs go to networkx and back, after each pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.command_types import request_for
from weft.frontend.language import load_module
from weft.ir.graph import Graph
from weft.ir.parser import parse_graph
from weft.passes.manager import PipelineResult
from weft.runtime.compiler import Lowered, Options, lower
from weft.settings import registry

from tests.fuzz.drawing import draw
from tests.ir.test_networks import assert_round_trip

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "examples").glob("*.weft"), *(ROOT / "api" / "kernels").glob("*.weft")])
PROGRAMS = 60


def snapshots(lowered: Lowered) -> Iterator[Graph]:
    """The graph before the passes, and after each one that changed it."""
    assert isinstance(lowered.result, PipelineResult)
    yield from dict.fromkeys(lowered.result.snapshots)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_kernels_of_files(file: Path) -> None:
    for kernel in load_module(str(file), ops=registry).kernels.values():
        for graph in snapshots(lower(kernel, request_for(kernel, {}), registry, Options())):
            assert_round_trip(graph, registry.table)


def test_goldens_of_passes() -> None:
    found = sorted((ROOT / "tests" / "passes").glob("*.mlir"))
    assert len(found) > 100
    for path in found:
        before, _, after = path.read_text(encoding="utf-8").partition("// CHECK\n")
        for text in (before, after) if '"weft.kernel"' in after else (before,):
            assert_round_trip(parse_graph(text, path.name, registry.table), registry.table)


def test_random_programs() -> None:
    tried = 0
    for number in range(PROGRAMS):
        program = draw(5, number)
        try:
            with np.errstate(all="ignore"):
                lowered = weft.jit(program.function).lower(*program.arguments())
        except (weft.errors.WeftError, ValueError, TypeError, IndexError, ArithmeticError):
            continue  # a program that is wrong in NumPy, too
        tried += 1
        for graph in snapshots(lowered):
            assert_round_trip(graph, registry.table)
    assert tried > PROGRAMS // 2
