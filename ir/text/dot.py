"""Print a graph as Graphviz DOT text: boxes are operations, ovals are inputs and outputs, a region is a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..graph import Graph
from ..networks import INPUT, OP
from .printer import attr_text

if TYPE_CHECKING:
    import networkx as nx


def dot(graph: Graph) -> str:
    """The text of a digraph, by way of networkx."""
    writer = _Writer()
    writer.network(graph.to_networkx(), "")
    body = "\n".join(f"  {line}" for line in (*writer.lines, *writer.edges))
    return f'digraph "{_escape(graph.name)}" {{\n  node [fontname="monospace" shape=box];\n{body}\n}}\n'


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.edges: list[str] = []
        self.count = 0

    def network(self, network: nx.MultiDiGraph[Any], indent: str) -> None:
        ids: dict[str, str] = {}
        for key, data in network.nodes(data=True):
            ids[key] = self.fresh()
            if data["kind"] == OP:
                self.op(ids[key], data, indent)
            elif data["kind"] == INPUT:
                self.oval(ids[key], f"{data['name']}\n{data['type']}", indent)
            else:
                ((_, _, edge),) = network.in_edges(key, data=True)
                self.oval(ids[key], f"output {data['position']}\n{edge['type']}", indent)
        for source, target, edge in network.edges(data=True):
            label = f" [label={edge['operand']}]" if network.in_degree(target) > 1 else ""
            self.edges.append(f"{ids[source]} -> {ids[target]}{label};")

    def op(self, name: str, data: Mapping[str, Any], indent: str) -> None:
        attrs = "\n".join(k if a is True else f"{k} = {attr_text(a)}" for k, a in data["attrs"].items())
        text = "\n".join(part for part in (data["op"], attrs, ", ".join(map(str, data["types"]))) if part)
        if data["body"] is None:
            self.lines.append(f'{indent}{name} [label="{_escape(text)}"];')
            return
        self.lines.append(f"{indent}subgraph cluster_{name} {{")
        self.lines.append(f'{indent}  label="{_escape(text)}";')
        self.lines.append(f'{indent}  {name} [label="{_escape(data["op"])}" style=dashed];')
        self.network(data["body"], indent + "  ")
        self.lines.append(f"{indent}}}")

    def oval(self, name: str, text: str, indent: str) -> None:
        self.lines.append(f'{indent}{name} [shape=oval label="{_escape(text)}"];')

    def fresh(self) -> str:
        self.count += 1
        return f"n{self.count - 1}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
