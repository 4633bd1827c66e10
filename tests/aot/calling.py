"""Call the C functions of a built library by ctypes, without a compiler or a linker."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from weft.backends.llvm.engine.library import LoadedCode
from weft.command.c_functions import wanted_functions
from weft.frontend.language.source import parse_module
from weft.runtime.aot.build import BuiltLibrary, build
from weft.runtime.aot.forms import CForm
from weft.runtime.aot.platforms import CpuLevel, platform_for
from weft.runtime.aot.variants import Wanted
from weft.settings import registry

Array = np.ndarray[Any, Any]
PARTS = {"complex64": ctypes.c_float, "complex128": ctypes.c_double}


class CArray(ctypes.Structure):
    """`weft_array`."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p))


class Loaded:
    """A library in memory; functions are called as a C program calls them."""

    def __init__(self, built: BuiltLibrary, prefix: str, memory: Mapping[str, int] | None = None) -> None:
        """`memory` holds functions that replace `malloc` and `free`."""
        self.forms = {form.name: form for form in built.forms}
        strided = [f"{form.name}_strided" for form in built.forms if form.is_strided]
        own = [f"{prefix}_{name}" for name in ("version", "cpu", "message", "set_parallel")]
        process = ctypes.CDLL(None)
        libc = {name: ctypes.cast(getattr(process, name), ctypes.c_void_p).value or 0 for name in ("malloc", "free")}
        self.library = LoadedCode(built.object_code, [*self.forms, *strided, *own], {**libc, **(memory or {})})

    def function(self, name: str, restype: Any = ctypes.c_int) -> Any:
        return ctypes.CFUNCTYPE(restype)(self.library.addresses[name])

    def dense(self, name: str, arguments: Sequence[Any], results: Sequence[Array], sizes: Sequence[int]) -> int:
        """A call with plain pointers; numbers are passed by value."""
        passed = [c for x, item in zip(arguments, self.forms[name].arguments, strict=True) for c in _plain(x, item)]
        passed += [ctypes.c_int64(n) for n in sizes]
        return int(self.function(name)(*passed, *map(_pointer, results)))

    def strided(self, name: str, arguments: Sequence[Any], results: Sequence[Array]) -> int:
        """A call with an array structure for each array."""
        form, kept, passed = self.forms[name], [], []
        for x, item in zip((*arguments, *results), form.items, strict=True):
            if not item.rank:
                passed += [_pointer(x)] if item in form.results else _plain(x, item)
                continue
            shape, strides = ((ctypes.c_int64 * x.ndim)(*numbers) for numbers in (x.shape, x.strides))
            kept.append((CArray(x.ctypes.data, ctypes.addressof(shape), ctypes.addressof(strides)), shape, strides))
            passed.append(ctypes.byref(kept[-1][0]))
        return int(self.function(f"{name}_strided")(*passed))


def _pointer(x: Array | None) -> Any:
    return ctypes.c_void_p(None if x is None else x.ctypes.data)


def _plain(x: Any, item: Any) -> list[Any]:
    if item.rank:
        return [_pointer(x)]
    number = np.asarray(x)
    if number.dtype.name in PARTS:
        part = PARTS[number.dtype.name]
        return [part(number.real), part(number.imag)]
    return [np.ctypeslib.as_ctypes_type(number.dtype)(number.item())]


def built(
    text: str,
    levels: Sequence[int] | None,
    names: Sequence[str] = (),
    dense_only: bool = False,
    dtypes: Sequence[str] = (),
    triple: str | None = None,
) -> BuiltLibrary:
    """Build the kernels of a text: all, or those named."""
    kernels = parse_module(text, "kernels.weft", ops=registry).kernels
    wanted = wanted_functions([kernels[n] for n in names or kernels], (), dtypes, "", dense_only)
    return build(wanted, "k", "1.2.3", "kernels.weft", platform_for(triple, levels), registry)


def wanted_of(text: str) -> list[tuple[Wanted, CpuLevel]]:
    """The functions of a text, and a level to build them for."""
    level = platform_for("x86_64-linux-gnu", [3]).levels[0]
    return [
        (each, level)
        for each in wanted_functions(list(parse_module(text, "", ops=registry).kernels.values()), (), (), "")
    ]


def sizes_of(form: CForm, arguments: Sequence[Any]) -> list[int]:
    """The sizes of a call, in the order of the C function."""
    found: dict[str, int] = {}
    for x, item in zip(arguments, form.arguments, strict=True):
        found |= dict(zip(map(str, item.shape), np.shape(x), strict=True))
    return [found[symbol] for symbol in form.sizes]
