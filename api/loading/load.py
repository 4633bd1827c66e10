"""Load a file, a directory or an installed package as a module of kernels: `weft.load`."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..ir.errors import FileProblem, LoadWarning, WeftError
from ..module import Module
from ..settings import lookup, search_path, tuner_for

if TYPE_CHECKING:
    from ..frontend.language.source import ParsedModule as ParsedModule
    from ..ir.source import KernelSource
    from ..runtime.compiler import Options
    from ..runtime.disk.sources import StoredModule
    from ..runtime.kernel import Kernel
    from ..runtime.libraries.handles import Handles
    from ..runtime.libraries.source import Libraries

PACKAGE = "package:"
SUFFIX = ".weft"


def load_file(path: str, options: Options, libraries: bool, watch: bool) -> Module:
    """Load the kernels of one file."""
    loader = Loader(path, options, libraries, watch)
    loader.read(path)
    return loader.begun()


def load_directory(
    folder: str, options: Options, libraries: bool, watch: bool, name: str | None = None, may_be_empty: bool = False
) -> Module:
    """Load the files in a directory, not in its subdirectories; warn about those that can't be loaded."""
    loader = Loader(name or folder, options, libraries, watch, folder)
    files = loader.files()
    if not files and not may_be_empty:
        raise FileProblem(f"{folder} has no {SUFFIX} files", hint="pass the directory that contains them")
    loader.read_all(files)
    for file, problem in loader.module._problems.items():
        warn(file, problem)
    return loader.begun()


def warn(file: str, problem: WeftError) -> None:
    """Warn about a file at the caller's line, however many of Weft's frames lie between."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{file} was not loaded: {problem}", LoadWarning, stacklevel=level)


def register_kernels(parsed: ParsedModule | StoredModule, is_whole: bool = False) -> None:
    """Register a file's `@impl` kernels; `is_whole` first removes those that the file registered before."""
    if any(k.impl is not None for k in parsed.kernels.values()) or (is_whole and lookup.has_user_kernels):
        file = os.path.realpath(parsed.file) if is_whole else parsed.file
        lookup.register_kernels(file, parsed.kernels, is_whole)


class Loader:
    """Read files into a module, first and on every reload; `folder` is their directory, if there is one."""

    def __init__(self, name: str, options: Options, libraries: bool, watch: bool, folder: str | None = None) -> None:
        self.folder = folder
        self.sources: dict[str, tuple[str, ...]] = {}  # by file: the files and libraries that it depends on
        self._options, self._libraries, self._watch = options, libraries, watch
        self.module = Module(name, self._kernel)

    def files(self) -> list[str]:
        """List the directory's files as they are now."""
        assert self.folder is not None
        try:
            names = sorted(os.listdir(self.folder))
        except OSError as error:
            raise FileProblem(f"can't read {self.folder!r}: {error.strerror}") from error
        paths = [os.path.join(self.folder, n) for n in names if n.endswith(SUFFIX) and not n.startswith(".")]
        return [path for path in paths if not os.path.isdir(path)]

    def read(self, file: str) -> None:
        """Add a file's kernels to the module and its implementations to the registry: all or nothing."""
        parsed = self._parsed(file)
        register_kernels(parsed, is_whole=True)
        self.module._take(file, parsed.kernels)

    def read_all(self, files: list[str]) -> None:
        """Read files in any order that works: one may call an op that another registers."""
        waiting = files
        while waiting:
            failed, generation = [], lookup.generation
            for file in waiting:
                try:
                    self.read(file)
                except WeftError as error:
                    self.module._problems[file] = error
                    failed.append(file)
            if lookup.generation == generation:
                return
            waiting = failed

    def begun(self) -> Module:
        """Return the module, and start watching it if the user wants that."""
        if self._watch:
            from .watching import Watch

            watch = self.module._watch = Watch(self)
            self.module._stop = watch.start()
        return self.module

    def _parsed(self, file: str) -> ParsedModule | StoredModule:
        if not self._watch and not self._libraries:
            from ..runtime.disk.sources import open_file

            load, parse = (lambda: self._loaded(file)), (lambda text: self._of_text(text, file))
            return open_file(file, lookup, load, parse, search_path())
        return self._loaded(file)

    def _loaded(self, file: str) -> ParsedModule:
        from ..frontend.language.source import load_module

        externs = open_libraries() if self._libraries else None
        found = load_module(file, search_path(), ops=lookup, externs=externs)
        self.sources[file] = (*found.sources, *(() if externs is None else sorted(externs.paths)))
        return found

    def _of_text(self, text: str, file: str) -> ParsedModule:
        from ..frontend.language.source import parse_module

        return parse_module(text, file, search_path(), ops=lookup)

    def _kernel(self, source: KernelSource) -> Any:
        if not self._watch:
            return made(source, self._options)
        from ..runtime.hot_reload import CallableReplaceable
        from ..runtime.kernel import Kernel

        def make(source: KernelSource) -> Kernel:
            return Kernel(source, lookup, self._options, tuner_for(self._options))

        return CallableReplaceable(source, make, lookup, self.module)


def made(source: KernelSource, options: Options) -> Kernel:
    """Make a kernel from a source."""
    from ..runtime.kernel import CallableKernel

    return CallableKernel(source, lookup, options, tuner_for(options))


def open_libraries() -> Libraries:
    """Return the function that loads the libraries named in a file."""
    from ..runtime.libraries.source import Libraries

    return Libraries(_handles())


@cache
def _handles() -> Handles:
    """Return the libraries that this process has loaded."""
    from ..runtime.libraries.handles import Handles

    return Handles()
