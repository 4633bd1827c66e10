"""Draw nests with random assignments: views of two matrices that may overlap, and expressions of whole numbers."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from weft.ir.dims import Size, symbol
from weft.ir.graph import Graph, Node, Value
from weft.ir.nest import ops
from weft.ir.types import Sizes

from .statements import Statement

N, M = symbol("n"), symbol("m")
ROWS, COLUMNS = N - 3, M - 3  # of every view, so that offsets from 0 to 3 stay inside
FUNCTIONS = ("add", "subtract", "multiply", "maximum", "minimum")


def draw(seed: int) -> Graph:
    """A nest over matrices %a and %b of i64 with at least 4 rows and columns; some are in a loop."""
    return _Drawing(random.Random(seed)).nest()


class _Drawing:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        layouts = [chance.choice(("C", "F", "S")) for _ in range(2)]
        self.statement = Statement(layouts, a=("i8", (N, M)), b=("i8", (N, M)))
        self.in_loop = chance.random() < 0.3

    def nest(self) -> Graph:
        buffers = list(self.statement.inputs.values())
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            given = [self.view(self.chance.choice(buffers)) for _ in range(self.chance.randint(1, 3))]
            targets = [self.view(self.chance.choice(buffers)) for _ in range(self.chance.choice((1, 1, 2)))]
            self.statement.assign(partial(self.results, len(targets)), given, targets)
        if self.in_loop:
            body = Graph("nest", (), tuple(self.statement.nodes), ())
            attrs: Any = {"var": "t", "range": Sizes((0, 4)), "kind": "serial"}
            self.statement.nodes = [Node(ops.FOR, (), attrs, (), None, body)]
        return self.statement.nest()

    def view(self, buffer: Value) -> Value:
        """Rows and columns from an offset on, forwards or backwards, or one row or column repeated by broadcasting."""
        at: list[Size] = []
        for name, size in (("v", ROWS), ("w", COLUMNS)):
            own, offset = symbol(f"@{name}"), self.chance.randint(0, 3)
            at.append(offset + (size - 1 - own if self.chance.random() < 0.15 else own))
        if self.in_loop and self.chance.random() < 0.5:
            at[0] = symbol("@v") + symbol("@t")
        return self.statement.view(buffer, ["v", "w"], at, [ROWS, COLUMNS])

    def results(self, count: int, np: Any, *arrays: Any) -> tuple[Any, ...]:
        return tuple(self.expression(np, list(arrays)) for _ in range(count))

    def expression(self, np: Any, arrays: list[Any]) -> Any:
        values = list(arrays)
        for _ in range(self.chance.randint(1, 4)):
            x, y = self.chance.choice(values), self.chance.choice(values)
            kind = self.chance.random()
            if kind < 0.55:
                values.append(getattr(np, self.chance.choice(FUNCTIONS))(x, y))
            elif kind < 0.7:
                name, axis = self.chance.choice(("sum", "max", "min")), self.chance.choice((0, 1, None))
                values.append(np.add(x, getattr(np, name)(y, axis=axis, keepdims=True)))
            elif kind < 0.8:
                values.append(np.cumsum(x, axis=self.chance.choice((0, 1))))
            elif kind < 0.9:
                values.append(np.where(np.less(x, y), x, np.multiply(y, 3)))
            else:
                values.append(np.add(x, np.argmax(y, axis=self.chance.choice((0, 1)), keepdims=True)))
        return values[-1]
