"""Generate random kernels in index notation, each with the same computation as plain Python loops.

Every part of a program is a pair: its text, and a function of sizes, arrays and indices that computes one number. All
accesses are in range for every size, so each program must be accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import numpy as np

Env = dict[str, Any]
Part = tuple[str, Callable[[Env], Any]]
DIMS = ("n", "m")


@dataclass(frozen=True)
class Index:
    """An index along a dimension: all of it, without some elements at both ends, or the first half."""

    name: str
    dim: str
    kind: str  # "all", "inner" or "half"
    before: int = 0
    after: int = 0

    @property
    def text(self) -> str:
        if self.kind == "all":
            return self.name
        stop = f"{self.dim}//2" if self.kind == "half" else f"{self.dim} - {self.after}"
        return f"{self.name} in {self.before}..{stop}"

    def range(self, env: Env) -> range:
        size = env[self.dim]
        return range(self.before, size // 2 if self.kind == "half" else size - self.after)


class Drawing:
    """Draws the parts of one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.arrays: dict[str, tuple[str, ...]] = {"x": ("n",), "y": ("m",), "a": ("n", "m"), "b": ("m", "n")}
        self.count = 0

    def index(self, dim: str | None = None) -> Index:
        name, dim = f"i{self.count}", dim or self.random.choice(DIMS)
        self.count += 1
        kind = self.random.choice(("all", "inner", "inner", "half"))
        if kind != "inner":
            return Index(name, dim, kind)
        return Index(name, dim, kind, self.random.randrange(3), self.random.randrange(3))

    def place(self, index: Index) -> Part:
        """Draw a position of an index along its dimension."""
        name, dim = index.name, index.dim
        choices: list[Part] = [
            (name, lambda env: env[name]),
            (f"{dim} - 1 - {name}", lambda env: env[dim] - 1 - env[name]),
        ]
        if index.kind == "half":
            choices += [(f"2*{name}", lambda env: 2 * env[name]), (f"2*{name} + 1", lambda env: 2 * env[name] + 1)]
        for shift in range(-index.before, index.after + 1):
            choices.append((f"{name} + {shift}" if shift >= 0 else f"{name} - {-shift}", _shifted(name, shift)))
        by = self.random.choice((-2, -1, 1, 1, 3))
        around = f"({name} - {-by}) % {dim}" if by < 0 else f"({name} + {dim} - {by}) % {dim}"
        choices.append((around, lambda env: (env[name] + by if by < 0 else env[name] - by) % env[dim]))
        choices.append((f"({name} + {abs(by)}) % {dim}", lambda env: (env[name] + abs(by)) % env[dim]))
        choices.append((f"(3*{name} + 1) % {dim}", lambda env: (3 * env[name] + 1) % env[dim]))
        choices += [("0", lambda env: 0), (f"{dim} - 1", lambda env: env[dim] - 1)]
        return self.random.choice(choices)

    def access(self, scope: Sequence[Index]) -> Part | None:
        """Draw an element of an array with an index for every dimension."""
        ways = {dim: [i for i in scope if i.dim == dim] for dim in DIMS}
        fitting = [name for name, dims in self.arrays.items() if all(ways[dim] for dim in dims)]
        if not fitting:
            return None
        name = self.random.choice(fitting)
        return _element(name, [self.place(self.random.choice(ways[dim])) for dim in self.arrays[name]])

    def bare(self, index: Index) -> Part:
        """Draw an element that determines the range of an index."""
        return _element({"n": "x", "m": "y"}[index.dim], [(index.name, lambda env: env[index.name])])

    def leaf(self, scope: Sequence[Index]) -> Part:
        found = self.access(scope) if self.random.random() < 0.8 else None
        if found is not None:
            return found
        index = self.random.choice(scope).name
        return self.random.choice(((f"0.5*{index}", lambda env: 0.5 * env[index]), ("1.25", lambda env: 1.25)))

    def expression(self, scope: Sequence[Index], depth: int, reductions: int) -> Part:
        kind = self.random.choice(("leaf", "op", "op", "choice", "reduction", "window"))
        if depth == 0 or kind == "leaf":
            return self.leaf(scope)
        if kind in ("reduction", "window") and reductions:
            return self.window(scope) if kind == "window" else self.reduction(scope, depth, reductions)
        left, right = (self.expression(scope, depth - 1, reductions) for _ in range(2))
        if kind == "choice":
            index = self.random.choice(scope).name
            return (
                f"({left[0]} if {index} % 3 == 1 else {right[0]})",
                lambda env: left[1](env) if env[index] % 3 == 1 else right[1](env),
            )
        op, function = self.random.choice(OPERATORS)
        return f"({left[0]} {op} {right[0]})", lambda env: function(left[1](env), right[1](env))

    def reduction(self, scope: Sequence[Index], depth: int, reductions: int) -> Part:
        index = self.index()
        text, value = self.expression((*scope, index), depth - 1, reductions - 1)
        seen, bare = self.bare(index)
        return (
            f"sum[{index.text}]({text} * {seen})",
            lambda env: sum(value({**env, index.name: i}) * bare({**env, index.name: i}) for i in index.range(env)),
        )

    def window(self, scope: Sequence[Index]) -> Part:
        """Draw adjacent elements: a window that fits because the index stops before the end."""
        fitting = [i for i in scope if i.after]
        if not fitting:
            return self.leaf(scope)
        index = self.random.choice(fitting)
        tap, size = f"i{self.count}", index.after + 1
        self.count += 1
        at: Part = (f"{index.name} + {tap}", lambda env: env[index.name] + env[tap])
        text, value = _element({"n": "x", "m": "y"}[index.dim], [at])
        name, function = self.random.choice((("sum", sum), ("max", max), ("min", min)))
        return (
            f"{name}[{tap} in 0..{size}]({text} * (1.0 + {tap}))",
            lambda env: function(value({**env, tap: k}) * (1.0 + k) for k in range(size)),
        )

    def definition(self, name: str) -> tuple[str, Callable[[Env], Any]]:
        """Draw a statement, and the array that it defines."""
        indices = [self.index() for _ in range(self.random.choice((1, 2, 2, 3)))]
        text, value = self.expression(indices, 3, 2)
        for index in indices:
            seen, bare = self.bare(index)
            text, value = f"{text} + {seen}", _sum(value, bare)
        bordered = any(i.kind != "all" for i in indices) and self.random.random() < 0.6
        other: Callable[[Env], Any] | None = None
        rest = ""
        if bordered:
            rest, other = f"{self.random.randrange(1, 5)}.5", _number(0.0)
            other = _number(float(rest))
            for index in indices:
                seen, bare = self.bare(index)
                rest, other = f"{rest} * {seen}", _product(other, bare)
            rest = f" else {rest}"
        whole = [range_of(i, bordered) for i in indices]

        def array(env: Env) -> Any:
            shape = [len(r(env)) for r in whole]
            found = np.zeros(shape)
            for places in product(*(r(env) for r in whole)):
                inner = {**env, **dict(zip((i.name for i in indices), places, strict=True))}
                inside = all(place in i.range(env) for i, place in zip(indices, places, strict=True))
                spot = tuple(p - r(env).start for p, r in zip(places, whole, strict=True))
                found[spot] = (value if inside or other is None else other)(inner)
            return found

        if bordered or all(i.kind == "all" for i in indices):
            self.arrays[name] = tuple(i.dim for i in indices)
        return f"    let {name}[{', '.join(i.text for i in indices)}] = {text}{rest}\n", array


