"""Write random programs: statements over numbers, arrays and views, in loops and branches.

Most of them run; some raise, as a program of a user might: an index out of range, a division by zero.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

N, M = 6, 4  # sizes of the arguments
ARGUMENTS = "a, b, m, k, n, s"


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.numbers = ["s", "n"]
        self.ints = ["n"]
        self.loops: list[str] = []  # variables of loops, which are in range for vectors
        self.vectors = ["a", "b", "m[:, 1]"]
        self.matrices = ["m"]
        self.fixed: set[str] = set()
        self.count = 0
        self.in_loop = 0

    def pick(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- expressions

    def integer(self, depth: int = 0) -> str:
        options = [str(self.random.randrange(-3, 6)), *self.ints, *self.loops]
        if depth < 2 and self.chance(0.4):
            op = self.pick(("+", "-", "*", "//", "%", "&", "|", "^", "<<") if self.chance(0.4) else ("+", "-", "*"))
            return f"({self.integer(depth + 1)} {op} {self.integer(depth + 1)})"
        if self.chance(0.1):
            return self.pick(("len(a)", "m.shape[1]", "int(s)", "a.size", "abs(n)", "k[1]", "min(n, 3)"))
        return self.pick(options)

    def index(self) -> str:
        if self.loops and self.chance(0.75):
            name = self.pick(self.loops)
            rare = (f"{name} + 1", f"n - {name}", f"{name} - 2", f"2 * {name}")
            return self.pick((name, name, name, f"{name} - 1", f"-1 - {name}") if self.chance(0.9) else rare)
        return self.pick(("0", "1", "-1", "2", "n", "k[0]", "k[2]") if self.chance(0.95) else ("9", self.integer(1)))

    def element(self) -> str:
        if self.chance(0.25):
            return f"m[{self.index()}, {self.pick(('0', '1', '-1', '2'))}]"
        return f"{self.pick(self.vectors)}[{self.index()}]"

    def number(self, depth: int = 0) -> str:
        roll = self.random.random()
        if depth < 3 and roll < 0.4:
            op = self.pick(
                ("+", "-", "*", "+", "-", "*", "/", "//", "%", "**") if self.chance(0.3) else ("+", "-", "*")
            )
            right = self.pick(("2", "3")) if op == "**" else self.number(depth + 1)
            return f"({self.number(depth + 1)} {op} {right})"
        if depth < 2 and roll < 0.5:
            return self.pick((
                f"np.{self.pick(('sqrt', 'exp', 'abs', 'tanh', 'floor'))}({self.element()})",
                f"max({self.number(2)}, {self.number(2)})", f"float({self.number(2)})",
                f"({self.number(2)} if {self.truth()} else {self.number(2)})", f"half({self.number(2)})",
                f"{self.vector(1)}.{self.pick(('sum', 'max', 'mean'))}()", f"-{self.number(2)}",
                f"np.dot({self.pick(self.vectors)}, {self.pick(self.vectors)})", "np.float32(0.5)",
            ))  # fmt: skip
        if roll < 0.65:
            return self.element()
        if roll < 0.75:
            return self.integer(1)
        return self.pick((*self.numbers, "0.5", "2", "1.5"))

    def truth(self, depth: int = 0) -> str:
        if depth < 1 and self.chance(0.25):
            return f"({self.truth(1)} {self.pick(('and', 'or'))} {self.truth(1)})"
        if self.chance(0.15):
            return f"not {self.truth(1)}"
        if self.chance(0.15):
            return f"0 <= {self.integer(1)} < {self.integer(1)}"
        return f"{self.number(2)} {self.pick(('<', '<=', '>', '==', '!='))} {self.number(2)}"

    def vector(self, depth: int = 0) -> str:
        """An array of N elements; sometimes of another size, or a slice that has it."""
        if depth < 2 and self.chance(0.55):
            op = self.pick(("+", "-", "*", "/"))
            other = self.number(2) if self.chance(0.4) else self.vector(depth + 1)
            return f"({self.vector(depth + 1)} {op} {other})"
        if self.chance(0.2):
            return f"np.{self.pick(('sqrt', 'abs', 'exp'))}({self.pick(self.vectors)})"
        if self.chance(0.2):
            return self.pick(("a[::-1]", "np.flip(b)", "np.where(a > b, a, b)", "np.maximum(a, b)", "m.sum(axis=1)"))
        return self.pick(self.vectors)

    def sliced(self) -> tuple[str, str]:
        """A target that is a part of an array, and a value that fits."""
        base = self.pick(("a", "b", *(v for v in self.vectors if v.startswith("u"))))
        part = self.pick((":", "1:", ":-1", "::2", "::-1", "n:", "1:-1", f"{self.index()}:", f":{self.index()}", "..."))
        target = f"{base}[{part}]"
        kind = self.random.random()
        if kind < 0.35:
            return target, self.number(1)
        if kind < 0.7:
            return target, f"{self.pick(('a', 'b'))}[{part}] * {self.number(2)}"
        if kind < 0.85:
            return f"{base}[{base} > {self.number(2)}]", self.number(2)
        return f"m[{self.index()}]", f"m[{self.index()}] + {self.number(2)}"

    # -- statements

    def statement(self) -> None:
        options = [self.scalar] * 4 + [self.store] * 4 + [self.update] * 3 + [self.slice_store] * 4 + [self.branch] * 2
        options += [self.array] * 2 + [self.view] + [self.integer_variable]
        if self.depth < 4:
            options += [self.loop] * 3 + [self.while_loop]
        if self.in_loop:
            options += [self.jump]
        self.pick(options)()

    def block(self, most: int) -> None:
        self.depth += 1
        scope = list(self.numbers), list(self.ints), list(self.vectors), list(self.loops)
        for _ in range(self.random.randint(1, most)):
            self.statement()
        if not self.chance(0.2):  # otherwise a variable may have no value later
            self.numbers, self.ints, self.vectors, self.loops = scope
        self.depth -= 1

    def scalar(self) -> None:
        names = [name for name in self.numbers if name.startswith("x")]
        value = self.number()
        if names and self.chance(0.6):
            self.add(f"{self.pick(names)} {self.pick(('=', '+=', '*=', '-='))} {value}")
            return
        name = self.fresh("x")
        self.add(f"{name} = {value}")
        self.numbers.append(name)

    def integer_variable(self) -> None:
        names = [name for name in self.ints if name.startswith("i")]
        value = self.integer()
        if names and self.chance(0.7):
            self.add(f"{self.pick(names)} {self.pick(('=', '+=', '-='))} {value}")
            return
        name = self.fresh("i")
        self.add(f"{name} = {value}")
        self.ints.append(name)
        self.numbers.append(name)

    def store(self) -> None:
        self.add(f"{self.element()} = {self.number()}")

    def update(self) -> None:
        self.add(f"{self.element()} {self.pick(('+=', '-=', '*='))} {self.number(1)}")

    def slice_store(self) -> None:
        target, value = self.sliced()
        sign = self.pick(("=", "=", "+=", "*="))
        if self.chance(0.2):
            target, value = self.pick(("a", "b")), self.vector()
            target = target if sign != "=" else f"{target}[:]"
        if self.chance(0.1):
            target, value = f"{self.pick(('a', 'b'))}[k]", self.pick((self.number(2), "a[:3]", "b[k] * 2"))
        if self.chance(0.05):
            self.add(f"np.add.at({self.pick(('a', 'b'))}, k, {self.number(2)})")
            return
        self.add(f"{target} {sign} {value}")

    def array(self) -> None:
        names = [v for v in self.vectors if v.startswith("t")]
        if names and self.chance(0.4):
            self.add(f"{self.pick(names)} = {self.vector()}")
            return
        name = self.fresh("t")
        made = self.pick(
            (self.vector(), self.vector(), "np.zeros(6)", "a.copy()", "np.ones_like(b)", "np.full(6, 0.5)")
        )
        self.add(f"{name} = {made}")
        self.vectors.append(name)

    def view(self) -> None:
        if self.chance(0.3):
            self.add(f"{self.pick(('a', 'b'))} = {self.vector()}")
            return
        name = self.fresh("u")
        if self.chance(0.4):
            self.add(f"{name} = {self.pick([v for v in self.vectors if '[' not in v])}")
            self.vectors.append(name)
            return
        self.add(f"{name} = {self.pick(('a[:]', 'b[::-1]', 'm.T[0]', 'm[:, 2]', 'a[...]'))}")
        self.vectors.append(name)

    def branch(self) -> None:
        self.add(f"if {self.truth()}:")
        self.block(2)
        if self.chance(0.4):
            self.add("else:")
            self.block(2)

    def loop(self) -> None:
        name = self.fresh("j")
        over = self.pick((
            "range(6)", "range(len(a))", "range(1, len(b) - 1)", "range(n)", "range(5, -1, -1)", "range(0, 6, 2)",
            "range(n, 6)", f"range({self.pick([*self.loops, 'n'])})", f"range({self.pick([*self.loops, 'n'])} + 1, 6)",
        ))  # fmt: skip
        kind = self.random.random()
        if kind < 0.75:
            self.add(f"for {name} in {over}:")
        elif kind < 0.85:
            self.add(f"for {name}, e{self.count} in enumerate({self.pick(('a', 'b', 'm[:, 0]'))}):")
            self.numbers.append(f"e{self.count}")
        else:
            self.add(f"for e{self.count}, {name} in zip({self.pick(('a', 'b'))}, range(n, 9)):")
            self.numbers.append(f"e{self.count}")
        scope = list(self.numbers), list(self.loops)
        self.loops.append(name)
        self.ints.append(name)
        self.in_loop += 1
        self.block(3)
        self.in_loop -= 1
        self.numbers, self.loops = ([x for x in scope[0] if not x.startswith("e")], scope[1])
        self.ints = [i for i in self.ints if i != name]
        if self.chance(0.15):
            self.add("else:")
            self.block(1)

    def while_loop(self) -> None:
        name = self.fresh("w")
        self.add(f"{name} = {self.pick(('0', 'n', '1'))}")
        self.add(f"while {name} < {self.pick(('5', '6', 'len(a)'))} and {self.truth(1)}:")
        self.depth += 1
        self.add(f"{name} += 1")
        self.depth -= 1
        self.ints.append(name)
        self.in_loop += 1
        self.block(2)
        self.in_loop -= 1

    def jump(self) -> None:
        self.add(f"if {self.truth()}:")
        self.depth += 1
        self.add(self.pick(("continue", "break", "continue") if self.chance(0.8) else ("return s",)))
        self.depth -= 1

    def program(self) -> str:
        for _ in range(self.random.randint(2, 6)):
            self.statement()
        found = [*self.numbers, *(v for v in self.vectors if "[" not in v)]
        kept = self.random.sample(found, min(len(found), self.random.randint(1, 3)))
        self.add(f"return {', '.join(kept)}" + ("," if len(kept) == 1 else ""))
        return f"def program({ARGUMENTS}):\n" + "\n".join(self.lines) + "\n"


def half(v: Any) -> Any:
    if v > 1:
        return v / 2
    return v * 0.5


def program_of(seed: int) -> tuple[str, tuple[Any, ...]]:
    """A program and its arguments."""
    writer = Writer(seed)
    text = writer.program()
    rng = np.random.default_rng(seed)
    kind = writer.pick((np.float64, np.float64, np.float64, np.float32, np.int64, np.int32))
    arrays = [(rng.random(shape) * 4 - 1).astype(kind) for shape in (N, N, (N, M))]
    return text, (*arrays, rng.integers(0, 4, 3), int(rng.integers(0, 5)), float(np.round(rng.random() * 3 - 1, 2)))
