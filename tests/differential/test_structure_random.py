"""Test random programs of views, lookups, concatenations, scans and reductions on integers against the reference."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from weft.backends import reference
from weft.ir.builder import Builder
from weft.ir.dims import Size
from weft.ir.dtypes import I64
from weft.ir.errors import IndexProblem, ValueProblem
from weft.ir.graph import Value
from weft.ir.ops import BROADCAST, CONCATENATE, GATHER, IOTA, RESHAPE, SCAN, SLICE, TABLE, TRANSPOSE
from weft.ir.types import Sizes

from .arrays import LAYOUTS
from .building import Compiled

ELEMENTWISE = ("add", "sub", "mul", "minimum", "bitwise_xor")
REDUCTIONS = ("sum", "max", "argmax", "argmin", "reduce_xor")
MEMORY = ("C", "F", "strided", "negative", "rows with gaps", "negative inner")


class Draw:
    """Draw a program from one seed; it asks for no size that a call could refuse."""

    def __init__(self, seed: int) -> None:
        self.seed, self.length = seed, 3 + seed % 9

    def __call__(self, b: Builder, *inputs: Value) -> list[Value]:
        self.rng, self.b = np.random.default_rng(self.seed), b
        values = list(inputs)
        for _ in range(self.length):
            values.append(self.step(values))
        results = values[len(inputs) :]
        return [results[-1], *(v for v in results[:-1] if self.rng.random() < 0.25)]

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def step(self, values: list[Value]) -> Value:
        x = self.pick(values)
        makers = [self.numbered, self.combined, self.joined] if not x.type.shape else [
            self.numbered, self.combined, self.combined, self.joined, self.joined, self.looked_up, self.looked_up,
            self.scanned, self.scanned, self.reduced, self.reduced, self.turned, self.sliced, self.folded,
        ]  # fmt: skip
        return self.pick(makers)(x, values)  # type: ignore[no-any-return]

    def axis(self, x: Value) -> int:
        return int(self.rng.integers(x.type.rank))

    def alike(self, x: Value, values: list[Value]) -> list[Value]:
        """Return values of the same shape, by their types or by a guard on this call's sizes."""
        number = self.b.facts.number
        return [v for v in values if [number(n) for n in v.type.shape] == [number(n) for n in x.type.shape]]

    def numbered(self, x: Value, values: list[Value]) -> Value:
        shape = x.type.shape or (3,)
        return self.b.op(IOTA, shape=Sizes(shape), axis=int(self.rng.integers(len(shape))))

    def combined(self, x: Value, values: list[Value]) -> Value:
        other = self.pick([*self.alike(x, values), self.b.constant(int(self.rng.integers(1, 5)), I64)])
        return self.b.op(TABLE[self.pick(ELEMENTWISE)], x, other)

    def joined(self, x: Value, values: list[Value]) -> Value:
        if not x.type.shape:
            return self.b.op(BROADCAST, x, shape=Sizes((4,)))
        pieces = [self.pick(self.alike(x, values)) for _ in range(int(self.rng.integers(1, 4)))]
        return self.b.op(CONCATENATE, x, *pieces, axis=self.axis(x))

    def looked_up(self, x: Value, values: list[Value]) -> Value:
        """Look up by another value, brought into range; an empty axis has nothing to look up."""
        axis = self.axis(x)
        size = x.type.shape[axis]
        if self.b.facts.number(size) == 0:
            return self.turned(x, values)
        index = self.pick([v for v in values if v.type.rank <= 2])
        # The size is part of the program's type, so this stands for any size but 0.
        count = self.b.op(TABLE["add"], self.b.op(TABLE["sum"], self.ones(size), axes=(0,)), self.b.constant(0, I64))
        return self.b.op(GATHER, x, self.b.op(TABLE["remainder"], index, count), axes=(axis,))

    def ones(self, size: Size) -> Value:
        return self.b.op(BROADCAST, self.b.constant(1, I64), shape=Sizes((size,)))

    def scanned(self, x: Value, values: list[Value]) -> Value:
        return self.b.op(SCAN, x, combine=self.pick(("add", "maximum", "sub", "mul")), axis=self.axis(x))

    def reduced(self, x: Value, values: list[Value]) -> Value:
        name, axis = self.pick(REDUCTIONS), self.axis(x)
        axes = tuple(range(x.type.rank)) if self.rng.random() < 0.3 else (axis,)
        empty = any(self.b.facts.number(n) == 0 for n in x.type.shape)
        return self.b.op(TABLE["sum" if empty else name], x, axes=axes, keepdims=bool(self.rng.random() < 0.5))

    def turned(self, x: Value, values: list[Value]) -> Value:
        return self.b.op(TRANSPOSE, x, order=tuple(int(k) for k in self.rng.permutation(x.type.rank)))

    def sliced(self, x: Value, values: list[Value]) -> Value:
        """Slice backwards along one axis, and without the first element along another."""
        back, shorter = self.axis(x), self.axis(x)
        shape = list(x.type.shape)
        steps = [-1 if k == back else 1 for k in range(len(shape))]
        starts: list[Size] = [n - 1 if k == back else 0 for k, n in enumerate(shape)]
        if (self.b.facts.number(shape[shorter]) or 0) > 1:
            shape[shorter] = shape[shorter] - 1
        return self.b.op(SLICE, x, starts=Sizes(starts), steps=tuple(steps), sizes=Sizes(shape))

    def folded(self, x: Value, values: list[Value]) -> Value:
        """Merge two axes, which may need memory, and add a new one."""
        shape = x.type.shape
        merged = (shape[0] * shape[1], *shape[2:]) if len(shape) > 1 and self.rng.random() < 0.5 else (1, *shape)
        return self.b.op(RESHAPE, x, shape=Sizes(merged))


def check(seed: int) -> None:
    """Call a program twice; if the reference refuses a call, native code must raise the same error."""
    compiled = Compiled(Draw(seed), 2)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        shape = tuple(int(n) for n in rng.choice((0, 1, 2, 3, 5, 17, 40), 2, p=(0.04, 0.12, 0.2, 0.2, 0.2, 0.14, 0.1)))
        arrays = [LAYOUTS[rng.choice(MEMORY)](rng.integers(-40, 40, shape)) for _ in range(2)]
        try:
            compiled.checked(*arrays)
        except (ValueProblem, IndexProblem) as error:
            with pytest.raises(type(error), match=re.escape(error.message)):
                reference.run(compiled.kernel.lower(*arrays).built.graph, arrays)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_programs(start: int) -> None:
    for seed in range(start, start + 10):
        try:
            check(seed)
        except Exception as error:
            raise AssertionError(f"program {seed}: {error}") from error
