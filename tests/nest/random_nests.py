"""Draw random loop nests over vectors and matrices, as text: loops of every kind, and every op that has effects.

`draw` makes plain nests, of which about half have a dependence that the kinds of their loops do not allow. `draw_rich`
adds branches, walks, scans, carried values, `while`, private memory, views and numbers from data.
"""

from __future__ import annotations

import random
from collections.abc import Callable

TAIL = '  "nest.yield"() : () -> ()\n}) : () -> ()\n}) : () -> ()\n'
KINDS = ("serial", "vector", "vector", "jammed", "shared")
RICH_KINDS = ("serial", "serial", "vector", "jammed", "shared")
MLIR = {"f64": "f64", "f32": "f32", "i64": "i64", "i32": "i32", "u8": "ui8"}
FLAG = "tensor<i1>"
INDEX = "memref<?xi64, #weft.dims<n>>"


def draw(seed: int) -> str:
    """The text of a plain nest. Indices stay inside because loops leave a margin of two on either side."""
    return Drawing(random.Random(seed), "f64", False).text()


def draw_rich(seed: int) -> str:
    """The text of a nest with ops of every kind."""
    found = random.Random(seed)
    return Drawing(found, found.choice(tuple(MLIR)), True).text()


class Drawing:
    """Writes one nest. `rank` is that of both buffers; a third buffer has whole numbers that are valid indices."""

    def __init__(self, random: random.Random, dtype: str, is_rich: bool) -> None:
        self.random, self.dtype, self.is_rich = random, dtype, is_rich
        self.rank = random.choice((1, 2, 2))
        self.count = 0
        dims = ("n", "m")[: self.rank]
        self.number = f"tensor<{MLIR[dtype]}>"
        self.buffer = f"memref<{'?x' * self.rank}{MLIR[dtype]}, #weft.dims<{', '.join(dims)}>>"
        self.inner: list[str] = []  # the variables of the loops that are open around a statement

    def text(self) -> str:
        layouts = self.random.choice(("", ', layouts = ["S", "C", "S"]', ', layouts = ["C", "S", "C"]'))
        access = '["update", "update", "read"]'
        head = f'"builtin.module"() ({{\n"nest.kernel"() <{{sym_name = "drawn", access = {access}{layouts}}}> ({{'
        arguments = f"^bb0(%a : {self.buffer}, %b : {self.buffer}, %c : {INDEX}):"
        loops = "\n".join(self.nest() for _ in range(self.random.randint(1, 2)))
        return f"{head}\n{arguments}\n{loops}\n{TAIL}"

    def nest(self) -> str:
        order = self.random.sample(range(self.rank), self.rank)
        self.inner = ["ij"[axis] for axis in order]
        body = self.statements(self.random.choice((1, 1, 2, 3)))
        is_outer_shared = self.random.random() < 0.5
        for axis in reversed(order):
            is_inner = axis == order[-1]
            kinds = RICH_KINDS if self.is_rich else KINDS
            kind = self.random.choice(kinds if is_inner or is_outer_shared else kinds[:-1])
            body = self.loop(axis, kind, body)
        return body

    def loop(self, axis: int, kind: str, body: str) -> str:
        size, variable = "nm"[axis], "ij"[axis]
        attrs = f'kind = "{kind}"' if kind != "shared" else 'kind = "serial", shared'
        if self.is_rich and kind in ("vector", "jammed"):
            attrs += f", width = {self.random.choice((2, 4, 8))} : i64, times = {self.random.choice((1, 2, 4))} : i64"
        if self.is_rich and kind == "vector" and self.random.random() < 0.3:
            attrs += ", shared"
        return self.over(variable, f"2, {size} - 2", attrs, body)

    def over(self, variable: str, bounds: str, attrs: str, body: str) -> str:
        return (
            f'"nest.for"() ({{\n{body}"nest.yield"() : () -> ()\n}}) '
            f'{{var = "{variable}", range = #weft.dims<{bounds}>, {attrs}}} : () -> ()\n'
        )

    def statements(self, count: int) -> str:
        return "".join(self.random.choice(self.choices())() for _ in range(count))

    def choices(self) -> list[Callable[[], str]]:
        if not self.is_rich:
            return [self.statement]
        return [
            self.statement, self.statement, self.statement, self.branch, self.branch, self.walk, self.carried,
            self.looked_up, self.scan, self.private, self.view, self.unrolled, self.steps, self.value_of_branch,
        ]  # fmt: skip

    # -- statements

    def statement(self) -> str:
        """`x[i + 1] = y[i] + z[i - 1]`, half of them from one buffer to the other."""
        source, other, target = (self.random.choice("ab") for _ in range(3))
        if self.random.random() < 0.5:
            source = other = "a" if target == "b" else "b"
        left, lines = self.load(source)
        right, more = self.load(other)
        op = self.random.choice(("add", "mul", "sub", "minimum", "maximum") if self.is_rich else ("add",))
        found, last = self.op(op, left, right)
        return lines + more + last + self.store(found, target)

    def branch(self) -> str:
        """A statement where a condition holds."""
        flag, lines = self.condition()
        body = self.statements(1) if self.random.random() < 0.3 else self.statement()
        return lines + f'"nest.when"({flag}) ({{\n{body}"nest.yield"() : () -> ()\n}}) : ({FLAG}) -> ()\n'

    def value_of_branch(self) -> str:
        flag, lines = self.condition()
        inner, body = self.load(self.random.choice("ab"))
        found = self.name()
        lines += (
            f'{found} = "nest.when"({flag}) ({{\n{body}"nest.yield"({inner}) : ({self.number}) -> ()\n}}) '
            f": ({FLAG}) -> {self.number}\n"
        )
        return lines + self.store(found, self.random.choice("ab"))

    def walk(self) -> str:
        """A reduction along a row, or over some columns around the element."""
        bounds = self.random.choice(("0, n", "2, n - 1", "1, 4")) if self.rank == 1 else "0, m"
        variable, source = f"k{self.count}", self.random.choice("ab")
        first = "" if self.rank == 1 else f"@{self.inner[0]}, " if self.inner[0] == "i" else "2, "
        at = f"#weft.dims<{first}@{variable}>"
        element, body = self.load(source, at)
        combine = self.random.choice(("sum", "max", "min", "prod", "argmax", "argmin"))
        is_position = combine.startswith("arg")
        if is_position:
            bounds = "1, 4" if self.rank == 1 else "0, m"
        found, lines = self.name(), ""
        kind = self.random.choice(("serial", "vector"))
        lanes = self.random.choice((2, 4, 8, 16)) if kind == "vector" else 1
        result = self.number if lanes == 1 else f"vector<{lanes}x{MLIR[self.dtype]}>"
        result = "tensor<i64>" if is_position else result
        width = f", width = {self.random.choice((2, 4))} : i64" if kind == "vector" else ""
        steps = self.random.choice((0, 1, 2, 16))
        lines += (
            f'{found} = "nest.walk"() ({{\n{body}"nest.yield"({element}) : ({self.number}) -> ()\n}}) '
            f'{{vars = ["{variable}"], range = #weft.dims<{bounds}>, kind = "{kind}"{width}, '
            f'combine = ["{combine}"], steps = array<i64: {steps}>}} : () -> {result}\n'
        )
        if is_position:
            found, more = self.cast(found, "i64")
            lines += more
        elif lanes > 1:
            whole = self.name()
            lines += f'{whole} = "nest.across"({found}) {{combine = "{combine}"}} : ({result}) -> {self.number}\n'
            found = whole
        return lines + self.store(found, self.random.choice("ab"))

    def carried(self) -> str:
        """A running value over an inner loop, stored now and then."""
        start, lines = self.load(self.random.choice("ab"))
        variable, found, state = f"q{self.count}", self.name(), self.name()
        element, body = self.load(self.random.choice("ab"))
        both, more = self.op("add", state, element)
        size, more_lines = self.size(f"@{variable}")
        after, last = self.op("mul", both, size)
        bounds = self.random.choice(("0, 3", "1, n", f"0, @{self.inner[-1]}"))
        return (
            f'{lines}{found} = "nest.for"({start}) ({{\n^bb0({state} : {self.number}):\n{body}{more}{more_lines}{last}'
            f'"nest.yield"({after}) : ({self.number}) -> ()\n}}) '
            f'{{var = "{variable}", range = #weft.dims<{bounds}>, kind = "serial"}} '
            f": ({self.number}) -> {self.number}\n" + self.store(found, self.random.choice("ab"))
        )

    def steps(self) -> str:
        """A `while` that counts up to a number from data."""
        zero, one, limit = self.name(), self.name(), self.name()
        found, state, go, after = self.name(), self.name(), self.name(), self.name()
        whole = "tensor<i64>"
        at = f"@{self.inner[0]}" if self.inner[0] == "i" else "2"
        lines = (
            f'{zero} = "weft.constant"() {{value = 0 : i64, dtype = i64}} : () -> {whole}\n'
            f'{one} = "weft.constant"() {{value = 1 : i64, dtype = i64}} : () -> {whole}\n'
            f'{limit} = "nest.load"(%c) {{at = #weft.dims<{at}>}} : ({INDEX}) -> {whole}\n'
        )
        effect = self.statement() if self.random.random() < 0.5 else ""
        body = (
            f'{go} = "weft.lt"({state}, {limit}) : ({whole}, {whole}) -> {FLAG}\n'
            f'{after} = "weft.add"({state}, {one}) : ({whole}, {whole}) -> {whole}\n{effect}"nest.ask"() : () -> ()\n'
        )
        lines += (
            f'{found} = "nest.while"({zero}) ({{\n^bb0({state} : {whole}):\n{body}'
            f'"nest.yield"({go}, {after}) : ({FLAG}, {whole}) -> ()\n}}) : ({whole}) -> {whole}\n'
        )
        number, more = self.cast(found, "i64")
        return lines + more + self.store(number, self.random.choice("ab"))

    def looked_up(self) -> str:
        """A load or store at an index from data."""
        index, variable = self.name(), f"p{self.count}"
        row = self.inner[0] if self.inner[0] == "i" else None
        at = f"@{row}" if row else "2"
        other = f", @{self.inner[-1]}" if self.rank == 2 and self.inner[-1] == "j" else ", 2" if self.rank == 2 else ""
        lines = (
            f'{index} = "nest.load"(%c) {{at = #weft.dims<{at}>}} : ({INDEX}) -> tensor<i64>\n'
            f'"nest.bind"({index}) {{var = "{variable}", range = #weft.dims<0, n>}} : (tensor<i64>) -> ()\n'
        )
        place = f"#weft.dims<@{variable}{other}>"
        if self.random.random() < 0.5:
            found, more = self.load(self.random.choice("ab"), place)
            return lines + more + self.store(found, self.random.choice("ab"))
        found, more = self.load(self.random.choice("ab"))
        return lines + more + self.store(found, self.random.choice("ab"), place)

    def scan(self) -> str:
        element, lines = self.load(self.random.choice("ab"))
        found, combine = self.name(), self.random.choice(("sum", "max"))
        lines += (
            f'{found} = "nest.scan"({element}) {{var = "{self.inner[-1]}", combine = "{combine}"}} '
            f": ({self.number}) -> {self.number}\n"
        )
        return lines + self.store(found, self.random.choice("ab"))

    def private(self) -> str:
        """Memory of its own: a value goes through it."""
        memory, kind = self.name(), f"memref<3x{MLIR[self.dtype]}>"
        place = self.random.choice(("stack", "worker", "call"))
        value, lines = self.load(self.random.choice("ab"))
        again = self.name()
        lines += (
            f'{memory} = "nest.alloc"() {{place = "{place}"}} : () -> {kind}\n'
            f'"nest.store"({value}, {memory}) {{at = #weft.dims<1>}} : ({self.number}, {kind}) -> ()\n'
            f'{again} = "nest.load"({memory}) {{at = #weft.dims<1>}} : ({kind}) -> {self.number}\n'
        )
        return lines + self.store(again, self.random.choice("ab"))

    def view(self) -> str:
        """A statement that loads through a view, which is moved by one along each axis."""
        made, source = self.name(), self.random.choice("ab")
        names = ["x", "y"][: self.rank]
        sizes = ", ".join(f"{size} - 1" for size in "nm"[: self.rank])
        kind = f"memref<{'?x' * self.rank}{MLIR[self.dtype]}, #weft.dims<{sizes}>>"
        listed, at = ", ".join(f'"{name}"' for name in names), ", ".join(f"@{name} + 1" for name in names)
        found = self.name()
        lines = (
            f'{made} = "nest.view"(%{source}) {{vars = [{listed}], at = #weft.dims<{at}>}} '
            f": ({self.buffer}) -> {kind}\n"
            f'{found} = "nest.load"({made}) {{at = {self.at(low=-2, high=0)}}} : ({kind}) -> {self.number}\n'
        )
        return lines + self.store(found, self.random.choice("ab"))

    def unrolled(self) -> str:
        variable = f"u{self.count}"
        first = "" if self.rank == 1 else f"@{self.inner[0]}, " if self.inner[0] == "i" else "2, "
        value, body = self.load(self.random.choice("ab"), f"#weft.dims<{first}@{variable}>")
        return self.over(variable, "0, 3", 'kind = "unrolled"', body + self.store(value, self.random.choice("ab")))

    # -- parts of statements

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def load(self, source: str, at: str = "") -> tuple[str, str]:
        found, at = self.name(), at or self.at()
        return found, f'{found} = "nest.load"(%{source}) {{at = {at}}} : ({self.buffer}) -> {self.number}\n'

    def store(self, value: str, target: str, at: str = "") -> str:
        at = at or self.at(still=0.5)
        return f'"nest.store"({value}, %{target}) {{at = {at}}} : ({self.number}, {self.buffer}) -> ()\n'

    def op(self, name: str, a: str, b: str) -> tuple[str, str]:
        found = self.name()
        return found, f'{found} = "weft.{name}"({a}, {b}) : ({self.number}, {self.number}) -> {self.number}\n'

    def cast(self, value: str, have: str) -> tuple[str, str]:
        found = self.name()
        if have == self.dtype:
            return value, ""
        text = f'{found} = "weft.cast"({value}) {{to = {MLIR[self.dtype]}}} : (tensor<{have}>) -> {self.number}\n'
        return found, text

    def size(self, text: str) -> tuple[str, str]:
        made = self.name()
        found, lines = self.cast(made, "i64")
        return found, f'{made} = "weft.size"() {{size = #weft.dims<{text}>}} : () -> tensor<i64>\n' + lines

    def condition(self) -> tuple[str, str]:
        left, lines = self.load(self.random.choice("ab"))
        right, more = self.load(self.random.choice("ab"))
        found, name = self.name(), self.random.choice(("lt", "ge", "ne"))
        test = f'{found} = "weft.{name}"({left}, {right}) : ({self.number}, {self.number}) -> {FLAG}\n'
        return found, lines + more + test

    def at(self, still: float = 0.3, low: int = -2, high: int = 2) -> str:
        parts = []
        for axis in range(self.rank):
            offset = 0 if self.random.random() < still else self.random.randint(low, high)
            variable = "@" + "ij"[axis]
            if self.random.random() < 0.05:
                variable, offset = "2", 0
            parts.append(variable if not offset else f"{variable} {'+' if offset > 0 else '-'} {abs(offset)}")
        return f"#weft.dims<{', '.join(parts)}>"
