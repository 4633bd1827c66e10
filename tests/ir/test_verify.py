"""Test broken graphs, each with the message that names the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from weft.ir.builder import Builder
from weft.ir.dims import symbol
from weft.ir.dtypes import BOOL, F32, F64, I32, WEAK_FLOAT, WEAK_INT, DType
from weft.ir.errors import Span, VerifyProblem
from weft.ir.facts import Facts
from weft.ir.graph import Graph, Node, Value
from weft.ir.ops import CAST, REGION, TABLE
from weft.ir.text.dot import dot
from weft.ir.types import Sizes, TensorType
from weft.ir.verifier.verify import Stage, verify

n, m = symbol("n"), symbol("m")
SPAN = Span("wave.weft", 3, 5, 1, "    exp(x)")


def typed(dtype: DType, *shape: Any) -> TensorType:
    return TensorType(dtype, shape)


def sound() -> Graph:
    """`sum(exp(x) + 1)` over the rows, a cast and a slice."""
    b = Builder("f")
    x = b.input("x", typed(F32, n, 4))
    e = b.op(TABLE["exp"], x, span=SPAN)
    plus = b.op(TABLE["add"], e, b.constant(1.0, F32), span=SPAN)
    total = b.op(TABLE["sum"], plus, axes=(1,), span=SPAN)
    wide = b.op(CAST, total, to=F64, span=SPAN)
    part = b.op(TABLE["slice"], plus, starts=Sizes((0, 1)), steps=(1, 2), sizes=Sizes((n, 2)), span=SPAN)
    return b.finish([wide, part])


def node(graph: Graph, name: str) -> Node:
    return next(item for item in graph if item.op.name == name)


def with_nodes(graph: Graph, nodes: tuple[Node, ...]) -> Graph:
    return Graph(graph.name, graph.inputs, nodes, graph.outputs, graph.attrs)


def region_graph() -> Graph:
    b = Builder("f")
    x = b.input("x", typed(F32, n))
    inner = Builder("f", b.facts)
    y = inner.input("x", typed(F32, n))
    body = inner.finish([inner.op(TABLE["neg"], y)])
    region = b.node(REGION, [x], {"space": Sizes((n,)), "reduced": ()}, SPAN, body, (typed(F32, n),))
    return b.finish([region.result])


def test_sound_graphs_pass() -> None:
    verify(sound(), Stage.PROMOTED)
    verify(region_graph(), Stage.PROMOTED)
    b = Builder("guarded", Facts({"n": 3, "m": 3}))
    b.finish([b.op(TABLE["add"], b.input("x", typed(F32, n)), b.input("y", typed(F32, m)))])
    x, y = b.inputs
    assert x.type == y.type
    verify(b.finish([b.nodes[0].result]))


def used_too_early(g: Graph) -> Graph:
    return with_nodes(g, (g.nodes[2], *g.nodes[:2], *g.nodes[3:]))


def from_elsewhere(g: Graph) -> Graph:
    node(g, "add").operands = (sound().nodes[0].result, node(g, "constant").result)
    return g


def foreign_input(g: Graph) -> Graph:
    node(g, "exp").operands = (Value(typed(F32, n, 4), name="ghost"),)
    return g


def cycle(g: Graph) -> Graph:
    node(g, "exp").operands = (node(g, "add").result,)
    return g


def twice(g: Graph) -> Graph:
    return with_nodes(g, (*g.nodes, g.nodes[0]))


def stolen_result(g: Graph) -> Graph:
    node(g, "exp").results[0].node = node(g, "add")
    return with_nodes(g, g.nodes[:1])


def too_many_operands(g: Graph) -> Graph:
    node(g, "exp").operands *= 2
    return g


def wrong_dtype(g: Graph) -> Graph:
    node(g, "exp").result.type = typed(F64, n, 4)
    return g


def wrong_shape(g: Graph) -> Graph:
    node(g, "sum").result.type = typed(F32, m)
    return g


def shapes_that_do_not_meet(g: Graph) -> Graph:
    g.inputs[0].type = typed(F32, n, 5)
    node(g, "exp").result.type = typed(F32, n, 5)
    node(g, "constant").result.type = typed(F32, 4)
    return with_nodes(g, tuple(item for item in g if item.op.name != "constant"))


def unguarded(g: Graph) -> Graph:
    b = Builder("f", Facts({"n": 3, "m": 3}))
    b.op(TABLE["add"], b.input("x", typed(F32, n)), b.input("y", typed(F32, m)), span=SPAN)
    graph = b.finish([b.nodes[0].result])
    graph.inputs[1].type = typed(F32, m)
    graph.attrs = {}
    return graph


def refused_dtypes(g: Graph) -> Graph:
    node(g, "add").op = TABLE["bitwise_and"]
    return g


def set_attr(name: str, key: str, value: Any) -> Callable[[Graph], Graph]:
    def change(g: Graph) -> Graph:
        found = node(g, name)
        found.attrs = {k: v for k, v in found.attrs.items() if k != key} | ({} if value is None else {key: value})
        return g

    return change


def body_of_wrong_type(g: Graph) -> Graph:
    graph = region_graph()
    assert graph.nodes[0].body is not None
    graph.nodes[0].body.inputs[0].type = typed(F32, m)
    return graph


def body_gives_other(g: Graph) -> Graph:
    graph = region_graph()
    graph.nodes[0].result.type = typed(F64, n)
    return graph


def body_reaches_out(g: Graph) -> Graph:
    graph = region_graph()
    assert graph.nodes[0].body is not None
    graph.nodes[0].body.nodes[0].operands = graph.inputs
    return graph


def no_body(g: Graph) -> Graph:
    graph = region_graph()
    graph.nodes[0].body = None
    return graph


def body_on_op(g: Graph) -> Graph:
    node(g, "exp").body = sound()
    return g


def weak_array(g: Graph) -> Graph:
    g.inputs[0].type = typed(WEAK_FLOAT, n)
    return g


def negative_size(g: Graph) -> Graph:
    g.inputs[0].type = typed(F32, -1)
    return g


def repeated_input(g: Graph) -> Graph:
    return Graph(g.name, g.inputs * 2, g.nodes, g.outputs)


def lost_output(g: Graph) -> Graph:
    return Graph(g.name, g.inputs, g.nodes, (*g.outputs, sound().outputs[0]))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (used_too_early, "%0 (add): operand 0 is %1 (exp), which is computed later"),
        (from_elsewhere, "%2 (add): operand 0 is a exp of another graph, which this graph does not compute"),
        (foreign_input, "%0 (exp): operand 0 is the input 'ghost', which this graph does not compute"),
        (cycle, "is part of a cycle: %"),
        (twice, "%0 (exp): appears twice in the graph"),
        (stolen_result, "%0 (exp): result 0 belongs to"),
        (too_many_operands, "%0 (exp): takes 1 operand, not 2"),
        (wrong_dtype, "%0 (exp): result must be (f32[n, 4]), not (f64[n, 4])"),
        (wrong_shape, "%3 (sum): result must be (f32[n]), not (f32[m])"),
        (shapes_that_do_not_meet, "which this graph does not compute"),
        (unguarded, "%0 (add): relies on n == m, but no guard says so"),
        (refused_dtypes, "%2 (bitwise_and): 'bitwise_and' is not defined for f32, f32"),
        (set_attr("sum", "axes", None), "%3 (sum): attribute 'axes' is missing"),
        (
            set_attr("sum", "axes", (5,)),
            "%3 (sum): attribute 'axes' must be sorted axes of an array with 2 dimensions, not (5,)",
        ),
        (set_attr("sum", "axes", (-1,)), "%3 (sum): attribute 'axes' must be a list of axes, not array<i64: -1>"),
        (set_attr("sum", "axes", 1), "%3 (sum): attribute 'axes' must be a list of axes, not 1"),
        (set_attr("sum", "keepdims", 1), "%3 (sum): attribute 'keepdims' must be true or false, not 1"),
        (set_attr("sum", "composite", "exp"), "%3 (sum): attribute 'composite' needs 'order'"),
        (set_attr("cast", "to", "f64"), "%4 (cast): attribute 'to' must be a dtype that is not weak, not \"f64\""),
        (set_attr("cast", "to", WEAK_INT), "%4 (cast): attribute 'to' must be"),
        (set_attr("exp", "extra", {1: 2}), "%0 (exp): attribute 'extra' can't be {1: 2}, which has no text form"),
        (set_attr("slice", "steps", (1, 0)), "%5 (slice): the step of axis 1 must not be 0"),
        (set_attr("slice", "starts", Sizes((0, 2))), "%5 (slice): axis 1 is read from 2 to 4, but has 4 elements"),
        (
            set_attr("slice", "starts", Sizes((0,))),
            "%5 (slice): attribute 'starts' has 1 entry, but the operand has 2 axes",
        ),
        (set_attr("constant", "value", "one"), "%1 (constant): attribute 'value' must be a number, not \"one\""),
        (set_attr("constant", "value", True), "%1 (constant): the value True is not a f32"),
        (set_attr("constant", "dtype", I32), "%1 (constant): the value 1.0 is not a i32"),
        (body_of_wrong_type, "%0 (region): body takes (f32[m]), but the operands are (f32[n])"),
        (body_gives_other, "%0 (region): body returns (f32[n]), but the results are (f64[n])"),
        (body_reaches_out, "%1 (neg): operand 0 is the input 'x', which this graph does not compute"),
        (no_body, "%0 (region): has no body"),
        (body_on_op, "%0 (exp): has a body, but only regions and loops may have one"),
        (weak_array, "the input 'x': weak float[n] is weak, so it can't have dimensions"),
        (negative_size, "the input 'x': -1 is not a size"),
        (repeated_input, "the input 'x' is listed twice as an input"),
        (lost_output, "output 2 of 'f' is a cast of another graph, which that graph does not compute"),
    ],
)
def test_broken_graphs(spoil: Callable[[Graph], Graph], message: str) -> None:
    graph = spoil(sound())
    with pytest.raises(VerifyProblem) as caught:
        verify(graph)
    assert message in str(caught.value)
    if message.startswith("%") and "constant" not in message and "(neg)" not in message:
        assert caught.value.span == SPAN and "exp(x)" in str(caught.value)


def test_constants_fit_their_dtype() -> None:
    verify(set_attr("constant", "value", 1)(sound()))
    b = Builder("f")
    graph = b.finish([b.constant(2**31, I32)])
    with pytest.raises(VerifyProblem, match="the value 2147483648 does not fit i32"):
        verify(graph)


def weak_operand(b: Builder) -> Value:
    return b.op(TABLE["add"], b.input("x", typed(F32, n)), b.constant(1))


def mixed_operands(b: Builder) -> Value:
    return b.op(TABLE["add"], b.input("x", typed(F32, n)), b.input("y", typed(F64, n)))


def narrow_sum(b: Builder) -> Value:
    return b.op(TABLE["sum"], b.input("x", typed(I32, n)), axes=(0,))


def weak_result(b: Builder) -> Value:
    return b.op(TABLE["add"], b.input("k", typed(WEAK_INT)), b.constant(1))


def weak_output(b: Builder) -> Value:
    return b.input("k", typed(WEAK_INT))


def truth_of_a_float(b: Builder) -> Value:
    return b.op(TABLE["logical_not"], b.input("x", typed(F32, n)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (weak_operand, "%1 (add): operand 1 is still weak int after promote-dtypes"),
        (mixed_operands, "%0 (add): operands must be f64, f64, not f32, f64"),
        (narrow_sum, "%0 (sum): operands must be i64, not i32"),
        (weak_result, "%1 (add): result is still weak int after promote-dtypes"),
        (weak_output, "output 0 of 'f' must not be weak, but is weak int"),
        (truth_of_a_float, "%0 (logical_not): operands must be bool, not f32"),
    ],
)
def test_what_promotion_promises(make: Callable[[Builder], Value], message: str) -> None:
    b = Builder("f")
    graph = b.finish([make(b)])
    verify(graph)
    with pytest.raises(VerifyProblem) as caught:
        verify(graph, Stage.PROMOTED)
    assert message in str(caught.value)


def test_casts_may_read_weak_values() -> None:
    b = Builder("f")
    b.input("x", typed(BOOL, n))
    graph = b.finish([b.op(CAST, b.input("k", typed(WEAK_INT)), to=F32), b.op(CAST, b.size(n), to=F64)])
    verify(graph, Stage.PROMOTED)


def test_dot() -> None:
    text = dot(sound())
    assert text == dot(sound())
    assert text.startswith('digraph "f" {') and text.endswith("}\n")
    assert text.count("shape=oval") == 3
    assert 'label="sum\\naxes = array<i64: 1>\\nf32[n]"' in text
    assert "[label=1]" in text
    framed = dot(region_graph())
    assert "subgraph cluster_" in framed and framed.count("{") == framed.count("}")


@pytest.mark.parametrize(
    ("name", "attr", "message"),
    [
        ("starts", Sizes((0, 3)), "%0 (diagonal): axis 1 is read from 3 to 6, but has 6 elements"),
        ("starts", Sizes((0,)), "%0 (diagonal): attribute 'starts' must have 2 sizes, not 1"),
        ("axes", (0, 2), "%0 (diagonal): attribute 'axes' must be two of the 2 axes, not (0, 2)"),
        ("size", Sizes((5,)), "%0 (diagonal): axis 0 is read from 0 to 4, but has 4 elements"),
    ],
)
def test_diagonals(name: str, attr: Any, message: str) -> None:
    b = Builder("f")
    x = b.input("x", typed(F32, 4, 6))
    d = b.op(TABLE["diagonal"], x, axes=(0, 1), starts=Sizes((0, 2)), size=Sizes((4,)))
    graph = b.finish([d])
    verify(graph)
    node(graph, "diagonal").attrs = {**node(graph, "diagonal").attrs, name: attr}
    with pytest.raises(VerifyProblem) as error:
        verify(graph)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("name", "attr", "message"),
    [
        ("starts", Sizes((0, 2)), "%0 (access): axis 1 is read up to 6, but has 6 elements"),
        ("starts", Sizes((-1, 0)), "%0 (access): axis 0 is read from -1 on, before its first element"),
        ("starts", Sizes((0,)), "%0 (access): has 1 start and 6 steps, but the operand has 2 axes and the result 3"),
        ("steps", Sizes((1, 0, 0, 0, 1, 2)), "%0 (access): axis 1 is read up to 7, but has 6 elements"),
        ("steps", Sizes((1, 0, 0, 0, -1, 1)), "%0 (access): axis 1 is read from -1 on, before its first element"),
    ],
)
def test_accesses(name: str, attr: Any, message: str) -> None:
    b = Builder("f")
    x = b.input("x", typed(F32, 4, 6))
    a = b.op(TABLE["access"], x, shape=Sizes((4, 3, 3)), starts=Sizes((0, 1)), steps=Sizes((1, 0, 0, 0, 1, 1)))
    graph = b.finish([a])
    verify(graph)
    node(graph, "access").attrs = {**node(graph, "access").attrs, name: attr}
    with pytest.raises(VerifyProblem) as error:
        verify(graph)
    assert error.value.message == message
