"""Solve a system of linear equations by Jacobi's iteration, which stops when it has converged.

python examples/library/solver.py
"""

from __future__ import annotations

import numpy as np
import weft


def main() -> None:
    rng = np.random.default_rng(2)
    a = rng.uniform(-1, 1, (400, 400)) + 400 * np.eye(400)
    wanted = rng.standard_normal(400)
    x, steps = weft.kernels.jacobi(a, a @ wanted, 1e-12, 1000)
    assert np.allclose(x, wanted, rtol=0, atol=1e-10)
    assert np.allclose(x, np.linalg.solve(a, a @ wanted), rtol=0, atol=1e-10)
    print(f"400 unknowns in {steps} steps, at most {np.abs(x - wanted).max():.0e} from the solution")


if __name__ == "__main__":
    main()
