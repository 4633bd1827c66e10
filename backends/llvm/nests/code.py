"""Describe the native code of a nest to its caller. This needs no LLVM."""

from __future__ import annotations

from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.tuples import NamedTuple
from ..functions import FrameWord


class NestCode(NamedTuple):
    """The functions of a nest, the first of which is called; the words of their frame; and the nodes that may fail.

    Besides the kinds of `FrameWord` that regions have, a frame has "failure" 0 to 2: the number of the failed node in
    `failures`, counted from 1, and two details. Native code writes them, and the caller clears the first.
    """

    names: tuple[str, ...]
    entries: tuple[FrameWord, ...]
    failures: tuple[Node, ...]
    asks: bool
    time: Size  # of a call, estimated in picoseconds
    text: str
    declared: dict[str, str]
