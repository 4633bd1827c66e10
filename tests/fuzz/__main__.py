"""Run random programs against NumPy until one fails: `python -m tests.fuzz --count 100000 --seed 7`.

`make fuzz N=100000 SEED=7` is the same. Failures are printed as tests; `--keep` continues after the first.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter

from .running import Settings, hunt
from .writing import HEADER


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random programs against NumPy.")
    parser.add_argument("--count", type=int, default=10_000, help="how many programs")
    parser.add_argument("--seed", type=int, default=None, help="of the programs; a new one each time if left out")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--keep", action="store_true", help="go on after a failure")
    parser.add_argument("--shrink", type=float, default=120.0, metavar="SECONDS", help="to make a failure small")
    given = parser.parse_args()
    os.environ["WEFT_CACHE"] = "0"  # a program that an earlier run compiled would hide an error
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    settings = Settings(seed, given.count, given.first, given.jobs, given.keep, given.shrink)
    start = time.monotonic()
    print(f"seed {seed}", flush=True)

    def progress(done: int, failed: int) -> None:
        rate = done / (time.monotonic() - start + 1e-9)
        line = f"{done:,} of {given.count:,} graphs, {failed} failed, {rate:.0f} graphs/s"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)

    links: Counter[str] = Counter()
    for finding in hunt(settings, progress):
        if not links:
            print(f"\n{HEADER}")
        links[finding.link] += 1
        print(f"\n# {finding}", flush=True)
    print(file=sys.stderr)
    print(f"{given.count:,} graphs of seed {seed}: " + (_summary(links) if links else "no failure"))
    return 1 if links else 0


def _summary(links: Counter[str]) -> str:
    return ", ".join(f"{count} x {link}" for link, count in links.most_common())


if __name__ == "__main__":
    sys.exit(main())
