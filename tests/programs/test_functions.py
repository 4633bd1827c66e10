"""Test random functions under `jit` against plain Python: values, identity, sharing, arguments, output, exceptions."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import random
from typing import Any

import numpy as np
import weft

PRELUDE = "import numpy as np\nSTATE = {'calls': 0}\nW = np.array([0.5, -1.5, 2.0, 3.0])\nK = 2.5\n\n"
SHAPE = (4,)
COUNT = 150


class Writer:
    """Writes a random function of two arrays of four numbers, an int and a float."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._arrays, self._numbers, self._fresh = ["a", "b"], ["n", "f"], itertools.count()
        self.lines: list[str] = []

    def function(self) -> str:
        for _ in range(self._rng.randint(2, 7)):
            self._statement(1, 2)
        picked = self._rng.sample(self._arrays, min(2, len(self._arrays)))
        returned = self._rng.choice(
            [picked[0], f"{picked[0]}, {picked[-1]}", f"{self._value()}, n", f"({self._value()}).sum()"]
        )
        self.lines.append(f"    return {returned}")
        return "def f(a, b, n, f):\n" + "\n".join(self.lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _array(self) -> str:
        return self._rng.choice(self._arrays)

    def _number(self) -> str:
        return self._rng.choice([*self._numbers, "2", "0.5", "K", "(n + 1)", "1.0 / (n - 1)", "n % 3"])

    def _value(self, depth: int = 2) -> str:
        if not depth or self._rng.random() < 0.2:
            return self._rng.choice([self._array(), self._array(), "W", "W[::-1]", f"{self._array()}[::-1]"])
        left, right = self._value(depth - 1), self._value(depth - 1)
        forms = [
            f"({left} + {right})", f"({left} * {right})", f"({left} - {self._number()})", f"np.abs({left})",
            f"np.maximum({left}, {right})", f"({left} / {self._number()})", f"np.where({left} > 0, {left}, {right})",
            f"({left} * {right}.sum())", f"np.sqrt(np.abs({left}))",
        ]  # fmt: skip
        return self._rng.choice(forms)

    def _statement(self, depth: int, nesting: int) -> None:
        kinds = ["let", "let", "let", "view", "update", "store", "item", "number", "print", "state", "mask"]
        kind = self._rng.choice([*kinds, "for", "if", "try", "raise"] if nesting else kinds)
        getattr(self, f"_{kind}")(depth, nesting)

    def _let(self, depth: int, nesting: int) -> None:
        name = self._array() if self._rng.random() < 0.4 else f"v{next(self._fresh)}"
        self._line(depth, f"{name} = {self._value()}")
        if depth == 1 and name not in self._arrays:
            self._arrays.append(name)

    def _view(self, depth: int, nesting: int) -> None:
        name = f"v{next(self._fresh)}"
        self._line(depth, f"{name} = {self._array()}{self._rng.choice(['[::-1]', '[:]', '', '.T'])}")
        if depth == 1:
            self._arrays.append(name)

    def _update(self, depth: int, nesting: int) -> None:
        self._line(depth, f"{self._array()} {self._rng.choice(['+=', '-=', '*='])} {self._value(1)}")

    def _store(self, depth: int, nesting: int) -> None:
        part = self._rng.choice(["[1:]", "[:-1]", "[::2]", "[-2:]", "[n:]"])
        other = self._array()
        self._line(depth, f"{self._array()}{part} {self._rng.choice(['=', '+='])} {other}{part} * {self._number()}")

    def _item(self, depth: int, nesting: int) -> None:
        place = self._rng.choice(["0", "-1", "n", "n - 1", "n + 2"])
        self._line(
            depth,
            f"{self._array()}[{place}] {self._rng.choice(['=', '+='])} {self._array()}[{self._rng.randint(0, 3)}] + 1",
        )

    def _number(self, depth: int = -1, nesting: int = 0) -> Any:  # type: ignore[no-redef]
        if depth < 0:
            return self._rng.choice([*self._numbers, "2", "0.5", "K", "(n + 1)", "1.0 / (n - 1)", "n % 3"])
        self._line(depth, f"f = f * 0.5 + {self._number()}")
        return None

    def _print(self, depth: int, nesting: int) -> None:
        self._line(depth, f"print({self._array()}, ({self._value(1)}).shape)")

    def _state(self, depth: int, nesting: int) -> None:
        self._line(depth, "STATE['calls'] += 1")

    def _mask(self, depth: int, nesting: int) -> None:
        name = self._array()
        self._line(depth, f"{name}[{name} > 0.5] = {self._number()}")

    def _for(self, depth: int, nesting: int) -> None:
        self._line(
            depth, self._rng.choice(["for i in range(n):", "for i in range(1, 4):", "for i in range(3, 0, -1):"])
        )
        for _ in range(self._rng.randint(1, 2)):
            self._statement(depth + 1, nesting - 1)
        name = self._array()
        self._line(depth + 1, f"{name}[i] = {name}[i - 1] * 0.5 + i")

    def _if(self, depth: int, nesting: int) -> None:
        self._line(depth, f"if {self._rng.choice([f'{self._array()}[0] > 1', 'n > 1', f'{self._array()}.sum() > f'])}:")
        self._statement(depth + 1, nesting - 1)

    def _try(self, depth: int, nesting: int) -> None:
        self._line(depth, "try:")
        self._statement(depth + 1, nesting - 1)
        self._line(depth + 1, f"{self._array()}[n + 1] = 3")
        self._line(depth, "except IndexError:")
        self._line(depth + 1, "f = -1.0")

    def _raise(self, depth: int, nesting: int) -> None:
        self._line(depth, f"if {self._array()}[1] > 50:")
        self._line(depth + 1, "raise ValueError('large')")


def made(text: str, name: str) -> Any:
    """Compile a function so that its source can be read."""
    file = f"<random {name}>"
    whole = PRELUDE + text
    linecache.cache[file] = (len(whole), None, whole.splitlines(True), file)
    space: dict[str, Any] = {"__name__": "random_functions"}
    exec(compile(whole, file, "exec"), space)
    return space["f"]


def outcome(function: Any, kind: str, n: int, state: dict[str, int]) -> Any:
    """Everything that can be seen of a call."""
    base = np.linspace(-1.0, 2.0, 6)
    a = base[1:5] if kind != "apart" else base[1:5].copy()
    b = {"apart": np.arange(4.0) + 0.5, "same": a, "shifted": base[:4]}[kind]
    printed = io.StringIO()
    before = state["calls"]
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            result = function(a, b, n, 0.75)
        except Exception as error:
            return "raised", type(error), str(error), a.copy(), b.copy(), printed.getvalue(), state["calls"] - before
    parts = result if isinstance(result, tuple) else (result,)
    shown = [(type(p), p.copy() if isinstance(p, np.ndarray) else p) for p in parts]
    identity = [[p is x for x in (a, b, *parts)] for p in parts]
    sharing = [
        np.shares_memory(p, x)
        for p in parts
        for x in (a, b, *parts)
        if isinstance(p, np.ndarray) and isinstance(x, np.ndarray)
    ]
    return shown, identity, sharing, a.copy(), b.copy(), printed.getvalue(), state["calls"] - before


def equal(x: Any, y: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, (np.ndarray, np.generic, float)) and not isinstance(x, str):
        if np.asarray(x).dtype != np.asarray(y).dtype or np.shape(x) != np.shape(y):
            return False
        return bool(np.allclose(x, y, rtol=1e-9, atol=1e-9, equal_nan=True))
    return bool(x == y)


def check(seed: int) -> tuple[str, Any]:
    """Write a function and compare its calls; return its text and the jitted function."""
    text = Writer(random.Random(seed)).function()
    plain, jitted = made(text, f"{seed}"), weft.jit(made(text, f"{seed}"))
    mine, theirs = jitted.__wrapped__.__globals__["STATE"], plain.__globals__["STATE"]
    for kind, n in (("apart", 2), ("apart", 3), ("same", 2), ("shifted", 1), ("apart", 2), ("apart", 0)):
        wanted, found = outcome(plain, kind, n, theirs), outcome(jitted, kind, n, mine)
        assert equal(wanted, found), f"{seed} {kind} {n}\n{text}\n{wanted}\n{found}"
    assert not any("planning failed" in r.text for r in jitted._program.reasons), text
    return text, jitted


def test_random_functions() -> None:
    native = 0
    for seed in range(COUNT):
        _, jitted = check(seed)
        native += jitted.explain().native_pieces > 0
    assert native > COUNT // 2
