"""Compute distances between cities along the globe: all pairs by broadcasting, the farthest and the nearest pair.

python examples/library/cities.py
"""

from __future__ import annotations

import numpy as np
import weft

EARTH = 6371.0
CITIES = {
    "Auckland": (-36.85, 174.76),
    "Berlin": (52.52, 13.41),
    "Lima": (-12.05, -77.04),
    "Madrid": (40.42, -3.70),
    "Nairobi": (-1.29, 36.82),
    "Paris": (48.86, 2.35),
    "Tokyo": (35.68, 139.69),
}


def main() -> None:
    names = list(CITIES)
    lat, lon = np.array(list(CITIES.values())).T
    args = lat[:, None], lon[:, None], lat[None, :], lon[None, :], EARTH
    km = weft.kernels.haversine(*args)
    assert np.allclose(km, weft.kernels.haversine.reference(*args), rtol=1e-12)
    assert np.allclose(km, km.T) and not np.diagonal(km).any()

    far = np.unravel_index(weft.kernels.argmax(km), km.shape)
    near = np.unravel_index(weft.kernels.argmax(-np.where(km == 0, np.inf, km)), km.shape)
    for what, (i, j) in (("farthest", far), ("nearest", near)):
        print(f"{what}: {names[i]} and {names[j]}, {km[i, j]:,.0f} km")


if __name__ == "__main__":
    main()
