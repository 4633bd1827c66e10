"""Hold the text of one file and find spans in it."""

from __future__ import annotations

from bisect import bisect_right

from ...ir.errors import Span
from ...ir.lazy import cached_property

_SHOWN = 500


class Source:
    """A file's name, its text, and the offsets of its lines."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._lines: dict[int, str | None] = {}

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        while (at := self.text.find("\n", starts[-1])) >= 0:
            starts.append(at + 1)
        return starts

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets; one over several lines is shown at its first line."""
        line = bisect_right(self._starts, start)
        begin = self._starts[line - 1]
        return Span(self.file, line, start - begin + 1, max(1, end - start), self._line(line))

    def _line(self, line: int) -> str | None:
        """Return the text of a line, shared by all its spans, or nothing if it is too long to show."""
        if line not in self._lines:
            begin = self._starts[line - 1]
            stop = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
            self._lines[line] = None if stop - begin > _SHOWN else self.text[begin:stop].rstrip("\r")
        return self._lines[line]

    def join(self, first: Span, last: Span) -> Span:
        """Return the span from the start of one span to the end of another."""
        start = self._starts[first.line - 1] + first.column - 1
        return self.span(start, self._starts[last.line - 1] + last.column - 1 + last.length)
