"""Load the functions of `extern kernel` declarations from shared libraries."""

from __future__ import annotations

import ctypes
import os

from ...ir.errors import LibraryProblem, MissingSymbol, WeftError, WrongInterface, WrongSignature
from ...ir.externs import ExternCall, ExternKernel
from .calls import LibraryCall
from .elf import Damage
from .handles import Handles, SharedLibrary
from .signature import CSignature, parse_signature
from .trust import read_trusted

ABI = 1  # WEFT_KERNEL_ABI of the header
VERSION = "weft_kernel_abi"


class Libraries:
    """Open the libraries that a file and its imports name; `paths` lists those that were opened."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self.paths: set[str] = set()

    def open(self, extern: ExternKernel) -> ExternCall:
        """Check a declaration and return the function it names."""
        path = os.path.join(os.path.dirname(os.path.abspath(extern.file)), extern.library)
        self.paths.add(path)
        if not os.path.lexists(path):
            raise LibraryProblem(
                f"library {path} does not exist",
                extern.span,
                "use an absolute path, or one relative to the file that declares it",
            )
        names = (VERSION, extern.symbol, f"{extern.symbol}_signature")
        library = self._handles.load(read_trusted(path, extern.span), path, extern.span, names)
        _check_version(library.handle, path, extern)
        signature = _signature(library, path, extern)
        if not signature.is_same(extern.parameters, extern.results):
            raise WrongSignature(
                f"'{extern.symbol}' of {path} is {signature}, and '{extern.name}' is declared {extern.signature}",
                extern.span,
                "declare what the library has, or build it again",
            )
        return LibraryCall(extern, library.handle, path, signature.is_strided).run


def _check_version(library: ctypes.CDLL, path: str, extern: ExternKernel) -> None:
    try:
        found = ctypes.c_int32.in_dll(library, VERSION).value
    except ValueError:
        raise WrongInterface(
            f"{path} does not say which interface it was made for ('{VERSION}')",
            extern.span,
            "include weft_kernel.h and write WEFT_KERNEL_LIBRARY once",
        ) from None
    if found != ABI:
        raise WrongInterface(
            f"{path} was made for version {found} of Weft's C interface, this is version {ABI}",
            extern.span,
            "build it again with the header in weft.include_dir()",
        )


def _signature(library: SharedLibrary, path: str, extern: ExternKernel) -> CSignature:
    for name in (extern.symbol, f"{extern.symbol}_signature"):
        try:
            found = ctypes.c_char.in_dll(library.handle, name)
        except ValueError:
            raise MissingSymbol(
                f"{path} has no symbol '{name}'", extern.span, f"define the kernel by WEFT_KERNEL({extern.symbol}, ...)"
            ) from None
    try:
        own = library.text(name)
    except Damage as damage:
        raise LibraryProblem(f"{path} is damaged: {damage}", extern.span, "build it again") from damage
    text = (ctypes.string_at(ctypes.addressof(found)) if own is None else own).decode("utf-8", "replace")
    try:
        return parse_signature(text)
    except WeftError as error:
        raise WrongSignature(f"'{name}' of {path}: {error.message}", extern.span, error.hint) from error
