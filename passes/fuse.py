"""`fuse`: operations that can share one loop nest become one region.

Before:

    %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.sum"(%0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>

After:

    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.exp"(%x_1) : ...
      %2 = "weft.sum"(%1) {axes = array<i64: 0>} : ...
      "weft.yield"(%2) : (tensor<f32>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64: 0>} : (...) -> tensor<f32>

Needs explicit casts. Guarantees that every operation is inside a region, except reshapes that merge axes,
concatenations and NumPy calls. The pieces of a concatenation can be written where they belong, an expensive operation
is computed once, and the kernel's `unfused` attribute says why neighbours were kept apart. `groups` holds the
decisions, `assembly` what concatenations need.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.builder import Builder
from ..ir.facts import Facts
from ..ir.graph import Graph, Node, Value
from ..ir.ops import REGION
from ..ir.records import record
from ..ir.types import Attr, Sizes, TensorType
from .planning.groups import Group, Grouping, stands_alone
from .planning.materialize import with_copies


@record
class Fuse:
    """Makes regions. `mixed` allows reductions in a region with a product or a scan."""

    mixed: bool = True
    name: ClassVar[str] = "fuse"

    def run(self, graph: Graph) -> Graph:
        graph = with_copies(graph)
        grouping = Grouping(graph, self.mixed)
        builder = Builder(graph.name, Facts())
        builder.attrs.update(graph.attrs)
        before = graph.attrs.get("unfused", ())
        assert isinstance(before, tuple)
        if grouping.notes:
            builder.attrs["unfused"] = tuple(dict.fromkeys((*map(str, before), *grouping.notes)))
        values: dict[Value, Value] = {v: builder.input(v.name or "in", v.type) for v in graph.inputs}
        outputs: dict[Value, Value] = {}
        wanted = _read_from_memory(graph, grouping)
        pending: list[Group | Node] = [
            *grouping.groups,
            *(n for n in graph if stands_alone(n)),
        ]
        while pending:
            unit = next(u for u in pending if all(v in values for v in _operands(u)))
            pending.remove(unit)
            if isinstance(unit, Node):
                types = tuple(r.type for r in unit.results)
                operands = [values[v] for v in unit.operands]
                copy = builder.node(unit.op, operands, unit.attrs, unit.span, unit.body, types)
                values.update(zip(unit.results, copy.results, strict=True))
            else:
                _emit_region(builder, unit, wanted, values, outputs)
        return builder.finish([outputs[v] if v in outputs else values[v] for v in graph.outputs])


def _operands(unit: Group | Node) -> set[Value]:
    return set(unit.operands) if isinstance(unit, Node) else unit.reads


def _read_from_memory(graph: Graph, grouping: Grouping) -> set[Value]:
    """Members that are read outside their group: by another group, by a node outside of loops, or by the caller."""
    wanted = set(graph.outputs)
    for group in grouping.groups:
        wanted |= group.reads
    for node in graph:
        if stands_alone(node):
            wanted |= set(node.operands)
    return wanted


def _emit_region(
    builder: Builder, group: Group, wanted: set[Value], values: dict[Value, Value], outputs: dict[Value, Value]
) -> None:
    """Add the region of a group. A value that the region only copies becomes an output under a new name."""
    results = [v for v in group.members if v in wanted]
    body = Builder(builder.name, builder.facts)
    inside: dict[Value, Value] = {}
    reads = _in_order(results, group.reads)
    for value in reads:
        inside[value] = body.input(value.name or "in", value.type)
    for node in _needed(results, set(inside)):
        types: tuple[TensorType, ...] = tuple(r.type for r in node.results)
        copy = body.node(node.op, [inside[v] for v in node.operands], node.attrs, node.span, node.body, types)
        inside.update(zip(node.results, copy.results, strict=True))
    attrs: dict[str, Attr] = {"space": Sizes(group.space), "reduced": group.reduced}
    if group.scanned:
        attrs["scanned"] = group.scanned
    region = builder.node(
        REGION,
        [values[v] for v in reads],
        {
            "space": Sizes(group.space),
            "reduced": group.reduced,
            **({"scanned": group.scanned} if group.scanned else {}),
        },
        next((v.node.span for v in reversed(results) if v.node), None),
        body.finish([inside[v] for v in results]),
        tuple(v.type for v in results),
    )
    for value, result in zip(results, region.results, strict=True):
        if value in group.reads:
            outputs[value] = result
        else:
            values[value] = result


def _needed(results: list[Value], known: set[Value]) -> list[Node]:
    """The nodes between a group's inputs and its results, operands first."""
    order: list[Node] = []
    done: set[Node] = set()
    pending = [(v.node, False) for v in reversed(results) if v not in known]
    while pending:
        node, ready = pending.pop()
        if node is None or node in done:
            continue
        if ready:
            done.add(node)
            order.append(node)
            continue
        pending.append((node, True))
        pending += [(v.node, False) for v in reversed(node.operands) if v not in known]
    return order


def _in_order(results: list[Value], reads: set[Value]) -> list[Value]:
    """The inputs of a group in the order in which a walk back from the results finds them, so that printing is
    stable.
    """
    found = dict.fromkeys(v for v in results if v in reads)
    for node in _needed(results, reads):
        found.update(dict.fromkeys(v for v in node.operands if v in reads))
    only_for_sizes = sorted((v for v in reads if v not in found), key=lambda v: str(v.type))
    return [*found, *only_for_sizes]
