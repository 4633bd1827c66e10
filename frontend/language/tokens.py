"""Match the patterns of a grammar's terminals against text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence


class Token(str):
    """A token: its terminal, its offset, and its line, counted from 1."""

    __slots__ = ("line", "start", "type")
    type: str
    start: int
    line: int

    def __new__(cls, type: str, text: str, start: int, line: int) -> Token:
        token = super().__new__(cls, text)
        token.type, token.start, token.line = type, start, line
        return token


class UnexpectedCharacter(Exception):
    """No token begins at this offset."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Scanner:
    """Matches the patterns of terminals in this order; `words` are the keywords."""

    def __init__(self, terminals: Sequence[tuple[str, str]], words: Mapping[str, str], ignored: Sequence[str]) -> None:
        self._match = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in terminals)).match
        self._words, self._ignored = words, frozenset(ignored)

    def tokens(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a text, except the ignored ones."""
        at, line = 0, 1
        while at < len(text):
            found = self._match(text, at)
            if found is None:
                raise UnexpectedCharacter(at)
            kind, piece = found.lastgroup, found.group()
            assert kind is not None
            if kind not in self._ignored:
                yield Token(self._words.get(piece, kind), piece, at, line)
            line += piece.count("\n")
            at = found.end()
