"""Hold the kernels of a `.weft` file, a text or a directory by name: the result of `weft.compile` and `weft.load`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .ir.errors import FileProblem, UnknownName, WeftError, nearest

if TYPE_CHECKING:
    from .ir.source import KernelSource
    from .runtime.kernel import Kernel

__all__ = ["Module", "UnknownKernel"]


class Module:
    """Kernels as attributes, as in `module.softmax(x)`.

    If two files of a directory define the same name, use `module["file.name"]`. `problems` lists the errors of files
    that could not be loaded or reloaded; their old kernels keep running.
    """

    def __init__(self, file: str, make: Callable[[KernelSource], Kernel]) -> None:
        self._file, self._make = file, make
        self._held: dict[tuple[str, str], Any] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._kernels: dict[str, Any] = {}
        self._problems: dict[str, WeftError] = {}
        self._stop: Callable[[], None] | None = None
        self._watch: object = None  # held here so that it lives as long as the module

    @property
    def problems(self) -> tuple[WeftError, ...]:
        return tuple(self._problems.values())

    def close(self) -> None:
        """Stop watching files."""
        if self._stop is not None:
            self._stop()

    def _take(self, file: str, sources: Mapping[str, KernelSource]) -> None:
        """Take the kernels of a file. On a reload, kernels that the user already holds get the new code."""
        for name, source in sources.items():
            held = self._held.get((file, name))
            if held is None:
                self._held[file, name] = self._make(source)
            else:
                held.replace(source)
        self._problems.pop(file, None)
        self._name_kernels(file, tuple(sources))

    def _name_kernels(self, file: str, own: tuple[str, ...]) -> None:
        """Show the kernels of a file that are held now."""
        self._files = {**self._files, file: own}
        found: dict[str, Any] = {}
        shared = set()
        for file, names in self._files.items():
            for name in names:
                if name in found:
                    shared.add(name)
                found[name] = self._held[file, name]
        self._show({name: kernel for name, kernel in found.items() if name not in shared})

    def _show(self, kernels: dict[str, Any]) -> None:
        """Set kernels as instance attributes: the interpreter finds those faster than a small kernel runs."""
        old, self._kernels = self._kernels, kernels
        self.__dict__.update({name: kernel for name, kernel in kernels.items() if _may_be_attribute(name)})
        for name in filter(_may_be_attribute, old.keys() - kernels.keys()):
            self.__dict__.pop(name, None)

    def _in_files(self) -> dict[str, list[str]]:
        """Map each kernel's name to the stems of the files that define it."""
        found: dict[str, list[str]] = {}
        for file, names in self._files.items():
            for name in names:
                found.setdefault(name, []).append(_stem(file))
        return found

    def __getattr__(self, name: str) -> Kernel:
        kernels: dict[str, Kernel] = self.__dict__.get("_kernels", {})
        if name in kernels:
            return kernels[name]
        if name.startswith("__"):
            raise AttributeError(name)
        stems = self._in_files().get(name, ())
        if stems:
            ways = " or ".join(f'module["{stem}.{name}"]' for stem in stems)
            raise UnknownKernel(f"{len(stems)} files of {self._file} have a kernel '{name}'", hint=f"say which: {ways}")
        hint = nearest(name, list(kernels)) or f"its kernels are {', '.join(kernels) or 'none'}"
        raise UnknownKernel(f"{self._file} has no kernel '{name}'", hint=hint)

    def __getitem__(self, name: str) -> Kernel:
        if name in self._kernels:
            kernel: Kernel = self._kernels[name]
            return kernel
        if not isinstance(name, str):
            raise UnknownKernel(f"{self._file} has no kernel {name!r}", hint="use a string")
        stem, dot, own = name.rpartition(".")
        for file, names in self._files.items() if dot else ():
            if _stem(file) == stem and own in names:
                found: Kernel = self._held[file, own]
                return found
        return self.__getattr__(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that `[]` accepts."""
        for name, stems in self._in_files().items():
            yield from [name] if len(stems) == 1 else (f"{stem}.{name}" for stem in stems)

    def __len__(self) -> int:
        return sum(map(len, self._files.values()))

    def __dir__(self) -> list[str]:
        return sorted(self._kernels)

    def __reduce__(self) -> Any:
        held = self._held
        files = tuple((file, tuple((n, held[file, n]) for n in names)) for file, names in self._files.items())
        return _unpickled, (self._file, files)

    def __dask_tokenize__(self) -> Any:
        from .ir.support.pickles import token

        return token("weft.module", *self.__reduce__()[1])

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: Any) -> Module:
        return self

    def _repr_html_(self) -> str:
        from .ir.support.html import frame, table

        declared = [(self[name].__doc__ or name).partition("\n\n") for name in self]
        rows = [(head, comment.partition("\n")[0]) for head, _, comment in declared]
        return frame(self._file, [table(("kernel", ""), rows)])

    def __repr__(self) -> str:
        return f"<weft module {self._file}: {', '.join(self)}>"


class UnknownKernel(UnknownName, AttributeError):
    """Raised when a module has no kernel of this name."""


def _unpickled(file: str, files: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]) -> Module:
    """Make the module of a pickle; it has no files to read again."""
    module = Module(file, _not_reloaded)
    for each, kernels in files:
        module._held |= {(each, name): kernel for name, kernel in kernels}
        module._name_kernels(each, tuple(name for name, _ in kernels))
    return module


def _not_reloaded(source: KernelSource) -> Kernel:
    raise FileProblem(f"'{source.name}' comes from a pickle and can't be loaded again")


def _may_be_attribute(name: str) -> bool:
    return not name.startswith("_") and not hasattr(Module, name)


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
