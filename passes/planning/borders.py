"""List the borders between the kernels of a graph, each with the reason why `fuse` left it there.

A border is where one kernel stores an array that another one reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.graph import Graph, Value
from ...ir.records import record
from .groups import Group, Grouping
from .materialize import with_copies


@record
class Border:
    """The operations of two neighbouring kernels, the values that go through memory between them, and the reason."""

    producer: tuple[Value, ...]
    consumer: tuple[Value, ...]
    values: tuple[Value, ...]
    reason: str


def borders(graph: Graph) -> list[Border]:
    """Return the borders of a graph as `fuse` sees it: before that pass, with explicit casts."""
    return list(_borders(Grouping(with_copies(graph))))


def _borders(grouping: Grouping) -> Iterator[Border]:
    for consumer in grouping.groups:
        found: dict[Group, list[Value]] = {}
        for value in grouping.graph_order(consumer.reads):
            if value in grouping.group_of and grouping.group_of[value] is not consumer:
                found.setdefault(grouping.group_of[value], []).append(value)
        for producer, values in found.items():
            reasons = [grouping.refusals.get((value, producer)) for value in consumer.members]
            reason = next((r for r in reasons if r is not None), _taken(consumer))
            yield Border(tuple(producer.members), tuple(consumer.members), tuple(values), reason)


def _taken(consumer: Group) -> str:
    """Say why a kernel was never considered: its reader already had its loops."""
    first = consumer.members[0].node
    return f"what reads it shares the loops of {first.op.name} instead" if first is not None else "it is copied"
