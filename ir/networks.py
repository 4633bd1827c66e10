"""Show a graph as a networkx `MultiDiGraph`, and read one back. Nothing is lost either way.

    network = graph.to_networkx()
    network.nodes["exp_2"]              {"kind": "op", "op": "exp", "attrs": {}, "types": (f32[n],), "span": None}
    network.edges["sub_1", "exp_2", 0]  {"operand": 0, "result": 0, "type": f32[n]}

Nodes are inputs, operations and outputs (`kind`), in topological order. An edge leads from the node that computes a
value to one that reads it: `operand` is its position there, and `result` says which of several results it is. A region
or a loop has its `body`, which is a `MultiDiGraph` as well; after `to-nest` a region has its loop nest, `code`, which
may be text. The kernel's `name` and `attrs` are attributes of the whole.

Reading goes through the builder, so the rules of every op run. Types may be left out, but not those of regions,
loops and NumPy functions; types that are given must agree with the rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from .builder import Builder
from .errors import Span, TypeProblem, UnknownName, VerifyProblem, WeftError, nearest, quantity
from .facts import Facts
from .graph import Graph, Node, Value
from .ops import DECLARED, TABLE, OpDef
from .schemas import COMMON, KERNEL, KINDS, Attribute, parse_schema, schema_of, schema_problem, typed
from .text.notation import parse_size
from .types import Attr, Guards, Sizes, TensorType

if TYPE_CHECKING:
    import networkx as nx

INPUT, OP, OUTPUT = "input", "op", "output"


def to_networkx(graph: Graph) -> nx.MultiDiGraph[Any]:
    """Converts a graph to networkx. The two share nothing mutable."""
    import networkx as nx

    network: nx.MultiDiGraph[Any] = nx.MultiDiGraph(name=graph.name, attrs=dict(graph.attrs))
    keys: dict[Value, tuple[str, int]] = {}
    for place, value in enumerate(graph.inputs):
        key = _fresh(network, value.name or "in")
        network.add_node(key, kind=INPUT, name=value.name, type=value.type, scalar=value.scalar, position=place)
        keys[value] = key, 0
    for number, node in enumerate(graph):
        key = _fresh(network, f"{node.op.name}_{number}")
        body = None if node.body is None else to_networkx(node.body)
        types = tuple(r.type for r in node.results)
        data = {"op": node.op.name, "attrs": dict(node.attrs), "types": types, "span": node.span, "body": body}
        code = {} if node.code is None else {"code": node.code}
        network.add_node(key, kind=OP, **data, **code)
        keys.update((value, (key, k)) for k, value in enumerate(node.results))
        for place, value in enumerate(node.operands):
            _connect(network, keys[value], key, place, value.type)
    for place, value in enumerate(graph.outputs):
        key = _fresh(network, f"output_{place}")
        network.add_node(key, kind=OUTPUT, position=place)
        _connect(network, keys[value], key, 0, value.type)
    return network


def _fresh(network: nx.MultiDiGraph[Any], name: str) -> str:
    key, number = name, 0
    while key in network:
        number += 1
        key = f"{name}.{number}"
    return key


def _connect(network: nx.MultiDiGraph[Any], source: tuple[str, int], target: str, place: int, type: TensorType) -> None:
    key, result = source
    network.add_edge(key, target, key=place, operand=place, result=result, type=type)


def from_networkx(network: nx.DiGraph[Any], table: Mapping[str, OpDef] = TABLE) -> Graph:
    """Reads a graph from networkx, with the ops of `table`. A mistake raises a typed error that names the node."""
    attrs = dict(network.graph.get("attrs") or {})
    if problem := schema_problem(parse_schema(KERNEL), {k: v for k, v in attrs.items() if k != "carried"}):
        raise VerifyProblem(f"graph attributes: {problem.message}")
    facts = Facts()
    for left, right in attrs.pop("guards", Guards()):
        facts.assume_equal(left, right)
    return _Reader(network, table, facts).read(attrs)


class _Reader:
    """Reads one graph; the bodies in it share what is known about sizes."""

    def __init__(self, network: nx.DiGraph[Any], table: Mapping[str, OpDef], facts: Facts) -> None:
        self.network, self.table, self.facts = network, table, facts
        self.builder = Builder(str(network.graph.get("name") or "graph"), facts)
        self.values: dict[Hashable, tuple[Value, ...]] = {}

    def read(self, attrs: Mapping[str, Attr]) -> Graph:
        self.builder.attrs.update(attrs)
        order = self.order()
        for key in self.placed(INPUT):
            self.values[key] = (self.input(key, self.network.nodes[key]),)
        for key in order:
            if self.kind(key) == OP:
                self.values[key] = self.op(key, self.network.nodes[key])
        outputs = []
        for key in self.placed(OUTPUT):
            found = self.operands(key)
            if len(found) != 1:
                raise _problem(key, f"must have exactly one incoming edge, because it is an output, not {len(found)}")
            outputs += found
        return self.builder.finish(outputs)

    def order(self) -> list[Hashable]:
        """The nodes in topological order; ties are in the order in which they were added."""
        import networkx as nx

        place = {key: number for number, key in enumerate(self.network)}
        try:
            return list(nx.lexicographical_topological_sort(self.network, key=place.__getitem__))
        except nx.NetworkXUnfeasible:
            cycle = ", ".join(repr(edge[0]) for edge in nx.find_cycle(self.network))
            raise VerifyProblem(f"the graph has a cycle through {cycle}") from None

    def kind(self, key: Hashable) -> str:
        data = self.network.nodes[key]
        found = data.get("kind", OP if "op" in data else None)
        if found not in (INPUT, OP, OUTPUT):
            raise _problem(key, f"must be of kind 'input', 'op' or 'output', not {found!r}")
        return str(found)

    def placed(self, kind: str) -> list[Hashable]:
        """Sort the nodes of a kind by position. Those without one come last, in the order in which they were added."""
        found = [key for key in self.network if self.kind(key) == kind]
        return sorted(found, key=lambda key: self.network.nodes[key].get("position", len(found)))

    def input(self, key: Hashable, data: Mapping[str, Any]) -> Value:
        if self.network.in_degree(key):
            raise _problem(key, "is an input, so it can't have incoming edges")
        name = data.get("name", key)
        return self.builder.input(name, _type(data.get("type"), key), bool(data.get("scalar", False)))

    def operands(self, key: Hashable) -> list[Value]:
        edges = list(self.network.in_edges(key, data=True))
        found: dict[int, Value] = {}
        for source, _, data in edges:
            place, result = data.get("operand", 0 if len(edges) == 1 else None), data.get("result", 0)
            values = self.values.get(source, ())
            if type(place) is int and place in found:
                raise _problem(key, f"has two operands {place}, one of them from {source!r}")
            if type(place) is not int or not 0 <= place < len(edges):
                last = len(edges) - 1
                raise _problem(key, f"reads {source!r} as operand {place!r}, but its operands are 0 to {last}")
            if type(result) is not int or not 0 <= result < len(values):
                raise _problem(key, f"reads result {result!r} of {source!r}, which has {len(values)}")
            found[place] = values[result]
        return [found[place] for place in range(len(edges))]

    def op(self, key: Hashable, data: Mapping[str, Any]) -> tuple[Value, ...]:
        name, span = data.get("op"), data.get("span")
        if name not in self.table:
            raise UnknownName(f"node {key!r}: unknown op '{name}'", span, nearest(str(name), list(self.table)))
        op, body = self.table[str(name)], data.get("body")
        said = None if data.get("types") is None else tuple(_type(t, key) for t in data["types"])
        if op in DECLARED and said is None:
            raise _problem(key, f"needs 'types', because '{name}' has no type rule", span)
        inner = None if body is None else self.body(body)
        attrs, operands = self.attrs(op, key, data.get("attrs") or {}, span), self.operands(key)
        try:
            node = self.builder.node(op, operands, attrs, span, inner, said if op in DECLARED else None)
        except WeftError as error:
            error.args = (f"node {key!r}: {error.message}",)
            error.message = error.args[0]
            raise
        node.code = None if data.get("code") is None else _nest(data["code"], key)
        self.check(key, node, said)
        return node.results

    def attrs(self, op: OpDef, key: Hashable, given: Mapping[str, Any], span: Span | None) -> dict[str, Attr]:
        """Converts attributes to the kinds of their schema; lists, sizes and dtypes may be given as text."""
        schema = parse_schema(f"{op.attributes};{COMMON}")
        found = {name: _attr(schema.get(name), value, key) for name, value in given.items()}
        if problem := schema_problem(schema_of(op, found, self.table), found):
            raise _problem(key, f"({op.name}): {problem.message}", span)
        return found

    def body(self, network: nx.DiGraph[Any]) -> Graph:
        made = _Reader(network, self.table, self.facts).read({})
        return Graph(made.name, made.inputs, made.nodes, made.outputs, dict(network.graph.get("attrs") or {}))

    def check(self, key: Hashable, node: Node, said: tuple[TensorType, ...] | None) -> None:
        """Check that given types agree with the rules; equal sizes may be written differently."""
        if said is None:
            return
        if len(said) != len(node.results):
            raise _problem(key, f"has {quantity(len(node.results), 'result')}, but {len(said)} 'types'", node.span)
        for value, wanted in zip(node.results, said, strict=True):
            if value.type != wanted:
                if value.type.dtype != wanted.dtype or not self.facts.agree(value.type.shape, wanted.shape):
                    hint = "leave out 'types' to infer them from the operands"
                    raise VerifyProblem(
                        f"node {key!r} returns {value.type}, but its 'types' say {wanted}", node.span, hint
                    )
                value.type = wanted


def _nest(given: object, key: Hashable) -> Graph:
    """Reads the loop nest of a region; it is verified with the region."""
    if isinstance(given, Graph):
        return given
    if not isinstance(given, str):
        raise TypeProblem(f"the 'code' of node {key!r} must be a loop nest or its text, not {given!r}")
    from .nest.text import read_nest

    return read_nest(given, f"<code of {key}>")


def _type(given: object, key: Hashable) -> TensorType:
    """A type, or its text, as in `f32[n, 4]`."""
    from .dtypes import parse

    if isinstance(given, TensorType):
        return given
    if not isinstance(given, str):
        raise TypeProblem(f"the type of node {key!r} must be text such as 'f32[n, m]', not {given!r}")
    name, bracket, rest = given.strip().partition("[")
    inside = rest.removesuffix("]").strip()
    try:
        return TensorType(parse(name), tuple(map(parse_size, inside.split(","))) if bracket and inside else ())
    except WeftError as error:
        raise TypeProblem(
            f"the type of node {key!r} is {given!r}: {error.message}", hint="write a type such as 'f32[n, m]'"
        ) from None


def _attr(attribute: Attribute | None, value: Any, key: Hashable) -> Attr:
    from .dtypes import DType, parse

    value = tuple(value) if isinstance(value, list) else value
    if not isinstance(value, (bool, int, float, complex, str, tuple, DType)):
        raise TypeProblem(f"node {key!r} has an attribute {value!r}, which can't be written as text")
    kind = None if attribute is None else attribute.kind
    if kind in (KINDS["size"], KINDS["sizes"]) and type(value) is tuple:
        return Sizes(parse_size(size) if isinstance(size, str) else size for size in value)
    if kind in (KINDS["dtype"], KINDS["strong dtype"]) and isinstance(value, str):
        return parse(value)
    return typed(attribute, value)


def _problem(key: Hashable, message: str, span: Span | None = None) -> VerifyProblem:
    return VerifyProblem(f"node {key!r} {message}", span)
