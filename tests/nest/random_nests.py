"""Draw random loop nests over a vector or a matrix, as text: loops of every kind, loads and stores in any order."""

from __future__ import annotations

import random

HEAD = '"builtin.module"() ({\n"nest.kernel"() <{sym_name = "drawn", access = ["update", "update"]}> ({'
TAIL = '  "nest.yield"() : () -> ()\n}) : () -> ()\n}) : () -> ()\n'
KINDS = ("serial", "vector", "vector", "jammed", "shared")


def draw(seed: int) -> str:
    """Draw the text of a nest. Indices stay in range because loops leave a margin of two on either side."""
    return _Drawing(random.Random(seed)).text()


class _Drawing:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.rank = random.choice((1, 2, 2))
        self.count = 0
        dims = ("n", "m")[: self.rank]
        self.buffer = f"memref<{'?x' * self.rank}f64, #weft.dims<{', '.join(dims)}>>"

    def text(self) -> str:
        arguments = f"^bb0(%a : {self.buffer}, %b : {self.buffer}):"
        loops = "\n".join(self.nest() for _ in range(self.random.randint(1, 2)))
        return f"{HEAD}\n{arguments}\n{loops}\n{TAIL}"

    def nest(self) -> str:
        order = self.random.sample(range(self.rank), self.rank)
        body = self.statements(self.random.choice((1, 1, 2, 3)))
        is_outer_shared = self.random.random() < 0.5
        for axis in reversed(order):
            is_inner = axis == order[-1]
            kind = self.random.choice(KINDS if is_inner or is_outer_shared else KINDS[:-1])
            body = self.loop(axis, kind, body)
        return body

    def loop(self, axis: int, kind: str, body: str) -> str:
        size, variable = "nm"[axis], "ij"[axis]
        attrs = f'kind = "{kind}"' if kind != "shared" else 'kind = "serial", shared'
        return (
            f'"nest.for"() ({{\n{body}"nest.yield"() : () -> ()\n}}) '
            f'{{var = "{variable}", range = #weft.dims<2, {size} - 2>, {attrs}}} : () -> ()\n'
        )

    def statements(self, count: int) -> str:
        return "".join(self.statement() for _ in range(count))

    def statement(self) -> str:
        """Draw `x[i + 1] = y[i] + z[i - 1]`; half of them copy from one buffer to the other."""
        self.count += 1
        k, source, other, target = self.count, *(self.random.choice("ab") for _ in range(3))
        if self.random.random() < 0.5:
            source = other = "a" if target == "b" else "b"
        number = "tensor<f64>"
        lines = [
            f'%l{k} = "nest.load"(%{source}) {{at = {self.at()}}} : ({self.buffer}) -> {number}',
            f'%r{k} = "nest.load"(%{other}) {{at = {self.at()}}} : ({self.buffer}) -> {number}',
            f'%s{k} = "weft.add"(%l{k}, %r{k}) : ({number}, {number}) -> {number}',
            f'"nest.store"(%s{k}, %{target}) {{at = {self.at(still=0.5)}}} : ({number}, {self.buffer}) -> ()',
        ]
        return "\n".join(lines) + "\n"

    def at(self, still: float = 0.3) -> str:
        parts = []
        for axis in range(self.rank):
            offset = 0 if self.random.random() < still else self.random.randint(-2, 2)
            variable = "@" + "ij"[axis]
            if self.random.random() < 0.05:
                variable, offset = "2", 0
            parts.append(variable if not offset else f"{variable} {'+' if offset > 0 else '-'} {abs(offset)}")
        return f"#weft.dims<{', '.join(parts)}>"
