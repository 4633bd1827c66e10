"""Print messages on stderr, in colour only if the terminal supports it."""

from __future__ import annotations

import os
import re
import sys

_RED, _CYAN, _PLAIN = "\x1b[1;31m", "\x1b[36m", "\x1b[0m"
_CARET = re.compile(r"^( +\| +)(\^+)$", re.MULTILINE)


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
    print(_coloured(text) if _wants_colour() else text, file=sys.stderr)


def _wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _coloured(text: str) -> str:
    text = _CARET.sub(rf"\1{_RED}\2{_PLAIN}", text)
    text = re.sub(r"^error:", f"{_RED}error:{_PLAIN}", text)
    return re.sub(r"^(hint|note|warning):", rf"{_CYAN}\1:{_PLAIN}", text, flags=re.MULTILINE)
