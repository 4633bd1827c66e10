"""Describe the calls that a native entry serves: how arguments are passed, where each goes, and what guards it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.source import Guard
from ...ir.tuples import NamedTuple

Array = np.ndarray[Any, Any]


class CallForm(NamedTuple):
    """How a call passes its arguments: the number of positional ones, and the names of the others."""

    positional: int
    names: tuple[str, ...]


class Input(NamedTuple):
    """An input of the graph: an argument (`place` is its number in the call), or a constant object."""

    given: Any
    array: Array
    layout: str
    place: int | None


class Out(NamedTuple):
    """An output array that the caller passes: its number in the call, and its place in the `out` tuple."""

    array: Array
    place: int
    item: int | None = None


class NativeCall(NamedTuple):
    """An example call; all calls with the same signature run the same way."""

    form: CallForm
    inputs: Sequence[Input]
    outs: Sequence[Out | None]
    fixed: Sequence[tuple[int, Any]] = ()  # arguments that must be these very objects
    guards: Sequence[Guard] = ()
