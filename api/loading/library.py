"""Find a kernel of Weft's library by name.

The comment above a kernel is its documentation. Its NumPy reference is the function of the same name in
`kernels/references`, in the module named after the kernel's file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..ir.records import record
from ..settings import default_options
from .load import SUFFIX, load_file

if TYPE_CHECKING:
    from ..module import Module
    from ..runtime.kernel import Kernel

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "kernels")
_KERNEL = re.compile(r"((?:^#.*\n)*)^kernel ([a-zA-Z]\w*)(\([^()]*\)[^{=]*)", re.MULTILINE)  # others are private


@record
class LibraryKernel:
    """A library kernel as written in its file; `doc` is the comment above it."""

    name: str
    file: str
    signature: str
    doc: str

    @property
    def reference(self) -> Callable[..., Any]:
        """The NumPy function that computes the same result."""
        stem = os.path.splitext(os.path.basename(self.file))[0]
        found: Callable[..., Any] = getattr(import_module(f"..kernels.references.{stem}", __package__), self.name)
        return found


@cache
def entries() -> Mapping[str, LibraryKernel]:
    """Return the library's kernels by name, in file order, without parsing any file."""
    files = sorted(name for name in os.listdir(FOLDER) if name.endswith(SUFFIX))
    return {entry.name: entry for name in files for entry in _in_file(os.path.join(FOLDER, name))}


def load_kernel(name: str) -> Kernel:
    """Load a library kernel and attach its documentation and its reference."""
    entry = entries()[name]
    kernel = _module(entry.file)[name]
    vars(kernel).update(
        __doc__=f"{entry.signature}\n\n{entry.doc}", reference=entry.reference, remake=(load_kernel, (name,))
    )
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
