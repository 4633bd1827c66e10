"""Describe the native code of a nest to its caller. This needs no LLVM."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import errors
from ....ir.dims import Size
from ....ir.errors import Span, WeftError
from ....ir.tuples import NamedTuple
from ..functions import FrameWord

INDEX = "IndexProblem"


class Failure(NamedTuple):
    """A place where a nest may fail: the name of the error, its message and its place in the text."""

    kind: str
    message: str
    span: Span | None

    def error(self, details: Sequence[int]) -> WeftError:
        """Return the error; the message of an index out of range names the index and the size."""
        found: WeftError = getattr(errors, self.kind)(self.message.format(*details), self.span)
        return found


class NestCode(NamedTuple):
    """The functions of a nest, the first of which is called; the words of their frame; and where it may fail.

    Besides the kinds of `FrameWord` that regions have, a frame has "failure" 0 to 2: the number of the failed place in
    `failures`, counted from 1, and two details. Native code writes them, and the caller clears the first.
    """

    names: tuple[str, ...]
    entries: tuple[FrameWord, ...]
    failures: tuple[Failure, ...]
    asks: bool
    time: Size  # of a call, estimated in picoseconds
    text: str
    declared: dict[str, str]
