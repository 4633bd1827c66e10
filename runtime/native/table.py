"""Hold the words that a native call reads, such as types, dtypes, functions and kernels, so that its code has no
addresses.

The first words belong to the table itself: the address of the next entry (0 means Python), how many calls are running,
how many there were, and after how many Python is asked again.
"""

from __future__ import annotations

import ctypes
from typing import Any

NEXT, INSIDE, CALLS, LIMIT = "next", "inside", "calls", "limit"


class WordTable:
    """Words by name. The table keeps the objects alive whose addresses it holds."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {NEXT: 0, INSIDE: 1, CALLS: 2, LIMIT: 3}
        self._words: list[int] = [0, 0, 0, 1 << 62]
        self._objects: list[Any] = []
        self._memory: Any = None

    def word(self, key: Any, content: int) -> int:
        """Return the index of a word."""
        if key not in self._places:
            self._places[key] = len(self._words)
            self._words.append(content)
        return self._places[key]

    def object(self, x: Any) -> int:
        """Return the index of an object's address."""
        key = ("object", id(x))
        if key not in self._places:
            self._objects.append(x)
        return self.word(key, id(x))

    def finish(self) -> int:
        """Return the address of the table. From now on its words can change, but none can be added."""
        self._memory = (ctypes.c_int64 * len(self._words))(*self._words)
        return ctypes.addressof(self._memory)

    def __getitem__(self, key: str) -> int:
        return int(self._memory[self._places[key]])

    def __setitem__(self, key: str, content: int) -> None:
        self._memory[self._places[key]] = content
