"""Show what the compiler does: the graph after each pass, LLVM text, assembly, and the explanation.

python examples/inside.py [PASS]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import weft


def main(wanted: str = "fuse") -> None:
    layers = weft.load(Path(__file__).with_name("layers.weft"))
    x = np.ones((64, 512), np.float32)
    low = layers.softmax.lower(x)  # nothing is run

    print("passes:", ", ".join(low.passes))
    print(f"\nbefore {low.passes[0]}:\n{low.ir(after='input')}")
    print(f"after {wanted}:\n{low.ir(after=wanted)}")
    print(low.explain())

    vectors = sum("<" in line and " x float>" in line for line in low.llvm().splitlines())
    print(f"\nLLVM text: {len(low.llvm().splitlines())} lines, {vectors} of them on vectors of floats")
    print(f"assembly: {len(low.asm().splitlines())} lines")


if __name__ == "__main__":
    main(*sys.argv[1:2])
