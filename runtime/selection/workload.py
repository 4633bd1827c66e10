"""Describe a call to the selectors: sizes, bytes, operations and threads."""

from __future__ import annotations

import math

from ...ir.records import record

# The sizes of the first, second and last cache on most machines, where the time per byte changes.
CACHE_ENDS = (48 << 10, 2 << 20, 32 << 20)
BUCKETS = 2  # size classes for each doubling
FEATURES = ("1", "size", "bytes", "operations", "rank", "layout", "threads", *(f"beyond {n}" for n in CACHE_ENDS))


@record
class Workload:
    """`family` names the graph without its variant; `layout` is 0 for dense operands, 1 for strided ones."""

    family: str
    name: str
    size: int
    bytes: int
    operations: int
    rank: int
    layout: int
    threads: int

    @property
    def bucket(self) -> int:
        """The size class."""
        return bucket_of(self.size)

    def features(self) -> list[float]:
        """The features that times depend on; amounts are logarithms."""
        logs = [math.log(max(1, n)) for n in (self.size, self.bytes, self.operations)]
        beyond = [max(0.0, logs[1] - math.log(n)) for n in CACHE_ENDS]
        return [1.0, *logs, float(self.rank), float(self.layout), math.log(self.threads), *beyond]


def bucket_of(size: int) -> int:
    """Return the size class of a number of elements."""
    return round(BUCKETS * math.log2(max(1, size)))


def bucket_start(bucket: int) -> int:
    """Return the smallest number of elements in a size class."""
    return math.ceil(2 ** ((bucket - 0.5) / BUCKETS)) if bucket > 0 else 0
