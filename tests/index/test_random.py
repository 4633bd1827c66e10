"""Test random programs in index notation against plain Python loops, for all targets."""

from __future__ import annotations

import numpy as np
import pytest

from .programs import arguments, draw
from .running import Kernels

SIZES = ((4, 5), (9, 3), (0, 2), (1, 1), (2, 0), (3, 1))


@pytest.mark.parametrize("seed", range(10))
def test_program(seed: int) -> None:
    text, meaning = draw(seed)
    kernels = Kernels(text)
    for n, m in (SIZES[0], SIZES[1], SIZES[2 + seed % 4]):
        args = list(arguments(n, m))
        want = meaning({"n": n, "m": m, **dict(zip("xyab", args, strict=True))})
        got = kernels.f(*args)
        assert got.shape == want.shape, text
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=text)
