"""Find a compiled graph on disk, or lower it here and store it once it is compiled.

A source that knows the digest of its text is found by that, before anything is parsed. Others, such as traced
functions, are built first and found by the text of their graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.records import replace
from ...ir.source import KernelSource
from ..compiler import Begun, Lowered, Options, Request, begin, complete, lower
from .cache import Cache, default_cache
from .graphs import Known, Whole, can_be_stored, content_of, restored
from .key import key_of, setting, signature, state_of

if TYPE_CHECKING:
    from ..registry import Registry

VARIANTS = 8  # graphs under one key that differ in their guards on sizes
Bind = Callable[[Lowered], bool]


def find_or_lower(source: KernelSource, request: Request, lookup: Registry, options: Options, bind: Bind) -> Lowered:
    """Return the graph for a request. One from disk must suit the call. With `verify`, the passes always run."""
    cache = default_cache() if options.backend == "llvm" and not options.verify else None
    generation = lookup.generation  # read before the registry's state, so that a change in between is noticed
    state = state_of(lookup) if cache is not None else None

    def compiled() -> Lowered:
        with _compiling():
            return lower(source, request, lookup, options)

    if cache is None or state is None:
        return compiled()
    if hasattr(source, "digest"):
        parts = [source.digest, source.name, signature(request), setting(options), state]
        again = _without_arrays(request)
        place = _Place(cache, "kernel", parts, generation, options, lambda: lower(source, again, lookup, options))
        return place.find(bind, compiled)
    with _compiling():
        begun = begin(source, request)
        if begun.built.calls:
            return complete(begun, lookup, options)
        parts = [*_described(begun), setting(options), state]
        known = (begun.built, begun.orders, begun.scalars, begun.is_general)
        place = _Place(cache, "trace", parts, generation, options, lambda: complete(begun, lookup, options), known)
        return place.find(bind, place.whole)


@contextmanager
def _compiling() -> Iterator[None]:
    """Count the time of a compile, and fold constants in the usual floating-point environment."""
    from ...ir.limits import limiter
    from ...ir.support import float_environment

    with limiter.compiling(), float_environment.usual():
        yield


def find_variant(base: Lowered, options: Options, lookup: Registry, make: Callable[[], Lowered]) -> Lowered:
    """Find a compiled graph with another schedule."""
    cache = default_cache() if not options.verify else None
    generation = lookup.generation
    state = state_of(lookup) if cache is not None else None
    if cache is None or state is None:
        return make()
    guards = [f"{left} == {right}" for left, right in base.guards]
    known = (base.built, base.orders, base.scalars, base.any_order)
    place = _Place(cache, "variant", [base.family, guards, setting(options), state], generation, options, make, known)
    return place.find(lambda _: True, make)


class _Place:
    """The numbered entries of one key; each has other guards on sizes."""

    def __init__(
        self,
        cache: Cache,
        kind: str,
        parts: list[Any],
        generation: int,
        options: Options,
        whole: Whole,
        known: Known | None = None,
    ) -> None:
        self.cache, self.kind, self.parts, self.generation = cache, kind, parts, generation
        self.options, self.whole, self.known = options, whole, known

    def find(self, bind: Bind, make: Callable[[], Lowered]) -> Lowered:
        for number in range(VARIANTS):
            key = key_of(self.kind, *self.parts, number)
            content = self.cache.read(key)
            found = (
                None if content is None else restored(content, self.options, self.generation, self.whole, self.known)
            )
            if found is None:
                made = make()
                return replace(made, keep=partial(self.keep, key), stored=self.find) if can_be_stored(made) else made
            if bind(found):
                return replace(found, stored=self.find)
        return make()

    def keep(self, key: bytes | None, lowered: Lowered, code: bytes) -> None:
        self.cache.write(key, content_of(lowered, code, with_source=self.known is None))


def _described(begun: Begun) -> list[Any]:
    """Describe everything in a graph that its code depends on; the text omits which inputs are NumPy scalars."""
    from ...ir.text.printer import print_graph

    scalars = [v.scalar for v in begun.graph.inputs]
    return [print_graph(begun.graph), scalars, begun.is_general, begun.built.after]


def _without_arrays(request: Request) -> Request:
    """Copy a request without keeping the caller's arrays alive."""
    args = [replace(a, value=None) if isinstance(a.value, np.ndarray) else a for a in request.args]
    return request._replace(args=args)
