"""Give regions, and the nodes inside of them, other attributes: the way in which passes write plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.graph import Graph, Node
from ...ir.ops import REGION
from ...ir.rewrite import Rewriter
from ...ir.types import Attr

Plan = tuple[Mapping[str, Attr | None], Mapping[Node, dict[str, Attr]]]
"""New attributes of a region, None for what is to go, and of the nodes in its body."""


def annotate_regions(graph: Graph, plan: Callable[[Node], Plan]) -> Graph:
    """Adds what `plan` says of each region: attributes of the region, and of nodes in its body.

    A region that has a form is finished, and stays as it is.
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
