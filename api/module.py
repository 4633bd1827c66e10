"""The kernels of a `.weft` file, of a text or of a directory, by name: what `weft.compile` and `weft.load` give."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .ir.errors import UnknownName, WeftError, nearest

if TYPE_CHECKING:
    from .ir.source import KernelSource
    from .runtime.kernel import Kernel

__all__ = ["Module", "UnknownKernel"]


class Module:
    """Kernels as attributes. One that two files of a directory have is told apart by its file: `module["file.name"]`.

    `problems` are the errors of the files that could not be loaded or read again, whose old kernels still run.
    """

    def __init__(self, file: str, make: Callable[[KernelSource], Kernel]) -> None:
        self._file, self._make = file, make
        self._held: dict[tuple[str, str], Any] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._kernels: dict[str, Any] = {}
        self._problems: dict[str, WeftError] = {}
        self._stop: Callable[[], None] | None = None
        self._watch: object = None  # lives as long as this

    @property
    def problems(self) -> tuple[WeftError, ...]:
        return tuple(self._problems.values())

    def close(self) -> None:
        """Files are watched no more."""
        if self._stop is not None:
            self._stop()

    def _take(self, file: str, sources: Mapping[str, KernelSource]) -> None:
        """The kernels of a file, new or read again: those that are held get the new code."""
        for name, source in sources.items():
            held = self._held.get((file, name))
            if held is None:
                self._held[file, name] = self._make(source)
            else:
                held.replace(source)
        self._problems.pop(file, None)
        self._files = {**self._files, file: tuple(sources)}
        found: dict[str, Any] = {}
        shared = set()
        for file, names in self._files.items():
            for name in names:
                if name in found:
                    shared.add(name)
                found[name] = self._held[file, name]
        self._show({name: kernel for name, kernel in found.items() if name not in shared})

    def _show(self, kernels: dict[str, Any]) -> None:
        """Attributes of its own, which the interpreter finds faster than a small kernel runs."""
        old, self._kernels = self._kernels, kernels
        self.__dict__.update({name: kernel for name, kernel in kernels.items() if _may_be_attribute(name)})
        for name in filter(_may_be_attribute, old.keys() - kernels.keys()):
            self.__dict__.pop(name, None)

    def _in_files(self) -> dict[str, list[str]]:
        """The names of all kernels, with the stems of the files that have them."""
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
            raise UnknownKernel(f"{self._file} has no kernel {name!r}", hint="kernels are named by texts")
        stem, dot, own = name.rpartition(".")
        for file, names in self._files.items() if dot else ():
            if _stem(file) == stem and own in names:
                found: Kernel = self._held[file, own]
                return found
        return self.__getattr__(name)

    def __iter__(self) -> Iterator[str]:
        """The names by which `[]` finds each kernel."""
        for name, stems in self._in_files().items():
            yield from [name] if len(stems) == 1 else (f"{stem}.{name}" for stem in stems)

    def __len__(self) -> int:
        return sum(map(len, self._files.values()))

    def __dir__(self) -> list[str]:
        return sorted(self._kernels)

    def __repr__(self) -> str:
        return f"<weft module {self._file}: {', '.join(self)}>"


class UnknownKernel(UnknownName, AttributeError):
    """A kernel that a module does not have."""


def _may_be_attribute(name: str) -> bool:
    return not name.startswith("_") and not hasattr(Module, name)


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
