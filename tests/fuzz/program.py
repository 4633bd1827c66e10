"""Represent a random program as data: arguments, calls of NumPy on earlier values, and the returned values.

    Program((Input("float32", (3,)),), (Step("np.exp", (Ref(0),)), Step("operator.add", (Ref(1), 1.5))), (2,))

Values are numbered: first the arguments, then one for each step. `function` replays the program on arrays or, traced,
on traced values; `source` writes it as a Python function for people.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from weft.frontend.tracing.standins import Standins
from weft.frontend.tracing.tracer import Tracer

from .inputs import Input


@dataclass(frozen=True)
class Ref:
    """An earlier value."""

    index: int


@dataclass(frozen=True)
class SizeOf:
    """The size of an earlier value along an axis."""

    index: int
    axis: int


@dataclass(frozen=True)
class Step:
    """One call. `pick` selects one of several results."""

    call: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    pick: int | None = None


@dataclass(frozen=True)
class Program:
    """Inputs, steps and outputs.

    `out` has, for each output, the layout of the caller's array, or `"input k"`. `resized` maps sizes to those of a
    second call of the same code; `apart` resizes only the first input, so that sizes no longer match.
    """

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    out: tuple[str, ...] | None = None
    resized: Mapping[int, int] | None = None
    apart: bool = False

    @cached_property
    def function(self) -> Replay:
        return Replay(self)

    def arguments(self) -> list[Any]:
        """Fresh arguments for a call."""
        return [x.make() for x in self.inputs if x.kind != "captured"]

    def second(self) -> tuple[Input, ...] | None:
        """The inputs of the second call."""
        if self.resized is None:
            return None
        return tuple(x if k and self.apart else x.resized(self.resized) for k, x in enumerate(self.inputs))


class Replay:
    """The program as a function with named arguments, as tracing needs them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.captured = {k: x.make() for k, x in enumerate(program.inputs) if x.kind == "captured"}
        names = [name(k) for k in range(len(program.inputs)) if k not in self.captured]
        self.__name__ = "program"
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
        )

    def __call__(self, *args: Any) -> Any:
        given = iter(args)
        values = [self.captured[k] if k in self.captured else next(given) for k in range(len(self.program.inputs))]
        for step in self.program.steps:
            values.append(run(step, values))
        results = tuple(values[k] for k in self.program.outputs)
        return results if len(results) > 1 else results[0]


def run(step: Step, values: list[Any]) -> Any:
    """The value of a step."""
    function = callable_of(step.call)
    traced = next((x for x in values if isinstance(x, Tracer)), None)
    if traced is not None and step.call.startswith("np."):  # as a function of the user would see it
        function = Standins(traced._trace, "").of(function)
    result = function(*_filled(step.args, values), **_filled(dict(step.kwargs), values))
    return result if step.pick is None else result[step.pick]


def callable_of(call: str) -> Callable[..., Any]:
    """`np.linalg.norm`, `operator.add`, or `.sum` for a method, `.T` for an attribute."""
    root, *parts = call.split(".")
    if not root:
        return lambda x, *args, **kwargs: _attribute(getattr(x, parts[0]), args, kwargs)
    found: Any = {"np": np, "operator": operator}[root]
    for part in parts:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def _attribute(found: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return found(*args, **kwargs) if callable(found) else found


def _filled(tree: Any, values: list[Any]) -> Any:
    if isinstance(tree, Ref):
        return values[tree.index]
    if isinstance(tree, SizeOf):
        return values[tree.index].shape[tree.axis]
    if isinstance(tree, (tuple, list)):
        return type(tree)(_filled(x, values) for x in tree)
    if isinstance(tree, dict):
        return {key: _filled(x, values) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(*(_filled(x, values) for x in (tree.start, tree.stop, tree.step)))
    return tree


def references(tree: Any) -> Iterator[int]:
    """The values that an argument, or a step, reads."""
    if isinstance(tree, (Ref, SizeOf)):
        yield tree.index
    elif isinstance(tree, (tuple, list)):
        for x in tree:
            yield from references(x)
    elif isinstance(tree, Mapping):
        yield from references(tuple(tree.values()))
    elif isinstance(tree, slice):
        yield from references((tree.start, tree.stop, tree.step))
    elif isinstance(tree, Step):
        yield from references((tree.args, tree.kwargs))


def renamed(tree: Any, to: Mapping[int, Any]) -> Any:
    """Return an argument or a step with other values or constants in place of those that it reads."""
    if isinstance(tree, Ref):
        return to[tree.index]
    if isinstance(tree, SizeOf):
        found = to[tree.index]
        return SizeOf(found.index, tree.axis) if isinstance(found, Ref) else 1
    if isinstance(tree, (tuple, list)):
        return type(tree)(renamed(x, to) for x in tree)
    if isinstance(tree, Mapping):
        return {key: renamed(x, to) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(*(renamed(x, to) for x in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, Step):
        return Step(tree.call, renamed(tree.args, to), renamed(tree.kwargs, to), tree.pick)
    return tree


def name(index: int) -> str:
    """Return the name of a value in text: `a`, `b`, ..., `z`, `a1`, ..."""
    letter = "abcdefghijklmnopqrstuvwxyz"[index % 26]
    return letter if index < 26 else f"{letter}{index // 26}"
