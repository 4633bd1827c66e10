"""Play Conway's game of life on a torus, all steps in one native call; writes life.png.

python examples/library/life.py [FOLDER]
"""

from __future__ import annotations

import numpy as np
import weft
from pictures import target, write_png

GLIDER = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], np.uint8)


def main() -> None:
    cells = np.zeros((64, 64), np.uint8)
    cells[10:13, 20:23] = GLIDER
    moved = weft.kernels.life(cells, 4 * 64)
    assert np.array_equal(moved, cells), "a glider moves by one cell in four steps: it is around the torus once"

    soup = (np.random.default_rng(7).random((300, 400)) < 0.35).astype(np.uint8)
    after = weft.kernels.life(soup, 200)
    assert np.array_equal(after, weft.kernels.life.reference(soup, 200))

    path = target("life.png")
    colours = np.where(after[..., None], np.uint8([20, 60, 40]), np.uint8([240, 240, 220]))
    write_png(path, colours.repeat(2, axis=0).repeat(2, axis=1))
    print(f"{soup.sum():,} cells become {after.sum():,} in 200 steps; {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
