"""Describe the calls of a nest that a recipe is made for: where each value is found, and which names must mean the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...frontend.programs.kinds import Array, Tuple, kind_of
from ...ir.layouts import GENERAL
from ...ir.source import Guard
from ...ir.tuples import NamedTuple
from .call import CallForm


class NestSource(NamedTuple):
    """Where a call finds a value: at a place among its arguments, in a dict or cell (`holder`), or always the same."""

    place: int | None = None
    holder: Any = None
    key: str | None = None
    constant: Any = None


class NestCallForm(NamedTuple):
    """How calls pass their values: where each is found, an example of it, and which names must mean the same."""

    form: CallForm
    sources: Mapping[str, NestSource]
    values: Mapping[str, Any]
    meant: Sequence[Guard]

    @property
    def kind(self) -> Any:
        """Return a key that distinguishes the calls of different recipes on the same nest."""
        meant = tuple((id(g.holder), g.key, id(g.expected)) for g in self.meant)
        sources = tuple((s.place, id(s.holder), s.key, id(s.constant)) for s in self.sources.values())
        return self.form, sources, tuple(map(_sorted_kind, self.values.values())), meant


def _sorted_kind(value: Any) -> Any:
    """Describe a value as far as a recipe depends on it: its kind, and how the strides of a general array compare."""
    kind = kind_of(value)
    if isinstance(kind, Array) and kind.layout == GENERAL:
        lengths = [abs(s) for s in value.strides]
        return kind, tuple(sorted(range(len(lengths)), key=lengths.__getitem__))
    if isinstance(kind, Tuple):
        return tuple(map(_sorted_kind, value))
    return type(value), kind
