"""Look through the nodes of a piece: what is used, what is never read, and whether it can fail after a store."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Graph, Node, Value
from ...ir.nest import ops


def every(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, and those in their bodies."""
    found = []
    for node in nodes:
        found.append(node)
        if node.body is not None:
            found += every(node.body.nodes)
    return found


def without_unread(nodes: Sequence[Node]) -> list[Node]:
    """Drop copies to local memory that nothing reads, because a result is a view of the original instead."""
    copies = [n for n in nodes if n.op is ops.ASSIGN and n.attrs["writes"] == 1 and not n.results and not _may_fail(n)]
    uses: dict[Value, int] = {}
    for node in every(nodes):
        for value in node.operands:
            uses[value] = uses.get(value, 0) + 1
    unread = {n.operands[-1] for n in copies if uses[n.operands[-1]] == 1 and _is_local(n.operands[-1])}
    return [n for n in nodes if not (n in copies and n.operands[-1] in unread) and not unread & {*n.results}]


def _is_local(value: Value) -> bool:
    return value.node is not None and value.node.op is ops.ALLOC


def used(nodes: Sequence[Node]) -> set[Value]:
    """List the values that nodes or the results of bodies use."""
    all_nodes = every(nodes)
    found = {v for n in all_nodes for v in n.operands}
    return found | {v for n in all_nodes if n.body is not None for v in n.body.outputs}


def failures(nest: Graph, written: set[Value]) -> tuple[bool, bool]:
    """Whether a nest can fail, and whether it can fail after it has stored to an array of the caller."""
    fails: list[int] = []
    first_store: int | None = None
    count = 0

    def walk(graph: Graph, loop: int | None) -> None:
        nonlocal count, first_store
        for node in graph:
            count += 1
            here = count if loop is None else loop
            if node.op in (ops.CHECK, ops.BIND) or (node.op is ops.ASSIGN and _may_fail(node)):
                fails.append(count)
            if _stores(node, written) and first_store is None:
                first_store = here
            if node.body is not None and node.op is not ops.ASSIGN:
                walk(node.body, here if loop is not None or node.op in ops.LOOPS else None)

    walk(nest, None)
    return bool(fails), first_store is not None and any(at > first_store for at in fails)


def _may_fail(node: Node) -> bool:
    """Whether an expression looks up elements by index, or contains a check."""
    return any(n.op.name in ("gather", "demand", "argmin", "argmax") for n in every([node]) if n is not node)


def _stores(node: Node, written: set[Value]) -> bool:
    if node.op is ops.STORE:
        targets: Sequence[Value] = node.operands[1:]
    elif node.op is ops.ASSIGN:
        count = node.attrs["writes"]
        assert isinstance(count, int)
        targets = node.operands[len(node.operands) - count :]
    else:
        return False
    return any(_base(v) in written for v in targets)


def _base(value: Value) -> Value:
    while value.node is not None and value.node.op is ops.VIEW:
        value = value.node.operands[0]
    return value
