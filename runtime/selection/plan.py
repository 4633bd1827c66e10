"""Hold the compiled variants of one graph, and choose which one runs at which size."""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.dims import Size
from ...ir.support.forking import lock
from ...ir.types import sizes
from ..deferred import DEFAULT
from .choosing import Selection
from .workload import bucket_start

if TYPE_CHECKING:
    from ..compiler import Lowered
    from ..native.dispatch import Chain

NO_END = 1 << 62
Range = tuple[int, int, str]


class VariantPlan:
    """A table of size ranges and variants.

    `base` is the graph as it was first compiled, `env` has the sizes of a call.
    """

    def __init__(self, base: Lowered, env: Mapping[str, int]) -> None:
        self.base, self.env = base, dict(env)
        self.made: dict[str, Lowered] = {DEFAULT: base}
        self.choices: dict[int, Selection] = {}
        self.served: dict[int, int] = {}  # calls that asked, by size class
        self.size: Size = total_size(base)
        self.lock = lock()
        self._starts: tuple[int, ...] = (0,)
        self._names: tuple[str, ...] = (DEFAULT,)
        self._chains: weakref.WeakSet[Chain] = weakref.WeakSet()

    def name_at(self, size: int) -> str:
        return self._names[bisect_right(self._starts, size) - 1]

    def at(self, size: int) -> Lowered:
        """Return the variant for a size, or the base until that variant is compiled."""
        return self.made.get(self.name_at(size), self.base)

    def ranges(self) -> tuple[Range, ...]:
        """Return the range of sizes, with the end excluded, in which each variant runs."""
        ends = (*self._starts[1:], NO_END)
        return tuple(zip(self._starts, ends, self._names, strict=True))

    def spans(self, lowered: Lowered) -> tuple[tuple[int, int], ...]:
        """Return the sizes that a compiled variant serves; none means all."""
        if len(self._names) == 1 and self.at(0) is lowered:
            return ()
        return tuple((start, end) for start, end, name in self.ranges() if self.made.get(name, self.base) is lowered)

    def choose(self, choices: Mapping[int, Selection]) -> bool:
        """Take new choices by size class and return whether anything changed. Sizes in between follow the nearest."""
        with self.lock:
            self.choices.update(choices)
            buckets = sorted(self.choices)
            starts, names = [0], [self.choices[buckets[0]].variant]
            for before, bucket in pairwise(buckets):
                name = self.choices[bucket].variant
                if name != names[-1]:
                    starts.append(bucket_start((before + bucket + 1) // 2))
                    names.append(name)
            return self._set(starts, names)

    def _set(self, starts: Sequence[int], names: Sequence[str]) -> bool:
        changed = (tuple(starts), tuple(names)) != (self._starts, self._names)
        self._starts, self._names = tuple(starts), tuple(names)
        if changed:
            self.relink()
        return changed

    def relink(self) -> None:
        """Drop the native entries of the variants; new ones are made for the sizes that each serves now."""
        for chain in list(self._chains):
            chain.expire(self.made.values())

    def follow(self, chain: Chain) -> None:
        """Register the recipes of a callable, some of which run variants."""
        self._chains.add(chain)


def total_size(lowered: Lowered) -> Size:
    """Add up the iterations of all kernels of a graph."""
    total: Size = 0
    for region in lowered.kernels:
        total = total + dims.product(sizes(region.attrs, "space"))
    return total
