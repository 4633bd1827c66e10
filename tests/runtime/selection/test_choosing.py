"""Test selectors: scores computed by hand, models on times that follow a formula, and arbitrary histories."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from weft.errors import FileProblem, WeftError
from weft.ir.records import replace
from weft.runtime.selection.choosing import Candidate, Weights, by_score, choose, keeping
from weft.runtime.selection.history import WEEK, History
from weft.runtime.selection.knowledge import Knowledge
from weft.runtime.selection.model import train
from weft.runtime.selection.settings import Settings
from weft.runtime.selection.workload import Workload, bucket_of, bucket_start

LOAD = Workload("graph", "k", 1000, 8000, 3000, 1, 0, 1)


def at(size: int, family: str = "graph") -> Workload:
    return replace(LOAD, family=family, size=size, bytes=8 * size, operations=3 * size)


def test_size_classes_meet() -> None:
    for bucket in range(60):
        start, following = bucket_start(bucket), bucket_start(bucket + 1)
        assert start == following or bucket_of(start) == bucket
        assert bucket_of(following - 1) <= bucket or following <= 1


def test_a_score_is_the_weighted_sum() -> None:
    history = History()
    history.add(LOAD, "a", 2e-6)
    history.add(LOAD, "b", 1e-6)
    candidates = [Candidate("a", 1.0), Candidate("b", 1.0, scratch=1 << 20, cached=0.25)]
    found = by_score(LOAD, candidates, Knowledge(history), Weights(), current="a")
    assert found.variant == "a"
    a, b = 0.4 * 0.5 + 0.2 + 0.2 + 0.15 * 0.5, 0.4 + 0.2 / 2 + 0.2 * 0.25 + 0.15 - 0.05
    assert found.reason == f"score {a:.3f}, measured"
    assert found.alternatives[0].rank == pytest.approx(b, rel=1e-6)
    assert found.confidence < 0.5  # what was measured speaks against it
    only_time = Weights(1, 0, 0, 0, 0)
    assert by_score(LOAD, candidates, Knowledge(history), only_time, "a").variant == "b"


def test_the_model_learns_a_law_and_says_how_sure_it_is() -> None:
    history = History()
    for k in range(1, 22):
        size = 2**k
        history.add(at(size), "line", 50e-9 + 1e-9 * size)
    known = Knowledge(history)
    model = known.model(at(3000), "line")
    assert model is not None
    assert model.error < 0.35
    for size in (3000, 200_000):
        found = model.predict(at(size))
        truth = 50e-9 + 1e-9 * size
        assert found.low < truth < found.high
        assert 0.5 < found.seconds / truth < 2
    assert train(list(history)[:3], 0.0, WEEK) is None


def test_hybrid_trusts_a_model_only_where_its_error_is_low() -> None:
    def trained(noise: float) -> Knowledge:
        history = History()
        for k in range(2, 24):
            off = math.exp(noise * math.sin(37.0 * k))
            history.add(at(2**k), "a", 1e-9 * 2**k * off)
            history.add(at(2**k), "b", 2e-9 * 2**k / off)
        return Knowledge(history)

    both = [Candidate("a", 1.0), Candidate("b", 1.0)]

    def pick(known: Knowledge, selector: str) -> str:
        return choose(at(5000), both, known, selector, Weights(), None, 0.1).reason

    assert pick(trained(0.0), "hybrid").startswith("predicted")
    assert pick(trained(0.0), "score").startswith("score")
    assert pick(trained(1.0), "hybrid").startswith("score")
    assert pick(trained(1.0), "learned").startswith("predicted")
    assert pick(Knowledge(History()), "learned").startswith("score")


def test_old_samples_count_less() -> None:
    now = [0.0]
    history = History(clock=lambda: now[0])
    for _ in range(8):
        history.add(LOAD, "a", 1e-6)
    now[0] = 3 * WEEK
    history.add(LOAD, "a", 3e-6)
    record = history.find(LOAD, "a")
    assert record is not None
    assert record.weight == pytest.approx(2.0)  # eight samples, three half-lives old, and a new one
    assert record.mean == pytest.approx(2e-6)
    assert (record.least, record.most) == (1e-6, 3e-6)


def test_a_history_survives_a_process_and_any_damage(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.json"
    history = History(path)
    history.add(LOAD, "a", 1e-6)
    history.add(LOAD, "b", 2e-6)
    history.save()
    assert len(History(path)) == 2
    assert path.parent.stat().st_mode & 0o77 == 0
    text = path.read_text()
    good = json.loads(text)
    bad: list[object] = [
        None, {}, [], 7, {"format": 1, "records": []}, {"format": 2, "records": {}},
        {"format": 2, "records": [None, 3, [], [[], "a"], *[[*good["records"][0][:3], x, *good["records"][0][4:]]
                                                             for x in (float("nan"), -1.0, "1", None, 10**400, True)]]},
        {"format": 2, "records": [[*good["records"][0][:-1], x] for x in ([], [0.0], [1e-6] * 10, 1e-6, ["1"])]},
    ]  # fmt: skip
    first = good["records"][0]  # workload, variant, weight, mean, least, most, when, recent times
    bad.append({"format": 2, "records": [
        [*first[:2], 0.0, *first[3:]],
        *([*first[:3], t, t, t, first[6], [t]] for t in (5e-324, 1e300)),
    ]})  # fmt: skip
    for content in bad:
        path.write_text(json.dumps(content))
        assert len(History(path)) == 0
    for cut in range(0, len(text), 7):
        path.write_text(text[:cut] + "\0" + text[cut + 1 :])
        assert len(History(path)) <= 2
    path.write_bytes(b"\xff" * 100)
    assert len(History(path)) == 0
    path.write_text("[" * 200_000)
    assert len(History(path)) == 0
    path.unlink()
    os.mkfifo(path)
    assert len(History(path)) == 0


def test_a_history_that_can_not_be_kept_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.mkdir()
    history = History(path)
    history.add(LOAD, "a", 1e-3)
    history.save()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileProblem, match="can't delete the history"):
        history.clear()


def test_what_stays_for_want_of_certainty_is_told_with_its_own_times() -> None:
    history = History()
    for variant, times in (("a", (1.0e-6, 1.4e-6)), ("b", (0.9e-6, 1.6e-6)), ("c", (5e-6, 5e-6))):
        for seconds in times:
            history.add(LOAD, variant, seconds)
    candidates = [Candidate(name, 1e-6) for name in "abc"]
    found = choose(LOAD, candidates, Knowledge(history), "score", Weights(), None, 0.15)
    assert found.variant == "b" and found.confidence < 0.8
    kept = keeping(found, "a")
    assert (kept.variant, kept.seconds) == ("a", 1.0e-6) and kept.confidence < 0.5
    assert [r.variant for r in kept.alternatives] == ["b", "c"] and "b is not surely faster" in kept.reason


@pytest.mark.parametrize(
    "wrong",
    [{"explore": "a"}, {"weights": 3}, {"at_once": 1.5}, {"time_limit": None}, {"selector": 7}, {"explore": True}],
)
def test_settings_that_are_none_are_typed_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(WeftError):
        Settings(**wrong)
    with pytest.raises(WeftError, match="the weight time must be"):
        Weights(time=-1)
