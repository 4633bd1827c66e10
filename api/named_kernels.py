"""A name in, the module of kernels that is called so out: `weft.kernels.NAME`.

It is `NAME.weft` or the directory `NAME` in a folder of the search path, or what an installed package declares. It is
looked for and loaded when it is named, and once; libraries are not honoured.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from .ir.errors import UnknownName, nearest
from .loading import SUFFIX, load_directory, load_file
from .module import Module
from .packages import has_package, load_package
from .settings import default_options, search_path

__all__ = ["Kernels", "kernels"]


class Kernels:
    """The modules on the search path and of installed packages, as attributes."""

    def __getattr__(self, name: str) -> Module:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = _load(name)
        return found

    def __dir__(self) -> list[str]:
        return sorted(set(_names()))

    def __repr__(self) -> str:
        return f"<weft kernels: {', '.join(dir(self)) or 'none on the search path'}>"


class UnknownModule(UnknownName, AttributeError):
    """A name under which there are no kernels."""


def _load(name: str) -> Module:
    for folder in search_path() if name.isidentifier() else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path + SUFFIX):
            return load_file(path + SUFFIX, default_options(), False, False)
        if os.path.isdir(path):
            return load_directory(path, default_options(), False, False)
    if has_package(name):
        return load_package(name, default_options(), False, False)
    hint = nearest(name, list(_names())) or f"looked for {name}{SUFFIX} in {', '.join(search_path())}"
    raise UnknownModule(f"there are no kernels called '{name}'", hint=hint)


def _names() -> Iterator[str]:
    for folder in search_path():
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            stem, dot, suffix = name.rpartition(".")
            if stem.isidentifier() and dot + suffix == SUFFIX:
                yield stem
            elif name.isidentifier() and os.path.isdir(os.path.join(folder, name)):
                yield name


kernels = Kernels()
