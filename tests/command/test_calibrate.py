"""Test `weft bench --calibrate` and `weft.selection`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import weft as w
from weft import selection
from weft.runtime.selection.history import History
from weft.settings import tuner

Weft = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def own_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "history.json"
    monkeypatch.setattr(tuner, "history", History(path))
    before = selection.configure()
    selection.configure(time_limit=0.01)
    yield path
    tuner.configure(before)


def test_the_variants_of_a_kernel_are_timed_at_each_size(weft: Weft, own_history: Path) -> None:
    status, out, err = weft("bench", "--calibrate", "kernels.weft", "softmax", "--arg", "x=randn(n, 64):f32",
                            "--sizes", "2,300")  # fmt: skip
    assert (status, err) == (0, "")
    first, second = out.split("softmax, n = ")[1:]
    assert first.startswith("2\n")
    assert second.startswith("300\n")
    for table in (first, second):
        assert table.count("<- chosen") == 1
        assert {"default", "unroll=1", "unroll=8"} <= {line.split()[0] for line in table.splitlines()[2:]}
    sizes = {record.workload.size for record in History(own_history)}
    assert sizes == {128, 19200}


def test_wrong_usage(weft: Weft) -> None:
    assert weft("bench", "--calibrate")[0] == 2
    status, _, err = weft("bench", "--calibrate", "kernels.weft", "softmax", "--arg", "y=3")
    assert status == 1
    assert "softmax has no argument 'y'" in err


def test_a_jitted_function_is_calibrated_and_reported() -> None:
    f = w.jit(lambda x: np.exp(x) * 2)
    x = np.linspace(0, 1, 1000, dtype=np.float32)
    timings = selection.calibrate(f, x)
    np.testing.assert_allclose(f(x), np.exp(x) * 2, rtol=1e-6)
    told = selection.report()
    assert [c.size for c in told.choices if c.kernel == "<lambda>"][-1:] == [1000]
    assert told.records == len(timings)
    selection.clear()
    assert selection.report().records == 0


def test_settings_are_checked() -> None:
    with pytest.raises(w.errors.WeftError, match="no setting 'exlpore'"):
        selection.configure(exlpore=1)
    with pytest.raises(w.errors.WeftError, match="explore must be a number from 0 to 1, not 2"):
        selection.configure(explore=2)
    with pytest.raises(w.errors.WeftError, match="unknown selector 'best'"):
        selection.configure(selector="best")
    with pytest.raises(w.errors.WeftError, match="a kernel or a jitted function, not a function"):
        selection.calibrate(test_settings_are_checked)
