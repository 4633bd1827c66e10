"""Translate the index of a traced array to the graph's index items.

The answer is None if only NumPy can compute the result: for masks, whose elements decide the size of the result, and
for slices between traced numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.errors import IndexProblem, Span
from .symbolic import TracedSize
from .tracer import Tracer

if TYPE_CHECKING:
    from .trace import Trace

_UNKNOWN = object()


def items_of(trace: Trace, key: Any, span: Span | None) -> tuple[Any, ...] | None:
    """Return the items of an index: numbers, sizes, slices, None, Ellipsis, and values for index arrays."""
    items = tuple(_item(trace, item, span) for item in (key if isinstance(key, tuple) else (key,)))
    return None if any(item is _UNKNOWN for item in items) else items


def _item(trace: Trace, item: Any, span: Span | None) -> Any:
    if _is_basic(item):
        return _plain(item)
    if isinstance(item, Tracer):
        value = trace.owned(item, span)
        return _UNKNOWN if value.type.dtype.kind == "bool" else value
    if isinstance(item, list) and not holds_tracers(item):
        item = np.asarray(item)
        item = item if item.size else item.astype(np.intp)
    if isinstance(item, np.ndarray) and item.dtype.kind in "iu":
        return trace.capture(item, span)
    if isinstance(item, (float, complex, str, np.inexact)):
        raise IndexProblem(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices",
            span,
            f"{item!r} is not a valid index",
        )
    return _UNKNOWN


def holds_tracers(tree: Any) -> bool:
    """Tell whether nested lists contain traced values."""
    if isinstance(tree, (list, tuple)):
        return any(map(holds_tracers, tree))
    return isinstance(tree, (Tracer, TracedSize))


def _is_basic(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, TracedSize):
        return True
    if isinstance(item, Tracer):
        return False
    if isinstance(item, slice):
        return all(part is None or _is_basic(part) for part in (item.start, item.stop, item.step))
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _plain(item: Any) -> Any:
    if isinstance(item, slice):
        return slice(_plain(item.start), _plain(item.stop), _plain(item.step))
    return item.dim if isinstance(item, TracedSize) else item
