"""Windows over arrays, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def maxpool(x: Any) -> Any:
    height, width = x.shape[-2] // 2 * 2, x.shape[-1] // 2 * 2
    tall = np.maximum(x[..., 0:height:2, :], x[..., 1:height:2, :])
    return np.maximum(tall[..., 0:width:2], tall[..., 1:width:2])
