"""Generate random kernels with loops over whole arrays, each with a NumPy interpreter of it.

They have two arrays and two numbers, all i64, so that the order of additions does not matter. A counter that the
program can't change ends each `while`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ARRAYS, NUMBERS = ("a", "b"), ("s", "t")
ELEMENTWISE: dict[str, Callable[..., Any]] = {"+": np.add, "-": np.subtract, "*": np.multiply, "^": np.bitwise_xor}
COMPARED: dict[str, Callable[..., Any]] = {"<": np.less, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}
WHOLE: dict[str, Callable[..., Any]] = {
    "roll({}, 1)": lambda x: np.roll(x, 1),
    "{}[::-1]": lambda x: x[::-1],
    "cumsum({})": np.cumsum,
    "sort_pairs": lambda x: np.where(x > x[::-1], x, x[::-1]),
}
REDUCED: dict[str, Callable[..., Any]] = {
    "sum({})": np.sum,
    "max({})": np.max,
    "min({})": np.min,
    "{}[1]": lambda x: x[1],
}
TEXTS = {"sort_pairs": "where({0} > {0}[::-1], {0}, {0}[::-1])"}


class Left(Exception):
    """Raised to leave a step."""


@dataclass
class Program:
    """Statements as tuples."""

    statements: list[Any]

    def text(self) -> str:
        head = "kernel run(x: i64[n], y: i64[n], p: i64) -> (i64[n], i64[n], i64, i64) {\n"
        start = "    var a = x; var b = y; var s = p; var t = 0\n"
        return head + start + "".join(_lines(self.statements, 1)) + "    return a, b, s, t\n}\n"

    def run(self, x: Any, y: Any, p: int) -> tuple[Any, ...]:
        names = {"a": x, "b": y, "s": np.int64(p), "t": np.int64(0)}
        with np.errstate(all="ignore"):
            _run(self.statements, names)
        return tuple(names[n] for n in (*ARRAYS, *NUMBERS))


def draw(seed: int) -> Program:
    drawing = _Drawing(random.Random(seed))
    return Program([drawing.loop(2), *drawing.block(2, False)])


class _Drawing:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.loops = 0

    def block(self, depth: int, in_loop: bool) -> list[Any]:
        found = []
        for _ in range(self.random.randint(1, 4)):
            found.append(self.statement(depth, in_loop))
            if found[-1][0] in ("break", "continue"):
                break
        return found

    def statement(self, depth: int, in_loop: bool) -> Any:
        weights = (6, 2 * (depth > 0), 2 * (depth > 0), 0.7 * in_loop, 0.7 * in_loop)
        kind = self.random.choices(("assign", "if", "loop", "break", "continue"), weights)[0]
        if kind == "assign":
            is_array = self.random.random() < 0.6
            name = self.random.choice(ARRAYS if is_array else NUMBERS)
            return kind, name, self.array(2) if is_array else self.number(2)
        if kind == "if":
            other = self.block(depth - 1, in_loop) if self.random.random() < 0.5 else []
            return kind, self.condition(), self.block(depth - 1, in_loop), other
        return self.loop(depth) if kind == "loop" else (kind,)

    def loop(self, depth: int) -> Any:
        self.loops += 1
        if self.random.random() < 0.5:
            return "for", f"i{self.loops}", self.random.randint(0, 4), self.block(depth - 1, True)
        return "while", f"c{self.loops}", self.condition(), self.block(depth - 1, True)

    def condition(self) -> Any:
        return "compare", self.random.choice([*COMPARED]), self.number(1), self.number(1)

    def array(self, depth: int) -> Any:
        if depth == 0:
            return self.random.choice(ARRAYS)
        if self.random.random() < 0.4:
            return "whole", self.random.choice([*WHOLE]), self.array(0)
        other = self.array(depth - 1) if self.random.random() < 0.6 else self.number(1)
        return "op", self.random.choice([*ELEMENTWISE]), self.array(depth - 1), other

    def number(self, depth: int) -> Any:
        if depth == 0:
            return self.random.choice((*NUMBERS, 1, 2, 5))
        if self.random.random() < 0.4:
            return "reduce", self.random.choice([*REDUCED]), self.random.choice(ARRAYS)
        return "op", self.random.choice([*ELEMENTWISE]), self.random.choice(NUMBERS), self.number(depth - 1)


def _text(expr: Any) -> str:
    if not isinstance(expr, tuple):
        return str(expr)
    kind, how, *parts = expr
    if kind in ("whole", "reduce"):
        return str(TEXTS.get(how, how).format(_text(parts[0])))
    return f"({_text(parts[0])} {how} {_text(parts[1])})"


def _lines(statements: list[Any], depth: int) -> list[str]:
    pad, found = "    " * depth, []
    for kind, *parts in statements:
        if kind == "assign":
            found.append(f"{pad}{parts[0]} = {_text(parts[1])}\n")
        elif kind == "if":
            found += [f"{pad}if {_text(parts[0])} {{\n", *_lines(parts[1], depth + 1), f"{pad}}}"]
            found += [" else {\n", *_lines(parts[2], depth + 1), f"{pad}}}\n"] if parts[2] else ["\n"]
        elif kind == "for":
            found += [f"{pad}for {parts[0]} in 0..{parts[1]} {{\n", *_lines(parts[2], depth + 1), f"{pad}}}\n"]
        elif kind == "while":
            name, condition, block = parts
            found += [f"{pad}var {name} = 0\n", f"{pad}while {name} < 4 and {_text(condition)} {{\n"]
            found += [f"{pad}    {name} += 1\n", *_lines(block, depth + 1), f"{pad}}}\n"]
        else:
            found.append(f"{pad}{kind}\n")
    return found


def _value(expr: Any, names: dict[str, Any]) -> Any:
    if not isinstance(expr, tuple):
        return names[expr] if isinstance(expr, str) else np.int64(expr)
    kind, how, *parts = expr
    table = {"whole": WHOLE, "reduce": REDUCED, "op": ELEMENTWISE, "compare": COMPARED}[kind]
    return table[how](*(_value(part, names) for part in parts))


def _run(statements: list[Any], names: dict[str, Any]) -> None:
    for kind, *parts in statements:
        if kind == "assign":
            names[parts[0]] = _value(parts[1], names)
        elif kind == "if":
            _run(parts[1] if _value(parts[0], names) else parts[2], names)
        elif kind in ("for", "while"):
            _loop(kind, parts, names)
        else:
            raise Left(kind)


def _loop(kind: str, parts: list[Any], names: dict[str, Any]) -> None:
    _, head, block = parts
    for _ in range(head if kind == "for" else 4):
        if kind == "while" and not _value(head, names):
            return
        try:
            _run(block, names)
        except Left as left:
            if str(left) == "break":
                return
