"""Compile functions written for NumPy with `weft.jit`; they are traced at the first call.

python examples/functions.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import weft


@weft.jit
def wave(x: Any, y: Any) -> Any:
    """Sum a scaled bell curve along rows; the elementwise work is fused into the reduction."""
    return np.exp(-(x**2)).sum(axis=-1) * y


@weft.jit
def summary(x: Any) -> Any:
    """Return several results in a dict, as the original function does."""
    return {"mean": x.mean(), "spread": x.max() - x.min(), "energy": (x * x).sum()}


@weft.jit(static=("axis",))
def normalised(x: Any, axis: int) -> Any:
    """Normalise along an axis. `axis` is fixed when the function is traced; another axis means another trace."""
    return x / np.sqrt((x * x).sum(axis=axis, keepdims=True))


@weft.jit
def sharpened(x: Any, amount: float) -> Any:
    """Sharpen an image. Choose between values by `np.where`; a Python number may change without compiling again."""
    edge = x[1:-1, 1:-1] - (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4
    return np.where(np.abs(edge) > 0.1, x[1:-1, 1:-1] + amount * edge, x[1:-1, 1:-1])


def main() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((300, 200)).astype(np.float32), np.arange(300, dtype=np.float32)

    print("wave:", wave(x, y)[:3])
    for rows in (2, 17, 300):
        wave(x[:rows], y[:rows])
    print("after four calls with three sizes:", wave.signature_cache)

    result = np.empty(300, np.float32)
    assert wave(x, y, out=result) is result
    print("summary:", {name: round(float(value), 3) for name, value in summary(x).items()})
    print("normalised:", normalised(x, axis=0).shape, normalised(x, axis=1).shape)
    print("sharpened:", sharpened(x, 0.5).shape, sharpened(x, 0.75).dtype)
    print(
        "kernels:",
        [len(f.lower(*args).kernels) for f, args in ((wave, (x, y)), (summary, (x,)), (sharpened, (x, 1.0)))],
    )


if __name__ == "__main__":
    main()
