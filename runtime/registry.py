"""An op and a dtype signature in, the best implementation out."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from ..ir.dtypes import NATIVE, DType
from ..ir.kernels import Choice
from ..ir.ops import TABLE
from ..passes.complex_rules import COMPLEX_OPS

EXACT, VECTORIZED = 10, 20
NUMPY = Choice("python", "naive", 0)


class Registry:
    """The bundled implementations of the ops. Lookups are cached."""

    def __init__(self, inline: frozenset[str] = frozenset(TABLE)) -> None:
        self._inline = inline
        self._cache: dict[tuple[str, tuple[DType, ...], DType], Choice] = {}
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def choose(self, op: str, dtypes: tuple[DType, ...], result: DType) -> Choice:
        """Vector code of our own where there is some for these dtypes, else NumPy."""
        key = (op, dtypes, result)
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self.hits += 1
                return found
            self.misses += 1
            native = op in self._inline and all(d in NATIVE or op in COMPLEX_OPS for d in (*dtypes, result.strong))
            found = Choice("inline", "vectorized", EXACT * len(dtypes) + VECTORIZED) if native else NUMPY
            self._cache[key] = found
            return found

    def stats(self) -> Mapping[str, int]:
        """How many names and lookups there are."""
        with self._lock:
            return {
                "kernel_names": len(self._inline),
                "cache_entries": len(self._cache),
                "hits": self.hits,
                "misses": self.misses,
            }
