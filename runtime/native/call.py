"""Describe the calls that a recipe is made for: their form, where each argument goes, and what guards them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.layouts import GENERAL, UNIT, C, F
from ...ir.ops import LOOP, NUMPY
from ...ir.orders import order_guards
from ...ir.source import Guard, Leaf, Packed
from ...ir.tuples import NamedTuple
from .. import threads
from ..deferred import estimated_work

if TYPE_CHECKING:
    from ..compiler import Lowered

Array = np.ndarray[Any, Any]
IDENTITY, BITS, VALUE = range(3)  # how a call's values are compared with those of the example
COMPARED = {float: BITS, int: VALUE, str: VALUE, bytes: VALUE}  # equal objects of these exact types mean the same
FIXED = (type(None), bool, int, float, complex, str, bytes, type, np.dtype, np.number, np.bool)  # they never change


class CallForm(NamedTuple):
    """How a call passes its arguments: the number of positional ones, and the names of the others."""

    positional: int
    names: tuple[str, ...]


class Input(NamedTuple):
    """An input of the graph: an argument (`place` is its number in the call), a part of one, or a constant object."""

    given: Any
    array: Array
    layout: str
    place: int | str | None  # a name is that of a leaf in a container

    @property
    def is_size(self) -> bool:
        """Whether this is an int that stands for an array of that size."""
        return self.array.ndim == 1 and isinstance(self.given, (int, np.integer))

    def lies(self) -> tuple[Any, ...]:
        """Return what a recipe checks of its memory; for a size, whether it is 0, 1 or more."""
        return (min(len(self.array), 2),) if self.is_size else _lies(self.array, self.layout)


class Out(NamedTuple):
    """An output array that the caller passes: its place in the call, numbered like inputs, and in the `out` tuple."""

    array: Array
    place: int | str
    item: int | None = None


class NativeCall(NamedTuple):
    """An example call; all calls with the same signature run the same way."""

    form: CallForm
    inputs: Sequence[Input]
    outs: Sequence[Out | None]
    fixed: Sequence[tuple[int, Any]] = ()  # arguments that must have these values, but for their leaves
    guards: Sequence[Guard] = ()

    def overlaps(self, lowered: Lowered) -> bool:
        """Tell whether writing to `out` could change data that is still to be read."""
        if lowered.built.updates:
            return False
        outs = [out.array for out in self.outs if out is not None]
        others = [*(given.array for given in self.inputs), *outs]
        return any(np.may_share_memory(out, x) for k, out in enumerate(outs) for x in others[: len(self.inputs) + k])

    def is_exact(self, lowered: Lowered) -> bool:
        """Tell whether the order of a result's axes depends on sizes and strides. A recipe then checks these.

        For general layouts a recipe checks how axes are sorted. But the graph may have been built for arrays that are
        sorted in another way, and be right only for results of these sizes. The same holds for arrays that a Python
        function reads between two kernels.
        """
        if lowered.built.calls and any(_is_matrix(given) and given.layout != C for given in self.inputs):
            calls = [n for n in lowered.graph if n.op is NUMPY and "call" in n.attrs]
            if any(v.node is not None and v.type.rank > 1 for n in calls for v in n.operands):
                return True
        if None not in self.outs or all(v.type.rank < 2 for v in lowered.graph.outputs):
            return False
        if not lowered.has_settled_orders or all(given.layout != GENERAL for given in self.inputs):
            return not lowered.has_settled_orders
        graph, arrays = lowered.built.graph, [given.array for given in self.inputs]
        shapes = zip(graph.inputs, arrays, strict=True)
        sizes = [pair for v, x in shapes for pair in zip(v.type.shape, x.shape, strict=True)]
        env = {str(size): n for size, n in sizes if not isinstance(size, int)}
        return bool(order_guards(graph, [x.shape for x in arrays], [x.strides for x in arrays], env, lowered.orders))

    def is_brief(self, lowered: Lowered) -> bool:
        """Tell whether such a call takes a few microseconds on one thread and has no effect but its result."""
        if lowered.built.calls or any(out is not None for out in self.outs) or any(n.op is LOOP for n in lowered.graph):
            return False
        shapes = zip(lowered.built.graph.inputs, self.inputs, strict=True)
        pairs = [pair for v, x in shapes for pair in zip(v.type.shape, x.array.shape, strict=True)]
        env = {str(size): n for size, n in pairs if not isinstance(size, int)}
        return estimated_work(lowered, env) < threads.SHORT

    def kind(self, lowered: Lowered) -> tuple[Any, ...]:
        """Return a key that distinguishes the calls of different recipes on the same graph."""
        inputs = tuple((type(i.given), i.place, i.lies()) for i in self.inputs)
        outs = tuple(out and (out.item, _lies(out.array, GENERAL)) for out in self.outs)
        fixed = tuple((place, described(x)) for place, x in self.fixed)
        guards = tuple((id(g.holder), g.key, id(g.expected)) for g in self.guards)
        exact = [(i.array.shape, i.array.strides) for i in self.inputs] if self.is_exact(lowered) else None
        return self.form, inputs, outs, fixed, guards, exact, self.overlaps(lowered)


def leaves_of(fixed: Any) -> Iterator[str | None]:
    """Yield the names of the leaves in a fixed argument; None for a value that a recipe can't check."""
    tree = fixed.tree if isinstance(fixed, Packed) else fixed
    if isinstance(tree, Leaf):
        yield tree.name
    elif type(tree) is dict:
        for key, item in tree.items():
            yield from () if isinstance(key, FIXED) else (None,)
            yield from leaves_of(item)
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves_of(item)
    elif not isinstance(tree, FIXED):
        yield None


def comparison(x: Any) -> int:
    """Return how a value of a call is compared with a fixed value."""
    if type(x) in (np.float32, np.float16):  # two zeros are equal, and NaN is not
        return VALUE if x == x and x != 0 else IDENTITY
    if isinstance(x, np.integer):
        return VALUE
    return BITS if type(x) is np.float64 else COMPARED.get(type(x), IDENTITY)


def described(fixed: Any) -> Any:
    """Return a key that is equal for fixed arguments that pass the same checks."""
    tree = fixed.tree if isinstance(fixed, Packed) else fixed
    kind = type(tree)
    if isinstance(tree, Leaf):
        return tree
    if kind is dict:
        return kind, tuple((described(key), described(item)) for key, item in tree.items())
    if isinstance(tree, (list, tuple)):
        return kind, tuple(map(described, tree))
    how = comparison(tree)
    return kind, tree if how == VALUE else repr(tree) if how == BITS else id(tree)


def _is_matrix(given: Input) -> bool:
    return given.array.ndim > 1


def _lies(array: Array, layout: str) -> tuple[Any, ...]:
    """What a recipe checks of an array's memory, besides its rank: which sizes are 1, and how strides compare."""
    ones = tuple(n == 1 for n in array.shape)
    if layout in (C, F, UNIT):
        return layout, ones
    lengths = [abs(s) for s in array.strides]
    compared = tuple((a > b) - (a < b) for a in lengths for b in (0, *lengths))
    return array.flags.c_contiguous, array.flags.f_contiguous, ones, compared
