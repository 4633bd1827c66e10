"""Compile every region of a scheduled graph to native functions."""

from __future__ import annotations

from ...ir import dims
from ...ir.forms import Forms
from ...ir.graph import Graph, Node
from ...ir.large import reduces_across
from ...ir.limits import limiter
from ...ir.ops import MATMUL
from ...ir.records import record
from ...ir.types import integer, ints
from ...ir.walking import regions
from .columns import EXACT_STEPS
from .control import controlled
from .cutting import Cut, can_be_cut, chunk_parts, shares_walks
from .flat import Flat
from .functions import Entry, Function, Part
from .library import Library
from .module import Compiled, compile_module
from .region import Region
from .row_values import is_spread
from .short import Short
from .target import Target

CACHED = 1 << 20  # bytes of columns that stay in a core's cache between the stages
SECONDS_PER_BYTE = 5e-7  # of LLVM, for the text of a program: 4 to 8 were measured
LONG_STEP = 8  # vectors of a step of reductions over axes outside of them, where lines are long


@record
class Program:
    """The native functions of a graph by region, the module's text, and the code."""

    regions: tuple[Node, ...]
    functions: tuple[Function, ...]
    text: str

    @property
    def names(self) -> list[str]:
        return [part.name for function in self.functions for part in function.parts]


def emit(graph: Graph, forms: Forms = Forms()) -> Program:  # noqa: B008 (never changed)
    """LLVM text for every region of a graph, in the forms that are asked for; without any it serves all sizes."""
    found = tuple(regions(graph))
    functions = tuple(emit_region(region, f"{_symbol(graph.name)}_{k}", forms) for k, region in enumerate(found))
    declared: dict[str, str] = {}
    for function in functions:
        declared |= function.declared
    texts = [part.text for function in functions for part in function.parts]
    return Program(found, functions, "\n\n".join([*texts, "\n".join(declared.values())]) + "\n")


def emit_region(node: Node, name: str, forms: Forms) -> Function:
    """The functions of one region."""
    if any(n.op is MATMUL for n in node.body or ()):
        from .products.emit import emit_product  # as all that few kernels have, when one has it

        return emit_product(node, name, forms.short.get(node, False))
    if forms.short.get(node):
        return emit_short(node, name)
    is_long, is_large = forms.long.get(node), forms.large.get(node, False)
    if is_large and reduces_across(node):
        attrs = {**node.attrs, "unroll": LONG_STEP}
        node = Node(node.op, node.operands, attrs, tuple(v.type for v in node.results), node.span, node.body)
    entries: dict[Entry, int] = {}
    lengths = forms.windows.get(node, (0,) * len(ints(node.attrs, "windows"))) if "windows" in node.attrs else ()
    region = _with_windows(node, entries, lengths) or Region(node, entries)
    if node.attrs.get("stream", is_large and not region.columns):
        region.write_past_caches()
    is_cut, has_rows = can_be_cut(region), bool(region.rows)
    in_both_ways = has_rows or "cut_from" in node.attrs
    needs_whole = not is_cut or (in_both_ways and (not is_long if has_rows else is_long is None))
    needs_whole = needs_whole and not (is_cut and is_spread(region, region.stages.count - 1))
    cut: list[Cut] = []
    if is_cut and not (has_rows and is_long is False):
        entries = entries if needs_whole else {}
        cut = chunk_parts(node, entries, name, shares_walks(node) and is_long is not False, is_large)
    declared = {symbol: text for _, found, _ in cut for symbol, text in found.items()}
    fails = any(may_fail for _, _, may_fail in cut)
    whole: tuple[Part, ...] = ()
    if needs_whole:
        whole = (region.function(name),)
        declared |= region.nest.e.declared
        fails = fails or region.nest.e.fails
    columns = dims.product(region.extent(group) for group in region.columns)
    chunks = tuple(part for part, _, _ in cut)
    return Function(tuple(entries), whole, chunks, columns, _cut_from(region) if whole and cut else 0, fails, declared)


def _with_windows(node: Node, entries: dict[Entry, int], lengths: tuple[int, ...]) -> Region | None:
    if not lengths:
        return None
    from .windows import Windows, is_walkable

    return Windows(node, entries, lengths) if is_walkable(node, lengths) else None


def emit_short(node: Node, name: str) -> Function:
    """The function of a region with short rows."""
    entries: dict[Entry, int] = {}
    region = Short(node, entries) if node.attrs["columns"] else Flat(node, entries)
    whole = region.function(name)
    return Function(tuple(entries), (whole,), (), 0, 0, region.nest.e.fails, region.nest.e.declared)


def _cut_from(region: Region) -> int:
    """The length of columns that are better walked in chunks: by the plan, or where vectors lie along the rows.

    There one walk reads memory in long lines then; several walks find it in the cache as long as it fits.
    """
    if "cut_from" in region.region.attrs:
        return integer(region.region.attrs, "cut_from")
    lines = integer(region.region.attrs, "chunk") * EXACT_STEPS
    step = region.width * region.unroll * 4
    return lines + 1 if region.stages.count == 1 else max(lines, CACHED // step) + 1


def text_for(program: Program, target: Target) -> str:
    """The text of a program, as it is compiled for a machine."""
    return controlled(program.text, program.names, target.triple)


def build(program: Program, target: Target) -> Compiled:
    """Machine code for a program, unless LLVM would work on it for too long."""
    limiter.check_time(to_come=len(program.text) * SECONDS_PER_BYTE)
    return compile_module(text_for(program, target), target)


def load(program: Program, code: bytes) -> Library:
    """The code in memory, with the addresses of its functions."""
    return Library(code, program.names)


def _symbol(name: str) -> str:
    return "weft_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
