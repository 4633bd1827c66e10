"""Find a kernel or a module of kernels by name: `weft.kernels.NAME`.

The search path comes first: a file `NAME.weft` or a directory `NAME` is a module. Then comes Weft's own library, whose
kernels are attributes themselves. Installed packages come last. A name is loaded once, when it is first used. Shared
libraries are not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..ir.errors import UnknownName, nearest
from ..settings import default_options, search_path
from .library import entries, load_kernel
from .load import SUFFIX, load_directory, load_file
from .packages import has_package, load_package

__all__ = ["Kernels", "kernels"]


class Kernels:
    """Library kernels, modules on the search path and modules of installed packages, as attributes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = _load(name)
        return found

    def __dir__(self) -> list[str]:
        return sorted(set(_names()))

    def __repr__(self) -> str:
        return f"<weft kernels: {', '.join(dir(self))}>"


class UnknownModule(UnknownName, AttributeError):
    """Raised when no kernel or module has this name."""


def _load(name: str) -> Any:
    place = find_own(name)
    if place is not None and os.path.isdir(place):
        return load_directory(place, default_options(), False, False)
    if place is not None:
        return load_file(place, default_options(), False, False)
    if name in entries():
        return load_kernel(name)
    if has_package(name):
        return load_package(name, default_options(), False, False)
    hint = nearest(name, list(_names())) or f"looked for {name}{SUFFIX} in {', '.join(search_path())}"
    raise UnknownModule(f"there are no kernels called '{name}'", hint=hint)


def find_own(name: str) -> str | None:
    """Find the user's file or directory of this name on the search path."""
    for folder in search_path() if name.isidentifier() else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path + SUFFIX):
            return path + SUFFIX
        if os.path.isdir(path):
            return path
    return None


def _names() -> Iterator[str]:
    yield from entries()
    for folder in search_path():
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            stem, dot, suffix = name.rpartition(".")
            if stem.isidentifier() and dot + suffix == SUFFIX:
                yield stem
            elif name.isidentifier() and os.path.isdir(os.path.join(folder, name)):
                yield name


kernels = Kernels()
