"""Simulate heat that spreads over a plate with a cold rim; writes heat.png.

python examples/library/heat.py [FOLDER]
"""

from __future__ import annotations

import numpy as np
import weft
from pictures import shaded, target, write_png


def main() -> None:
    plate = np.zeros((200, 300))
    plate[40:80, 60:240] = 1
    plate[120:160, 140:160] = 1
    after = weft.kernels.heat2d(plate, 0.2, 600)
    assert np.allclose(after, weft.kernels.heat2d.reference(plate, 0.2, 600), rtol=1e-12, atol=1e-12)
    assert not after[[0, -1]].any() and not after[:, [0, -1]].any()

    path = target("heat.png")
    write_png(path, shaded(after / after.max()).repeat(2, axis=0).repeat(2, axis=1))
    print(f"the warmest place has {after.max():.3f}, {after.sum() / plate.sum():.1%} of the heat is left; {path.name}")


if __name__ == "__main__":
    main()
