"""Find the user's line that a trace is at: the innermost frame outside Weft and NumPy."""

from __future__ import annotations

import linecache
import sys
from functools import lru_cache
from itertools import islice
from types import CodeType

from ...ir.errors import Span

_INSIDE = frozenset(("weft", "numpy"))


def here() -> Span | None:
    """Return the span of the user's expression that is running."""
    frame = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in _INSIDE:
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return _span(frame.f_code, frame.f_lasti, frame.f_lineno)


def definition(code: CodeType) -> Span:
    """Return the span of the line where a function starts."""
    return line_of(code.co_filename, code.co_firstlineno)


@lru_cache(maxsize=1024)
def _span(code: CodeType, instruction: int, line: int) -> Span:
    start, end, left, right = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    whole = line_of(code.co_filename, start or line)
    if left is None or right is None or whole.text is None:
        return whole
    source = whole.text.encode()
    column = len(source[:left].decode(errors="replace"))
    last = len(source[:right].decode(errors="replace")) if end == start else len(whole.text.rstrip())
    return Span(whole.file, whole.line, column + 1, max(1, last - column), whole.text)


def line_of(file: str, line: int) -> Span:
    """Return a line of a file, stripped."""
    text = linecache.getline(file, line)
    if not text:
        return Span(file, line)
    stripped = text.strip()
    return Span(file, line, text.index(stripped) + 1 if stripped else 1, max(1, len(stripped)), text)
