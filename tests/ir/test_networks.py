"""Test conversion to networkx and back: nothing is lost, and a mistake is a typed error that names the node."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from weft.ir.errors import Span, TypeProblem, UnknownName, VerifyProblem, WeftError
from weft.ir.graph import Graph, Node
from weft.ir.networks import from_networkx
from weft.ir.text.printer import print_graph
from weft.ir.types import Sizes

from tests.ir.test_verify import region_graph, sound


def everything(graph: Graph) -> Any:
    """Return everything in a graph, including bodies, as comparable values."""
    places = {value: ("input", k) for k, value in enumerate(graph.inputs)}
    for number, node in enumerate(graph):
        places |= {value: (number, k) for k, value in enumerate(node.results)}

    def shown(node: Node) -> Any:
        attrs = [(name, type(attr), attr) for name, attr in node.attrs.items()]
        body = None if node.body is None else everything(node.body)
        return node.op, [places[v] for v in node.operands], attrs, [v.type for v in node.results], node.span, body

    inputs = [(v.name, v.type, v.scalar) for v in graph.inputs]
    attrs = {name: (type(attr), attr) for name, attr in graph.attrs.items()}
    return graph.name, attrs, inputs, list(map(shown, graph)), [places[v] for v in graph.outputs]


def assert_round_trip(graph: Graph, table: Any = None) -> None:
    network = graph.to_networkx()
    again = from_networkx(network) if table is None else from_networkx(network, table)
    assert everything(again) == everything(graph)
    assert print_graph(again, locations=True) == print_graph(graph, locations=True)


def test_round_trips() -> None:
    for graph in (sound(), region_graph()):
        assert_round_trip(graph)
        network = graph.to_networkx()
        assert nx.is_directed_acyclic_graph(network)
        assert network.number_of_nodes() == len(graph.inputs) + len(graph) + len(graph.outputs)


def small() -> Any:
    """Build x + exp(x) * x by hand, with as little data as possible."""
    network: Any = nx.MultiDiGraph(name="small")
    network.add_node("x", kind="input", type="f32[n, 4]")
    network.add_nodes_from([("e", {"op": "exp"}), ("m", {"op": "mul"}), ("s", {"op": "add"})])
    network.add_node("y", kind="output")
    network.add_edge("x", "e")
    network.add_edge("m", "s", operand=1)
    network.add_edge("x", "s", operand=0)
    network.add_edge("e", "m", operand=0)
    network.add_edge("x", "m", operand=1)
    network.add_edge("s", "y")
    return network


def test_types_and_orders_that_follow_may_be_left_out() -> None:
    graph = from_networkx(small())
    assert [n.op.name for n in graph] == ["exp", "mul", "add"]
    assert graph.nodes[2].operands == (graph.inputs[0], graph.nodes[1].result)
    assert str(graph.outputs[0].type) == "f32[n, 4]"
    network = small()
    network.add_node("k", kind="input", type="f32", position=0)
    network.nodes["x"]["position"] = 1
    network.add_node("square", op="mul", span=Span("here.py", 3))
    network.add_edges_from([("x", "square", {"operand": k}) for k in range(2)])  # the same value twice
    network.add_node("total", op="sum", attrs={"axes": [0, 1]})
    network.add_edge("square", "total")
    network.add_node("z", kind="output", position=-1)
    network.add_edge("total", "z")
    network.add_node("wide", op="broadcast", attrs={"shape": ["n", 4]})
    network.add_edge("total", "wide")
    network.add_node("double", op="cast", attrs={"to": "f64"})
    network.add_edge("wide", "double")
    graph = from_networkx(network)
    assert [v.name for v in graph.inputs] == ["k", "x"] and [str(v.type) for v in graph.outputs] == ["f32", "f32[n, 4]"]
    square, total, _, double = graph.nodes[-4:]
    assert (
        total.attrs == {"axes": (0, 1)} and square.span == Span("here.py", 3) and str(double.result.type) == "f64[n, 4]"
    )
    assert_round_trip(graph)


def change(network: Any, what: str) -> None:
    match what:
        case "cycle":
            network.remove_edge("x", "e")
            network.add_edge("s", "e", operand=0)
        case "op":
            network.nodes["e"]["op"] = "expp"
        case "kind":
            network.nodes["x"]["kind"] = "array"
        case "type":
            network.nodes["x"]["type"] = "f31[n]"
        case "no type":
            del network.nodes["x"]["type"]
        case "types":
            network.nodes["e"]["types"] = ("f32[m, 4]",)
        case "many types":
            network.nodes["e"]["types"] = ("f32[n, 4]", "f32")
        case "operand":
            network.edges["m", "s", 0]["operand"] = 2
        case "same operand":
            network.edges["m", "s", 0]["operand"] = 0
        case "no operand":
            del network.edges["m", "s", 0]["operand"]
        case "result":
            network.edges["e", "m", 0]["result"] = 1
        case "arity":
            network.add_edge("x", "e", operand=1)
            network.edges["x", "e", 0]["operand"] = 0
        case "input":
            network.add_edge("e", "x")
            network.remove_edge("x", "e")
        case "output":
            network.add_edge("e", "y", operand=1)
            network.edges["s", "y", 0]["operand"] = 0
        case "from output":
            network.add_edge("y", "e", operand=1)
            network.edges["x", "e", 0]["operand"] = 0
            network.remove_edge("s", "y")
        case "attrs":
            network.nodes["e"]["op"] = "sum"
        case "more attrs":
            network.nodes["e"]["attrs"] = {"axis": 0}
        case "odd attrs":
            network.nodes["e"]["attrs"] = {"axes": {}}
        case "own attrs":
            network.graph["attrs"] = {"layout": "C"}
        case _:
            network.nodes["e"].update(op="region", attrs={"space": Sizes(())})


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("cycle", VerifyProblem, "the graph has a cycle through"),
        ("op", UnknownName, "node 'e': unknown op 'expp'\nhint: did you mean 'exp"),
        ("kind", VerifyProblem, "node 'x' must be of kind 'input', 'op' or 'output', not 'array'"),
        ("type", TypeProblem, "the type of node 'x' is 'f31[n]'"),
        ("no type", TypeProblem, "the type of node 'x' must be text such as 'f32[n, m]', not None"),
        ("types", VerifyProblem, "node 'e' returns f32[n, 4], but its 'types' say f32[m, 4]\nhint: leave out 'types'"),
        ("many types", VerifyProblem, "node 'e' has 1 result, but 2 'types'"),
        ("operand", VerifyProblem, "node 's' reads 'm' as operand 2, but its operands are 0 to 1"),
        ("same operand", VerifyProblem, "has two operands 0, one of them from '"),
        ("no operand", VerifyProblem, "node 's' reads 'm' as operand None"),
        ("result", VerifyProblem, "node 'm' reads result 1 of 'e', which has 1"),
        ("arity", TypeProblem, "node 'e': exp takes 1 operand, not 2"),
        ("input", VerifyProblem, "node 'x' is an input, so it can't have incoming edges"),
        ("output", VerifyProblem, "node 'y' must have exactly one incoming edge, because it is an output, not 2"),
        ("from output", VerifyProblem, "node 'e' reads result 0 of 'y', which has 0"),
        ("attrs", VerifyProblem, "node 'e' (sum): attribute 'axes' is missing"),
        ("more attrs", VerifyProblem, "node 'e' (exp): unknown attribute 'axis'"),
        ("odd attrs", TypeProblem, "node 'e' has an attribute {}, which can't be written as text"),
        ("own attrs", VerifyProblem, "graph attributes: unknown attribute 'layout'"),
        ("declared", VerifyProblem, "node 'e' needs 'types', because 'region' has no type rule"),
    ],
)
def test_what_is_no_graph_is_told(what: str, error: type[WeftError], message: str) -> None:
    network = small()
    change(network, what)
    with pytest.raises(error) as caught:
        from_networkx(network)
    assert message in str(caught.value) and str(caught.value).count("node '") <= 1
