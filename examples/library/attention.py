"""Compute attention of 2048 queries over 4096 keys in one pass, without the 2048 by 4096 array of weights.

python examples/library/attention.py
"""

from __future__ import annotations

import numpy as np
import weft


def main() -> None:
    rng = np.random.default_rng(11)
    q, k, v = (rng.standard_normal((n, 64)).astype(np.float32) for n in (2048, 4096, 4096))
    mixed = weft.kernels.attention(q, k, v)
    expected = weft.kernels.attention.reference(q, k, v)
    apart = np.abs(mixed - expected).max()
    assert mixed.shape == (2048, 64) and apart < 1e-5

    k[1234] = q[7] * 10
    found = weft.kernels.attention(q[7:8], k, v)
    assert np.allclose(found, v[1234:1235], atol=1e-4), "a key that is much like the query gets all of its attention"
    print(f"{q.shape[0]} queries over {k.shape[0]} keys, at most {apart:.1e} from NumPy's result")


if __name__ == "__main__":
    main()
