"""Store compiled nests by their text, so that text that was compiled before is neither parsed nor verified again."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ...backends.llvm.engine.library import LoadedCode
from ...backends.llvm.functions import FrameWord
from ...backends.llvm.nests.code import Failure, NestCode
from ...ir.errors import Span, WeftError
from ...ir.limits import limiter
from ...ir.types import TensorType
from ..nests.compiling import NativeNest, object_of
from ..nests.interfaces import NestInterface, interface_of
from .cache import default_cache
from .codec import DTYPES, Reader, as_json, read_json, size
from .key import key_of

Made = tuple[NestInterface, Callable[[], NativeNest]]


def stored_nest(text: str, file: str) -> Made:
    """Return what calls of a nest pass, and a function that returns its machine code.

    `file` is its name in messages.
    """
    cache = default_cache()
    key = key_of("nest", text, file) if cache is not None else None
    found = cache.read(key) if cache is not None else None
    stored = _read(found) if found is not None else None
    if stored is not None:
        return stored
    from ...ir.nest.text import parse_nest

    with limiter.compiling():
        nest = parse_nest(text, file)
    interface = interface_of(nest)

    def make() -> NativeNest:
        with limiter.compiling():
            (code,), machine_code = object_of([nest])
        if cache is not None:
            cache.write(key, _written(interface, code, machine_code))
        return NativeNest(interface.types, code, LoadedCode(machine_code, code.names))

    return interface, make


def _written(interface: NestInterface, code: NestCode, machine_code: bytes) -> bytes:
    facts = {
        "name": interface.name,
        "parameters": interface.parameters,
        "types": [[t.dtype.name, [size(s) for s in t.shape]] for t in interface.types],
        "access": interface.access,
        "layouts": interface.layouts,
        "numbers": interface.numbers,
        "guards": [[size(a), size(b)] for a, b in interface.guards],
        "sizes": [[name, size(s)] for name, s in interface.sizes],
        "functions": code.names,
        "entries": [[e.kind, e.slot, e.axis, e.symbol, size(e.bytes)] for e in code.entries],
        "failures": [[f.kind, f.message, _span(f.span)] for f in code.failures],
        "asks": code.asks,
        "time": size(code.time),
    }
    head = as_json(facts)
    return struct.pack("<I", len(head)) + head + machine_code


def _span(span: Span | None) -> Any:
    return None if span is None else [span.file, span.line, span.column, span.length, span.text]


def _read(found: bytes) -> Made | None:
    """Return a stored nest, or None if the entry is not one."""
    try:
        (length,) = struct.unpack_from("<I", found)
        facts = read_json(found[4 : 4 + length])
        reader = Reader()
        interface = NestInterface(
            facts["name"],
            tuple(facts["parameters"]),
            tuple(TensorType(DTYPES[name], tuple(map(reader.size, shape)), "memref") for name, shape in facts["types"]),
            tuple(facts["access"]),
            tuple(facts["layouts"]),
            tuple(facts["numbers"]),
            reader.guards(facts["guards"]),
            tuple((name, reader.size(s)) for name, s in facts["sizes"]),
        )
        entries = (
            FrameWord(kind, slot, axis, symbol, reader.size(s)) for kind, slot, axis, symbol, s in facts["entries"]
        )
        failures = (Failure(kind, said, Span(*span) if span else None) for kind, said, span in facts["failures"])
        names = tuple(facts["functions"])
        code = NestCode(names, tuple(entries), tuple(failures), facts["asks"], reader.size(facts["time"]), "", {})
        native = NativeNest(interface.types, code, LoadedCode(found[4 + length :], names))
    except (KeyError, ValueError, TypeError, IndexError, struct.error, WeftError):
        return None
    return interface, lambda: native
