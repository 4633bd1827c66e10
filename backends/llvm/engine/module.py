"""Compile LLVM text to an object file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any

from ....ir.errors import WeftError
from ....ir.records import record
from ....ir.support.forking import native_lock
from .library import ALLOWED_SYMBOLS
from .objects import undefined_symbols
from .room import demand_for
from .target import Target, llvm


@record
class Compiled:
    """An object file, and the seconds that parsing and code generation took."""

    object_code: bytes
    reading_seconds: float
    codegen_seconds: float


class Effort(Enum):
    """How hard LLVM works. Its passes run for loop nests only.

    The text of regions is already vectorised, with invariants hoisted and nothing computed twice. LLVM's standard
    pipeline takes ten times as long, and the code is no faster (38 kernels, on a busy machine). The text of nests is
    written op by op, so LLVM moves invariants out of loops and chooses their counters. Code that runs rarely is
    compiled in a sixth of the time.
    """

    OFTEN = auto()
    SELDOM = auto()
    LOOPS = auto()


LEVELS = {Effort.SELDOM: 0, Effort.OFTEN: 1, Effort.LOOPS: 2}  # of LLVM's code generator


def compile_module(
    text: str, target: Target, allowed: frozenset[str] = frozenset(), effort: Effort = Effort.OFTEN
) -> Compiled:
    """Compiles a module to an object file; `allowed` are undefined symbols that it may have beside the usual ones."""
    start = time.perf_counter()
    with _at_work(text, target, LEVELS[effort]) as (module, machine):
        _simplify(module, target, effort)
        middle = time.perf_counter()
        code = llvm().emit(module, machine, is_object=True)
    _check_symbols(code, allowed)
    return Compiled(code, middle - start, time.perf_counter() - middle)


def assembly(text: str, target: Target, effort: Effort = Effort.OFTEN) -> str:
    """The assembly of a module."""
    with _at_work(text, target, LEVELS[effort]) as (module, machine):
        _simplify(module, target, effort)
        return llvm().emit(module, machine, is_object=False).decode()


def _simplify(module: Any, target: Target, effort: Effort) -> None:
    """Run LLVM's passes, and allow its search for loop counters, if the text is that of loop nests."""
    if effort is Effort.LOOPS:
        llvm().optimise(module, target.triple, target.cpu, target.features)
        llvm().set_option("-disable-lsr=false")
        _convert_selects(target, False)


def _convert_selects(target: Target, allowed: bool) -> None:
    """Let LLVM turn conditional moves in loops into branches, or not.

    LLVM does so if a branch that is always predicted would be faster. The loops of programs select by data, so a branch
    is often mispredicted, which costs more than all the moves in a step: `crc16` takes 18 us without branches, and 28
    with them.
    """
    if target.triple.startswith("x86_64"):
        llvm().set_option(f"-x86-cmov-converter={str(allowed).lower()}")


@contextmanager
def _at_work(text: str, target: Target, level: int) -> Iterator[tuple[Any, Any]]:
    """Make a module and a code generator, for one thread at a time.

    LLVM's search for better loop counters takes a third of code generation, so it is turned off. Our loops have one
    counter, and every address is a base plus an offset. With the search the code was no faster, and slower for short
    rows. The option applies to the whole process, so it is set only for a moment.
    """
    demand_for(text)
    with native_lock(), llvm().read(text, target.triple) as module:
        machine = llvm().machine(target.triple, target.cpu, target.features, level)
        llvm().set_option("-disable-lsr=true")
        try:
            yield module, machine
        finally:
            llvm().set_option("-disable-lsr=false")
            _convert_selects(target, True)


def _check_symbols(code: bytes, allowed: frozenset[str]) -> None:
    """Refuse an object that needs a library routine, because that name may resolve to anything or to nothing."""
    undefined = undefined_symbols(code) - ALLOWED_SYMBOLS - allowed
    if undefined:
        raise WeftError(f"native code needs routines that Weft does not provide: {', '.join(sorted(undefined))}")
