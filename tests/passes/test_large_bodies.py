"""Test that large kernels are cut or unrolled less, so that compile time grows with their text and no faster."""

from __future__ import annotations

import numpy as np
import weft
from weft.passes.planning.groups import MOST_TOTALS
from weft.passes.schedule import LONG_BODY


def test_many_reductions_take_several_loop_nests() -> None:
    x = weft.tensor("x", "f64[n]")
    count = 2 * MOST_TOTALS + 1
    kernel = weft.compile([(x * k).sum() for k in range(count)])
    given = np.random.default_rng(1).random(1000)
    low = kernel.lower(given)
    assert len(low.program.regions) == 3
    assert "one loop nest makes at most" in str(low.explain())
    np.testing.assert_allclose(kernel(given), [(given * k).sum() for k in range(count)], rtol=1e-14)


def test_long_bodies_are_not_unrolled() -> None:
    x = weft.tensor("x", "f64[n]")
    total = x
    for k in range(LONG_BODY // 2):
        total = total * x + k / 7
    given = np.linspace(-1, 1, 77)
    kernel = weft.compile(total)
    assert "unroll = 1 : i64" in kernel.lower(given).ir(after="schedule")
    wanted = given
    for k in range(LONG_BODY // 2):
        wanted = wanted * given + k / 7
    assert kernel(given).tobytes() == wanted.tobytes()
