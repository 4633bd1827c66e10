"""A scheduled graph and the sizes of a call in, the forms in which its regions are compiled out.

Most code serves every size. Where other code is faster for other sizes, a compiled graph has the one that its first
call needs, and guards keep other calls away from it: they get the same graph in another form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .dims import Size
from .graph import Graph, Node
from .large import large_guards, large_regions
from .lengths import length_guards, long_regions
from .short_rows import short_guards, short_regions


class Forms(NamedTuple):
    """For regions that have two forms, which it is: columns that are cut, short rows, and stores past the caches."""

    long: Mapping[Node, bool] = {}
    short: Mapping[Node, bool] = {}
    large: Mapping[Node, bool] = {}

    @staticmethod
    def of(graph: Graph, env: Mapping[str, int]) -> Forms:
        return Forms(long_regions(graph, env), short_regions(graph, env), large_regions(graph, env))

    def guards(self) -> list[tuple[Size, Size]]:
        """Equalities between sizes for which there is code."""
        return [*length_guards(self.long), *short_guards(self.short), *large_guards(self.large)]

    def moved(self, again: Mapping[Node, Node]) -> Forms:
        """The same for other regions that take the place of these."""
        return Forms(*({again[region]: x for region, x in part.items()} for part in self))
