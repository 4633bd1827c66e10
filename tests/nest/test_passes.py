"""Passes on nests as text: each `.mlir` file has a RUN line, a nest, and after CHECK what must come out.

`pytest --update-goldens` rewrites what follows CHECK.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from weft.ir import dims
from weft.ir.errors import WeftError
from weft.ir.nest.costs import body_cost, middle_cost
from weft.ir.nest.scopes import shared_loops
from weft.ir.nest.text import parse_nest
from weft.ir.nest.verify import verify_nest
from weft.ir.text.printer import print_nest
from weft.passes.nest_pipeline import nest_pipeline
from weft.passes.pipeline_text import parse_pipeline

from tests.passes.all_inline import AllInline

FILES = sorted((Path(__file__).parent / "passes").glob("*.mlir"))
RUN, CHECK = "// RUN: ", "// CHECK\n"
PASSES = nest_pipeline(AllInline(), 32)


def outcome(passes: str, text: str, name: str) -> str:
    nest = parse_nest(text, name)
    try:
        for step in parse_pipeline(passes, PASSES):
            nest = step.run(nest)
            verify_nest(nest)
            assert step.run(nest) is nest, "running the pass on its own result changes it"
    except WeftError as error:
        return "".join(f"// {line}\n" for line in f"{type(error).__name__}: {error}".splitlines())
    return print_nest(nest)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    head, _, expected = path.read_text().partition(CHECK)
    run, _, text = head.partition("\n")
    got = outcome(run.removeprefix(RUN), "\n" + text, path.name)
    if request.config.getoption("--update-goldens"):
        path.write_text(f"{head}{CHECK}{got}")
    assert got == expected or request.config.getoption("--update-goldens")


def test_a_stack_of_small_products_is_worth_sharing() -> None:
    """The cost of a shared step is that in the middle: a later block of rows has none if a product has few."""
    nest = parse_nest((FILES[0].parent / "widen_loops_stack.mlir").read_text().partition(CHECK)[2])
    (loop,) = nest
    for rows, fewest in ((60, 60), (240, 240), (600, 240)):
        cost = dims.substitute(middle_cost(shared_loops(loop)), {"m": rows, "n": 60})
        whole = dims.substitute(body_cost(nest), {"m": rows, "n": 60})
        assert isinstance(cost, int) and isinstance(whole, int)
        assert cost > fewest * 8 * 8 * 100 and whole > 60 * cost
