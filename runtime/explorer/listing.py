"""Write graphs as short lines with names that stay the same from pass to pass.

`weft dump` prints MLIR's syntax, which can be read back. A page has room for less: types are `f32[n, m]`, and a line's
attributes stand apart so that they can be shown dimmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ir.graph import Graph, Value
from ...ir.ops import REGION
from ...ir.text.printer import attr_text, print_nest
from ...ir.tuples import NamedTuple
from ...ir.types import Attr, AxisGroups, Guards, TensorType
from .identity import Identities


class Line(NamedTuple):
    """One line: how deep it is, the number of its operation or -1, its text, and its attributes."""

    depth: int
    op: int
    text: str
    attrs: str


class Change(NamedTuple):
    """What a pass did, by the numbers of operations."""

    added: list[int]
    removed: list[int]
    changed: list[int]


def listing(graph: Graph, ids: Identities) -> list[Line]:
    """Return the lines of a graph."""
    names = {ids[v]: f"%{v.name}" for v in graph.inputs if v.name}
    inputs = ", ".join(f"{_name(v, ids, names)}: {type_text(v.type)}" for v in graph.inputs)
    head = Line(0, -1, f"{graph.name}({inputs})", _attrs(graph.attrs))
    last = Line(0, -1, f"return {', '.join(_name(v, ids, names) for v in graph.outputs)}", "")
    return [head, *_lines(graph, ids, names, 1), last]


def _lines(graph: Graph, ids: Identities, names: dict[int, str], depth: int) -> Iterator[Line]:
    for node in graph:
        number = ids[node]
        operands = ", ".join(_name(v, ids, names) for v in node.operands)
        types = ", ".join(type_text(v.type) for v in node.results)
        value = f"({value_text(node.attrs['value']) if 'value' in node.attrs else operands})"
        is_named = node.results and node.op is not REGION
        head = f"{_name(node.results[0], ids, names)} = {node.op.name}{value}" if is_named else f"{node.op.name}{value}"
        attrs = _attrs({k: v for k, v in node.attrs.items() if k not in ("value", "dtype")})
        if node.body is None:
            yield Line(depth, number, f"{head} : {types}", attrs)
            continue
        yield Line(depth, number, f"{head} {{", attrs)
        yield from _lines(node.body, ids, names, depth + 1)
        if node.code is not None:
            yield Line(depth, number, "} as loops {", "")
            for text in print_nest(node.code).splitlines()[2:-2]:
                shown = re.sub(r'"(?:nest|weft)\.(\w+)"', r"\1", text.removeprefix("  "))
                yield Line(depth + 1, number, shown, "")
        outputs = ", ".join(_name(v, ids, names) for v in node.body.outputs)
        yield Line(depth, number, f"}} gives {outputs} : {types}", "")


def _name(value: Value, ids: Identities, names: dict[int, str]) -> str:
    name = names.get(ids[value]) or f"%{ids[value]}"
    is_one_of_several = value.node is not None and len(value.node.results) > 1 and value.node.op is not REGION
    return f"{name}#{value.index}" if is_one_of_several else name


def type_text(type: TensorType) -> str:
    """Return a type as the language writes it."""
    name = f"weak {type.dtype.kind}" if type.dtype.weak else type.dtype.name
    return f"{name}[{', '.join(map(str, type.shape))}]" if type.shape else name


def value_text(value: Attr) -> str:
    """Return a constant as people write it."""
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _attrs(attrs: object) -> str:
    assert hasattr(attrs, "items")
    return ", ".join(_attr(name, value) for name, value in attrs.items())


def _attr(name: str, value: Attr) -> str:
    if value is True:
        return name
    if isinstance(value, (AxisGroups, Guards)):
        return f"{name} [{', '.join(value.texts)}]"
    if isinstance(value, tuple):
        return f"{name} [{', '.join(map(str, value))}]"
    return f"{name} {attr_text(value).partition(' : ')[0]}"


def change(before: list[Line], after: list[Line]) -> Change:
    """Compare two listings operation by operation."""
    old, new = (_by_op(lines) for lines in (before, after))
    return Change(
        [op for op in new if op not in old],
        [op for op in old if op not in new],
        [op for op in new if op in old and new[op] != old[op]],
    )


def _by_op(lines: list[Line]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for line in lines:
        if line.op >= 0:
            found.setdefault(line.op, []).append(f"{line.text} {line.attrs}")
    return found
