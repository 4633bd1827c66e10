"""Random programs, lowered whole, against plain Python: results, arguments, and that nothing changes where it fails."""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from weft.backends import nests
from weft.frontend.programs import statements
from weft.frontend.programs.emit import NestEmitter
from weft.frontend.programs.kinds import kind_of
from weft.frontend.programs.lower import lower_piece
from weft.frontend.programs.planning.pieces import Cut, Piece
from weft.ir.graph import Graph
from weft.ir.nest.verify import verify_nest
from weft.passes.lower_assigns import LowerAssigns
from weft.runtime.nests.compiling import compile_nests

from tests.passes.all_inline import AllInline
from tests.programs.random_programs import ARGUMENTS, half, program_of
from tests.programs.running import Failed, Run, assert_same, body_of, run_piece

NAMES = {**vars(builtins), "np": np, "half": half}


class Case:
    """A random program: what Python makes of it, and its piece."""

    def __init__(self, seed: int) -> None:
        self.text, args = program_of(seed)
        scope: dict[str, Any] = {"np": np, "half": half}
        exec(self.text, scope)  # the text is our own
        self.plain, given = copy.deepcopy(args), copy.deepcopy(args)
        self.error: Exception | None = None
        try:
            with np.errstate(all="ignore"):
                self.wanted = scope["program"](*self.plain)
        except Exception as error:
            self.error = error
        self.values = dict(zip(ARGUMENTS.split(", "), given, strict=True))
        definition = ast.parse(self.text).body[0]
        assert isinstance(definition, ast.FunctionDef)
        kinds = {name: kind_of(value) for name, value in self.values.items()}
        find = lambda name: kind_of(NAMES[name]) if name in NAMES else None  # noqa: E731
        self.piece = lower_piece(definition.body, kinds, [], find, self.values, body_of)

    def outcome(self, run: Run = nests.run) -> str:
        """Runs the piece; raises where it differs from Python."""
        if isinstance(self.piece, Cut):
            return "cut"
        try:
            found = run_piece(self.piece, self.values, run)
        except Failed:
            return "failed" if self.error is None else "raised"
        assert self.error is None, f"Python raises {self.error!r}, the piece does not:\n{self.text}"
        tolerance = 1e-5 if self.plain[0].dtype == np.float32 else 1e-12
        try:
            assert_same(self.wanted, found, tolerance)
            assert_same(self.plain, tuple(self.values.values()), tolerance)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text}") from error
        return "same"


@pytest.mark.parametrize("part", range(4))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_interpreted(part):
    counts: Counter[str] = Counter()
    for seed in range(part * 250, (part + 1) * 250):
        case = Case(seed)
        if isinstance(case.piece, Piece) and seed % 8 == 0:
            verify_nest(case.piece.nest)
        counts[case.outcome()] += 1
    assert counts["same"] > 140 and counts["cut"] < 60 and counts["failed"] < 4, counts


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_native():
    cases = [case for case in map(Case, range(5000, 5060)) if isinstance(case.piece, Piece)]
    made: Sequence[Graph] = [LowerAssigns(AllInline(), 32).run(case.piece.nest) for case in cases]
    counts: Counter[str] = Counter()
    for case, native in zip(cases, compile_nests(made), strict=True):
        counts[case.outcome(lambda nest, buffers, numbers, run=native.run: run(buffers, numbers))] += 1
    assert counts["same"] > 30, counts


def _swapped(self: NestEmitter, condition: Any, yes: Any, no: Any) -> Any:
    return SELECT(self, condition, no, yes)


SELECT = NestEmitter.select
FAULTS = [
    (NestEmitter, "select", _swapped),
    (NestEmitter, "written", lambda self, buffer: setattr(buffer, "written", True)),  # loads are not repeated
    (statements, "_demand_same_kind", lambda made, target: None),
]


@pytest.mark.parametrize(("where", "name", "fault"), FAULTS, ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_faults_are_found(where, name, fault, monkeypatch):
    monkeypatch.setattr(where, name, fault)
    with pytest.raises(Exception, match=r"."):
        for seed in range(200):
            Case(seed).outcome()
