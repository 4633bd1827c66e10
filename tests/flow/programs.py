"""Generate random elementwise programs, each with a plain interpreter of the same program.

A program has two parameters, `x` (f64) and `n` (i64), and variables of both dtypes. Statements nest; every loop ends,
because a counter that the program can't change bounds it. The interpreter runs one element at a time in NumPy scalars.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

FLOATS, INTS = ("x", "a", "b"), ("n", "i", "j")
_BINARY = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater,
    ">>": np.right_shift, "<<": np.left_shift,
}  # fmt: skip
_CALLS = {"sqrt": np.sqrt, "abs": np.absolute, "floor": np.floor, "maximum": np.maximum}


class Left(Exception):
    """Raised to leave a loop or the program."""

    def __init__(self, how: str, value: Any = None) -> None:
        super().__init__(how)
        self.how, self.value = how, value


@dataclass
class Program:
    """Statements as tuples; `text` writes them as a `fn`, `run` follows them for one element."""

    statements: list[Any]

    def text(self) -> str:
        head = "    var a = x * 0.5; var b = 1.0; var i = n - n; var j = n % 5\n"
        body = head + _block_text(self.statements, 1) + "    return a + b * i - j\n"
        return "fn program(x: f64, n: i64) {\n" + body + "}\n"

    def run(self, x: Any, n: Any) -> Any:
        names = {"x": x, "n": n, "a": x * np.float64(0.5), "b": np.float64(1), "i": n - n}
        names["j"] = np.remainder(n, np.int64(5))
        try:
            _run(self.statements, names)
        except Left as left:
            return left.value
        return names["a"] + names["b"] * names["i"] - names["j"]


def draw(seed: int) -> Program:
    return Program(_Drawing(random.Random(seed)).block(3, False, 5))


class _Drawing:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.loops = 0

    def block(self, depth: int, in_loop: bool, most: int) -> list[Any]:
        found = [self.statement(depth, in_loop) for _ in range(self.random.randint(1, most))]
        for k, statement in enumerate(found):
            if statement[0] in ("break", "continue", "return"):
                return found[: k + 1]
        return found

    def statement(self, depth: int, in_loop: bool) -> Any:
        kind = self.random.choices(
            ("assign", "if", "for", "while", "break", "continue", "return"),
            (5, 3 * (depth > 0), 2 * (depth > 0), 2 * (depth > 0), in_loop, in_loop, 0.4 * (depth < 3)),
        )[0]
        if kind == "assign":
            floats = self.random.random() < 0.5
            name = self.random.choice(("a", "b") if floats else ("i", "j"))
            return kind, name, self.random.choice(("", "+", "*")), (self.number if floats else self.integer)(2)
        if kind == "if":
            other = self.block(depth - 1, in_loop, 3) if self.random.random() < 0.5 else []
            return kind, self.condition(2), self.block(depth - 1, in_loop, 3), other
        if kind in ("for", "while"):
            self.loops += 1
            name = f"{'k' if kind == 'for' else 'c'}{self.loops}"
            head = ("%", self.integer(1), 6) if kind == "for" else self.condition(2)
            return kind, name, head, self.block(depth - 1, True, 4)
        return (kind, self.number(2)) if kind == "return" else (kind,)

    def number(self, depth: int) -> Any:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice((*FLOATS, 0.5, 2.0, -1.5))
        kind = self.random.random()
        if kind < 0.55:
            return self.random.choice("+-*/"), self.number(depth - 1), self.number(depth - 1)
        if kind < 0.7:
            return "+", self.number(depth - 1), self.integer(depth - 1)
        if kind < 0.85:
            return "choose", self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1)
        return "call", self.random.choice(("sqrt", "abs", "floor")), self.number(depth - 1)

    def integer(self, depth: int, literals: bool = True) -> Any:
        """The first operand is not a literal: expressions of literals alone are refused where Python refuses them."""
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice((*INTS, 1, 2, 3) if literals else INTS)
        op = self.random.choice(("+", "-", "*", "//", "%", ">>", "<<"))
        return op, self.integer(depth - 1, False), self.integer(depth - 1)

    def condition(self, depth: int) -> Any:
        if depth == 0 or self.random.random() < 0.4:
            op = self.random.choice(("<", "<=", "==", "!=", ">"))
            make = self.number if self.random.random() < 0.5 else self.integer
            return op, make(1), make(1)
        kind = self.random.choice(("and", "or", "not"))
        return (kind, self.condition(depth - 1)) if kind == "not" else (
            kind, self.condition(depth - 1), self.condition(depth - 1),
        )  # fmt: skip


def _text(expr: Any) -> str:
    if not isinstance(expr, tuple):
        return f"({expr})" if isinstance(expr, float) and expr < 0 else str(expr)
    op, *parts = expr
    if op == "choose":
        return f"({_text(parts[1])} if {_text(parts[0])} else {_text(parts[2])})"
    if op == "call":
        return f"{parts[0]}({_text(parts[1])})"
    if op == "not":
        return f"(not {_text(parts[0])})"
    return f"({_text(parts[0])} {op} {_text(parts[1])})"


def _block_text(statements: list[Any], depth: int) -> str:
    return "".join("    " * depth + line + "\n" for s in statements for line in _lines(s))


def _lines(statement: Any) -> list[str]:
    def inside(block: list[Any]) -> list[str]:
        return ["    " + line for s in block for line in _lines(s)]

    kind, *rest = statement
    if kind == "assign":
        return [f"{rest[0]} {rest[1]}= {_text(rest[2])}"]
    if kind == "if":
        other = ["} else {", *inside(rest[2])] if rest[2] else []
        return [f"if {_text(rest[0])} {{", *inside(rest[1]), *other, "}"]
    if kind == "for":
        return [f"for {rest[0]} in 0..{_text(rest[1])} {{", f"    j += {rest[0]}", *inside(rest[2]), "}"]
    if kind == "while":
        head = [f"var {rest[0]} = 0", f"while {rest[0]} < 7 and {_text(rest[1])} {{", f"    {rest[0]} += 1"]
        return [*head, *inside(rest[2]), "}"]
    return [f"return {_text(rest[0])}" if kind == "return" else kind]


def _value(expr: Any, names: dict[str, Any]) -> Any:
    if isinstance(expr, str):
        return names[expr]
    if not isinstance(expr, tuple):
        return expr
    op, *parts = expr
    if op == "and":
        return _value(parts[0], names) and _value(parts[1], names)
    if op == "or":
        return _value(parts[0], names) or _value(parts[1], names)
    if op == "not":
        return not _value(parts[0], names)
    if op == "choose":
        return np.float64(_value(parts[1] if _value(parts[0], names) else parts[2], names))
    if op == "call":
        return _CALLS[parts[0]](_value(parts[1], names))
    return _BINARY[op](*(_value(part, names) for part in parts))


def _run(statements: list[Any], names: dict[str, Any]) -> None:
    for kind, *rest in statements:
        if kind == "assign":
            new = _value(rest[2], names)
            old = names[rest[0]]
            names[rest[0]] = type(old)(_BINARY[rest[1]](old, new) if rest[1] else new)
        elif kind == "if":
            _run(rest[1] if _value(rest[0], names) else rest[2], names)
        elif kind in ("break", "continue"):
            raise Left(kind)
        elif kind == "return":
            raise Left(kind, np.float64(_value(rest[0], names)))
        else:
            _loop(kind, rest[1], rest[2], names)


def _loop(kind: str, head: Any, block: list[Any], names: dict[str, Any]) -> None:
    steps = max(0, int(_value(head, names))) if kind == "for" else 7
    for step in range(steps):
        if kind == "while" and not _value(head, names):
            return
        if kind == "for":
            names["j"] = names["j"] + np.int64(step)
        try:
            _run(block, names)
        except Left as left:
            if left.how == "return":
                raise
            if left.how == "break":
                return
