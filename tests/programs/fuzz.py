"""Compare random functions with plain Python until one differs: `python -m tests.programs.fuzz COUNT FIRST`."""

from __future__ import annotations

import sys
import warnings

from tests.programs.random_functions import Writer
from tests.programs.random_loops import LoopWriter
from tests.programs.test_functions import EVERY, check

NATIVE = 19  # one function of so many is compiled; the interpreter of nests runs the others


def main(count: int = 2000, first: int = 100_000) -> None:
    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        check(seed, "llvm" if seed % NATIVE == 0 else "reference", EVERY, LoopWriter if seed % 2 else Writer)
        if sys.stderr.isatty() and seed % 50 == 0:
            print(f"\r{seed - first} of {count} functions", end="", file=sys.stderr)
    print(f"{count} random functions behave as in Python")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
