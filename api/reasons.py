"""Say why Python runs something, and which errors mean that a piece failed."""

from __future__ import annotations

import ast
import linecache
import sys
from types import FunctionType

from .ir.errors import Span, WeftError
from .ir.interruptions import is_interruption
from .ir.tuples import NamedTuple


class Reason(NamedTuple):
    """Why Python runs something, and where."""

    text: str
    span: Span | None = None

    def __str__(self) -> str:
        shown = f"{self.span.file}:{self.span.line}: {self.text}" if self.span else self.text
        return f"{shown}\n{self.span.show()}" if self.span and self.span.text else shown


def reason_of(error: Exception) -> Reason:
    """Say why a compiled call failed."""
    if isinstance(error, WeftError):
        return Reason(error.message, error.span)
    return Reason(f"{type(error).__name__}: {error}")


def span_of(node: ast.AST, function: FunctionType) -> Span | None:
    """Return the place of a node in its file."""
    line = getattr(node, "lineno", None)
    if line is None:
        return None
    file = function.__code__.co_filename
    text = linecache.getline(file, line) or None
    column, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
    length = end - column if end is not None and getattr(node, "end_lineno", line) == line else 1
    return Span(file, line, column + 1, max(1, length), text)


def failures() -> type[Exception] | tuple[()]:
    """Say which exceptions mean that a piece failed, while one is handled: none if it came from a signal handler."""
    error = sys.exc_info()[1]
    return () if error is None or is_interruption(error) else Exception
