"""Write random functions around loops: early exits, variables that change their kind, overlapping views, masks.

They have the parameters of `random_functions` and use its prelude. Vectors have four elements, `m` is three of them,
`k` indexes them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

from tests.programs.random_functions import PARAMETERS

SLICES = (
    "1:",
    ":-1",
    "::-1",
    ":",
    "n:",
    "-n:",
    "::2",
    "1:3",
    "n:n",
    "2:1",
    ":0",
    "i:",
    ":i",
    "-1:-4:-1",
    "-1::-1",
    "n::2",
)
PAIRS = (("1:", ":-1"), (":-1", "1:"), ("::-1", ":"), (":", "::-1"), ("::2", "1::2"), ("2:", ":2"), (":2",
"::-2"), ("1:3", "::2"),
         ("i:", ":4 - i"), (":0", "n:n"), ("n:", ":4 - n"), ("-2:", "1:3"))  # fmt: skip


class LoopWriter:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(-1 - seed)
        self._lines: list[str] = []
        self._numbers = ["x", "y"]
        self._vectors = ["a", "b"]
        self._indices: list[str] = []  # variables of the loops around a statement
        self._counts = itertools.count()
        self._room = 14  # statements that may follow, so that functions stay short

    def function(self) -> str:
        for name in ("x", "y"):
            self._line(1, f"{name} = {self._start()}")
        self._line(1, "at, i = -1, 1")
        for _ in range(self._rng.choice((0, 0, 1, 1, 2))):
            self._setup(1)
        for _ in range(self._rng.choice((1, 1, 2))):
            self._around(1)
        if self._chance(0.3):
            self._body(1, 1)
        self._line(1, f"return {self._result()}")
        return f"def f({PARAMETERS}):\n" + "\n".join(self._lines) + "\n"

    # -- parts

    def _pick(self, options: Sequence[str]) -> str:
        return self._rng.choice(options)

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _start(self) -> str:
        """A value that a variable has before a loop."""
        return self._pick((
            "0", "0", "0.0", "1.5", "None", "s", "n", "a[0]", "1j", "np.float32(0.5)", "np.float64(2)", "True", "-1",
            "np.int8(3)", "b.sum()", "1 - 2j", "np.complex64(1j)", "np.float16(1.5)", "d['c']",
        ))  # fmt: skip

    def _vector(self) -> str:
        return self._pick(self._vectors)

    def _index(self) -> str:
        own = [*self._indices, *(f"{i} - 1" for i in self._indices), *(f"-1 - {i}" for i in self._indices[-1:])]
        return self._pick((*own, *own, "0", "-1", "n", "k[1]") if self._chance(0.97) else ("n + 2", "9", "at"))

    def _number(self) -> str:
        own = (*self._numbers, *self._numbers, f"{self._vector()}[{self._index()}]", f"m[1, {self._index()}]")
        return self._pick((*own, *self._indices, "0.5", "2", "s", "n", "K", "d['c']", "P.c"))

    def _changed(self, name: str) -> str:
        """A new value of a number."""
        v, i = self._vector(), self._index()
        return self._pick((
            f"{name} + {self._number()}", f"{name} * 0.5 + {v}[{i}]", f"{name} + 1", f"{name} / 2",
            f"{name} + {v}[{i}]",
            f"{v}[{i}]", f"{name} + 1j", f"{name} * 2", f"float({self._number()})", f"max({name}, {self._number()})",
            f"{i}", f"{name} if {self._test()} else {self._number()}", f"{v}.sum()", f"abs({name})", f"-{name}",
            f"{name} * np.float32(0.5)", f"{name} // 2", f"({v} * {self._number()}).max()", f"half({name})", "None",
            f"{name} * {name}", f"np.sqrt({self._number()})", f"{v}[{i}, ...]", f"int({v}[{i}])", "0", f"{v}.mean()",
            f"{name} ** 2", f"{v}.argmax()", f"np.float64({name})", f"{v}[{i}] > 0.5",
        ))  # fmt: skip

    def _test(self) -> str:
        v, i = self._vector(), self._index()
        return self._pick((
            f"{v}[{i}] > 0.5", f"{v}[{i}] > {self._pick(self._numbers)}", f"{i} == 2", "x is None", "y is not None",
            "n > 1",
            f"{v}[{i}] < 0 or {i} > 1", f"{self._pick(self._numbers)} == {self._number()}", f"{v}.sum() > 2",
            "at >= 0",
            f"0 < {v}[{i}] <= 2", "not x", f"m[0, {i}] > 1 and n", f"np.isnan({v}[{i}])", f"({v} > 1).any()",
            f"{i} % 2",
        ))  # fmt: skip

    def _value(self, size: str = ":") -> str:
        """An expression over vectors."""
        v, w = self._vector(), self._vector()
        part = "" if size == ":" else f"[{size}]"
        return self._pick((
            f"{v}{part} + {self._number()}", f"{v}{part} * 0.5", f"{v}{part} + {w}{part}", f"{v}{part}", f"-{v}{part}",
            f"np.where({v}{part} > 0.5, {w}{part}, {self._number()})", f"{v}{part} * {v}{part}", f"{v}{part} / 2",
        ))  # fmt: skip

    def _result(self) -> str:
        v = self._vector()
        last = self._pick(
            (v, f"{v}[1:]", f"{v}[::-1]", f"({v}, a)", "m", "b", f"{v}.sum()", "n", "m.T", "a[:0]", "t", "o")
        )
        return self._pick(("x, y, at, i, ", "x, at, ", "at, i, y, ")) + (last if last not in ("t", "o") else "a")

    # -- statements

    def _setup(self, depth: int) -> None:
        """A variable that refers to other memory, or is a new array."""
        name = f"v{next(self._counts)}"
        made = self._pick((
            "a[::-1]", "b[:]", "a", "m[1]", "m.T[:, 0]", "m[n]", "a + 0j", "b.astype(np.float16)", "np.zeros(4)",
            "a.copy()",
            "np.zeros(4, np.float16)", "a.astype(np.complex64)", "m[:, :].T[:, 1]", "a[[0, 1, 2, 3]]", "d['w']",
            "a.real",
            "np.zeros(4, complex)", "np.arange(4)", "a.reshape(2, 2).ravel()", "np.empty(4, bool)", "W",
        ))  # fmt: skip
        self._line(depth, f"{name} = {made}" if "empty" not in made else f"{name} = a > 0.5")
        self._vectors.append(name)

    def _around(self, depth: int) -> None:
        """A loop, sometimes inside `try` or `np.errstate`."""
        roll = self._rng.random()
        if roll < 0.62:
            self._loop(depth, 2)
        elif roll < 0.82:
            self._line(depth, "try:")
            self._loop(depth + 1, 2)
            caught = self._pick(
                ("IndexError", "(IndexError, TypeError) as e", "Exception", "ZeroDivisionError", "ValueError")
            )
            self._line(depth, f"except {caught}:")
            self._line(depth + 1, self._pick(("x = -1.0", "at = 'caught'", "y = x", "raise", "i = 0")))
            if self._chance(0.3):
                self._line(depth, "else:" if self._chance(0.5) else "finally:")
                self._line(depth + 1, "STATE['calls'] += 1")
        else:
            how = f"{self._pick(('all', 'divide', 'invalid', 'over'))}='{self._pick(('raise', 'raise', 'ignore'))}'"
            self._line(depth, "try:")
            self._line(depth + 1, f"with np.errstate({how}):")
            self._line(depth + 2, self._pick(("b[0] = 0", "a[1] = 0.0", "pass")))
            self._loop(
                depth + 2, 1, self._pick(("a[:] = b / a", "x = np.float64(1) / b[0]", "a /= b", "b[:] = np.sqrt(a)"))
            )
            self._line(depth, "except FloatingPointError:")
            self._line(depth + 1, "at = 'caught'")

    def _body(self, depth: int, nesting: int) -> None:
        kinds: list[Callable[[int, int], None]] = [
            self._let, self._let, self._let, self._jump, self._jump, self._jump, self._item, self._item, self._slices,
            self._slices, self._masked, self._swap, self._first, self._first, self._rare,
        ]  # fmt: skip
        if nesting > 0 and self._room > 3:
            kinds += [self._loop, self._loop, self._branch]
        if not self._indices:
            kinds = [k for k in kinds if k != self._jump]
        self._room -= 1
        self._rng.choice(kinds)(depth, nesting - 1)

    def _block(self, depth: int, nesting: int, most: int = 3) -> None:
        before = list(self._vectors)
        for _ in range(self._rng.randint(1, most)):
            self._body(depth, nesting)
        self._vectors = before

    def _let(self, depth: int, nesting: int) -> None:
        name = self._pick(self._numbers)
        if self._chance(0.3):
            self._line(depth, f"{name} {self._pick(('+=', '+=', '-=', '*=', '/='))} {self._number()}")
        else:
            self._line(depth, f"{name} = {self._changed(name)}")

    def _jump(self, depth: int, nesting: int) -> None:
        """Variables that are bound just before a jump."""
        self._line(depth, f"if {self._test()}:")
        if self._chance(0.85):
            name = self._pick(("at", "at", "x", "y"))
            self._line(depth + 1, f"{name} = {self._index() if name == 'at' else self._changed(name)}")
        if self._chance(0.25):
            self._line(depth + 1, f"{self._vector()}[{self._index()}] = {self._number()}")
        jump = self._pick(
            ("break", "break", "break", "continue", "continue", f"return {self._result()}", "return at, x")
        )
        self._line(depth + 1, jump)

    def _first(self, depth: int, nesting: int) -> None:
        """The largest so far, and where it is."""
        v, i = self._vector(), self._indices[-1] if self._indices else "0"
        name = self._pick(self._numbers)
        self._line(depth, f"if {name} is None or {v}[{i}] {self._pick('<>')} {name}:")
        self._line(depth + 1, f"{name}, at = {v}[{i}], {i}" if self._chance(0.6) else f"{name} = {v}[{i}]")

    def _item(self, depth: int, nesting: int) -> None:
        target = self._pick(
            (
                f"{self._vector()}[{self._index()}]",
                f"{self._vector()}[{self._index()}]",
                f"m[{self._pick('012')}, {self._index()}]",
            )
        )
        value = self._pick(
            (
                self._number(),
                f"{self._vector()}[{self._index()}] * 0.5",
                f"{target} + 1",
                "x",
                f"{self._vector()}.sum()",
            )
        )
        self._line(depth, f"{target} {self._pick(('=', '=', '+=', '*='))} {value}")

    def _slices(self, depth: int, nesting: int) -> None:
        """Stores to parts of arrays that are read in the same statement."""
        v = self._vector()
        if self._chance(0.5):
            to, of = self._rng.choice(PAIRS)
            w = v if self._chance(0.7) else self._vector()
            more = self._pick((" + 1", " * 0.5", "", f" + {v}[{to}]"))
            self._line(depth, f"{v}[{to}] {self._pick(('=', '=', '+=', '-='))} {w}[{of}]{more}")
            return
        part = self._pick(SLICES)
        self._line(depth, self._pick((
            f"{v}[{part}] = {self._value(part)}", f"{v}[{part}] {self._pick(('=', '+=', '*='))} {self._number()}",
            "m[1:, 1:] = m[:-1, :-1] + 1", "m[:] = m[::-1]", "m[:, 1:] += m[:, :-1]", "m[n] = a",
            f"m[:, n] = {self._number()}",
            f"{v} = {self._value()}", f"{v} += {self._value()}", f"{v} *= 0.5", "m[:2, ::2] = m[1:, 1::2]",
            f"m *= {v}",
            f"{v}[::n] = 1", f"{v}[{part}] = {v}[{part}][::-1]", "m[::-1] = m * 0.5", f"u = {v}[{part}]; u += 1",
            f"u = {v}[::-1]; u[1:] = u[:-1]", "np.copyto(a, b)", f"{v} = m[{self._index()}]",
            f"{v} = {self._vector()}", f"np.add({v}, 1, out={v})",
            f"{v}.fill({self._number()})",
            "m[..., 1] = m[..., 0] * 2",
        )))  # fmt: skip

    def _masked(self, depth: int, nesting: int) -> None:
        v, w = self._vector(), self._vector()
        self._line(depth, self._pick((
            f"{v}[{v} > 0.5] = {self._number()}", f"{v}[{v} < 1] += 1", f"{v}[{v} > {w}] = {w}[{v} > {w}]",
            f"{v}[k] = {self._number()}",
            f"{v}[k] += {self._number()}", f"{v}[k] = {w}[k] * 2", f"np.add.at({v}, k, {self._number()})",
            f"x = {v}[{v} > 0].sum()",
            f"{v}[[0, 0, 1]] += 1", f"{v}[k[::-1]] = {v}[k]", f"{v}[~({v} > 1)] *= 0.5",
            f"y = np.count_nonzero({v} > 0.5)",
            f"m[m > 1.5] = {self._number()}", f"{v}[np.isnan({v})] = 0",
            f"x = ({v} > 0.5) & ({w} < 2); {v}[x] = 3; x = 1",
            f"{v}[{v} > 9] = {w}[{w} > 9]", f"np.putmask({v}, {v} > 1, {w})", f"m[k - 1] = {self._number()}",
            "m[:, k] = m[:, k - 1]",
            f"{v}[np.argsort({w})] = {w}",
        )))  # fmt: skip

    def _swap(self, depth: int, nesting: int) -> None:
        v, w = self._vector(), self._vector()
        self._line(depth, self._pick((
            "x, y = y, x", f"x, y = y, {self._number()}", f"{v}, {w} = {w}, {v}", "at, c = c, at",
            f"{v}[0], {v}[1] = {v}[1], {v}[0]",
            "t = (x, y); y, x = t", f"t = {v}, {w}; {v} = t[0] + t[1]",
            f"x, {v}[{self._index()}] = {v}[{self._index()}], x",
            f"(x, y), at = (y, x), {self._index()}", f"{v}[1:], {v}[0] = {v}[:-1], {v}[-1]",
            f"x = y = {self._number()}",
        )))  # fmt: skip

    def _rare(self, depth: int, nesting: int) -> None:
        v = self._vector()
        self._line(depth, self._pick((
            "o = np.array(0.5); o += 1; x = o * 2", f"o = {v}[{self._index()}, ...]; o[...] = 3",
            "print(at, end=' ')", f"x = P.w[{self._index()}]",
            f"assert {self._test()}, 'asserted'", "STATE['calls'] += 1", f"{v} = {v} + 1j",
            f"{v} = {v}.astype(np.float32)", f"bump({v}, {self._index()})",
            f"x = d['w'][{self._index()}]", f"P.w[{self._index()}] = {self._number()}", f"x = sum({v}[:2])",
            f"{v}[{self._index()}] /= n - 1",
            f"x = 1 / (n - {self._index()})", f"{v} = {v}[::-1]", f"y = (x, 1)[{self._index()} > 1]",
            "y = np.array([x, 2.0, 1])", "y = 0",
            f"x = np.array({v}[{self._index()}])", f"z = {v}[1:]; z[0] = 7", f"d['c'] = {self._number()}",
            f"{v}.sort()", "del y; y = 1",
        )))  # fmt: skip

    def _branch(self, depth: int, nesting: int) -> None:
        self._line(depth, f"if {self._test()}:")
        self._block(depth + 1, nesting, 2)
        if self._chance(0.5):
            self._line(depth, "else:")
            self._block(depth + 1, nesting, 1)

    def _loop(self, depth: int, nesting: int, last: str | None = None) -> None:
        name = "i" if not self._indices else f"j{len(self._indices)}"
        v, w = self._vector(), self._vector()
        outer = self._indices[-1] if self._indices else "n"
        is_while = self._chance(0.2)
        if is_while:
            self._line(depth, f"{name} = {self._pick(('0', 'n', '3'))}")
            ends = (
                f"{name} < {self._pick(('4', 'n', 'len(a)'))}",
                f"{name} > 0 and ({self._test()})",
                f"{name} < 4 and not ({self._test()})",
            )
            head = f"while {self._pick((*ends, 'True'))}:"
        else:
            e = f"e{len(self._indices)}"
            head = self._pick((
                f"for {name} in range(4):", f"for {name} in range(len({v})):", f"for {name} in range(n):",
                f"for {name} in range({outer}):",
                f"for {name} in range(3, -1, -1):", f"for {name} in range({outer} + 1, 4):",
                f"for {name}, {e} in enumerate({v}):",
                f"for {name}, ({e}, f0) in enumerate(zip({v}, {w})):", f"for {name} in reversed(range(n)):",
                f"for {name} in k:",
                f"for {name} in range(0, 4, 2):", f"for {name} in range(4, n):",
                f"for {name}, {e} in zip(range(4), {v}[n:]):",
                f"for {name} in range(1, 4, n):", f"for {name} in (0, 2, n):",
            ))  # fmt: skip
        self._line(depth, head)
        self._indices.append(name)
        if is_while:
            self._line(depth + 1, f"{name} {'-=' if f'{name} > 0 and' in head else '+='} 1")
            if "True" in head:
                self._line(depth + 1, f"if {name} >= {self._pick(('3', '4', 'n'))}:")
                self._line(depth + 2, "break")
        self._block(depth + 1, nesting)
        if last is not None:
            self._line(depth + 1, last)
        self._indices.pop()
        if self._chance(0.25):
            self._line(depth, "else:")
            self._line(depth + 1, self._pick(("at = 'none'", "at = 99", "x = y", f"x = {self._number()}", "a[0] = 5")))
