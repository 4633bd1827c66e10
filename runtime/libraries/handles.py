"""Load shared libraries from bytes. Equal bytes are loaded once, and no code is ever unloaded.

The checked bytes are the loaded bytes: they go into a sealed file in memory, or if the system has none, into a folder
that only this user can enter. So a library file may be rewritten while its old code runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from ...ir.errors import LibraryProblem, Span
from ...ir.support import float_environment
from ...ir.support.forking import lock
from ...ir.tuples import NamedTuple
from .builds import Builds
from .elf import Damage, Image, Table
from .elf_tables import check_tables, find_symbol
from .needs import check_needs
from .probe import what_kills

_EXECUTABLE = 0x10  # MFD_EXEC, which kernels require from 6.3 on
_SEALS = 0xF  # no more seals, no shrinking, no growing, no writing
_ADD_SEALS = 1033
_MODE = os.RTLD_NOW | os.RTLD_LOCAL
LONGEST_TEXT = 1 << 16

Tried = tuple[bytes, tuple[str, ...]]  # the digest of a library, and the names to look up in it


class SharedLibrary(NamedTuple):
    """A loaded library and the description in its file."""

    handle: ctypes.CDLL
    image: Image
    symbols: Table

    def text(self, name: str) -> bytes | None:
        """Return the text of a symbol; None if the symbol is not the library's own."""
        address = find_symbol(self.image, self.symbols, name)
        if address is None:
            return None
        text, end, _ = bytes(self.image.rest_at(address, f"'{name}'")[:LONGEST_TEXT]).partition(b"\0")
        if not end:
            raise Damage(f"its '{name}' does not end")
        return text


class Handles:
    """The libraries of one process."""

    def __init__(self) -> None:
        self._lock = lock()
        self._loaded: dict[bytes, SharedLibrary] = {}
        self._builds = Builds()
        self._deadly: dict[Tried, str] = {}  # with the reason; empty if the child survived

    def load(self, content: bytes, path: str, span: Span | None, names: tuple[str, ...] = ()) -> SharedLibrary:
        """Load the library with these bytes; `path` names it in errors, and `names` will be looked up in it."""
        digest = hashlib.sha256(content).digest()
        with self._lock:
            try:
                if digest in self._loaded:
                    self._try(self._loaded[digest].handle._name, digest, names)
                else:
                    self._loaded[digest] = self._new(content, path, span, digest, names)
                return self._loaded[digest]
            except Damage as damage:
                hint = "build it for this machine" if str(damage).startswith("it is for") else "build it again"
                raise LibraryProblem(f"{path} can't be loaded as a shared library: {damage}", span, hint) from damage

    def _new(
        self, content: bytes, path: str, span: Span | None, digest: bytes, names: tuple[str, ...]
    ) -> SharedLibrary:
        image = Image(content)
        symbols = check_tables(image)
        check_needs(image, path, span)
        self._builds.check(image)
        if self._deadly.get((digest, names)):
            raise Damage(self._deadly[digest, names])
        copied = _in_memory if hasattr(os, "memfd_create") else _in_a_folder
        with copied(content, os.path.basename(path)) as place:
            self._try(place, digest, names)
            try:
                with float_environment.kept():
                    loaded = SharedLibrary(ctypes.CDLL(place, mode=_MODE), image, symbols)
            except (OSError, UnicodeDecodeError) as error:
                # The linker's message may hold names that are not valid text. The path of the copy is removed.
                said = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
                reason = said.rpartition("/proc/self/fd/")[2].partition(": ")[2]
                raise Damage(reason or said) from error
        self._builds.note(image)
        return loaded

    def _try(self, place: str, digest: bytes, names: tuple[str, ...]) -> None:
        """Load a library in a child process first, once for each set of names."""
        tried = digest, names
        if tried not in self._deadly:
            self._deadly[tried] = what_kills(place, _MODE, names)
        if self._deadly[tried]:
            raise Damage(self._deadly[tried])


@contextmanager
def _in_memory(content: bytes, name: str) -> Iterator[str]:
    """Yield a path to a file in memory.

    It stays open if the library was loaded: the loader knows libraries by path, and the descriptor would be reused.
    """
    import fcntl

    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create(name[:200], flags | _EXECUTABLE)
    except OSError:
        descriptor = os.memfd_create(name[:200], flags)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
        yield f"/proc/self/fd/{descriptor}"
    except BaseException:  # nothing was loaded
        os.close(descriptor)
        raise


@contextmanager
def _in_a_folder(content: bytes, name: str) -> Iterator[str]:
    """Yield a path to a copy that is deleted once it is loaded."""
    with TemporaryDirectory(prefix="weft-library-") as folder:
        place = os.path.join(folder, name)
        with open(place, "xb") as file:
            file.write(content)
        yield place
