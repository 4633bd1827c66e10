"""Define every error that Weft raises, and the source spans that errors point at.

All are subclasses of `WeftError`, and each is also the built-in exception that a NumPy user would expect. A span knows
its file, line and column, and shows the line with a caret.
"""

from __future__ import annotations

import numpy as np

from .records import record


def quantity(count: object, one: str, many: str | None = None) -> str:
    """A count with its noun for a message: `1 operand`, `2 operands`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def type_of(value: object) -> str:
    """The type of a value with its article for a message: `an int`, `a list`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' or name.startswith('nd') else 'a'} {name}"


@record
class Span:
    """A place in a source: 1-based line and column; `text` is the source line itself, if it is known."""

    file: str
    line: int
    column: int = 1
    length: int = 1
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def show(self) -> str:
        """The line with a caret below the place."""
        if self.text is None:
            return ""
        shown = self.text.expandtabs(1).rstrip("\n")
        column = max(1, self.column)
        width = max(1, min(self.length, len(shown) - column + 1))
        number = str(self.line)
        return f" {number} | {shown}\n {' ' * len(number)} | {' ' * (column - 1)}{'^' * width}"


class WeftError(Exception):
    """The base class of all errors of Weft: a message, where it happened, and what to do."""

    def __init__(self, message: str, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        parts = [f"{self.span}: {self.message}" if self.span else self.message]
        if self.span and (shown := self.span.show()):
            parts.append(shown)
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        from .support.tracebacks import notebook_lines

        return notebook_lines(self)


class SyntaxProblem(WeftError, SyntaxError):
    """Kernel text that does not follow the grammar."""

    def __str__(self) -> str:
        return WeftError.__str__(self)


class LimitExceeded(WeftError, ValueError):
    """Kernel text or a graph beyond a stated limit."""


class UnknownName(WeftError, LookupError):
    """A name that nothing defines."""


class TypeProblem(WeftError, TypeError):
    """A dtype, a kind of value or an argument that does not fit."""


class ShapeProblem(WeftError, ValueError):
    """Ranks or sizes that do not fit."""


class ValueProblem(WeftError, ValueError):
    """A value that is not allowed here."""


class SizeProblem(ValueProblem):
    """An array whose size in bytes does not fit a signed word."""


class IndexProblem(WeftError, IndexError):
    """An index or an axis out of range."""


class AxisProblem(IndexProblem, ValueProblem, np.exceptions.AxisError):
    """An axis that the array does not have."""


class OverflowProblem(WeftError, OverflowError):
    """A Python integer that does not fit the dtype of the other operand."""


class MemoryProblem(WeftError, MemoryError):
    """An array that is larger than the available memory or than a stated limit."""


class DivisionByZero(WeftError, ZeroDivisionError):
    """A constant expression divides by zero."""


class TraceProblem(WeftError, TypeError):
    """Python code that would leave the trace, such as a branch on a traced value."""


class OnlyTraced(TraceProblem):
    """A function that only works on traced values, such as `weft.while_loop`, was called on other values."""


class ImportProblem(WeftError, ImportError):
    """An `import` that is missing, cyclic or not allowed."""


class FileProblem(WeftError, OSError):
    """A file that can't be read or written."""

    def __str__(self) -> str:
        return WeftError.__str__(self)


class LibraryProblem(FileProblem):
    """A shared library that is missing, not trusted, or does not match its declaration."""


class MissingSymbol(LibraryProblem, UnknownName):
    """A symbol that a shared library does not have."""


class WrongInterface(LibraryProblem):
    """A shared library that was built for another version of Weft's C ABI."""


class WrongSignature(LibraryProblem, TypeProblem):
    """A function of a shared library whose parameters or results differ from the declaration."""


class LoadWarning(UserWarning):
    """A kernel file that could not be loaded and was skipped."""


class CompileWarning(UserWarning):
    """An error inside Weft while it compiled a part of a function, which Python runs instead."""


class Unsupported(WeftError, NotImplementedError):
    """Something that Weft does not support; the hint says what to do instead."""


class UnsupportedTarget(WeftError, RuntimeError):
    """No native code for this machine; the reference backend still works."""


class KernelFailure(WeftError, RuntimeError):
    """A user's registered kernel raised or reported an error."""


class VerifyProblem(WeftError, ValueError):
    """A graph that breaks the rules of the IR."""


class PassFailure(WeftError, RuntimeError):
    """A pass that failed; the message names the file that replays it."""


def nearest(name: str, known: list[str]) -> str | None:
    """Suggest the most similar known name, if one is similar enough.

    Between equally similar names, the same first letter wins.
    """
    import difflib

    found = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.6)
    if not found:
        return None
    best = [other for other in found if _likeness(name, other) == _likeness(name, found[0])]
    return f"did you mean '{next((other for other in best if other[:1] == name[:1]), found[0])}'?"


def _likeness(a: str, b: str) -> float:
    import difflib

    return difflib.SequenceMatcher(None, b, a).ratio()
