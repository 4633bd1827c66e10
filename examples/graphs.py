"""Build expression graphs by hand from `weft.tensor` inputs and NumPy's operators, and compile them.

python examples/graphs.py
"""

from __future__ import annotations

import numpy as np
import weft


def main() -> None:
    x = weft.tensor("x", "f32[n, m]")
    b = weft.tensor("b", "f32[m]")
    scale = weft.tensor("scale", "f32")

    shifted = (x + b) * scale
    kernel = weft.compile(np.tanh(shifted) + 1, name="squash")
    print(kernel)

    rng = np.random.default_rng(2)
    data, bias = rng.standard_normal((4, 6)).astype(np.float32), np.linspace(-1, 1, 6, dtype=np.float32)
    got = kernel(data, bias, scale=0.5)
    expected = np.tanh((data + bias) * np.float32(0.5)) + 1
    np.testing.assert_allclose(got, expected, rtol=5e-7)
    print("squash:", got.dtype, got.shape, "first:", got[0, 0])

    both = weft.compile((shifted.min(axis=0), shifted.max(axis=0)), name="limits")
    low, high = both(data, bias, 2.0)
    print("limits:", bool((low <= high).all()), "in", len(both.lower(data, bias, 2.0).kernels), "kernel")

    try:
        kernel(data, bias[:3], scale=0.5)
    except weft.errors.ShapeProblem as problem:
        print("refused:", problem)


if __name__ == "__main__":
    main()
