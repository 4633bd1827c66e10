"""Refuse definitions that lead back to themselves: calls are inlined and consts substituted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.errors import Unsupported
from . import syntax
from .modules import LoadedDefinition, Unit
from .parts import index_name, parts_of
from .syntax import Expr


def refuse_circles(unit: Unit) -> None:
    """Refuses calls and consts that lead back to where they came from."""
    state: dict[LoadedDefinition, str] = {}
    for root in unit.own.values():
        path: list[tuple[LoadedDefinition, Iterator[syntax.Name]]] = []
        if root not in state:
            state[root] = "open"
            path.append((root, _uses(root)))
        while path:
            current, uses = path[-1]
            name = next(uses, None)
            if name is None:
                state[current] = "done"
                path.pop()
                continue
            used = unit.names.get(name.name)
            if used is None or used.unit is not unit or state.get(used) == "done":
                continue
            if state.get(used) == "open":
                what = "is defined by itself" if used.what == "const" else "calls itself"
                hint = "functions are inlined: there is no recursion"
                if used.what == "const":
                    hint = "give one of them a number"
                raise Unsupported(f"'{name.name}' {what}", name.span, hint)
            state[used] = "open"
            path.append((used, _uses(used)))


def _uses(definition: LoadedDefinition) -> Iterator[syntax.Name]:
    """The names that a definition calls or reads and that are not its own."""
    item = definition.item
    local = {p.name for p in item.params} if isinstance(item, syntax.Function) else set()
    waiting: list[syntax.SyntaxNode] = [item.value if isinstance(item, syntax.Const) else item.body]
    while waiting:
        node = waiting.pop()
        match node:
            case syntax.Name() if node.name not in local:
                yield node
            case syntax.Call(callee=syntax.Name() as callee):
                yield callee
                waiting += parts_of(node)
            case syntax.Call(callee=syntax.Index() as callee):
                local |= _index_names(callee.items)
                waiting += parts_of(node)
            case syntax.Expr():
                waiting += parts_of(node)
            case syntax.Block():
                waiting += reversed(node.statements)
            case syntax.Let():
                local |= {n.name for n in node.names}
                waiting.append(node.value)
            case syntax.Definition():
                local |= {node.name.name} | _index_names(node.indices)
                waiting += [item for item in node.indices if isinstance(item, syntax.Range)]
                waiting += [e for e in (node.value, node.other) if e is not None]
            case syntax.If():
                waiting += [b for b in (node.condition, node.then, node.other) if b is not None]
            case syntax.While():
                waiting += [node.condition, node.body]
            case syntax.For():
                local.add(node.index.name)
                waiting += [node.start, node.stop, node.body]
            case syntax.Return():
                waiting += node.values
            case syntax.Assign():
                waiting.append(node.value)


def _index_names(items: Sequence[Expr]) -> set[str]:
    return {name.name for item in items if (name := index_name(item)) is not None}
