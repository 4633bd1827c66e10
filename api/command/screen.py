"""Print messages on stderr, in colour only if the terminal supports it."""

from __future__ import annotations

import os
import sys

from ..ir.support.tracebacks import coloured


def show_error(message: str) -> None:
    """Print an error."""
    _write("error:", message)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """Print a warning in place of `warnings.showwarning`, without Weft's own line, which tells users nothing."""
    _write("warning:", str(message))


def show_note(message: str) -> None:
    """Print a note."""
    _write("note:", message)


def _write(label: str, message: str) -> None:
    if sys.stderr is None:
        return
    text = f"{label} {message}"
    print(coloured(text, "error") if _wants_colour() else text, file=sys.stderr)


def _wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
