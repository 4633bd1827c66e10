"""The words that a native call reads, so that its code holds no address itself: types, dtypes, functions, kernels.

The first words are the table's own: the address of the next entry (0 is Python), how many calls are inside, how many
there were, and after how many Python is asked again.
"""

from __future__ import annotations

import ctypes
from typing import Any

NEXT, INSIDE, CALLS, LIMIT = "next", "inside", "calls", "limit"


class WordTable:
    """Words by name. Objects whose addresses are in it are kept alive by it."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {NEXT: 0, INSIDE: 1, CALLS: 2, LIMIT: 3}
        self._words: list[int] = [0, 0, 0, 1 << 62]
        self._objects: list[Any] = []
        self._memory: Any = None

    def word(self, key: Any, content: int) -> int:
        """The place of a word."""
        if key not in self._places:
            self._places[key] = len(self._words)
            self._words.append(content)
        return self._places[key]

    def object(self, x: Any) -> int:
        """The place of an object's address."""
        key = ("object", id(x))
        if key not in self._places:
            self._objects.append(x)
        return self.word(key, id(x))

    def finish(self) -> int:
        """The address of the table; from here on its words can be changed, but none be added."""
        self._memory = (ctypes.c_int64 * len(self._words))(*self._words)
        return ctypes.addressof(self._memory)

    def __getitem__(self, key: str) -> int:
        return int(self._memory[self._places[key]])

    def __setitem__(self, key: str, content: int) -> None:
        self._memory[self._places[key]] = content
