"""Steps of z = z**2 + c that stay within a distance of 2, in NumPy: all points at once, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np


def _steps_inside(zr: Any, zi: Any, cr: Any, ci: Any, limit: int) -> Any:
    counts = np.zeros(zr.shape, np.int32)
    inside = np.ones(zr.shape, bool)
    for _ in range(limit):
        inside &= zr * zr + zi * zi <= 4
        if not inside.any():
            break
        counts += inside
        zr, zi = np.where(inside, zr * zr - zi * zi + cr, zr), np.where(inside, 2 * zr * zi + ci, zi)
    return counts


def mandelbrot(re: Any, im: Any, limit: int) -> Any:
    cr, ci = np.meshgrid(re, im)
    return _steps_inside(0 * cr, 0 * ci, cr, ci, limit)


def julia(re: Any, im: Any, cr: Any, ci: Any, limit: int) -> Any:
    zr, zi = np.meshgrid(re, im)
    return _steps_inside(zr, zi, cr, ci, limit)
