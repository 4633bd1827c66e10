"""Distinguish exceptions that interrupt a compile from errors in the kernel or in the compiler.

A signal handler may raise anywhere: for a time limit, or for Ctrl-C with the user's handler. Such an exception must
reach the caller unchanged. It is recognised by the handler's code in its traceback. An exception that another thread
injects into this one has no such code; it is recognised by its type, which the compiler's own code never raises.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from ..errors import WeftError

# Exceptions that a mistake in the compiler, or in code that it calls, can raise.
_FAULTS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError,
    WeftError,
)  # fmt: skip
_OURS = __name__.partition(".")[0]
_MAKERS = ("builtins", "numpy", _OURS)


def is_interruption(error: BaseException) -> bool:
    """Whether a signal handler raised this, or memory ran out."""
    if isinstance(error, MemoryError) or not isinstance(error, Exception):
        return True
    others, trace = set[CodeType](), error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if str(frame.f_globals.get("__name__")).partition(".")[0] != _OURS:
            others.add(frame.f_code)
    return bool(others) and not others.isdisjoint(_handlers())


def is_fault(error: BaseException) -> bool:
    """Whether the compiler's own code raised this."""
    is_ours = isinstance(error, _FAULTS) and type(error).__module__.partition(".")[0] in _MAKERS
    return is_ours and not is_interruption(error)


def _handlers() -> set[CodeType]:
    import _signal  # type: ignore[import-not-found]  # `signal` makes an enumeration of each number, which takes longer

    found = map(_signal.getsignal, range(1, _signal.NSIG))
    return {code for handler in found if callable(handler) and (code := _code(handler)) is not None}


def _code(handler: Any) -> CodeType | None:
    """The code of a function, a method, a partial call or an object that can be called."""
    for _ in range(4):
        handler = getattr(handler, "func", getattr(handler, "__func__", handler))
        if isinstance(code := getattr(handler, "__code__", None), CodeType):
            return code
        if handler is None or isinstance(handler, int):
            return None
        handler = type(handler).__call__ if callable(handler) else None
    return None
