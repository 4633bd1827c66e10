"""Emit the native functions of a region with a product, for small matrices and for large ones."""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ..functions import FrameWord, RegionCode
from .blocked import Finish, Multiply, Pack
from .panels import Panels
from .product import Product
from .results import TileResults
from .row_stages import RowStages
from .small import DEEPEST, InPlace, Small

SMALL = 128**3  # terms below which packing operands takes longer than it saves


def emit_product(node: Node, name: str) -> RegionCode:
    """Emits the functions of a region; the sizes of a call decide which of them run.

    The regions of a graph share tiles, whose names begin with the graph's.
    """
    entries: dict[FrameWord, int] = {}
    owner, _, _ = name.rpartition("_")
    results = TileResults(node, entries, owner, f"{name}_results")
    panels = Panels(node, entries, owner, f"{name}_panels")
    stages = RowStages(node, entries, owner, f"{name}_stages") if results.of_rows else None
    small, pack = Small(node, entries, owner, panels, results, stages), Pack(node, entries, owner, panels)
    multiply = Multiply(node, entries, owner, panels, results, stages)
    whole = small.function(name)
    chunks = [pack.function(f"{name}_pack"), multiply.function(f"{name}_multiply")]
    written: list[Product] = [small, pack, multiply]
    if small.is_in_place != 0:
        in_place = InPlace(node, entries, owner, panels, results, stages)
        chunks.insert(0, in_place.function(f"{name}_in_place"))
        written.append(in_place)
    if stages is not None:
        last = Finish(node, entries, owner, panels, stages)
        chunks.append(last.function(f"{name}_rows"))
        written.append(last)
    declared, fails = dict[str, str](), False
    for product in written:
        declared |= product.e.declared
        fails = fails or product.e.fails
    return RegionCode(tuple(entries), (whole,), tuple(chunks), _amount(multiply), SMALL, fails, declared)


def _amount(product: Product) -> Size:
    """Return the multiplications of a matrix; at least `SMALL` if it has more terms than fit on the stack."""
    return dims.maximum(product.m * product.n, SMALL // DEEPEST) * product.k
