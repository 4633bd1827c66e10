"""Emit loops so that invariant code can be hoisted in front of them.

A `Scope` is straight-line code: the entry of the function, or the body of a loop. While a loop is being written, its
parent scope stays open just before the loop, and invariant values are computed there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from .control_word import head
from .text import Emitter, Val


class Scope:
    """Code that is still being written, the values computed in it, and its nesting depth."""

    def __init__(self, parent: Scope | None, block: str) -> None:
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.lines: list[str] = []
        self.block = block
        self.memo: dict[Hashable, Val] = {}


class Elsewhere:
    """Code that is written to an enclosing scope; a `contextmanager` would take twice as long."""

    __slots__ = ("block", "emitter", "lines", "scope")

    def __init__(self, emitter: Emitter, scope: Scope) -> None:
        self.emitter, self.scope = emitter, scope

    def __enter__(self) -> None:
        e, scope = self.emitter, self.scope
        self.lines, self.block = e.lines, e.block
        if self.lines is not scope.lines:
            e.lines, e.block = scope.lines, scope.block

    def __exit__(self, *error: object) -> None:
        e, scope = self.emitter, self.scope
        if self.lines is not scope.lines:
            scope.block = e.block
            e.lines, e.block = self.lines, self.block


class Nest:
    """The scopes from the function's entry to the innermost open loop."""

    def __init__(self) -> None:
        self.e = Emitter()
        self.entry = Scope(None, "entry")
        self.scope = self.entry
        self.e.lines = self.entry.lines
        self.e.place("entry")
        self.variables: dict[str, tuple[Val, Scope]] = {}

    def function(self, name: str) -> str:
        """The text of a finished function. It returns a status if its code may fail or stop.

        Non-temporal stores are complete when it returns, so it waits for them once, not after each row.
        """
        e, status = self.e, Val("0", "i32", 0)
        if e.streams:
            e.fence()
        if e.fails or e.stops:
            self.entry.lines[1:1] = ["  %status = alloca i32, align 4", "  store i32 0, ptr %status, align 4"]
            status = e.load(Val("%status", "ptr", 0), "i32", 0, 4)
        return "\n".join([head(name), *self.entry.lines, f"  ret i32 {status.text}", "}"])

    def at(self, scope: Scope) -> Elsewhere:
        """Appends code that is written inside to an enclosing scope."""
        return Elsewhere(self.e, scope)

    def find(self, key: Hashable) -> tuple[Val, Scope] | None:
        """A value that this scope or an enclosing one has computed."""
        scope: Scope | None = self.scope
        while scope is not None:
            if key in scope.memo:
                return scope.memo[key], scope
            scope = scope.parent
        return None

    def loop(
        self,
        variable: str | None,
        start: Val,
        stop: Val,
        step: int,
        carried: list[Val],
        body: Callable[[Val, list[Val]], list[Val]],
    ) -> tuple[Val, list[Val]]:
        """`for variable in start, start + step, ... < stop`; returns where it ended and the last carried values."""
        at = self.e.name()

        def condition(values: list[Val]) -> Val:
            return self.e.icmp("slt", Val(at, "i64", 0), stop)

        def run(values: list[Val]) -> list[Val]:
            if variable is not None:
                self.variables[variable] = (values[0], self.scope)
            after = body(values[0], values[1:])
            return [self.e.op("add nsw", values[0], self.e.const("i64", step)), *after]

        end, *last = self.while_loop([start, *carried], condition, run, first_name=at)
        if variable is not None:
            del self.variables[variable]
        return end, last

    def while_loop(
        self,
        carried: list[Val],
        condition: Callable[[list[Val]], Val],
        body: Callable[[list[Val]], list[Val]],
        first_name: str | None = None,
    ) -> list[Val]:
        """Runs `body` while the condition on the carried values holds; returns their last values."""
        e, parent = self.e, self.scope
        header, inside, done = e.label("head"), e.label("body"), e.label("done")
        phis = [Val(e.name(), v.elem, v.lanes) for v in carried]
        if first_name is not None:
            phis[0] = Val(first_name, "i64", 0)
        parent.block = e.block
        self.scope = Scope(parent, inside)
        e.lines, e.block = self.scope.lines, inside
        after = body(phis)
        last, lines = e.block, self.scope.lines
        self.scope = parent
        e.lines, e.block = parent.lines, parent.block
        before = e.block
        e.br(header)
        e.place(header)
        for phi, start, end in zip(phis, carried, after, strict=True):
            e.lines.append(f"  {phi.text} = phi {phi.type} [ {start.text}, %{before} ], [ {end.text}, %{last} ]")
        e.cbr(condition(phis), inside, done)
        e.place(inside)
        e.lines.extend(lines)
        e.br(header)
        e.place(done)
        return phis
