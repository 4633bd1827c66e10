"""Write random functions as people have them: Python with NumPy in it, and everything else that Python has."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

PRELUDE = """\
import numpy as np


class Loud(dict):
    def __getitem__(self, key):
        STATE["log"].append(key)
        return dict.__getitem__(self, key)


STATE = {"calls": 0, "log": []}
W = np.array([0.5, -1.5, 2.0, 3.0])
K = 2.5
COUNT = 0


class Point:
    def __init__(self, w, c):
        self.w, self.c = w, c

    @property
    def twice(self):
        STATE["calls"] += 1
        return self.w * 2


P = Point(np.arange(4.0), 2)


def half_(x):
    return x * 0.5 + 1


def other(x):
    return x * 0.25 - 2


half = half_


def scaled(x, by=2.0, *, plus=0):
    if by > 1:
        return x * by + plus
    return x


def loud(x):
    STATE["log"].append(1)
    return x + K


def bump(x, i):
    x[i] += 1
    return x


def weighted(x):
    return x + W


def pair(x):
    return x + 1, x


"""
PARAMETERS = "a, b, m, k, n, s, d, *more, c=2"


class Writer:
    """Writes one function. Vectors have four elements, `m` is three of them, `k` indexes them."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._vectors, self._numbers, self._ints = ["a", "b"], ["s", "n"], ["n"]
        self._fresh, self._lines = itertools.count(), list[str]()
        self._loops = 0  # around the current statement

    def function(self) -> str:
        for _ in range(self._rng.choice((1, 2, 2, 3, 3, 4))):
            self._statement(1, 2)
        self._line(1, f"return {self._result()}")
        return f"def f({PARAMETERS}):\n" + "\n".join(self._lines) + "\n"

    # -- parts

    def _pick(self, options: Sequence[str]) -> str:
        return self._rng.choice(options)

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _result(self) -> str:
        v, w = self._vector(), self._vector()
        return self._pick((
            v, v, f"{v}, {w}", f"{self._value()}, n", f"({self._value()}).sum()", f"({self._value()}, [{v}])", "None",
            f"{{'x': {self._value(1)}, 'y': {v}}}", f"{self._number()}", f"{v}[1:], s", "m, m.T", f"s, {v}[::-1]",
        ))  # fmt: skip

    def _vector(self) -> str:
        return self._pick(self._vectors)

    def _number(self) -> str:
        more = ("2", "0.5", "K", "(n + 1)", "n % 3", "d['c']", "c", "P.c", f"{self._vector()}[0]", "len(more)", "-s")
        rare = ("1.0 / (n - 1)", "n // n", f"{self._vector()}[n + 2]", "d['none']", "P.none", "2 ** n", "n << 3")
        return self._pick((*self._numbers, *more)) if self._rng.random() < 0.95 else self._pick(rare)

    def _value(self, depth: int = 2) -> str:
        """An expression over vectors."""
        if not depth or self._rng.random() < 0.2:
            given = ("W", "d['w']", "P.w", "m[0]", "m[:, 1:].sum(axis=1)[0] * a", "P.twice", "np.array([1.0, 2, 3, n])")
            return self._pick((self._vector(), self._vector(), self._vector(), f"{self._vector()}[::-1]", *given))
        left, right = self._value(depth - 1), self._value(depth - 1)
        return self._pick((
            f"({left} + {right})", f"({left} * {right})", f"({left} - {self._number()})", f"np.abs({left})",
            f"np.maximum({left}, {right})", f"({left} / {self._number()})", f"np.where({left} > 0, {left}, {right})",
            f"({left} * {right}.sum())", f"np.sqrt(np.abs({left}))", f"half({left})", f"weighted({left})",
            f"loud({left})", f"scaled({left}, {self._number()})", f"({left} if n > 1 else {right})",
            f"({left} @ {right})", f"np.cumsum({left})", f"{left}.astype(np.float32)", f"-{left}",
            f"np.minimum({left}, {self._number()})",
        ))  # fmt: skip

    def _test(self) -> str:
        v = self._vector()
        return self._pick((
            f"{v}[0] > 1", "n > 1", f"{v}.sum() > s", f"{v}[n] < {v}[0]", "n == 2 and s > 0", "not n", f"len({v}) > n",
            f"0 < {v}[1] <= 2", "isinstance(n, int)", "c is None", "more", f"np.any({v} > 1) or n", f"{v} is a",
        ))  # fmt: skip

    # -- statements

    def _statement(self, depth: int, nesting: int) -> None:
        kinds = ["let", "let", "let", "view", "update", "update", "store", "store", "item", "item", "scalar", "print",
                 "state", "mask", "fancy", "call", "unpack", "rare"]  # fmt: skip
        if nesting:
            kinds += ["loop", "loop", "loop", "branch", "branch", "attempt", "wait", "guard"]
        if self._loops:
            kinds += ["jump", "jump"]
        getattr(self, f"_{self._pick(kinds)}")(depth, nesting)

    def _block(self, depth: int, nesting: int, most: int = 2) -> None:
        known = list(self._vectors), list(self._numbers), list(self._ints)
        for _ in range(self._rng.randint(1, most)):
            self._statement(depth, nesting - 1)
        if self._rng.random() < 0.85:  # otherwise a variable may have no value later
            self._vectors, self._numbers, self._ints = known

    def _let(self, depth: int, nesting: int) -> None:
        name = self._vector() if self._rng.random() < 0.4 else f"v{next(self._fresh)}"
        made = self._pick((self._value(), self._value(), f"{self._vector()}.copy()", "np.zeros(4)", "np.ones_like(a)"))
        self._line(depth, f"{name} = {made}")
        self._vectors += [name] * (name not in self._vectors)

    def _view(self, depth: int, nesting: int) -> None:
        name = f"v{next(self._fresh)}"
        part = self._pick(("[::-1]", "[:]", "", ".T", "[...]", ".reshape(2, 2).ravel()", "[None][0]"))
        self._line(depth, f"{name} = {self._pick((self._vector(), 'm[1]', 'm[n]', 'd[chr(119)]'))}{part}")
        self._vectors.append(name)

    def _update(self, depth: int, nesting: int) -> None:
        target = self._pick((self._vector(), self._vector(), "W", "m", "d['w']", "P.w", "m[1]"))
        self._line(depth, f"{target} {self._pick(('+=', '-=', '*=', '/='))} {self._value(1)}")

    def _store(self, depth: int, nesting: int) -> None:
        part = self._pick(("[1:]", "[:-1]", "[::2]", "[-2:]", "[n:]", "[-n:]", "[:]", "[::-1]", "[1:3]"))
        other = f"{self._vector()}{part} * {self._number()}" if self._rng.random() < 0.7 else self._number()
        self._line(depth, f"{self._vector()}{part} {self._pick(('=', '+='))} {other}")

    def _item(self, depth: int, nesting: int) -> None:
        place = self._pick(("0", "-1", "n", "n - 1", "n + 2", "k[0]", *(["i", "i - 1"] if self._loops else [])))
        target = self._pick((f"{self._vector()}[{place}]", f"{self._vector()}[{place}]", f"m[1, {place}]", "m[:, n]"))
        self._line(depth, f"{target} {self._pick(('=', '+=', '*='))} {self._vector()}[{self._pick('0123')}] + 1")

    def _scalar(self, depth: int, nesting: int) -> None:
        name = self._pick((*self._numbers, f"x{next(self._fresh)}"))
        self._line(depth, f"{name} = {self._pick(('s * 0.5 +', 'n -', '-', 'float', 'max', ''))}({self._number()})")
        self._numbers += [name] * (name not in self._numbers)

    def _print(self, depth: int, nesting: int) -> None:
        shown = self._pick((f"{self._vector()}.sum() > 1", "n", f"({self._value(1)}).shape", "type(s)", "STATE", "c"))
        self._line(depth, f"print({shown}, end=' ')")

    def _state(self, depth: int, nesting: int) -> None:
        self._line(depth, self._pick((
            "STATE['calls'] += 1", f"STATE['log'].append({self._number()})", "globals_seen = K", "P.c += 1",
            f"P.w = {self._value(1)}", f"d['w'] = {self._vector()}", "d['c'] = n", f"more = ({self._vector()},)",
        )))  # fmt: skip

    def _mask(self, depth: int, nesting: int) -> None:
        v = self._vector()
        self._line(depth, self._pick((
            f"{v}[{v} > 0.5] = {self._number()}", f"{v}[{v} < s] *= 2", f"s = {v}[{v} > 0].sum()", f"{v}[k > 1] += 1",
            f"np.putmask({v}, {v} > 1, 0.5)", f"np.clip({v}, 0, 1, out={v})", f"np.copyto({v}, {self._vector()})",
        )))  # fmt: skip

    def _fancy(self, depth: int, nesting: int) -> None:
        v = self._vector()
        self._line(depth, self._pick((
            f"{v}[k] = {self._number()}", f"{v}[k] += 1", f"np.add.at({v}, k, 1)", f"s = {v}[k].sum()", f"{v}.sort()",
            f"{v}[[0, 0]] = [1, 2]", f"{v}.fill({self._number()})", f"{v}[:] = {v}[::-1]", f"np.exp({v}, out={v})",
        )))  # fmt: skip

    def _call(self, depth: int, nesting: int) -> None:
        v = self._vector()
        self._line(depth, self._pick((
            f"bump({v}, n)", f"s = half({self._number()})", f"s = half({v}[0])", f"v0 = bump({v}, 0)",
            f"s = scaled(s, by={self._number()})",
            f"loud({v})", f"s = float({v}[0]) + n", f"n = int({v}[0]) % 4", f"s = sum([x for x in {v}])",
            f"s = sum(x * 2 for x in {v})", f"s = max({v}.tolist())", f"{v} = scaled({v}, plus={self._number()})",
        )))  # fmt: skip

    def _unpack(self, depth: int, nesting: int) -> None:
        v, w = self._vector(), self._vector()
        self._line(depth, self._pick((
            f"{v}, {w} = {w}, {v}", f"{v}, v0 = pair({w})", "s, n = n, s", "a, *_ = a, b, n", "s, x0 = x0, 1.0",
            f"{v}[0], {v}[1] = {v}[1], {v}[0]", f"{v}[1:], {w}[0] = {w}[:-1] + 1, s", "(s, n), c = (1.5, 2), 3",
        )))  # fmt: skip

    def _rare(self, depth: int, nesting: int) -> None:
        v = self._vector()
        self._line(depth, self._pick((
            f"assert {self._test()}, 'asserted'", f"del {v}", "pass", f"if (y := {v}.sum()) > 1: s = y",
            f"g = lambda x: x * s; {v} = g({v})", "import math; s = math.sqrt(abs(s))", "global COUNT; COUNT += 1",
            f"{v}: object = {self._value(1)}", "z = [a, b]; z[0] += 1",
            "t = (a, n); s = t[1] * 1.5", f"n = {v}.shape[0] - 2",
        )))  # fmt: skip

    # -- compound statements

    def _loop(self, depth: int, nesting: int) -> None:
        v, w = self._vector(), self._vector()
        head = self._pick((
            "for i in range(n):", "for i in range(1, 4):", "for i in range(3, 0, -1):", "for i in range(len(a)):",
            f"for i, x in enumerate({v}):", f"for x, y in zip({v}, {w}):", f"for i in reversed(range({len(v)})):",
            "for i in range(0, 4, 2):", "for row in m:", "for i in range(n, 4):", "for z in (a, b):",
            f"for x in {v}[1:]:",
        ))  # fmt: skip
        self._line(depth, head)
        self._loops += 1
        known = len(self._numbers)
        self._numbers += [x for x in ("i", "x", "y") if f" {x} in" in head or f"{x}," in head or f", {x} in" in head]
        self._vectors += ["row"] * ("row" in head)
        self._block(depth + 1, nesting)
        name = self._pick([x for x in self._vectors if x != "row"])
        if " i" in head and self._rng.random() < 0.7:
            self._line(depth + 1, f"{name}[i] = {name}[i - 1] * 0.5 + i")
        else:
            self._line(depth + 1, f"s += {self._pick(('1', 's * 0.5', f'{name}[0]', 'K'))}")
        del self._numbers[known:]
        self._vectors = [x for x in self._vectors if x != "row"]
        self._loops -= 1
        if self._rng.random() < 0.1:
            self._line(depth, "else:")
            self._block(depth + 1, nesting, 1)

    def _wait(self, depth: int, nesting: int) -> None:
        name = f"w{next(self._fresh)}"
        self._line(depth, f"{name} = {self._pick(('0', '3', 'n'))}")
        ends = self._pick(("4", "n", "len(a)")), self._pick(("5", f"{self._vector()}[0]"))
        self._line(depth, f"while {name} < {ends[0]} and {name} < {ends[1]}:")
        self._line(depth + 1, f"{name} += 1")
        self._loops += 1
        i = "i" in self._numbers
        self._line(depth + 1, f"i = {name} - 1")
        self._block(depth + 1, nesting)
        self._loops -= 1
        self._numbers += ["i"] * (i and "i" not in self._numbers)

    def _jump(self, depth: int, nesting: int) -> None:
        self._line(depth, f"if {self._test()}:")
        self._line(depth + 1, self._pick(("break", "break", "continue", f"return {self._result()}", "return s, n")))

    def _branch(self, depth: int, nesting: int) -> None:
        self._line(depth, f"if {self._test()}:")
        self._block(depth + 1, nesting)
        if self._rng.random() < 0.3:
            self._line(depth, f"elif {self._test()}:")
            self._block(depth + 1, nesting, 1)
        if self._rng.random() < 0.5:
            self._line(depth, "else:")
            self._block(depth + 1, nesting, 1)

    def _attempt(self, depth: int, nesting: int) -> None:
        self._line(depth, "try:")
        self._block(depth + 1, nesting)
        self._line(
            depth + 1, self._pick((f"{self._vector()}[n + 1] = 3", "s = 1 / (n - 2)", "a = a + m[:, 0]", "pass"))
        )
        self._line(
            depth, self._pick(("except IndexError:", "except (IndexError, ValueError) as e:", "except Exception:"))
        )
        self._line(depth + 1, self._pick(("s = -1.0", "a = b + 1", "pass", "raise")))
        if self._rng.random() < 0.3:
            self._line(depth, "finally:")
            self._line(depth + 1, "STATE['calls'] += 1")

    def _guard(self, depth: int, nesting: int) -> None:
        if self._rng.random() < 0.5:
            self._line(depth, f"with np.errstate({self._pick(('all', 'divide'))}='{self._pick(('raise', 'ignore'))}'):")
            self._line(depth + 1, f"{self._vector()} = {self._vector()} / (n - 2) + 1")
            self._block(depth + 1, nesting)
            return
        self._line(depth, f"if {self._test()}:")
        self._line(
            depth + 1,
            self._pick(("raise ValueError(f'large {n}')", "raise KeyError", "return", f"return {self._result()}")),
        )
