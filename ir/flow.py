"""Define elementwise programs: graphs over numbers that are the bodies of `each`, `while` and `when`.

An `each` runs its body for every element of its operands, which broadcast:

    %0 = "weft.each"(%x, %limit) ({
    ^bb0(%x_1 : tensor<f64>, %limit_1 : tensor<i32>):
      ...
      "weft.yield"(%9) : (tensor<i32>) -> ()
    }) : (tensor<?xf64, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>

A body holds ops on numbers, `while` and `when`. Values that it needs from outside are operands.

- `while` has `carried` operands that change in each step. Its body returns first whether the step counts, then what
  the carried ones become. A step that does not count ends the loop, and its other results are dropped:

      loop: go, *after = body(*state, *others); if not go: stop; state = after

- `when` has a condition first, which its body does not see. Where it is false the results are zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .builder import Builder
from .dims import Size
from .dtypes import BOOL
from .errors import Span
from .facts import Facts
from .graph import Graph, Node, Value
from .ops import CONSTANT, EACH, FLOW, WHEN, WHILE, OpDef, Trait
from .rewrite import Rewriter
from .types import TensorType, integer

COSTLY = 256  # ticks of an expensive op; other ops take one


def close(
    builder: Builder, outputs: Sequence[Value], remade: Sequence[OpDef] = (CONSTANT,)
) -> tuple[Graph, list[Value]]:
    """Close a body: return it with the outer values that it reads, which become its last inputs.

    Constants from outside are made again inside, and so are the ops in `remade`.
    """
    inside = {*builder.inputs, *(r for n in builder.nodes for r in n.results)}
    used = dict.fromkeys(v for n in builder.nodes for v in n.operands)
    outer = [v for v in dict.fromkeys((*used, *outputs)) if v not in inside]
    nodes, captured, stands = builder.nodes, list[Value](), dict[Value, Value]()
    builder.nodes = []
    for value in outer:
        if value.node is not None and value.node.op in remade:
            stands[value] = builder.node(value.node.op, (), value.node.attrs, value.node.span).result
        else:
            stands[value] = builder.input(value.name or "in", value.type)
            captured.append(value)
    for node in nodes:
        node.operands = tuple(stands.get(v, v) for v in node.operands)
    builder.nodes += nodes
    return builder.finish([stands.get(v, v) for v in outputs]), captured


def each(builder: Builder, operands: Sequence[Value], body: Graph, span: Span | None) -> tuple[Value, ...]:
    """Compute the results of a body for every element of the operands."""
    shape = broadcast_shape(builder.facts, operands)
    types = tuple(TensorType(v.type.dtype, shape) for v in body.outputs)
    return builder.node(EACH, operands, {}, span, body, types).results


def broadcast_shape(facts: Facts, operands: Sequence[Value]) -> tuple[Size, ...]:
    return facts.broadcast([v.type.shape for v in operands]) if operands else ()


def loop(
    builder: Builder, state: Sequence[Value], others: Sequence[Value], body: Graph, span: Span | None
) -> tuple[Value, ...]:
    """The last state of a loop."""
    types = tuple(v.type for v in state)
    return builder.node(WHILE, (*state, *others), {"carried": len(state)}, span, body, types).results


def when(
    builder: Builder, condition: Value, others: Sequence[Value], body: Graph, span: Span | None
) -> tuple[Value, ...]:
    """The results of a body where the condition holds, otherwise zeros."""
    types = tuple(v.type for v in body.outputs)
    return builder.node(WHEN, (condition, *others), {}, span, body, types).results


def map_bodies(graph: Graph, run: Callable[[Graph], Graph]) -> Graph:
    """Applies `run` to each body; returns the same graph if nothing changes."""
    bodies = {n: run(n.body) for n in graph if n.op in FLOW and n.body is not None}
    if all(n.body is body for n, body in bodies.items()):
        return graph
    rewriter = Rewriter(graph)
    for node in graph:
        copy = rewriter.copy(node)
        copy.body = bodies.get(node, node.body)
    return rewriter.finish()


def has_loop(graph: Graph) -> bool:
    return any(n.op is WHILE or (n.body is not None and has_loop(n.body)) for n in graph)


def is_light(graph_nodes: Sequence[Node]) -> bool:
    """Tell whether code can't fail and is so cheap that always computing it is faster than a branch around it."""
    cost = sum(20 if Trait.EXPENSIVE in n.op.traits else 1 for n in graph_nodes)
    return cost <= 16 and all(n.body is None and n.op.name not in ("demand", "power") for n in graph_nodes)


