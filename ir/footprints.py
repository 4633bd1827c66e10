"""Check that arrays are small enough to exist: sizes, bytes and ranks within what NumPy and native code can count.

NumPy refuses an array whose size in bytes does not fit a signed word, even if another axis is empty. One size is at
most half of that, so that native code can add two sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from . import dims
from .dims import Dim, Size
from .errors import SizeProblem, Span, ValueProblem
from .facts import Facts
from .graph import Graph
from .ops import REGION
from .records import record
from .types import TensorType, sizes

MOST_BYTES = (1 << 63) - 1
MOST_ELEMENTS = 1 << 62  # along one axis
MOST_DIMENSIONS = 64
TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


@record
class Footprint:
    """The shape of a value and the bytes of an element, for calls whose sizes may be too large."""

    shape: tuple[Size, ...]
    itemsize: int
    span: Span | None

    def check(self, env: Mapping[str, int]) -> None:
        """Refuses the sizes of a call where they are known and too large."""
        if all(dims.symbols(s) <= env.keys() for s in self.shape):
            check_array([dims.evaluate(s, env) for s in self.shape], self.itemsize, self.span)


def check_array(shape: Sequence[int], itemsize: int, span: Span | None = None) -> None:
    """Refuses an array that NumPy could not make either."""
    if any(n < 0 for n in shape):
        raise ValueProblem("negative dimensions are not allowed", span, f"the shape would be {tuple(shape)}")
    if prod(max(1, n) for n in shape) * itemsize > MOST_BYTES or any(n > MOST_ELEMENTS for n in shape):
        raise SizeProblem(TOO_BIG, span, f"the shape would be {tuple(shape)}")


def check_ranks(graph: Graph) -> None:
    """Refuse results with more dimensions than NumPy's arrays have; intermediate values may have more."""
    for value in graph.outputs:
        if value.type.rank > MOST_DIMENSIONS:
            span = value.node.span if value.node is not None else None
            raise ValueProblem(_too_many(value.type.rank), span)


def _too_many(rank: int) -> str:
    return f"maximum supported dimension for an ndarray is currently {MOST_DIMENSIONS}, found {rank}"


def footprints_of(graphs: Iterable[Graph]) -> tuple[Footprint, ...]:
    """List the values whose size each call must check, because no argument is at least as large."""
    found: dict[tuple[Size, ...], Footprint] = {}
    given: list[Footprint] = []
    for graph in graphs:
        given += [Footprint(v.type.shape, v.type.dtype.size, None) for v in graph.inputs]
        for footprint in _footprints(graph):
            shape = tuple(sorted((s for s in footprint.shape if s != 1), key=str))
            if shape not in found or found[shape].itemsize < footprint.itemsize:
                found[shape] = Footprint(shape, footprint.itemsize, footprint.span)
    return tuple(e for e in found.values() if e.shape and not any(_bounds(g, e) for g in given))


def _footprints(graph: Graph) -> Iterable[Footprint]:
    """List the footprints of the values of a graph, of the bodies in it, and of the spaces of loop nests."""
    for node in graph:
        if node.body is not None and node.op is not REGION:
            yield from _footprints(node.body)
        for value in node.results:
            yield Footprint(value.type.shape, value.type.dtype.size, node.span)
        if node.op is REGION and "space" in node.attrs:
            yield Footprint(tuple(sizes(node.attrs, "space")), 1, node.span)


def _bounds(given: Footprint, other: Footprint) -> bool:
    """Tell whether an existing array has at least as many bytes as another one would have."""
    return other.itemsize <= given.itemsize and Counter(other.shape) <= Counter(given.shape)


def check_type(type: TensorType, facts: Facts, span: Span | None) -> None:
    """Refuses the type of a new value that is too large in every call, or in the current one."""
    if type.rank > 2 * MOST_DIMENSIONS:  # `tile` has twice as many on the way
        raise ValueProblem(_too_many(type.rank), span)
    for size in type.shape:
        if isinstance(size, Dim) and any(abs(c) > MOST_BYTES for _, c in size.terms):
            raise SizeProblem(TOO_BIG, span, f"a size would be {size}")
    numbers = [facts.number(s) for s in type.shape]
    check_array([1 if n is None else n for n in numbers], type.dtype.size, span)
