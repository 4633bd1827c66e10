"""Find the edges of a picture by two convolutions, and shrink the result by maxpool.

python examples/library/edges.py
"""

from __future__ import annotations

import numpy as np
import weft
from weft.kernels import conv2d, maxpool

SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)


def main() -> None:
    y, x = np.mgrid[0:130, 0:162]
    disc = ((x - 80) ** 2 + (y - 64) ** 2 < 48**2).astype(np.float32)
    across, down = conv2d(disc, SOBEL), conv2d(disc, SOBEL.T)
    assert np.array_equal(across, conv2d.reference(disc, SOBEL)), "whole numbers leave no room for rounding"

    edges = weft.jit(np.hypot)(across, down)
    small = maxpool(maxpool(maxpool(edges)))
    assert small.shape == (16, 20) and np.array_equal(maxpool(edges), maxpool.reference(edges))
    for line in small:
        print("".join(" #"[int(value > 3)] for value in line).rstrip())


if __name__ == "__main__":
    main()
