"""Describe native code to the runtime: the words of a frame, the functions of a region, and their loops.

It does not need LLVM, because code from the disk cache is called through it as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.dims import Size
from ...ir.tuples import NamedTuple

Owners = Sequence[tuple[int, object]]
UNTILED = 1 << 62  # a tile that no loop is as long as
STOPPED = 2  # status of a kernel that was told to stop


class FrameWord(NamedTuple):
    """One word: the address of a slot ("pointer"), a size ("size"), a stride of a slot ("stride"), or memory.

    Loops that may run for ever call `int question(frame)` at the address in "question", if there is one, and stop if it
    returns a number other than 0.

    `bytes` is how much memory the kernel needs: for each worker ("scratch", or "chunked" if only chunks need it), or
    for all together ("shared", which only chunks need).
    """

    kind: str
    slot: int = 0
    axis: int = 0
    symbol: str = ""
    bytes: Size = 0


class NativeFunction(NamedTuple):
    """A native function: `i32 name(ptr frame, i64 begin0, i64 end0, i64 begin1, i64 end1, i64 worker)`.

    It runs a part of its two outer loops. `extents` are their lengths, `grains` the preferred multiples for a part,
    and `unit` is the estimated time of one iteration of both in picoseconds. `tile` is how far a part goes at most
    along the inner loop. `worker` says which scratch memory is the caller's own. `owners` says whose code the names in
    the text are (`Emitter.owners`), `inner_owners` says it of internal functions; neither is stored on disk.
    """

    name: str
    text: str
    extents: tuple[Size, Size]
    grains: tuple[int, int]
    unit: Size
    tile: int
    owners: Owners = ()
    inner_owners: Mapping[str, Owners] = {}


WrittenFunction = tuple[NativeFunction, dict[str, str], bool]
"""A function, what its text needs to be declared, and whether it may fail."""


class RegionCode(NamedTuple):
    """The code of one region: the words of its frame, and the functions to run in order.

    The functions are `whole`, or `chunks` if there are `cut_from` columns or more. A kernel that may fail reports it
    after it has run; it may have written some results by then.
    """

    entries: tuple[FrameWord, ...]
    whole: tuple[NativeFunction, ...]
    chunks: tuple[NativeFunction, ...]
    columns: Size
    cut_from: int
    may_fail: bool
    declared: dict[str, str]

    @property
    def asks(self) -> bool:
        """Whether the code asks if it should stop."""
        return any(entry.kind == "question" for entry in self.entries)

    @property
    def parts(self) -> tuple[NativeFunction, ...]:
        return (*self.whole, *self.chunks)
