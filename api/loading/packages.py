"""Load the kernels of an installed package by name.

A package declares kernels with an entry point in the group `weft.kernels`. Entry points are looked up only when a
package is named. Loading its kernels imports the package.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..ir.errors import ImportProblem, TypeProblem, UnknownName, ValueProblem, WeftError, nearest, type_of
from .load import PACKAGE, Loader, load_directory, load_file

if TYPE_CHECKING:
    from ..module import Module
    from ..runtime.compiler import Options

GROUP = "weft.kernels"


def load_package(name: str, options: Options, libraries: bool, watch: bool) -> Module:
    """Load the kernels behind the entry point of this name.

    The entry point may name a package or module, which stands for its folder, or a path to a file or folder. It may
    also name a function, which is called and returns one of these or None.
    """
    place = _place(_entry(name), name)
    if place is None:
        return Loader(f"{PACKAGE}{name}", options, libraries, watch).module
    if not os.path.isdir(place):
        return load_file(place, options, libraries, watch)
    return load_directory(place, options, libraries, watch, f"{PACKAGE}{name}", may_be_empty=True)


def has_package(name: str) -> bool:
    """Tell whether an installed package declares kernels of this name."""
    from importlib.metadata import entry_points

    return bool(entry_points(group=GROUP, name=name))


def _entry(name: str) -> Any:
    from importlib.metadata import entry_points

    found = list({(e.value, e.name): e for e in entry_points(group=GROUP, name=name)}.values())
    if not found:
        known = sorted({e.name for e in entry_points(group=GROUP)})
        hint = nearest(name, known) or f"there are {', '.join(known) or 'none'}"
        raise UnknownName(f"no installed package has kernels called '{name}'", hint=hint)
    if len(found) > 1:
        values = " and ".join(sorted(e.value for e in found))
        raise ValueProblem(f"two packages have kernels called '{name}': {values}", hint="uninstall one of them")
    try:
        return found[0].load()
    except Exception as error:
        raise ImportProblem(f"the kernels '{name}' ({found[0].value}) can't be imported: {error}") from error


def _place(found: Any, name: str) -> str | None:
    if callable(found) and not isinstance(found, (ModuleType, os.PathLike)):
        try:
            found = found()
        except WeftError:
            raise
        except Exception as error:
            raise ImportProblem(f"the kernels '{name}' can't be loaded: {type(error).__name__}: {error}") from error
    if found is None:
        return None
    if isinstance(found, ModuleType):
        folders = list(getattr(found, "__path__", ())) or [os.path.dirname(os.path.abspath(str(found.__file__)))]
        return str(folders[0])
    if not isinstance(found, (str, os.PathLike)):
        raise TypeProblem(f"the entry point '{name}' must give a package, a path or a function, not {type_of(found)}")
    path = os.fspath(found)
    if not os.path.isabs(path):
        raise ValueProblem(f"the kernels '{name}' must be at an absolute path, not at {path!r}")
    return str(path)