def range_of(index: Index, bordered: bool) -> Callable[[Env], range]:
    return lambda env: range(env[index.dim]) if bordered else index.range(env)


def _shifted(name: str, shift: int) -> Callable[[Env], Any]:
    return lambda env: env[name] + shift


def _number(number: float) -> Callable[[Env], Any]:
    return lambda env: number


def _sum(a: Callable[[Env], Any], b: Callable[[Env], Any]) -> Callable[[Env], Any]:
    return lambda env: a(env) + b(env)


def _product(a: Callable[[Env], Any], b: Callable[[Env], Any]) -> Callable[[Env], Any]:
    return lambda env: a(env) * b(env)


def _element(name: str, places: Sequence[Part]) -> Part:
    def value(env: Env) -> Any:
        at = tuple(place(env) for _, place in places)
        assert all(0 <= k < size for k, size in zip(at, env[name].shape, strict=True)), (name, at)
        return float(env[name][at])

    return f"{name}[{', '.join(text for text, _ in places)}]", value


OPERATORS: Sequence[tuple[str, Callable[[Any, Any], Any]]] = (
    ("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b),
)  # fmt: skip


def draw(seed: int) -> tuple[str, Callable[[Env], Any]]:
    """Draw a kernel `f(x, y, a, b)`, and a function that computes its result."""
    drawing = Drawing(seed)
    statements = [(f"d{k}", *drawing.definition(f"d{k}")) for k in range(drawing.random.choice((1, 2)))]
    text = "kernel f(x: f64[n], y: f64[m], a: f64[n, m], b: f64[m, n]) {\n"
    text += "".join(statement for _, statement, _ in statements) + f"    return {statements[-1][0]}\n}}\n"

    def value(env: Env) -> Any:
        env = dict(env)
        for name, _, array in statements:
            env[name] = array(env)
        return env[statements[-1][0]]

    return text, value


def arguments(n: int, m: int) -> Iterator[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(n + 100 * m)
    yield from (rng.uniform(-1, 1, shape) for shape in ((n,), (m,), (n, m), (m, n)))
