"""A scheduled graph in, native functions out: one for each region."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.graph import Graph, Node
from ...ir.ops import REGION
from .module import Compiled, Library, compile_module
from .region import Function, emit_region
from .target import Target


@dataclass(frozen=True)
class Program:
    """The native functions of a graph by region, the module's text, and the code."""

    regions: tuple[Node, ...]
    functions: tuple[Function, ...]
    names: tuple[str, ...]
    text: str


def emit(graph: Graph) -> Program:
    """LLVM text for every region of a graph."""
    regions = tuple(n for n in graph if n.op is REGION)
    names = tuple(f"{_symbol(graph.name)}_{k}" for k in range(len(regions)))
    functions = tuple(emit_region(r, n) for r, n in zip(regions, names, strict=True))
    declared: dict[str, str] = {}
    for function in functions:
        declared |= function.declared
    text = "\n\n".join([*(f.text for f in functions), "\n".join(declared.values())]) + "\n"
    return Program(regions, functions, names, text)


def build(program: Program, target: Target) -> Compiled:
    """Machine code for a program."""
    return compile_module(program.text, target)


def load(program: Program, code: bytes) -> Library:
    """The code in memory, with the addresses of its functions."""
    return Library(code, list(program.names))


def _symbol(name: str) -> str:
    return "weft_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
