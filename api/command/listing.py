"""Run `weft list` and `weft env`: show the kernels of a file or of the library, and the environment variables."""

from __future__ import annotations

import argparse
import os
import textwrap

from ..environment import VARIABLES
from ..ir.errors import nearest
from ..loading.library import entries
from .files import find_kernels
from .screen import show_note

WIDTH = 100


def add_list(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weft list`."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="a .weft file; without one, the library")


def list(args: argparse.Namespace) -> None:
    """Print the kernels, each with the comment above it."""
    if args.file is None:
        for entry in entries().values():
            _print(entry.signature, entry.doc)
        return
    kernels, _ = find_kernels(args.file, ())
    for kernel in kernels:
        _print(kernel.signature, " ".join(kernel.comment.split()))


def _print(declared: str, doc: str) -> None:
    print(declared)
    if doc:
        print(textwrap.fill(doc, WIDTH, initial_indent="    ", subsequent_indent="    "))


def env(args: argparse.Namespace) -> None:
    """Print each environment variable with its value, or with its default."""
    for variable in VARIABLES:
        given = os.environ.get(variable.name)
        value = f"default: {variable.default}" if given is None else f"set to {given}"
        print(f"{variable.name} ({value})\n    {variable.meaning}")
    known = [variable.name for variable in VARIABLES]
    for name in sorted(os.environ):
        if name.startswith("WEFT_") and name not in known:
            hint = nearest(name, known)
            show_note(f"{name} is set, but Weft reads no such variable{f'; {hint}' if hint else ''}")
