"""Test random kernels with stencils, composites, captures and keywords on chunks, and that faults are found."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from weft.backends import tree
from weft.passes.planning import chunk_pieces
from weft.passes.planning.chunk_overlap import Margin
from weft.runtime.chunks import states as chunk_states
from weft.runtime.chunks import tasks as chunk_tasks
from weft.runtime.chunks.states import State, _joined, nodes_of
from weft.runtime.chunks.tasks import Blocks, finish_outputs, stage_state

from tests.scale import local
from tests.scale.random_kernels import check_kernel

argument = Blocks.argument


@pytest.mark.parametrize("part", range(2))
def test_random_kernels_have_the_bits_of_one_machine(part: int) -> None:
    seen = sum((check_kernel(seed, 5) for seed in range(12 * part, 12 * part + 12)), Counter[str]())
    assert seen["same bits"] > 20 and seen["composites"] > 5 and seen["stencils"] > 20 and seen["captured"] > 5
    assert seen["refused"] < 10 and seen["same bits"] + seen["close"] >= 50


def _one_less(name: str) -> Any:
    found = vars(Margin)[name].fget
    return property(lambda margin: max(0, found(margin) - 1))


def _without_the_last_chunk(stage: Any, stage_of: Any, kernels: Any, feeds: Any, given: Any, places: Any) -> State:
    made = stage_state(stage, stage_of, kernels, feeds, given, places)
    return State() if places[stage.walks[0].var][0] else made


def _backwards(partial: Any, join: Any, run: Any, state: State, found: Any) -> Any:
    return _joined(partial, join, run, {(k[0], *(-n for n in k[1:])): v for k, v in state.items()}, found)


def _argument(kind: str, change: Any) -> Any:
    def changed(self: Any, source: Any, *cut: Any, **more: Any) -> Any:
        made = argument(self, source, *cut, **more)
        return change(self, source, made) if source.kind == kind else made

    return changed


def _forgetting_growth(self: Any, source: Any, made: Any) -> Any:
    return np.broadcast_to(np.False_, (made.shape[0] - source.grown,)) if source.grown else made


UNMOVED = SimpleNamespace(**{**vars(tree), "both_moments": lambda a, m, b, n: [a[0] + b[0], a[1], a[2] + b[2], a[3]]})
FAULTS: dict[str, tuple[Any, str, Any]] = {
    "a margin before is one too short": (Margin, "before", _one_less("before")),
    "a margin after is one too short": (Margin, "after", _one_less("after")),
    "the last chunk is dropped": (local, "stage_state", _without_the_last_chunk),
    "parts are joined backwards": (chunk_states, "_joined", _backwards),
    "sums of parts are not moved": (chunk_states, "tree", UNMOVED),
    "the parts of a node have the wrong length": (Blocks, "argument", _argument("length", lambda b, s, x: x / 100)),
    "ddof is lost": (Blocks, "argument", _argument("size", lambda b, s, x: x - 1)),
    "growth at the end is forgotten": (Blocks, "argument", _argument("count", _forgetting_growth)),
    "an edge is taken at the wrong end": (chunk_pieces, "RIGHT", "nowhere"),
    "nodes are one too far": (chunk_tasks, "nodes_of", lambda *given: [(k, n + 1) for k, n in nodes_of(*given)]),
    "outputs change places": (local, "finish_outputs", lambda *given: finish_outputs(*given)[::-1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])

    def is_found(seed: int) -> bool:
        try:
            check_kernel(seed, 1)
        except Exception:
            return True
        return False

    assert any(map(is_found, (0, 26, 11, *range(30, 40), *range(30))))
