"""Test where the time of a first call goes."""

from __future__ import annotations

import numpy as np
import weft

STAGES = ["build", "start LLVM", "load passes", "passes", "emit", "LLVM read", "LLVM codegen", "load", "first run"]


def test_a_first_call_is_split_into_all_that_it_did() -> None:
    kernel = weft.jit(lambda x: np.exp(x) + 1)
    kernel(np.ones(5))
    lowered = kernel.lower(np.ones(5))
    seconds = lowered.explain().seconds
    assert [what for what in seconds if not what.startswith("pass ")] == STAGES
    assert [what.removeprefix("pass ") for what in seconds if what.startswith("pass ")] == list(lowered.passes)
    assert all(s >= 0 for s in seconds.values())
    assert sum(s for what, s in seconds.items() if what.startswith("pass ")) <= seconds["passes"]


def test_text_is_parsed_first() -> None:
    kernel = weft.compile("kernel f(x: f32[n]) -> f32[n] { return x + 1 }").f
    kernel(np.ones(5, np.float32))
    assert [w for w in kernel.explain(np.ones(5, np.float32)).seconds if "pass " not in w] == ["parse", *STAGES]


def test_what_did_not_run_has_no_time() -> None:
    lowered = weft.jit(lambda x: x + 1).lower(np.ones(5))
    assert list(lowered.seconds) == STAGES[: STAGES.index("passes") + 1]


def test_people_see_the_passes_below_their_sum() -> None:
    lines = str(weft.jit(lambda x: x + 1).explain(np.ones(5))).splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("  passes: "))
    assert lines[at].endswith(" ms")
    assert lines[at + 1].startswith("    pass promote-dtypes: ")


def test_the_critical_path_is_the_longest_chain_of_steps() -> None:
    x = np.ones((4, 5))
    found = weft.jit(lambda x: (x.sum(axis=0), np.sort(np.cumsum(x)[::-1] + 1))).explain(x)
    assert found.critical[-1] == "numpy.sort" and len(found.critical) == 3
    assert f"  critical path: {' -> '.join(found.critical)}" in str(found).splitlines()
    assert all(name == "numpy.sort" or name.startswith("kernel ") for name in found.critical)
    assert weft.jit(lambda x: x + 1).explain(x).critical == ()
