"""Check the rules that hold for every graph between two passes, and raise `VerifyProblem` if one is broken.

Values are computed once, before they are used and in the graph that uses them. Nodes have the operands, attributes and
types that their ops need. Sizes that must agree are equal by their types or by a guard. From `Stage.PROMOTED` on,
operands have the dtypes that their op computes in. Then only casts, NumPy functions and regions with casts in them read
weak values.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..accesses import value_layouts
from ..builder import Builder
from ..dims import Dim, Size
from ..errors import Span, VerifyProblem, WeftError, quantity
from ..facts import Facts
from ..flow import body_problem, broadcast_shape
from ..graph import Graph, Node, Value
from ..layouts import SCALAR
from ..loops import loop_problem
from ..ops import CAST, CONSTANT, DECLARED, EACH, FLOW, LOOP, NUMPY, REGION, SIZE, TABLE, OpDef, Trait
from ..rewrite import facts_of
from ..schemas import KERNEL, LARGEST, AttributeProblem, parse_schema, schema_problem
from ..schemas import REACHED as REACHED
from ..schemas import Stage as Stage
from ..text.places import Places
from ..types import TensorType
from ..walking import nodes_inside
from .attributes import attribute_problem
from .plans import region_problem, unplaced

READS_WEAK = frozenset((CAST, NUMPY, REGION, LOOP, *FLOW))
MAKES_WEAK = frozenset((CONSTANT, SIZE))


def verify(
    graph: Graph, stage: Stage = Stage.BUILT, places: Places | None = None, table: Mapping[str, OpDef] = TABLE
) -> None:
    """Raises a `VerifyProblem` that names the first node to break a rule, at its place in the text if there is one."""
    names: dict[Node, str] = {}
    for node in nodes_inside(graph):
        names.setdefault(node, f"%{len(names)} ({node.op.name})")
    verifier = _Verifier(stage, facts_of(graph), names, places, table)
    verifier.kernel(graph)
    verifier.steps(graph)


def _is_in_order(graph: Graph) -> bool:
    """Whether every node comes after those that it reads; only broken graphs fail this."""
    ahead = set(graph)
    for node in graph:
        if any(value.node in ahead for value in node.operands):
            return False
        ahead.discard(node)
    return True


class _Verifier:
    def __init__(
        self, stage: Stage, facts: Facts, names: dict[Node, str], places: Places | None, table: Mapping[str, OpDef]
    ) -> None:
        self.stage = stage
        self.facts = facts
        self.names = names
        self.places = places
        self.table = table

    def fail(self, node: Node, problem: str | AttributeProblem, span: Span | None = None) -> VerifyProblem:
        text, place = (problem, None) if isinstance(problem, str) else (problem.message, None)
        if self.places is not None:
            of_node = self.places.of(node)
            place = of_node if isinstance(problem, str) else self.places.of_attribute(node, problem)
        hint = "a pass or a hand edit broke the graph"
        return VerifyProblem(f"{self.names[node]}: {text}", place or span or node.span, hint)

    def kernel(self, graph: Graph) -> None:
        """Checks the attributes of the kernel itself."""
        attrs = {k: v for k, v in graph.attrs.items() if k != "carried"}
        problem = schema_problem(parse_schema(KERNEL), {"sym_name": graph.name, **attrs})
        counts = {"layouts": graph.inputs, "out_layouts": graph.outputs, "results": graph.outputs}
        for name, values in counts.items():
            given = graph.attrs.get(name)
            if problem is None and isinstance(given, tuple) and len(given) != len(values):
                entries, arrays = quantity(len(given), "entry", "entries"), quantity(len(values), "array")
                problem = AttributeProblem(name, f"attribute '{name}' has {entries} for {arrays}")
        problem = problem or _layouts_problem(graph)
        if problem is not None:
            place = self.places.of_attribute(graph, problem) if self.places is not None else None
            raise VerifyProblem(f"{graph.name}: {problem.message}", place)

    def named(self, value: Value) -> str:
        if value.node is None:
            return f"the input '{value.name}'"
        return self.names.get(value.node, f"a {value.node.op.name} of another graph")

    def steps(self, graph: Graph) -> None:
        """Checks a kernel or the body of a loop: what a call runs step by step."""
        self.graph(graph)
        if self.stage >= Stage.FUSED and (found := unplaced(graph)):
            raise self.fail(*found)

    def graph(self, graph: Graph) -> None:
        self.acyclic(graph)
        defined: set[Value] = set()
        for value in graph.inputs:
            if value.node is not None or value in defined:
                wrong = "is listed twice as an input" if value in defined else "is computed, so it can't be an input"
                raise VerifyProblem(f"{self.named(value)} {wrong} of '{graph.name}'")
            if problem := _type_problem(value.type):
                place = self.places.of(value) if self.places is not None else None
                raise VerifyProblem(f"{self.named(value)}: {problem}", place)
            defined.add(value)
        own = {r for n in graph for r in n.results}
        layouts: Mapping[Value, str] | None = None
        for node in graph:
            self.scope(node, defined, own)
            self.node(node)
            if node.op is REGION:
                layouts = value_layouts(graph) if layouts is None else layouts
                self.region(node, layouts)
            defined.update(node.results)
        for i, value in enumerate(graph.outputs):
            if value not in defined:
                raise VerifyProblem(
                    f"output {i} of '{graph.name}' is {self.named(value)}, which that graph does not compute"
                )
            if self.stage >= Stage.PROMOTED and value.type.dtype.weak:
                raise VerifyProblem(f"output {i} of '{graph.name}' must not be weak, but is {value.type}")

    def acyclic(self, graph: Graph) -> None:
        if _is_in_order(graph):
            return
        import networkx as nx

        reads = nx.DiGraph((value.node, node) for node in graph for value in node.operands if value.node is not None)
        if nx.is_directed_acyclic_graph(reads):
            return
        nodes = [edge[0] for edge in nx.find_cycle(reads)]
        raise self.fail(nodes[0], "is part of a cycle: " + ", ".join(self.names.get(n, repr(n)) for n in nodes))

    def scope(self, node: Node, defined: set[Value], own: set[Value]) -> None:
        for i, value in enumerate(node.operands):
            if value in defined:
                continue
            if value in own:
                raise self.fail(node, f"operand {i} is {self.named(value)}, which is computed later")
            raise self.fail(node, f"operand {i} is {self.named(value)}, which this graph does not compute")
        for i, value in enumerate(node.results):
            if value in defined:
                raise self.fail(node, "appears twice in the graph")
            if value.node is not node or value.index != i:
                raise self.fail(node, f"result {i} belongs to {self.named(value)}")

    def node(self, node: Node) -> None:
        if node.op.arity is not None and len(node.operands) != node.op.arity:
            raise self.fail(node, f"takes {quantity(node.op.arity, 'operand')}, not {len(node.operands)}")
        if wrong := attribute_problem(node, self.stage, self.table):
            raise self.fail(node, wrong)
        for value in node.results:
            if problem := _type_problem(value.type):
                raise self.fail(node, problem)
        if (node.op in (REGION, LOOP) or node.op in FLOW) != (node.body is not None):
            raise self.fail(
                node, "has no body" if node.body is None else "has a body, but only regions and loops may have one"
            )
        if node.op in FLOW:
            self.flow(node)
        elif node.op is LOOP:
            self.loop(node)
        elif node.body is not None:
            self.body(node, node.body)
        if node.op not in DECLARED:
            self.types(node)
        if self.stage >= Stage.PROMOTED:
            self.promoted(node)

    def body(self, node: Node, body: Graph) -> None:
        inside = [v.type for v in body.inputs]
        if not self.agree(inside, [v.type for v in node.operands]):
            raise self.fail(
                node, f"body takes {_shown(inside)}, but the operands are {_shown([v.type for v in node.operands])}"
            )
        made = [v.type for v in body.outputs]
        if not self.agree(made, [v.type for v in node.results]):
            raise self.fail(
                node, f"body returns {_shown(made)}, but the results are {_shown([v.type for v in node.results])}"
            )
        self.graph(body)

    def region(self, node: Node, layouts: Mapping[Value, str]) -> None:
        if problem := region_problem(node, layouts, self.stage):
            raise self.fail(node, problem)
        if self.stage < Stage.NESTED and node.code is None:
            return
        from ..nest.regions import code_problem  # which imports this module

        if found := code_problem(node):
            where, message = found
            self.names.setdefault(where, where.op.name)
            raise self.fail(where, message)

    def flow(self, node: Node) -> None:
        assert node.body is not None
        for inner in node.body:
            if inner.op in (EACH, LOOP, REGION, NUMPY) or not (
                inner.op in FLOW or Trait.ELEMENTWISE in inner.op.traits or inner.op.name not in TABLE
            ):
                raise self.fail(inner, "can't be part of an elementwise program")
        if problem := body_problem(node):
            raise self.fail(node, problem)
        shape = broadcast_shape(self.facts, node.operands)
        said = [v.type for v in node.results]
        if not self.agree([TensorType(t.dtype, shape) for t in said], said):
            raise self.fail(node, f"operands broadcast to {shape}, but the results are {_shown(said)}")
        self.graph(node.body)

    def loop(self, node: Node) -> None:
        assert node.body is not None
        if problem := loop_problem(node):
            raise self.fail(node, problem)
        self.steps(node.body)

    def types(self, node: Node) -> None:
        known = len(self.facts.guards)
        try:
            found = Builder("", self.facts).infer(node.op, node.operands, node.attrs, node.span)
        except WeftError as error:
            raise self.fail(node, error.message, error.span) from error
        if len(found) != len(node.results):
            raise self.fail(node, f"has {quantity(len(node.results), 'result')}, but must have {len(found)}")
        if len(self.facts.guards) > known:
            left, right = self.facts.guards[known]
            raise self.fail(node, f"relies on {left} == {right}, but no guard says so")
        said = [v.type for v in node.results]
        if not self.agree(list(found), said):
            raise self.fail(node, f"result must be {_shown(list(found))}, not {_shown(said)}")

    def agree(self, left: list[TensorType], right: list[TensorType]) -> bool:
        return left == right or [self.canonical(t) for t in left] == [self.canonical(t) for t in right]

    def canonical(self, type: TensorType) -> TensorType:
        return TensorType(type.dtype, tuple(self.facts.canonical(s) for s in type.shape))

    def promoted(self, node: Node) -> None:
        for value in node.results:
            if value.type.dtype.weak and node.op not in MAKES_WEAK:
                raise self.fail(node, f"result is still {value.type} after promote-dtypes")
        if node.op in READS_WEAK:
            return
        for i, value in enumerate(node.operands):
            if value.type.dtype.weak:
                raise self.fail(node, f"operand {i} is still {value.type} after promote-dtypes")
        if node.op in DECLARED:
            return
        have = tuple(v.type.dtype for v in node.operands)
        want, _ = node.op.dtypes(have, node.attrs)
        if have != want:
            raise self.fail(node, f"operands must be {', '.join(map(str, want))}, not {', '.join(map(str, have))}")


def _layouts_problem(graph: Graph) -> AttributeProblem | None:
    for name, values in (("layouts", graph.inputs), ("out_layouts", graph.outputs)):
        given = graph.attrs.get(name)
        for k, (value, layout) in enumerate(zip(values, given if isinstance(given, tuple) else (), strict=False)):
            if layout == SCALAR and value.type.rank:
                rank = quantity(value.type.rank, "dimension")
                return AttributeProblem(name, f"array {k} has {rank}, so its layout can't be '{SCALAR}'")
    return None


def _type_problem(type: TensorType) -> str | None:
    if type.dtype.weak and type.shape:
        return f"{type} is weak, so it can't have dimensions"
    for size in type.shape:
        if not _is_size(size):
            return f"{size!r} is not a size"
    return None


def _is_size(size: Size) -> bool:
    if isinstance(size, Dim):
        return all(abs(c) <= LARGEST for _, c in size.terms)
    return type(size) is int and 0 <= size <= LARGEST


def _shown(types: list[TensorType]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"
