"""Train a linear classifier of three clouds of points by gradient descent, with gemm, softmax and cross_entropy.

python examples/library/classifier.py
"""

from __future__ import annotations

import numpy as np
import weft
from weft.kernels import cross_entropy, gemm, softmax

RATE, STEPS, CLASSES = 0.5, 60, 3


@weft.jit
def slope(weights, x, wanted):  # type: ignore[no-untyped-def]
    """Compute the gradient of the mean loss: softmax fuses with the product and with the difference."""
    return x.T @ (softmax(x @ weights) - wanted) / x.shape[0]


def main() -> None:
    rng = np.random.default_rng(3)
    labels = np.arange(600) % CLASSES
    centres = np.array([[2.0, 0.0], [-1.5, 2.0], [-1.5, -2.0]])
    points = centres[labels] + rng.standard_normal((600, 2))
    x = np.column_stack([points, np.ones(600)]).astype(np.float32)
    wanted = np.eye(CLASSES, dtype=np.float32)[labels]
    weights, logits = np.zeros((3, CLASSES), np.float32), np.empty((600, CLASSES), np.float32)

    gemm(1, x, weights, 0, logits, out=logits)
    before = cross_entropy(logits, labels)
    assert np.isclose(before, np.log(CLASSES))
    for _ in range(STEPS):
        weights -= RATE * slope(weights, x, wanted)
    gemm(1, x, weights, 0, logits, out=logits)
    after = cross_entropy(logits, labels)

    assert np.isclose(after, cross_entropy.reference(x @ weights, labels), rtol=1e-4)
    right = np.mean(logits.argmax(axis=1) == labels)
    print(f"the loss falls from {before:.3f} to {after:.3f} in {STEPS} steps, {right:.1%} of the points are right")
    assert after < 0.4 and right > 0.85


if __name__ == "__main__":
    main()
