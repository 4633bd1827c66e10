"""Write an error for its reader: the message with its caret, and the frames of the user's own code.

Frames of Weft are left out, because they tell a user nothing. `WEFT_TRACEBACK=1` shows all of them.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from types import TracebackType
from typing import Any

from ..errors import KernelFailure, PassFailure, WeftError

_RED, _CYAN, _PLAIN = "\x1b[1;31m", "\x1b[36m", "\x1b[0m"
_CARET = re.compile(r"^( +\| +)(\^+)$", re.MULTILINE)
_LABEL = re.compile(r"^(hint|note|warning):", re.MULTILINE)


def wants_all() -> bool:
    """Tell whether the user asked for full tracebacks."""
    return os.environ.get("WEFT_TRACEBACK", "").strip() not in ("", "0")


def short_traceback(error: BaseException, trace: TracebackType | None) -> str:
    """Format an error as Python does, without the frames of Weft."""
    frames = _own_frames(trace)
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    cause = error.__cause__ if isinstance(error, (KernelFailure, PassFailure)) else None
    before = ""
    if cause is not None:
        before = f"{short_traceback(cause, cause.__traceback__)}\n\nwhich caused\n\n"
    return f"{before}{''.join(head)}{_titled(error)}"


def notebook_lines(error: WeftError) -> list[str]:
    """Format an error for a notebook: the message with its caret, or with the cell's line if it has no place."""
    if wants_all():
        return "".join(traceback.format_exception(error)).splitlines()
    text = _titled(error)
    if error.span is not None:
        text = text.replace(error.span.file, _cell(error.span.file))
    elif frames := _own_frames(error.__traceback__):
        last = frames[-1]
        text = f"{text}\n{_cell(last.filename)}, line {last.lineno}: {last.line}"
    return coloured(text, type(error).__name__).splitlines()


def coloured(text: str, label: str) -> str:
    """Add the colours of a terminal: red for the label at the start and for carets, cyan for hints."""
    text = _CARET.sub(rf"\1{_RED}\2{_PLAIN}", text)
    text = re.sub(rf"^({re.escape(label)}):", rf"{_RED}\1:{_PLAIN}", text)
    return _LABEL.sub(rf"{_CYAN}\1:{_PLAIN}", text)


def _titled(error: BaseException) -> str:
    """Return the message under the error's public name. The short name is enough, since the message says the rest."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _own_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the frames that are neither Weft's nor IPython's."""
    frames = traceback.extract_tb(trace)
    names = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(trace)]
    skipped = ("weft", "IPython")
    return [frame for frame, name in zip(frames, names, strict=True) if name.partition(".")[0] not in skipped]


def _cell(file: str) -> str:
    """Return IPython's name of a cell for its file, or the file."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    name = shell.compile.format_code_name(file) if shell is not None else None
    return " ".join(name) if name else file
