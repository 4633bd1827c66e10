"""Emit the native functions of a region with a product, for small matrices and for large ones."""

from __future__ import annotations

from ....ir.forms import LARGE_PRODUCT, SMALL_PRODUCT
from ....ir.graph import Node
from ....ir.products import SMALL, amount
from ..functions import FrameWord, NativeFunction, RegionCode
from .blocked import Finish, Multiply, Pack
from .panels import Panels
from .product import Product
from .results import TileResults
from .row_stages import RowStages
from .small import InPlace, Small


def emit_product(node: Node, name: str) -> RegionCode:
    """Emits the functions of a region: the one for small matrices, those for large ones, or both.

    The regions of a graph share tiles, whose names begin with the graph's.
    """
    entries: dict[FrameWord, int] = {}
    owner, _, _ = name.rpartition("_")
    results = TileResults(node, entries, owner, f"{name}_results")
    panels = Panels(node, entries, owner, f"{name}_panels")
    stages = RowStages(node, entries, owner, f"{name}_stages") if results.of_rows else None
    whole, chunks, written = list[NativeFunction](), list[NativeFunction](), list[Product]()

    def add(to: list[NativeFunction], product: Small | Pack | Multiply | Finish, name: str) -> None:
        to.append(product.function(name))
        written.append(product)

    if node.attrs["form"] != LARGE_PRODUCT:
        add(whole, Small(node, entries, owner, panels, results, stages), name)
    if node.attrs["form"] != SMALL_PRODUCT:
        in_place = InPlace(node, entries, owner, panels, results, stages)
        if in_place.is_in_place != 0:
            add(chunks, in_place, f"{name}_in_place")
        add(chunks, Pack(node, entries, owner, panels), f"{name}_pack")
        add(chunks, Multiply(node, entries, owner, panels, results, stages), f"{name}_multiply")
        if stages is not None:
            add(chunks, Finish(node, entries, owner, panels, stages), f"{name}_rows")
    product = written[0]
    declared = {symbol: text for each in written for symbol, text in each.e.declared.items()}
    cut_from = SMALL if whole and chunks else 0
    fails = any(each.e.fails for each in written)
    return RegionCode(tuple(entries), tuple(whole), tuple(chunks), amount(product.node), cut_from, fails, declared)
