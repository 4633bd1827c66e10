"""Hold what the emitter knows in one step of the outer loops: variables, values and active lanes.

A point corresponds to a `Lane` of the interpreter (`backends/nests.py`). A jammed loop has a point for each of its
copies, a vector loop one for each of its vectors. All points run through a body together, statement by statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....ir.dims import LOOP
from ....ir.graph import Node, Value
from ..code.text import Val

Lanes = Sequence[Val]  # of a walk: vectors, or in a vector loop one vector for each lane of the walk


class Point:
    """One step. `vector` is the variable along the vector's lanes, if there is one; `mask` has the active lanes."""

    __slots__ = ("cells", "env", "lanes", "mask", "parts", "values", "vector", "width")

    def __init__(self) -> None:
        self.env: dict[str, Val] = {}  # scalars, and vectors where a number comes from data
        self.values: dict[Value, Val] = {}
        self.lanes: dict[Value, Lanes] = {}
        self.parts: dict[Value, tuple[Val, Val]] = {}  # of complex numbers
        self.cells: dict[Node, tuple[Val, Val]] = {}  # of a scan: its running value, and whether it has one
        self.vector: str | None = None
        self.width = 0
        self.mask: Val | None = None

    def step(self, name: str | None = None, number: Val | None = None) -> Point:
        """A point inside this one, which sees its variables and values."""
        made = Point()
        made.env, made.values, made.lanes = dict(self.env), dict(self.values), dict(self.lanes)
        made.cells, made.parts = dict(self.cells), dict(self.parts)
        made.vector, made.width, made.mask = self.vector, self.width, self.mask
        if name is not None and number is not None:
            made.env[LOOP + name] = number
        return made

    def masked(self, mask: Val) -> Point:
        """A point inside this one with other active lanes."""
        made = self.step()
        made.mask = mask
        return made

    def put(self, values: Iterable[Value], found: Iterable[Val]) -> None:
        self.values.update(zip(values, found, strict=True))

    def varies(self, names: Iterable[str]) -> bool:
        """Whether something with these names differs from lane to lane."""
        return any(name in self.env and (self.env[name].lanes > 0 or name == f"{LOOP}{self.vector}") for name in names)
