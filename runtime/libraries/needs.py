"""Refuse libraries that make the dynamic linker look for other libraries where anybody could have put them.

A relative name or search path is looked up in the working directory, and whatever is found there runs. The same holds
for a path that leads out of `$ORIGIN`: a copy of the library is loaded, and the working directory can be reached from
the folder of that copy (/proc/self/fd/../cwd).
"""

from __future__ import annotations

import os
import re

from ...ir.errors import LibraryProblem, Span
from .elf import NEEDED, Image
from .trust import check_searched

RPATH, RUNPATH = 15, 29
_LOADERS = {0x6FFFFEFA: "DT_CONFIG", 0x6FFFFEFB: "DT_DEPAUDIT", 0x6FFFFEFC: "DT_AUDIT", 0x7FFFFFFD: "DT_AUXILIARY",
            0x7FFFFFFF: "DT_FILTER"}  # fmt: skip
_ORIGIN = re.compile(r"\$(ORIGIN\b|\{ORIGIN\})")
_HINT = "link it with absolute folders, or put what it needs where the system looks"


def check_needs(image: Image, path: str, span: Span | None) -> None:
    """Raise a `LibraryProblem` that names the unsafe entry."""
    for tag, name in _LOADERS.items():
        if tag in image.tags:
            reason = f"it makes the linker load other libraries through {name}"
            raise LibraryProblem(f"{path} is not loaded: {reason}", span, _HINT)
    for tag, name in ((RPATH, "RPATH"), (RUNPATH, "RUNPATH")):
        for text in image.texts(tag):
            for folder in text.split(":"):
                _check_folder(folder, f"its {name}", path, span)
    for name in image.texts(NEEDED):
        if not name or (os.sep in name and not os.path.isabs(name)) or "$" in name:
            reason = f"it needs '{name}', which is looked for in the working directory"
            raise LibraryProblem(f"{path} is not loaded: {reason}", span, _HINT)
        if os.sep in name:
            check_searched(name, span)


def _check_folder(folder: str, what: str, path: str, span: Span | None) -> None:
    origin = _ORIGIN.match(folder)
    if origin is not None:
        if ".." in folder.split(os.sep):
            reason = f"'{folder}' in {what} leads out of $ORIGIN, and a copy of the library is loaded"
            raise LibraryProblem(f"{path} is not loaded: {reason}", span, _HINT)
        return
    if not os.path.isabs(folder):
        named = f"'{folder}' in {what}" if folder else f"an empty part of {what}"
        raise LibraryProblem(f"{path} is not loaded: {named} means the working directory", span, _HINT)
    if "$" not in folder:
        check_searched(folder, span)
