"""What a native entry is made for: the form of a call, where each of its arguments goes, and what guards it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.source import Guard
from ...ir.tuples import NamedTuple

Array = np.ndarray[Any, Any]


class CallForm(NamedTuple):
    """How a call passes its arguments: so many by position, then these by name."""

    positional: int
    names: tuple[str, ...]


class Input(NamedTuple):
    """An input of the graph: an argument (`place` is its number in the call), or an object that is always the same."""

    given: Any
    array: Array
    layout: str
    place: int | None


class Out(NamedTuple):
    """A result's array that the caller gives, its number in the call, and its place in the tuple that it is in."""

    array: Array
    place: int
    item: int | None = None


class NativeCall(NamedTuple):
    """One call as an example: every call like it takes the same way."""

    form: CallForm
    inputs: Sequence[Input]
    outs: Sequence[Out | None]
    fixed: Sequence[tuple[int, Any]] = ()  # arguments that must be these very objects
    guards: Sequence[Guard] = ()
