"""Test attention: blocks of keys, heads, masks, and memory that grows only with the length."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from weft.kernels import attention, causal_attention

MEGABYTE = 1 << 20
PEAK = """
import resource, sys
import numpy as np
import weft

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def run(count):
    q, k, v = np.random.default_rng(count).standard_normal((3, count, 64), dtype=np.float32)
    before = peak()
    assert np.isfinite(weft.kernels.attention(q, k, v)).all()
    return peak() - before

run(512), run(512)
print(run(4096), run(8192))
"""


def test_peak_memory_is_linear_in_the_length() -> None:
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    short, long = map(int, done.stdout.split())
    assert short < 12 * MEGABYTE, "an array of all pairs has 64 MB"
    assert long < 24 * MEGABYTE, "an array of all pairs has 256 MB"


@pytest.mark.parametrize("keys", [127, 128, 129, 300])
def test_any_number_of_keys(keys: int) -> None:
    rng = np.random.default_rng(keys)
    q, k, v = rng.standard_normal((5, 8)), rng.standard_normal((keys, 8)), rng.standard_normal((keys, 3))
    for kernel in (attention, causal_attention):
        assert np.allclose(kernel(q, k, v), kernel.reference(q, k, v), rtol=1e-13, atol=1e-14)


def test_scores_far_apart_and_other_dtypes() -> None:
    rng = np.random.default_rng(0)
    q, k, v = 100 * rng.standard_normal((3, 2, 200, 4))
    assert np.allclose(attention(q, k, v), attention.reference(q, k, v), rtol=1e-9)
    mixed = attention(q.astype(np.float32), k.astype(np.float32), v)
    assert mixed.dtype == np.float64 and np.allclose(mixed, attention(q, k, v), rtol=1e-2)
