"""Test `weft.profile` and `weft profile`: what they measure, show and write, and that calls are native again after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.command.main import main


def relax(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    print(end="")
    y = np.exp(u) * 2 + 1
    print(end="")
    return y


def doubled(x: Any) -> Any:
    return x * 2 + 1


def test_times_of_functions_and_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned, whole, u = weft.jit(relax), weft.jit(doubled), np.arange(9.0)
    for _ in range(3):
        planned(u, 2), whole(u)
    native = whole.chain.calls
    with weft.profile(str(tmp_path / "trace.json")) as profile:
        for _ in range(20):
            assert np.array_equal(whole(u), doubled(u)) and len(planned(u, 2)) == 9
    line = relax.__code__.co_firstlineno
    calls = {(of.name, of.lines, of.is_native): count for of, count, _ in profile.rows}
    assert calls["relax: piece", (line + 1, line + 2), True] == 20 == calls["relax: piece", (line + 4, line + 4), True]
    assert calls["relax", (line, line), False] == 20 and calls["doubled", (line + 9, line + 9), True] == 20
    assert sum(own for _, _, own in profile.rows) <= profile.duration
    shown = capsys.readouterr().err
    assert f"lines {line + 1}-{line + 2}" in shown and "native" in shown.splitlines()[-1]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == 80 and {"name", "ph", "ts", "dur", "pid", "tid", "args"} <= events[0].keys()
    for _ in range(3):
        whole(u), planned(u, 2)
    assert whole.chain.calls > native and len(profile.events) == 80
    assert planned.explain().pieces[0].calls == 26


def test_errors_end_a_profile() -> None:
    jitted = weft.jit(doubled)
    with pytest.raises(ValueError, match="stop"), weft.profile(quiet=True) as profile:
        jitted(np.ones(3))
        raise ValueError("stop")
    jitted(np.ones(3))
    assert [count for _, count, _ in profile.rows] == [1]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport numpy as np\nimport weft\n\n\n@weft.jit\ndef f(x):\n    return np.exp(x) + 1\n\n\n"
        "print(f(np.zeros(int(sys.argv[1]))).sum())\n"
    )
    assert main(["profile", "-o", str(tmp_path / "t.json"), str(script), "4"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "8.0\n" and "f (native), script.py, line 6" in printed.err
    assert len(json.loads((tmp_path / "t.json").read_text())["traceEvents"]) == 1
    assert main(["profile", str(tmp_path / "none.py")]) == 1 and "there is no file" in capsys.readouterr().err
