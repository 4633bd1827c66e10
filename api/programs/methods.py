"""Compile methods, as programs that get the object as their first argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..runtime.native.call import CallForm
from .pieces import Compiled
from .program import Front
from .reasons import Reason


class MethodProgram:
    """A program that gets the object of a method as its first argument."""

    def __init__(self, program: Any, instance: Any) -> None:
        self.program, self._instance = program, instance

    @property
    def planned_calls(self) -> int:
        found: int = self.program.planned_calls
        return found

    @property
    def obstacle(self) -> Reason | None:
        return self.program.obstacle or Reason("it is a method of an object")

    def call(self, compiled: Compiled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self.program.run((self._instance, *args), kwargs)

    def prepare(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.program.prepare(front, form, args, kwargs, self._instance)

    def teach(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Pass methods on to their plan: an object is never part of a single piece."""

    def learn_nest(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """A method has no recipe of its own."""

    def as_nest(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any] | Reason:
        found: tuple[Any] | Reason = self.program.as_nest((self._instance, *args), kwargs)
        return found
