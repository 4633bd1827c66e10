"""Test what is measured of the machine: once, kept in a file that may be damaged, turned off, and never in results."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.errors import ValueProblem
from weft.function import tracing
from weft.runtime import calibration, threads
from weft.runtime.calibration import LEAST, LONGEST, MACHINES, MOST, SHORTEST, Calibration
from weft.runtime.native.pool_code import LONG


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a user whose machine wakes threads in 8 µs."""
    found = tmp_path / "new" / "calibration.json"
    monkeypatch.setenv("WEFT_CALIBRATION", str(found))
    monkeypatch.setattr(calibration, "measured_wake", lambda: 8e-6)
    return found


def _never() -> float:
    raise AssertionError("it is measured again")


def test_it_is_measured_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = time.time()
    first = calibration.calibration()
    assert first is not None and first.wake == 8e-6 and before <= first.when <= time.time()
    assert calibration.shared_from() == 32_000_000
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(calibration, "measured_wake", _never)
    assert calibration.calibration() == first
    monkeypatch.setattr(os, "cpu_count", lambda: 77)  # another machine with the same home directory
    monkeypatch.setattr(calibration, "measured_wake", lambda: 1e-6)
    assert calibration.shared_from() == LEAST
    monkeypatch.undo()
    assert len(json.loads(file.read_text())["machines"]) == 2


def test_a_file_that_is_damaged_or_implausible_is_written_anew(file: Path) -> None:
    calibration.calibration()
    good = json.loads(file.read_text())
    (key,) = good["machines"]
    wrong = [[1e-6], [1, 2.0], "8e-6", [LONGEST * 2, 1.0], [SHORTEST / 2, 1.0], [8e-6, 4e12], [8e-6, -1.0], None]
    texts = [json.dumps({**good, "machines": {key: item}}) for item in wrong]
    texts += [json.dumps({**good, "format": 0}), json.dumps({"format": 1, "machines": 3}), "[1]", "{", "[" * 9000, ""]
    texts += [json.dumps(good).replace("8e-06", "NaN")]
    for text in texts:
        file.write_text(text)
        assert calibration.shared_from() == 32_000_000
        assert json.loads(file.read_text())["machines"][key][0] == 8e-6, text
    others = {f"m{k}": [1e-5, float(k)] for k in range(MACHINES)}
    file.write_text(json.dumps({"format": 1, "machines": others}))
    assert calibration.shared_from() == 32_000_000
    assert set(json.loads(file.read_text())["machines"]) == {key, *list(others)[1:]}  # the oldest makes room


def test_it_can_be_turned_off_and_need_not_be_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("WEFT_CALIBRATION", "0")
        patch.setattr(calibration, "measured_wake", _never)
        assert calibration.calibration() is None and calibration.shared_from() == LONG
    monkeypatch.setenv("WEFT_CALIBRATION", "/proc/none/calibration.json")
    assert calibration.shared_from() == 32_000_000
    monkeypatch.setenv("WEFT_CALIBRATION", "/dev/null")
    with pytest.raises(ValueProblem, match=r"must name a regular file, not '/dev/null'\nhint: WEFT_CALIBRATION=0 meas"):
        calibration.calibration()
    monkeypatch.delenv("WEFT_CALIBRATION")
    monkeypatch.setenv("XDG_DATA_HOME", str(file.parent))
    assert calibration.shared_from() == 32_000_000 and (file.parent / "weft" / "calibration.json").exists()


def test_a_thread_wakes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is really measured is plausible, leaves no files open, and no thread is no reason to fail."""
    before = len(os.listdir("/proc/self/fd"))
    assert SHORTEST <= (calibration.measured_wake() or 0) <= LONGEST

    def refuse(*given: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(calibration._thread, "start_new_thread", refuse)
    assert calibration.measured_wake() is None
    assert [Calibration(wake, 0.0).shared_from for wake in (SHORTEST, LONGEST)] == [LEAST, MOST]
    for _ in range(1000):  # the other thread closes its ends when it likes
        if len(os.listdir("/proc/self/fd")) == before:
            return
        os.sched_yield()
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_pool_keeps_to_it() -> None:
    """Work below the limit finds sleeping threads and leaves them asleep, with the same bits."""
    pool = threads.pool()
    assert pool.read("long") == LONG  # tests do not depend on times
    kernel, x, count = tracing(lambda x: np.sin(x) * np.exp(x)), np.linspace(0, 1, 100_000), weft.get_threads()
    weft.set_threads(2)
    try:
        wanted = kernel(x).tobytes()
        pool.write("long", 1 << 62)
        before = pool.read("short")
        for _ in range(1000):
            assert kernel(x).tobytes() == wanted
            if pool.read("short") > before:
                break
            time.sleep(0.001)  # a worker that has just had work waits a while before it sleeps
        assert pool.read("short") > before
    finally:
        pool.write("long", LONG)
        weft.set_threads(count)
