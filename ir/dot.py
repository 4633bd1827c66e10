"""Print a graph as Graphviz DOT text: boxes are operations, ovals are inputs and outputs, a region is a frame."""

from __future__ import annotations

from typing import Any

from .graph import Graph, Node, Value
from .printer import attr_text


def dot(graph: Graph) -> str:
    """The text of a digraph, from the graph's networkx form."""
    writer = _Writer()
    writer.graph(graph, "")
    body = "\n".join(f"  {line}" for line in (*writer.lines, *writer.edges))
    return f'digraph "{_escape(graph.name)}" {{\n  node [fontname="monospace" shape=box];\n{body}\n}}\n'


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.edges: list[str] = []
        self.ids: dict[Any, str] = {}

    def graph(self, graph: Graph, indent: str) -> None:
        form = graph.networkx
        for item in form.nodes:
            if isinstance(item, Node):
                self.node(item, indent)
            else:
                self.oval(item, f"{item.name}\n{item.type}", indent)
        for source, target, edge in form.edges(data=True):
            label = str(edge["operand"]) if len(target.operands) > 1 else ""
            self.edge(self.ids[source], self.ids[target], label)
        for i, value in enumerate(graph.outputs):
            end = self.oval((graph, i), f"output {i}\n{value.type}", indent)
            self.edge(self.ids[value.node or value], end, "")

    def node(self, node: Node, indent: str) -> None:
        attrs = "\n".join(k if a is True else f"{k} = {attr_text(a)}" for k, a in node.attrs.items())
        types = ", ".join(str(r.type) for r in node.results)
        text = "\n".join(part for part in (node.op.name, attrs, types) if part)
        name = self.fresh(node)
        if node.body is None:
            self.lines.append(f'{indent}{name} [label="{_escape(text)}"];')
            return
        self.lines.append(f"{indent}subgraph cluster_{name} {{")
        self.lines.append(f'{indent}  label="{_escape(text)}";')
        self.lines.append(f'{indent}  {name} [label="{_escape(node.op.name)}" style=dashed];')
        self.graph(node.body, indent + "  ")
        self.lines.append(f"{indent}}}")

    def oval(self, key: Value | tuple[Graph, int], text: str, indent: str) -> str:
        name = self.fresh(key)
        self.lines.append(f'{indent}{name} [shape=oval label="{_escape(text)}"];')
        return name

    def edge(self, source: str, target: str, label: str) -> None:
        self.edges.append(f"{source} -> {target}{f' [label={label}]' if label else ''};")

    def fresh(self, key: Any) -> str:
        return self.ids.setdefault(key, f"n{len(self.ids)}")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
