"""Compare products by BLAS with Weft's own, in a separate process: other tests check that SciPy is not loaded."""

from __future__ import annotations

import numpy as np
from weft.function import tracing
from weft.runtime.native.abi import is_known

SHAPES = (((5, 4), (4, 6)), ((2, 1, 5, 4), (3, 4, 6)), ((5, 0), (0, 6)))


def main() -> None:
    rng = np.random.default_rng(0)
    function = tracing(lambda a, b, c: np.maximum(a @ b + c, 0) if a.dtype.kind == "f" else a @ b + c, blas=True)
    for dtype in ("float32", "complex128", "int32"):
        for left, right in SHAPES:
            a, b = rng.integers(-3, 4, left).astype(dtype), rng.integers(-3, 4, right).astype(dtype)
            c = np.ones(right[-1], dtype)
            expected = np.maximum(a @ b + c, 0) if a.dtype.kind == "f" else a @ b + c
            # Whole numbers this small are exact in any order.
            for x, y in ((a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b)), (a.repeat(2, -1)[..., ::2], b)):
                for _ in range(4 if x is a or x.flags.f_contiguous else 1):  # from the third on by native calls
                    found = function(x, y, c)
                    assert found.dtype == expected.dtype and np.array_equal(found, expected), (dtype, left, right)
        lowered = function.lower(a, b, c)
        assert lowered.fallbacks == (("BLAS gemm",) if dtype != "int32" else ()), lowered.fallbacks
        assert ("library hardware-specific" in lowered.ir("select-kernels")) == (dtype != "int32")
    assert not tracing(lambda a, b: a @ b).lower(a, b).fallbacks
    alone = tracing(lambda a, b: a @ b, blas=True)
    for x, y in ((np.eye(3), np.ones((3, 2))), (np.eye(4)[:, :3], np.ones((3, 0))), (np.eye(3), np.ones((3, 2)))):
        for _ in range(4):
            assert np.array_equal(alone(x, y), x @ y)
    if is_known():
        assert function.chain.calls >= 12 and alone.chain.calls >= 4, (function.chain.calls, alone.chain.calls)
    print("done")


if __name__ == "__main__":
    main()
