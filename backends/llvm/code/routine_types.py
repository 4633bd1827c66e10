"""Describe the values and structures of routines (`routines.py`)."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ....ir.tuples import NamedTuple
from .text import Val

SCALARS = ("i1", "i8", "i16", "i32", "i64", "float", "double", "ptr")
WIDTH = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}
NUMBER = "number"  # the type of a literal, until it meets something


class Layout(NamedTuple):
    """The fields of a structure: their offsets in bytes, and their types."""

    fields: Mapping[str, tuple[int, str]]
    size: int


class Typed(NamedTuple):
    """A value and its type: a scalar's, or the name of the structure that it points to."""

    val: Val
    type: str


class Edge(NamedTuple):
    """A way into a block: what names stand for on it, and the block that it comes from."""

    names: dict[str, Typed]
    block: str


class RoutineProblem(Exception):
    """A routine that can't be translated. Only Weft's own files have routines, so this is a bug in one of them."""


def words(*names: str, **typed: str) -> Layout:
    """Return a structure of words of eight bytes each; plain names are `i64`."""
    fields = dict.fromkeys(names, "i64") | typed
    return Layout({name: (8 * k, type) for k, (name, type) in enumerate(fields.items())}, 8 * len(fields))


def marks(node: ast.FunctionDef) -> set[str]:
    """Return a routine's decorators."""
    return {d.id for d in node.decorator_list if isinstance(d, ast.Name)}


def is_declared(node: ast.FunctionDef) -> bool:
    """Tell whether a routine's body is `...`: it is the C library's."""
    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...


def lowered(type: str) -> str:
    """Return the LLVM type of a value."""
    if type == NUMBER:
        return "i64"
    return type if type in SCALARS else "ptr"
