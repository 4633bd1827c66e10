"""Find a kernel of the library that comes with Weft by its name.

Each kernel has a comment above it, which is its documentation, and a NumPy function of the same name in
`kernels/references`, in the module that is called as its file is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .ir.records import record
from .loading import SUFFIX, load_file
from .settings import default_options

if TYPE_CHECKING:
    from .module import Module
    from .runtime.kernel import Kernel

FOLDER = os.path.join(os.path.dirname(__file__), "kernels")
_KERNEL = re.compile(r"((?:^#.*\n)*)^kernel ([a-zA-Z]\w*)([^{=]*)", re.MULTILINE)  # others are for their file alone


@record
class LibraryKernel:
    """A kernel as its file shows it; `doc` is the comment above it."""

    name: str
    file: str
    signature: str
    doc: str

    @property
    def reference(self) -> Callable[..., Any]:
        """The same in NumPy."""
        stem = os.path.splitext(os.path.basename(self.file))[0]
        found: Callable[..., Any] = getattr(import_module(f".kernels.references.{stem}", __package__), self.name)
        return found


@cache
def entries() -> Mapping[str, LibraryKernel]:
    """The kernels of the library by name, in the order of their files; no file is parsed for it."""
    files = sorted(name for name in os.listdir(FOLDER) if name.endswith(SUFFIX))
    return {entry.name: entry for name in files for entry in _in_file(os.path.join(FOLDER, name))}


def load_kernel(name: str) -> Kernel:
    """The kernel of this name, with its documentation and its reference."""
    entry = entries()[name]
    kernel = _module(entry.file)[name]
    vars(kernel).update(__doc__=f"{entry.signature}\n\n{entry.doc}", reference=entry.reference)
    return kernel


@cache
def _module(file: str) -> Module:
    return load_file(file, default_options(), False, False)


def _in_file(file: str) -> list[LibraryKernel]:
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    return [
        LibraryKernel(name, file, name + " ".join(rest.split()).replace("( ", "(").replace(" )", ")"), _prose(comment))
        for comment, name, rest in _KERNEL.findall(text)
    ]


def _prose(comment: str) -> str:
    return " ".join(line.lstrip("# ") for line in comment.splitlines())
