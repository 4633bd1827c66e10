"""Let Python and IPython show Weft's errors without the frames of Weft. `WEFT_TRACEBACK=1` shows all frames."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from .ir.errors import SyntaxProblem, WeftError


def shorten() -> None:
    """Replace Python's own hook for errors. A hook that someone else has set stays: it may report errors elsewhere."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = show
    ipython: Any = sys.modules.get("IPython")
    if ipython is not None and (shell := ipython.get_ipython()) is not None:
        shorten_in(shell)


def shorten_in(shell: Any) -> None:
    """Shorten syntax errors in IPython, which would show them as errors of the cell. Other errors are short anyway."""
    if not shell.custom_exceptions:
        shell.set_custom_exc((SyntaxProblem,), _show_in)


def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that nobody caught."""
    from .ir.support.tracebacks import short_traceback, wants_all

    if not isinstance(error, WeftError) or wants_all() or sys.stderr is None:
        sys.__excepthook__(kind, error, trace)
    else:
        print(short_traceback(error, trace), file=sys.stderr)


def _show_in(shell: Any, kind: type[BaseException], error: WeftError, trace: Any, tb_offset: Any = None) -> list[str]:
    lines = error._render_traceback_()
    shell._showtraceback(kind, error, lines)
    return lines
