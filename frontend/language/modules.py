"""Load the definitions of a file and of the files that it imports along a search path.

`import "x.weft"` looks in the folder of the importing file, then along the search path. It never leaves those folders:
not by `..`, not by an absolute path, not by a link. Text that did not come from a file can't import.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol, Union

from ...ir.dtypes import BY_NAME, CLASSES
from ...ir.errors import FileProblem, ImportProblem, LimitExceeded, Span, Unsupported, ValueProblem
from ...ir.externs import ExternCall
from ...ir.limits import limiter
from ...ir.records import record
from ..numpy.functions import FUNCTIONS
from . import syntax
from .parse import parse
from .spans import Source

RESERVED = frozenset((*BY_NAME, *CLASSES))

Texts = tuple[tuple[str, str, tuple[str, ...]], ...]
MAX_FILES = 64
"""Files that one file may import, directly and through others."""


@record(eq=False)
class LoadedDefinition:
    """A `fn`, a `kernel` or a `const`, with the file whose names it can use."""

    item: Union[syntax.Function, syntax.Const]
    unit: Unit

    @property
    def name(self) -> str:
        return self.item.name.name

    @property
    def what(self) -> str:
        if isinstance(self.item, syntax.Const):
            return "const"
        return "kernel" if self.item.is_kernel else "fn"


class Unit:
    """One file: its definitions, the names it can use, and the C functions of its extern kernels."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.own: dict[str, LoadedDefinition] = {}
        self.names: dict[str, LoadedDefinition] = {}
        self.imports: list[Unit] = []
        self.externs: dict[str, ExternCall] = {}

    def reached(self) -> list[Unit]:
        """List this file and everything that it imports, each once."""
        found = [self]
        for unit in found:
            found += [u for u in unit.imports if u not in found]
        return found

    def texts(self) -> Texts:
        """Return the text of this file and of everything that it imports, for a `Bundle`."""
        reached = self.reached()
        if any(unit.externs for unit in reached):
            raise Unsupported(
                f"{self.source.file} calls functions of a shared library, which can't be pickled",
                hint="call weft.load(..., libraries=True) in the other process",
            )
        return tuple((u.source.file, u.source.text, tuple(i.source.file for i in u.imports)) for u in reached)


class Follower(Protocol):
    """Something that finds the file behind an import."""

    def follow(self, item: syntax.Import, source: Source) -> Unit: ...


class Bundle:
    """Follows imports among texts that travel together; nothing is read from files.

    Each text has a file name, and the names of the files that it imports, in the order of its imports.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = {file: text for file, text, _ in texts}
        self._imports = {file: iter(imports) for file, _, imports in texts}
        self._done: dict[str, Unit] = {}

    def unit(self, file: str) -> Unit:
        """Load the text of this name."""
        if file not in self._done:
            self._done[file] = unit_of(Source(file, self._texts[file]), self)
        return self._done[file]

    def follow(self, item: syntax.Import, source: Source) -> Unit:
        return self.unit(next(self._imports[source.file]))


class Importer:
    """Follows imports. `search` lists the folders to look in besides the importing file's own."""

    def __init__(self, search: tuple[str, ...]) -> None:
        self.search = search
        self._open: list[str] = []
        self._done: dict[str, Unit] = {}

    def load(self, path: str) -> Unit:
        """Load the file at this path and its imports."""
        return self.enter(Source(path, read(path)))

    def enter(self, source: Source) -> Unit:
        """Load a text as if it were this file."""
        real = os.path.realpath(source.file)
        self._open.append(real)
        unit = unit_of(source, self)
        self._open.pop()
        self._done[real] = unit
        return unit

    def follow(self, item: syntax.Import, source: Source) -> Unit:
        """Load the file that an import names."""
        path = self._find(item, os.path.dirname(source.file) or ".")
        real = os.path.realpath(path)
        if real in self._open:
            chain = [*self._open[self._open.index(real) :], real]
            shown = " -> ".join(os.path.basename(p) for p in chain)
            raise ImportProblem(f"'{item.path}' is imported in a cycle: {shown}", item.span, _CIRCLE)
        if real in self._done:
            return self._done[real]
        if len(self._done) + len(self._open) > MAX_FILES:
            raise LimitExceeded(f"more than {MAX_FILES} files are imported", item.span)
        try:
            return self.load(path)
        except FileProblem as error:
            error.span = error.span or item.span
            raise

    def _find(self, item: syntax.Import, folder: str) -> str:
        if not item.path or os.path.isabs(item.path) or "\0" in item.path or "\\" in item.path:
            raise ImportProblem(f"the path of an import must be relative, not '{item.path}'", item.span, _RELATIVE)
        for place in (folder, *self.search):
            path = os.path.join(place, item.path)
            if not os.path.lexists(path):
                continue
            if not _inside(path, place):
                raise ImportProblem(f"'{item.path}' leads out of {place}", item.span, _RELATIVE)
            return path
        if not _inside(os.path.join(folder, item.path), folder):
            raise ImportProblem(f"'{item.path}' leads out of {folder}", item.span, _RELATIVE)
        places = ", ".join((folder, *self.search))
        raise ImportProblem(
            f"can't find '{item.path}' in {places}", item.span, "check the name, or extend the search path"
        )


