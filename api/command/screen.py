"""Print messages on stderr, in colour only on a terminal that wants it."""

from __future__ import annotations

import os
import re
import sys

_RED, _CYAN, _PLAIN = "\x1b[1;31m", "\x1b[36m", "\x1b[0m"
_CARET = re.compile(r"^( +\| +)(\^+)$", re.MULTILINE)


def show_error(message: str) -> None:
    """Prints an error."""
    _write("error:", message)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """Prints a warning, in place of `warnings.showwarning`: where in Weft it came from tells nothing to users."""
    _write("warning:", str(message))


def show_note(message: str) -> None:
    """Prints what is good to know beside the result."""
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
