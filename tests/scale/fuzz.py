"""Run random kernels on random chunks against one machine: `python -m tests.scale.fuzz 500 SEED`.

`make fuzz` runs it. A failure is raised with its seed and its chunks.
"""

from __future__ import annotations

import random
import sys
from collections import Counter

from tests.scale.random_kernels import check_kernel
from tests.scale.test_split_chunks import check_random


def main(count: int, seed: int) -> None:
    print(f"seed {seed}", flush=True)
    seen = Counter[str]()
    for number in range(seed * 1_000_000, seed * 1_000_000 + count):
        seen += check_random(number, 2) + check_kernel(number, 2)
    print(f"{4 * count:,} chunkings of {2 * count:,} kernels: {dict(seen)}")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(given[0] if given else 500, given[1] if len(given) > 1 else random.SystemRandom().randrange(10**6))
