"""Choose the forms in which the regions of a scheduled graph are compiled for the sizes of a call.

Most code serves every size. Where other code is faster for other sizes, a compiled graph has the one that its first
call needs, and guards keep other calls away from it: they get the same graph in another form. The modules that decide
are imported when they are asked: code that comes from the disk brings its forms along.
"""

from __future__ import annotations

from collections.abc import Mapping

from .dims import Size
from .graph import Graph, Node
from .tuples import NamedTuple


class Forms(NamedTuple):
    """For regions that have several forms, which it is.

    Columns that are cut, short rows, stores past the caches, and the lengths of windows.
    """

    long: Mapping[Node, bool] = {}
    short: Mapping[Node, bool] = {}
    large: Mapping[Node, bool] = {}
    windows: Mapping[Node, tuple[int, ...]] = {}

    @staticmethod
    def of(graph: Graph, env: Mapping[str, int]) -> Forms:
        from .large import large_regions
        from .lengths import long_regions
        from .short_rows import short_regions
        from .windows import window_sizes

        others = large_regions(graph, env), window_sizes(graph, env)
        return Forms(long_regions(graph, env), short_regions(graph, env), *others)

    def guards(self) -> list[tuple[Size, Size]]:
        """Equalities between sizes for which there is code."""
        from .large import large_guards
        from .lengths import length_guards
        from .short_rows import short_guards
        from .windows import window_guards

        of_regions = [*length_guards(self.long), *short_guards(self.short), *large_guards(self.large)]
        return [*of_regions, *window_guards(self.windows)]

    def moved(self, again: Mapping[Node, Node]) -> Forms:
        """The same for other regions that take the place of these."""
        long, short, large = ({again[r]: x for r, x in part.items()} for part in (self.long, self.short, self.large))
        return Forms(long, short, large, {again[r]: x for r, x in self.windows.items()})
