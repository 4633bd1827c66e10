"""Draw the Mandelbrot set, several points at a time in SIMD lanes; writes mandelbrot.png.

python examples/library/mandelbrot.py [FOLDER]
"""

from __future__ import annotations

import numpy as np
import weft
from pictures import shaded, target, write_png

LIMIT = 256


def main() -> None:
    re, im = np.linspace(-2.2, 0.8, 900), np.linspace(-1.1, 1.1, 660)
    counts = weft.kernels.mandelbrot(re, im, LIMIT)
    few = slice(None, None, 30)
    assert np.array_equal(counts[few, few], weft.kernels.mandelbrot.reference(re[few], im[few], LIMIT))

    path = target("mandelbrot.png")
    write_png(path, shaded(np.where(counts == LIMIT, 0, np.log1p(counts) / np.log1p(LIMIT))))
    print(f"{np.mean(counts == LIMIT):.1%} of {counts.size:,} points stay; {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
