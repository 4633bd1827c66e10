"""Replay a call with the signature, sizes and strides of an earlier one without repeating the lookups.

The arrays must have the same dtypes, sizes and strides, and Python numbers must be in the same places. Everything else
is checked each time: the names that guard a trace, the registry's generation, the values of numbers, and whether
written arrays overlap others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Value
from ..ir.lazy import cached_property
from ..ir.source import ABSENT, Guard
from .arguments import prepare
from .bounds import check_bounds, converted
from .outputs import as_outputs, handed_back, memory_of

if TYPE_CHECKING:
    from .compiler import Lowered
    from .registry import Registry
    from .selection.turn import Turn
    from .size_bound import SizedGraph

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def key_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return a key that is equal for calls that can replay each other, or None for a call that can't be replayed."""
    key: list[Any] = []
    for x in args:
        kind = type(x)
        if kind is np.ndarray:
            key += (x.dtype, x.shape, x.strides)
        elif kind is float or (kind is int and LOWEST <= x <= HIGHEST):
            key.append(kind)
        else:
            return None
    if not kwargs:
        return tuple(key)
    out = kwargs.get("out")
    if len(kwargs) > 1 or type(out) is not np.ndarray:
        return None
    return (*key, "out", out.dtype, out.shape, out.strides)


def is_repeatable(turn: Turn) -> bool:
    """Tell whether the call's plan is complete in advance, with nothing left to choose."""
    lowered = turn.lowered
    if turn.is_open or lowered.any_order or lowered.built.hidden:
        return False
    return lowered.writes_all_outputs and lowered.launcher.is_regions


class Repeat:
    """The part of a call that does not depend on values."""

    def __init__(self, lowered: Lowered, env: Mapping[str, int], guards: Sequence[Guard], lookup: Registry) -> None:
        self.lowered, self.calls = lowered, 0
        self._env, self._guards = env, guards
        self._lookup, self._generation = lookup, lookup.generation

    @cached_property
    def _launch(self) -> SizedGraph:
        return self.lowered.launcher.sized(self._env)

    @cached_property
    def _nothing(self) -> tuple[None, ...]:
        """The output arrays of a caller who passes none."""
        return (None,) * len(self.lowered.graph.outputs)

    @cached_property
    def _memory(self) -> dict[Value, Any]:
        """The functions that allocate new results."""
        return memory_of(self.lowered, self._nothing, [], self.lowered.orders)

    @cached_property
    def _numbers(self) -> list[tuple[int, str]]:
        """The positions of Python numbers, with their names."""
        inputs = self.lowered.built.graph.inputs
        return [(k, value.name or "") for k, value in enumerate(inputs) if not value.type.rank]

    def holds(self) -> bool:
        """Tell whether the graph is still valid."""
        if self._lookup.generation != self._generation:
            return False
        return all(_content(holder, key) is expected for holder, key, expected in self._guards)

    def prepare(self) -> None:
        """Do in advance what the first replayed call would do."""
        self._launch, self._memory, self._numbers  # noqa: B018 - asking is making

    def run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call with the same key."""
        self.calls += 1
        lowered = self.lowered
        inputs = self._arrays(args) if self._numbers else args
        if not kwargs:
            return handed_back(lowered, self._launch.run(inputs, self._memory), lowered.orders, self._nothing)
        wanted = as_outputs(kwargs["out"], len(self._nothing))
        memory = memory_of(lowered, wanted, inputs, lowered.orders)
        return handed_back(lowered, self._launch.run(inputs, memory), lowered.orders, wanted)

    def _arrays(self, args: Sequence[Any]) -> list[Any]:
        """Convert numbers among the arguments to arrays."""
        inputs = list(args)
        for k, name in self._numbers:
            inputs[k] = prepare(name, args[k]).array
        check_bounds(self.lowered.bounds, args)
        return converted(self.lowered.built.graph, inputs, args)


def _content(holder: Any, key: str | None) -> Any:
    """Return the current value of a name."""
    if key is not None:
        return holder.get(key, ABSENT)
    try:
        return holder.cell_contents
    except ValueError:  # an empty cell
        return ABSENT
