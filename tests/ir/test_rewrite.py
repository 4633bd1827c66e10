"""Test rewriting: what a pass does not replace stays unchanged."""

from __future__ import annotations

from weft.ir.builder import Builder
from weft.ir.dims import symbol
from weft.ir.dtypes import F32, F64
from weft.ir.errors import Span
from weft.ir.facts import Facts
from weft.ir.graph import Graph
from weft.ir.ops import CAST, REGION, TABLE
from weft.ir.rewrite import Rewriter
from weft.ir.text.printer import print_graph
from weft.ir.types import Sizes, TensorType

n, m = symbol("n"), symbol("m")


def sample() -> Graph:
    b = Builder("f", Facts({"n": 4, "m": 4}))
    b.attrs["note"] = "kept"
    x, y = b.input("x", TensorType(F32, (n,))), b.input("y", TensorType(F32, (m,)))
    total = b.op(TABLE["add"], x, y, span=Span("f.weft", 2, 3, 1, "  x + y"))
    return b.finish([b.op(TABLE["sum"], total, axes=(0,), span=Span("f.weft", 3, 1))])


def test_a_copy_is_the_same_graph_in_new_objects() -> None:
    graph = sample()
    rewriter = Rewriter(graph)
    for node in graph:
        rewriter.copy(node)
    copy = rewriter.finish()
    assert print_graph(copy, locations=True) == print_graph(graph, locations=True)
    assert [a.span for a in copy] == [a.span for a in graph]
    assert copy.attrs == graph.attrs and copy.attrs["note"] == "kept" and copy.attrs["guards"].texts == ("n == m",)
    assert not set(copy.nodes) & set(graph.nodes) and not set(copy.inputs) & set(graph.inputs)


def test_replaced_values_change_types_behind_them() -> None:
    graph = sample()
    rewriter = Rewriter(graph)
    for value in graph.inputs:
        rewriter.replace(value, rewriter.builder.op(CAST, rewriter.get(value), to=F64))
    for node in graph:
        rewriter.copy(node)
    wide = rewriter.finish()
    assert [v.type.dtype for v in wide.inputs] == [F32, F32]
    assert wide.outputs[0].type == TensorType(F64) and len(wide) == len(graph) + 2
    assert wide.attrs == graph.attrs


def test_bodies_go_along() -> None:
    b = Builder("f")
    x = b.input("x", TensorType(F32, (n,)))
    inner = Builder("f", b.facts)
    y = inner.input("x", TensorType(F32, (n,)))
    body = inner.finish([inner.op(TABLE["neg"], y)])
    region = b.node(REGION, [x], {"space": Sizes((n,))}, None, body, (TensorType(F32, (n,)),))
    graph = b.finish([region.result])
    rewriter = Rewriter(graph)
    copy = rewriter.copy(region)
    assert copy.body is body and print_graph(rewriter.finish()) == print_graph(graph)
