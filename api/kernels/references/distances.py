"""How near things are to one another, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def cosine_similarity(x: Any, y: Any) -> Any:
    scale = np.sqrt((x * x).sum(axis=-1)) * np.sqrt((y * y).sum(axis=-1))
    return np.where(scale == 0, 0, (x * y).sum(axis=-1) / np.where(scale == 0, 1, scale))


def pairwise_distance(x: Any, y: Any) -> Any:
    d = x[:, None, :] - y[None, :, :]
    return np.sqrt((d * d).sum(axis=-1))


def haversine(lat1: Any, lon1: Any, lat2: Any, lon2: Any, radius: Any) -> Any:
    north, east = np.sin(np.radians(lat2 - lat1) / 2), np.sin(np.radians(lon2 - lon1) / 2)
    h = north**2 + np.cos(np.radians(lat1)) * np.cos(np.radians(lat2)) * east**2
    return 2 * radius * np.arcsin(np.sqrt(np.minimum(h, 1)))
