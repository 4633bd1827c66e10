"""Define `loop`, an op that repeats its body, one step, over whole arrays.

    %2:2 = "weft.loop"(%go, %u, %zero, %steps) ({
    ^bb0(%v : tensor<?xf64, #weft.dims<n>>, %t : tensor<i64>, %steps_1 : tensor<i64>):
      ...
      "weft.yield"(%7, %5, %6) : (tensor<i1>, tensor<?xf64, #weft.dims<n>>, tensor<i64>) -> ()
    }) {carried = 2 : i64} : (...) -> (tensor<?xf64, #weft.dims<n>>, tensor<i64>)

The operands are a bool that says whether to run a first step, the state (`carried` values), and the other values that
the body reads. The body takes the state and the other values. It returns whether there is another step, and the next
state:

    while go: go, *state = body(*state, *others)

The state keeps its types. Passes run on bodies as on any graph, and `regions` (`walking.py`) finds the loop nests in
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .accesses import value_layouts
from .builder import Builder
from .dtypes import BOOL
from .errors import Span, quantity
from .flow import close
from .graph import Graph, Node, Value, graph_guards
from .layouts import C
from .ops import BROADCAST, CONSTANT, DEMAND, GATHER, LOOP, NUMPY, SIZE
from .rewrite import Rewriter
from .types import Attr, Sizes, TensorType
from .walking import body_of as body_of
from .walking import carried as carried
from .walking import graphs as graphs
from .walking import regions as regions
from .walking import walk as walk


def loop(
    builder: Builder, state: Sequence[Value], step: Builder, go: Value, after: Sequence[Value], span: Span | None
) -> tuple[Value, ...]:
    """Add a loop and return its last state.

    The builder `step` has made the body, whose outputs are `after`; `go` is a value of `builder`.

    Values that the step reads from outside become operands of the loop, and so does state that no step changes.
    """
    inputs, again, made = step.inputs, after[0], after[1:]
    kept = [k for k, new in enumerate(made) if new is not inputs[k]] or [0]
    around = {inputs[k]: v for k, v in enumerate(state) if k not in kept}
    step.inputs = [inputs[k] for k in kept]
    body, others = close(step, [again, *(made[k] for k in kept)], (CONSTANT, SIZE))
    operands = (go, *(state[k] for k in kept), *(around.get(v, v) for v in others))
    types = tuple(state[k].type for k in kept)
    node = builder.node(LOOP, operands, {"carried": len(kept)}, span, body, types)
    results = dict(zip(kept, node.results, strict=True))
    return tuple(results.get(k, v) for k, v in enumerate(state))


def needs_guard(nodes: Sequence[Node]) -> bool:
    """Whether a graph may fail, may not end, or calls a function from outside."""
    return any(n.op in (GATHER, DEMAND, NUMPY, LOOP) for n in nodes)


def once(
    builder: Builder, condition: Value, side: Builder, values: Sequence[Value], span: Span | None
) -> tuple[Value, ...]:
    """Run separately built nodes only if the condition holds, else return zeros. This is a loop of one step or none."""
    start = [_zeros(builder, v.type, span) for v in values]
    for value in values:
        side.input("none", value.type)
    return loop(builder, start, side, condition, [side.constant(False, BOOL, span), *values], span)


def _zeros(builder: Builder, type: TensorType, span: Span | None) -> Value:
    zero = {"bool": False, "float": 0.0, "complex": 0j}.get(type.dtype.kind, 0)
    number = builder.constant(zero, type.dtype, span)
    return builder.op(BROADCAST, number, span=span, shape=Sizes(type.shape)) if type.shape else number


def map_loops(graph: Graph, run: Callable[[Graph], Graph]) -> Graph:
    """Applies `run` to the bodies of loops; returns the same graph if nothing changes.

    A body gets the guards of the graph around it and the layouts of what it reads, and its own guards come back.
    """
    if not any(n.op is LOOP for n in graph):
        return graph
    layouts = value_layouts(graph)
    bodies = {n: run(_placed(n, graph, [layouts[v] for v in n.operands])) for n in graph if n.op is LOOP}
    if all(n.body is body for n, body in bodies.items()):
        return graph
    rewriter = Rewriter(graph)
    for body in bodies.values():
        for left, right in graph_guards(body):
            rewriter.builder.facts.assume_equal(left, right)
    for node in graph:
        copy = rewriter.copy(node)
        copy.body = bodies.get(node, node.body)
    return rewriter.finish()


def _placed(node: Node, around: Graph, layouts: Sequence[str]) -> Graph:
    """The body of a loop as a separate graph. The state is in C order, because steps write it into its buffers."""
    body, count = body_of(node), carried(node)
    attrs: dict[str, Attr] = {
        **body.attrs,
        "carried": count,
        "layouts": (*(C,) * count, *layouts[1 + count :]),
        "out_layouts": (C,) * (1 + count),
        "guards": around.attrs.get("guards", ()),
    }
    attrs = {name: attr for name, attr in attrs.items() if attr != ()}
    return body if attrs == body.attrs else Graph(body.name, body.inputs, body.nodes, body.outputs, attrs)


def loop_problem(node: Node) -> str | None:
    """Describe how a loop and its body disagree, if they do."""
    body, count = body_of(node), carried(node)
    go, state, others = TensorType(BOOL), node.operands[1 : 1 + count], node.operands[1 + count :]
    if not 1 <= count == len(state):
        return f"carries {quantity(count, 'value')}, but has {len(state)}"
    pairs = (
        ("take", [v.type for v in body.inputs], [v.type for v in (*state, *others)]),
        ("return", [v.type for v in body.outputs], [go, *(v.type for v in state)]),
    )
    for what, have, want in pairs:
        if have != want:
            return f"body must {what} {_shown(want)}, not {_shown(have)}"
    if node.operands[0].type != go:
        return "first operand must be a condition"
    if [v.type for v in node.results] != [v.type for v in state]:
        return "results must have the types of the state"
    return None


def _shown(types: Sequence[TensorType]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"
