"""Test that every kernel, the goldens of passes and random programs survive networkx, after each pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.command.types import request_for
from weft.frontend.language.source import load_module
from weft.ir.graph import Graph
from weft.ir.text.parser import parse_graph
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


def nameless(lowered: Lowered) -> list[str]:
    """Return the graph's text without the names of values and the first lines, in which guards may be added."""
    return re.sub(r"%\w+", "%", lowered.ir()).splitlines()[2:]


def test_networks_compile_to_the_same_bits() -> None:
    """Test graphs before the passes, between two of them, and with a complete plan; also under another name."""
    rng = np.random.default_rng(6)
    x, grid = rng.standard_normal((6, 40)).astype(np.float32), np.linspace(-2, 1, 30)
    library = weft.kernels
    plate = np.outer(grid, grid)
    calls = [(library.softmax, (x,)), (library.heat2d, (plate, 0.2, 5)), (library.mandelbrot, (grid, grid, 20))]
    for kernel, args in calls:
        expected = kernel(*args)
        lowered = kernel.lower(*args)
        for network in (
            lowered.to_networkx("input"), lowered.to_networkx("fuse"), lowered.to_networkx(),
            lowered.graph.to_networkx(),
        ):  # fmt: skip
            again = weft.compile(network, name="other")
            assert np.array_equal(again(*args), expected, equal_nan=True), (kernel, network.graph)
            assert nameless(again.lower(*args)) == nameless(lowered)


def test_networks_that_are_wrong_are_refused_before_anything_is_compiled() -> None:
    network = weft.kernels.softmax.lower(np.ones((3, 4), np.float32)).to_networkx()
    (region,) = [key for key, data in network.nodes(data=True) if data.get("op") == "region"]
    network.nodes[region]["attrs"]["unroll"] = 0
    with pytest.raises(
        weft.errors.VerifyProblem, match="attribute 'unroll' must be a power of two from 1 to 16, not 0"
    ):
        weft.compile(network)
    with pytest.raises(weft.errors.TypeProblem, match="only for expressions; a networkx graph names its own arguments"):
        weft.compile(network, arguments=["x"])
    network.graph["after"] = "fuze"
    network.nodes[region]["attrs"]["unroll"] = 1
    with pytest.raises(weft.errors.UnknownName, match="'fuze'"):
        weft.compile(network)