def body_problem(node: Node) -> str | None:
    """Describes how a node and its body disagree, if they do."""
    body = node.body
    assert body is not None
    inputs, outputs = [v.type.dtype for v in body.inputs], [v.type.dtype for v in body.outputs]
    operands, results = [v.type.dtype for v in node.operands], [v.type.dtype for v in node.results]
    if any(v.type.shape for v in (*body.inputs, *body.outputs)):
        return "body must take and return numbers"
    if node.op is WHEN:
        if not operands or operands[0] != BOOL:
            return "first operand must be a condition"
        operands = operands[1:]
    if node.op is WHILE:
        carried = integer(node.attrs, "carried")
        if outputs[:1] != [BOOL] or outputs[1:] != operands[:carried]:
            return f"body must return a bool and {_shown(operands[:carried])}, not {_shown(outputs)}"
        outputs = outputs[1:]
    if inputs != operands:
        return f"body takes {_shown(inputs)}, but the operands are {_shown(operands)}"
    if outputs != results:
        return f"body returns {_shown(outputs)}, but the results are {_shown(results)}"
    if node.op is not EACH and any(v.type.shape for v in (*node.operands, *node.results)):
        return "operands and results must be numbers"
    return None


def _shown(dtypes: Sequence[object]) -> str:
    return "(" + ", ".join(map(str, dtypes)) + ")"


# -- how a body runs in lanes


def varying(body: Graph, inputs: Sequence[bool]) -> dict[Value, bool]:
    """Tell which values of a body differ from lane to lane, given which of its inputs do."""
    found = dict(zip(body.inputs, inputs, strict=True))
    for node in body:
        operands = [found[v] for v in node.operands]
        if node.op not in FLOW:
            results = [any(operands)]
        elif node.op is WHILE:
            go, state = varying_in_loop(node, operands)
            results = [go or x for x in state]
        else:
            assert node.body is not None
            inner = varying(node.body, operands[1:])
            results = [operands[0] or inner[v] for v in node.body.outputs]
        found.update(zip(node.results, results, strict=True))
    return found


def varying_in_loop(node: Node, operands: Sequence[bool]) -> tuple[bool, list[bool]]:
    """Tell whether lanes leave a loop at different steps, and which carried values differ among those still in it."""
    assert node.body is not None
    carried = integer(node.attrs, "carried")
    state = list(operands[:carried])
    while True:
        inner = varying(node.body, [*state, *operands[carried:]])
        go, *after = (inner[v] for v in node.body.outputs)
        wider = [a or b for a, b in zip(state, after, strict=True)]
        if wider == state:
            return go, state
        state = wider


def step_cost(body: Graph) -> int:
    """Estimate the ticks of one step of a loop; inner loops count their own."""
    found = 1
    for node in body:
        if node.op in FLOW:
            found += step_cost(node.body) if node.op is not WHILE and node.body is not None else 1
        else:
            found += COSTLY if Trait.EXPENSIVE in node.op.traits else 1
    return found


def used_results(body: Graph, node: Node) -> list[bool]:
    """Return the results of a node that the body reads."""
    read = {v for n in body for v in n.operands} | set(body.outputs)
    return [r in read for r in node.results]


def parted(body: Graph) -> tuple[list[Node], list[Node]]:
    """Splits the nodes into those that the first output needs and the others."""
    needed, pending = set[Node](), [body.outputs[0].node]
    while pending:
        node = pending.pop()
        if node is not None and node not in needed:
            needed.add(node)
            pending += [v.node for v in node.operands]
    return [n for n in body if n in needed], [n for n in body if n not in needed]
