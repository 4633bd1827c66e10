"""A scheduled region with a product in, its native functions out: for small matrices, and for others."""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ..functions import Entry, Function
from .blocked import Multiply, Pack
from .panels import Panels
from .product import Product
from .results import Results
from .small import DEEPEST, Small

SMALL = 128**3  # terms: below, packing operands takes longer than it saves


def emit_product(node: Node, name: str) -> Function:
    """The functions of a region with this name; which of them run is decided when the sizes are known.

    Tiles are common to the regions of a graph, whose name theirs begin with.
    """
    entries: dict[Entry, int] = {}
    owner, _, _ = name.rpartition("_")
    results = Results(node, entries, owner, f"{name}_results")
    panels = Panels(node, entries, owner, f"{name}_panels")
    small, pack = Small(node, entries, owner, results), Pack(node, entries, owner, panels)
    multiply = Multiply(node, entries, owner, panels, results)
    whole = small.function(name)
    chunks = pack.function(f"{name}_pack"), multiply.function(f"{name}_multiply")
    declared, fails = dict[str, str](), False
    for written in (small, pack, multiply):
        declared |= written.e.declared
        fails = fails or written.e.fails
    return Function(tuple(entries), (whole,), chunks, _amount(multiply), SMALL, fails, declared)


def _amount(product: Product) -> Size:
    """At least `SMALL` where a matrix has many terms, or as many of them for an element as the stack has room for."""
    return dims.maximum(dims.product((product.m, product.n, product.k)), product.k * (SMALL // DEEPEST))