_CIRCLE = "move the definitions that both files need into a third file"
_RELATIVE = "import only files in the file's own folder or on the search path"


def _inside(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath((real, root)) == root


def read(path: str) -> str:
    """Read a file; refuse it if it is too long or not UTF-8."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise FileProblem(f"{path} is not a file", hint="give the path of a .weft file")
        with open(path, "rb") as file:
            data = file.read(4 * limiter.now.text + 1)
    except FileProblem:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileProblem(f"can't read {path!r}: {reason}") from error
    if len(data) > 4 * limiter.now.text:
        raise LimitExceeded(f"{path} has more than {4 * limiter.now.text} bytes", hint="split it into several files")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileProblem(f"{path} is not UTF-8 text (byte {error.start})") from error


def unit_of(source: Source, importer: Follower | None) -> Unit:
    """Collect the definitions of one text; it can only import if there is an importer."""
    unit = Unit(source)
    items = parse(source).items
    for item in items:
        if isinstance(item, syntax.Import):
            if importer is None:
                hint = "save it as a file and use weft.load"
                raise ImportProblem("only a file can import another", item.span, hint)
            imported = importer.follow(item, source)
            unit.imports.append(imported)
            for found in imported.own.values():
                _add(unit, found, item.span)
    for item in items:
        if isinstance(item, syntax.LaterItem):
            raise Unsupported(f"{item.what} is not in the language yet", item.span, _LATER.get(item.what))
        if isinstance(item, (syntax.Function, syntax.Const)):
            found = LoadedDefinition(item, unit)
            _add(unit, found, item.name.span)
            unit.own[found.name] = found
    return unit


_LATER = {"@impl": "write it before a kernel"}


def _add(unit: Unit, new: LoadedDefinition, span: Span) -> None:
    """Add a definition. A kernel may be named like a built-in; inside it, the name means the built-in."""
    name, hides = new.name, new.name in FUNCTIONS
    if name in RESERVED or (hides and new.what != "kernel"):
        hint = f"choose another name: '{name}' is {'a type' if name in RESERVED else 'a function'} of the language"
        raise ValueProblem(f"'{name}' is built in and can't be redefined", span, hint)
    old = unit.names.get(name) or unit.own.get(name)
    if old is not None and old is not new:
        at = old.item.name.span
        hint = f"the other is a {old.what} at {os.path.basename(at.file)}:{at.line}"
        raise ValueProblem(f"'{name}' is defined twice", span, hint)
    if not hides:
        unit.names[name] = new


def search_folders(search_path: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return the search path as strings."""
    return tuple(os.fspath(p) for p in search_path)
