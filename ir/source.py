"""What a front end gives to the runtime: something that can be specialised to argument types and built into a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .dtypes import DType
from .graph import Graph
from .records import record
from .tuples import NamedTuple
from .types import TensorType


@record
class ArgType:
    """What came in a call: the dtype (weak for a Python number) and the sizes. `value` is the argument itself."""

    dtype: DType
    shape: tuple[int, ...]
    value: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgType) and (self.dtype, self.shape) == (other.dtype, other.shape)

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))


class Binding(NamedTuple):
    """Arguments as the graph will see them: types whose sizes are symbols or 1, and the numbers behind the symbols.

    A scalar argument that was declared with a dtype has that dtype here; the runtime converts it at each call.
    """

    types: tuple[TensorType, ...]
    sizes: Mapping[str, int]


Evaluate = Callable[..., Sequence[Any]]
"""Runs a graph on the values of its inputs, with the functions that its nodes name by number as `calls`.

Tracing needs it to learn what a NumPy function gives.
"""


@record
class Place:
    """Where an output stands in what a function returns."""

    index: int


class Structure(NamedTuple):
    """How a kernel hands back its outputs: a `single` one, a `tuple`, or a `tree` of places and of what never changes.

    Trees are lists, tuples, named tuples and dicts, nested as the user's function returned them.
    """

    kind: str = "single"
    tree: Any = None

    def pack(self, outputs: Sequence[Any]) -> Any:
        """The outputs as the user's function would have returned them."""
        if self.kind == "tree":
            return rebuilt(self.tree, lambda x: outputs[x.index] if isinstance(x, Place) else x)
        return outputs[0] if self.kind == "single" else tuple(outputs)


def rebuilt(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """Nested lists, tuples, named tuples and dicts with what `leaf` makes of all else in them."""
    kind = type(tree)
    if kind is dict:
        return {key: rebuilt(item, leaf) for key, item in tree.items()}
    if kind is list:
        return [rebuilt(item, leaf) for item in tree]
    if isinstance(tree, tuple):
        items = [rebuilt(item, leaf) for item in tree]
        return kind(*items) if hasattr(tree, "_fields") else tuple(items)
    return leaf(tree)


@record
class Built:
    """A graph, and what it needs beside the arguments.

    `hidden` are the arrays behind its inputs that are not arguments: captured ones, read at each call. `calls` are
    the NumPy functions of its `numpy` nodes, by the node's attribute `call`: each takes the operands as arrays and
    gives the results as a tuple. `structure` is None where the graph itself tells (one output or a tuple). `updates`
    are pairs of an input and an output, by number: arguments that the caller finds changed after the call. `after` is
    the pass that the text was printed after which the graph was read from; such a graph has its own layout classes.
    """

    graph: Graph
    hidden: tuple[Any, ...] = ()
    calls: tuple[Callable[..., tuple[Any, ...]], ...] = ()
    structure: Structure | None = None
    updates: tuple[tuple[int, int], ...] = ()
    after: str | None = None

    @property
    def has_layouts(self) -> bool:
        """Whether the text that the graph was read from says how arguments and results lie in memory."""
        return self.after is not None and {"layouts", "out_layouts"} <= self.graph.attrs.keys()


ABSENT = object()


class Guard(NamedTuple):
    """A name outside of a kernel that must still mean the same object: a key of a dict, or (no key) a closure cell.

    `expected` is `ABSENT` where the name must still mean nothing.
    """

    holder: Any
    key: str | None
    expected: Any


class KernelSource(Protocol):
    """A kernel before it has types."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the array and number arguments, in order."""

    def bind(self, args: Sequence[ArgType]) -> Binding:
        """Checks arguments against what was declared; raises a typed error that names the argument."""

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        """The graph for these types; `args` are the arguments of the call at hand, if there is one."""
