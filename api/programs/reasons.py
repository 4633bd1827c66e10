"""Say why Python runs something, and which errors mean that a piece failed."""

from __future__ import annotations

import ast
import linecache
import sys
import warnings
from types import FunctionType
from typing import Any

from ..ir.errors import CompileWarning, PassFailure, Span, VerifyProblem, WeftError
from ..ir.support.interruptions import is_interruption
from ..ir.tuples import NamedTuple


class Reason(NamedTuple):
    """The reason why Python runs something, and where."""

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


INTERNAL = (PassFailure, VerifyProblem)
BUGS = (AssertionError, AttributeError, KeyError, UnboundLocalError)


def is_internal(error: Exception, in_compiler: bool = False) -> bool:
    """Tell whether an error is a mistake inside Weft. With `in_compiler`, no user code has run."""
    if isinstance(error, WeftError):
        return isinstance(error, INTERNAL)
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    module = place.tb_frame.f_globals.get("__name__", "") if place is not None else ""
    return in_compiler or (isinstance(error, BUGS) and str(module).partition(".")[0] == "weft")


def warn_of(error: Exception, function: Any, lines: tuple[int, int] | None) -> None:
    """Warn that Python runs a function, or these lines of it, because of a mistake inside Weft."""
    where = getattr(function, "__name__", "a function")
    if lines is not None and isinstance(function, FunctionType):
        shown = f"line {lines[0]}" if lines[0] == lines[1] else f"lines {lines[0]}-{lines[1]}"
        where += f" ({function.__code__.co_filename}, {shown})"
    reason = reason_of(error).text
    text = f"{where} is run by Python because of an error inside Weft, please report it: {reason}"
    warnings.warn(CompileWarning(text), stacklevel=3)


def failures() -> type[Exception] | tuple[()]:
    """Say which exceptions mean that a piece failed, while one is being handled: none if a signal handler raised it."""
    error = sys.exc_info()[1]
    return () if error is None or is_interruption(error) or isinstance(error, CompileWarning) else Exception
