"""Test the histogram of `weft bench calls`."""

from __future__ import annotations

import numpy as np
from weft.bench import histogram


def test_ten_kernels_and_their_lines() -> None:
    found = histogram.kernels(np.random.default_rng(0))
    assert len(found) == 10
    function, args = found["a + b"]
    times = histogram.times_of(function, args, calls=20)
    assert len(times) == 20 and min(times) > 0
    shown = histogram.line("a + b", [2_000_000, 1_500, 300, 300, 4_000_000]).split()
    assert shown[3:] == ["2.0", "1.50", "0.90", "2", ".", "1", ".", ".", ".", ".", "1"]
