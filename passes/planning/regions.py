"""Set attributes of regions and of the nodes inside them; passes write plans this way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.graph import Graph, Node
from ...ir.ops import REGION
from ...ir.rewrite import Rewriter
from ...ir.types import Attr

Plan = tuple[Mapping[str, Attr | None], Mapping[Node, dict[str, Attr]]]
"""New attributes of a region, None for what is to go, and of the nodes in its body."""


def annotate_regions(graph: Graph, plan: Callable[[Node], Plan]) -> Graph:
    """Adds the attributes that `plan` returns for each region and for nodes in its body.

    A region that has a form is finished and stays unchanged.
    """
    rewriter = Rewriter(graph)
    for node in graph:
        if node.op is not REGION or "form" in node.attrs:
            rewriter.copy(node)
            continue
        assert node.body is not None
        attrs, inside = plan(node)
        types = tuple(r.type for r in node.results)
        merged = {name: attr for name, attr in {**node.attrs, **attrs}.items() if attr is not None}
        copy = rewriter.builder.node(
            REGION, rewriter.operands(node), merged, node.span, _annotate(node.body, inside), types
        )
        rewriter.values.update(zip(node.results, copy.results, strict=True))
    return rewriter.finish()


def _annotate(body: Graph, attrs: Mapping[Node, dict[str, Attr]]) -> Graph:
    if not attrs:
        return body
    rewriter = Rewriter(body)
    for node in body:
        types = tuple(r.type for r in node.results)
        merged = {**node.attrs, **attrs.get(node, {})}
        copy = rewriter.builder.node(node.op, rewriter.operands(node), merged, node.span, node.body, types)
        rewriter.values.update(zip(node.results, copy.results, strict=True))
    return rewriter.finish()
