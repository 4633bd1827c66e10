"""Compile a graph whose forms are chosen to native kernels: one per region, with one function or several."""

from __future__ import annotations

from ...ir import dims
from ...ir.dims import Size
from ...ir.forms import CHUNKS, EITHER, PRODUCTS
from ...ir.graph import Graph, Node
from ...ir.limits import limiter
from ...ir.records import record
from ...ir.types import axis_groups, integer, sizes
from ...ir.walking import regions
from .engine.module import Compiled, compile_module
from .engine.target import Target
from .functions import FrameWord, RegionCode, WrittenFunction
from .loops.region_nest import RegionNest

SECONDS_PER_BYTE = 5e-7  # estimated time of LLVM for the text of a program: 4 to 8 were measured


@record
class NativeProgram:
    """The native functions of a graph by region, the module's text, and the code."""

    regions: tuple[Node, ...]
    functions: tuple[RegionCode, ...]
    text: str

    @property
    def names(self) -> list[str]:
        return [part.name for function in self.functions for part in function.parts]


def emit(graph: Graph) -> NativeProgram:
    """Emits LLVM text for every region of a graph, in the form of its plan."""
    found = tuple(regions(graph))
    functions = tuple(emit_region(region, f"{_symbol(graph.name)}_{k}") for k, region in enumerate(found))
    declared: dict[str, str] = {}
    for function in functions:
        declared |= function.declared
    texts = [part.text for function in functions for part in function.parts]
    return NativeProgram(found, functions, "\n\n".join([*texts, "\n".join(declared.values())]) + "\n")


def emit_region(node: Node, name: str) -> RegionCode:
    """Emits the functions of one region."""
    if node.attrs["form"] in PRODUCTS:
        from .products.emit import emit_product  # imported here because few kernels need it

        return emit_product(node, name)
    form, entries = node.attrs["form"], dict[FrameWord, int]()
    cut, whole = list[WrittenFunction](), list[WrittenFunction]()
    if form in (CHUNKS, EITHER):
        from .loops.chunk_functions import chunk_parts  # imported here because few kernels need it

        cut = chunk_parts(node, entries, name)
    if form != CHUNKS:
        rows = RegionNest(node, entries)
        whole = [(rows.function(name), rows.nest.e.declared, rows.nest.e.fails)]
    declared = {symbol: text for _, found, _ in (*cut, *whole) for symbol, text in found.items()}
    fails = any(may_fail for _, _, may_fail in (*cut, *whole))
    cut_from = integer(node.attrs, "cut_from") if form == EITHER else 0
    functions, chunks = (tuple(part for part, _, _ in parts) for parts in (whole, cut))
    return RegionCode(tuple(entries), functions, chunks, _columns(node) if cut else 0, cut_from, fails, declared)


def _columns(node: Node) -> Size:
    """The number of elements in one row."""
    space = tuple(sizes(node.attrs, "space"))
    return dims.product(space[axis] for group in axis_groups(node.attrs, "columns") for axis in group)


def build(program: NativeProgram, target: Target) -> Compiled:
    """Compiles a program to machine code, unless that would take LLVM too long."""
    limiter.check_time(to_come=len(program.text) * SECONDS_PER_BYTE)
    return compile_module(program.text, target)


def _symbol(name: str) -> str:
    return "weft_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
