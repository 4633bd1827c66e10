"""Look names up outside a function and remember what they meant, so that a piece only runs while they mean the same."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from ....ir.source import ABSENT, Guard, are_kept, builtins_of, contents, found, function_guards


class Meanings:
    """The names that were looked up, each as a guard. Other threads may look up more at any time."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str | None], Guard] = {}

    @property
    def guards(self) -> tuple[Guard, ...]:
        return tuple(self._found.values())

    def update(self, guards: Iterable[Guard]) -> None:
        """Remember what others have looked up."""
        for guard in guards:
            self._found.setdefault((id(guard.holder), guard.key), guard)

    def are_kept(self) -> bool:
        """Whether every name still means what it meant."""
        return are_kept(self.guards)

    def now(self) -> list[Guard]:
        """Return the same places with what is there now."""
        return [Guard(holder, key, found(holder, key)) for holder, key, _ in self.guards]

    def name(self, function: FunctionType, name: str) -> Any:
        """Return what a name that is not local means in a function now, or `ABSENT`, and remember it."""
        guards = places(function, name)
        self.update(guards)
        return guards[-1].expected

    def attribute(self, module: ModuleType, name: str) -> None:
        """Remember an attribute of a module. One that the module only makes on demand can't be replaced."""
        if name in vars(module):
            self.update([Guard(vars(module), name, vars(module)[name])])

    def function(self, function: FunctionType) -> None:
        """Remember the code and the defaults of a function."""
        self.update(function_guards(function))


def places(function: FunctionType, name: str) -> list[Guard]:
    """Return the places where a name is looked up, with what is there now. The last place decides."""
    if name in function.__code__.co_freevars and function.__closure__:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        return [Guard(cell, None, contents(cell))]
    space = function.__globals__
    if name in space:
        return [Guard(space, name, space[name])]
    known = builtins_of(function)
    return [Guard(space, name, ABSENT), Guard(known, name, known.get(name, ABSENT))]
