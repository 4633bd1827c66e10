"""LLVM text in, machine code out, as an object file."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any

import llvmlite.binding as llvm

from ...ir.errors import WeftError
from ...ir.records import record
from . import target as targets
from .objects import ALLOWED_SYMBOLS, undefined_symbols
from .target import Target

_generating = threading.Lock()


@record
class Compiled:
    """An object file, and what it took: seconds for reading the text, and for making code."""

    object_code: bytes
    reading_seconds: float
    codegen_seconds: float


class Effort(Enum):
    """What LLVM does beside translating a module.

    The text of kernels comes vectorised, with invariants hoisted and nothing computed twice: LLVM's standard pipeline
    takes ten times as long, and without any of its passes code was no slower (38 kernels, on a busy machine). Two of
    them tidy up what native calls do around a kernel, which saves a twentieth of it. What runs seldom is made in a
    sixth of the time.
    """

    KERNEL = auto()
    CALL = auto()
    SELDOM = auto()


def _read(text: str, target: Target) -> Any:
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.verify()
    return module


def _tidy(module: Any, machine: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)


def compile_module(
    text: str, target: Target, allowed: frozenset[str] = frozenset(), effort: Effort = Effort.KERNEL
) -> Compiled:
    """Machine code for a module; `allowed` are symbols that it may leave open, beside those of all modules."""
    start = time.perf_counter()
    machine = targets.machine(target, 0 if effort is Effort.SELDOM else 2)
    module = _read(text, target)
    if effort is Effort.CALL:
        _tidy(module, machine)
    middle = time.perf_counter()
    with _addresses_as_written():
        code = bytes(machine.emit_object(module))
    _check_symbols(code, allowed)
    return Compiled(code, middle - start, time.perf_counter() - middle)


def assembly(text: str, target: Target) -> str:
    """The assembly of a module."""
    module = _read(text, target)
    with _addresses_as_written():
        return str(targets.machine(target).emit_assembly(module))


@contextmanager
def _addresses_as_written() -> Iterator[None]:
    """Leaves out LLVM's search for better loop counters, a third of the time that code generation takes.

    Loops are written with one counter from which all addresses are a base and an offset away; with the search, code
    was no faster, and slower where rows are short. The option is of the whole process, hence set only for a moment.
    """
    with _generating:
        llvm.set_option("weft", "-disable-lsr=true")
        try:
            yield
        finally:
            llvm.set_option("weft", "-disable-lsr=false")


def _check_symbols(code: bytes, allowed: frozenset[str]) -> None:
    """An object that needs a library routine would call whatever has that name, or nothing: refuse it."""
    undefined = undefined_symbols(code) - ALLOWED_SYMBOLS - allowed
    if undefined:
        raise WeftError(f"native code needs routines that Weft does not provide: {', '.join(sorted(undefined))}")
