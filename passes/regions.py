"""Add attributes to the regions of a graph and to the nodes inside them."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.graph import Graph, Node
from ..ir.ops import REGION
from ..ir.rewrite import Rewriter
from ..ir.types import Attr

Plan = tuple[dict[str, Attr], dict[Node, dict[str, Attr]]]


def annotate_regions(graph: Graph, plan: Callable[[Node], Plan]) -> Graph:
    """Adds what `plan` says of each region: attributes of the region, and of nodes in its body."""
    rewriter = Rewriter(graph)
    for node in graph:
        if node.op is not REGION:
            rewriter.copy(node)
            continue
        assert node.body is not None
        attrs, inside = plan(node)
        types = tuple(r.type for r in node.results)
        copy = rewriter.builder.node(
            REGION, rewriter.operands(node), {**node.attrs, **attrs}, node.span, _annotate(node.body, inside), types
        )
        rewriter.values.update(zip(node.results, copy.results, strict=True))
    return rewriter.finish()


def _annotate(body: Graph, attrs: dict[Node, dict[str, Attr]]) -> Graph:
    if not attrs:
        return body
    rewriter = Rewriter(body)
    for node in body:
        types = tuple(r.type for r in node.results)
        merged = {**node.attrs, **attrs.get(node, {})}
        copy = rewriter.builder.node(node.op, rewriter.operands(node), merged, node.span, node.body, types)
        rewriter.values.update(zip(node.results, copy.results, strict=True))
    return rewriter.finish()
