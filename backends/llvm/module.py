"""LLVM text in, machine code that can be called out."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from ...ir.errors import WeftError
from . import target as targets
from .target import Target

_lock = threading.Lock()
_generating = threading.Lock()
ALLOWED_SYMBOLS = frozenset(("memset", "memcpy", "memmove"))


@dataclass(frozen=True)
class Compiled:
    """An object file, and what it took: seconds for reading and optimising, and for making code."""

    object_code: bytes
    optimise_seconds: float
    codegen_seconds: float


def optimise(text: str, target: Target) -> tuple[Any, Any]:
    """The module after LLVM's passes, and the machine that they ran for.

    The text comes vectorised, with invariants hoisted and nothing computed twice: LLVM's standard pipeline takes ten
    times as long and its code is no faster (measured on softmax, sums and elementwise kernels).
    """
    machine = targets.machine(target)
    module = _as_written(text, target)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module, machine


def _as_written(text: str, target: Target) -> Any:
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.verify()
    return module


def compile_module(
    text: str, target: Target, allowed: frozenset[str] = frozenset(), runs_seldom: bool = False
) -> Compiled:
    """Machine code for a module; `allowed` are symbols that it may leave open, beside those of all modules.

    Code that `runs_seldom` is not optimised: it is made in a sixth of the time.
    """
    start = time.perf_counter()
    module, machine = (_as_written(text, target), targets.machine(target, 0)) if runs_seldom else optimise(text, target)
    middle = time.perf_counter()
    with _addresses_as_written():
        code = bytes(machine.emit_object(module))
    _check_symbols(code, allowed)
    return Compiled(code, middle - start, time.perf_counter() - middle)


def assembly(text: str, target: Target) -> str:
    """The assembly of a module."""
    module, machine = optimise(text, target)
    with _addresses_as_written():
        return str(machine.emit_assembly(module))


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


def optimised_text(text: str, target: Target) -> str:
    """The LLVM text of a module after LLVM's passes."""
    return str(optimise(text, target)[0])


def _check_symbols(code: bytes, allowed: frozenset[str]) -> None:
    """An object that needs a library routine would call whatever has that name, or nothing: refuse it."""
    undefined = undefined_symbols(code) - ALLOWED_SYMBOLS - allowed
    if undefined:
        raise WeftError(f"native code needs routines that Weft does not provide: {', '.join(sorted(undefined))}")


def undefined_symbols(code: bytes) -> frozenset[str]:
    """The names that an ELF object leaves to others."""
    sections_at = int.from_bytes(code[40:48], "little")
    section_size, count = (int.from_bytes(code[a : a + 2], "little") for a in (58, 60))
    sections = [code[sections_at + k * section_size :][:section_size] for k in range(count)]
    found: set[str] = set()
    for section in sections:
        if int.from_bytes(section[4:8], "little") != 2:  # SHT_SYMTAB
            continue
        offset, size = (int.from_bytes(section[a : a + 8], "little") for a in (24, 32))
        names = sections[int.from_bytes(section[40:44], "little")]
        names_at = int.from_bytes(names[24:32], "little")
        for at in range(offset + 24, offset + size, 24):
            name_at = names_at + int.from_bytes(code[at : at + 4], "little")
            if int.from_bytes(code[at + 6 : at + 8], "little") == 0:  # SHN_UNDEF
                found.add(code[name_at : code.index(b"\0", name_at)].decode())
    return frozenset(found)


class Library:
    """Machine code in memory. It is freed when nothing refers to this object any more."""

    _jit: Any = None
    _count = 0

    def __init__(self, code: bytes, symbols: list[str], addresses: Mapping[str, int] | None = None) -> None:
        """`symbols` are those to call, `addresses` those that the code leaves open."""
        with _lock:
            if Library._jit is None:
                Library._jit = llvm.create_lljit_compiler(targets.machine(targets.host()))
            Library._count += 1
            builder = llvm.JITLibraryBuilder().add_object_img(code)
            for symbol in symbols:
                builder = builder.export_symbol(symbol)
            for name in ALLOWED_SYMBOLS & undefined_symbols(code):
                builder = builder.import_symbol(name, _address_of(name))
            for name, address in (addresses or {}).items():
                builder = builder.import_symbol(name, address)
            self._tracker = builder.link(Library._jit, f"weft{Library._count}")
            self.addresses = {symbol: self._tracker[symbol] for symbol in symbols}


def _address_of(name: str) -> int:
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0
