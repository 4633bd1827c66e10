"""Run many kernels three times each, for valgrind: `python -m tests.reliability.checked_memory [COUNT]`.

Valgrind hides AVX-512, so the code is that for AVX2. Results are compared as bytes in the C library, where valgrind
notices bytes that nobody wrote.
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any

import numpy as np
import weft

from ..arm.kernels import kernels
from ..kernels.cases import Data

LONG = 300_000  # elements that two threads share


def _written(result: Any) -> bytes:
    """Return the bytes of a result; bits of NaNs are part of them."""
    return b"".join(np.asarray(part).tobytes() for part in (result if isinstance(result, tuple) else (result,)))


def on_two_threads() -> None:
    weft.set_threads(2)
    kernel, x = weft.jit(lambda x: (x - x.mean()) * np.exp(-x)), np.linspace(0, 1, LONG)
    assert _written(kernel(x)) == _written(kernel(x, out=np.empty(LONG)))
    print("two threads", flush=True)


def main(count: int) -> None:
    for name, kernel, make in islice(kernels(), count):
        for dtype in ("f4", "f8"):
            arguments = make(Data(np.random.default_rng(11), dtype))
            first, second, third = (_written(kernel(*arguments)) for _ in range(3))
            assert first == second == third, name
        print(name, flush=True)
    on_two_threads()
    print("done")


if __name__ == "__main__":
    main(int(sys.argv[1]))
