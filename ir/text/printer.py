"""Print a graph in MLIR's generic syntax. Printing is deterministic."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from ..dtypes import BF16, BOOL, DType
from ..graph import Graph, Node, Value
from ..types import Attr, AxisGroups, Guards, Sizes, TensorType


def print_graph(graph: Graph, locations: bool = False, after: str | None = None) -> str:
    """The text of a module that holds this kernel; `after` names the last pass that ran."""
    return _Printer(locations, "weft.yield").module(graph, "weft.kernel", "weft.return", after)


def print_nest(nest: Graph, locations: bool = False) -> str:
    """The text of a module that holds this loop nest."""
    return _Printer(locations, "nest.yield").module(nest, "nest.kernel", "nest.yield")


def type_text(type: TensorType) -> str:
    """`tensor<?x4xf32, #weft.dims<n, 4>>`; weak scalars are `!weft.weak<...>`."""
    if type.dtype.weak:
        return f"!weft.weak<{type.dtype.kind}>"
    element = dtype_text(type.dtype)
    sizes = "".join(f"{s}x" if isinstance(s, int) else "?x" for s in type.shape)
    if all(isinstance(s, int) for s in type.shape):
        return f"{type.kind}<{sizes}{element}>"
    return f"{type.kind}<{sizes}{element}, {Sizes(type.shape)}>"


def dtype_text(dtype: DType) -> str:
    """MLIR's name of an element type."""
    if dtype is BOOL:
        return "i1"
    if dtype.weak:
        return f"!weft.weak<{dtype.kind}>"
    if dtype.kind == "uint":
        return f"ui{dtype.bits}"
    if dtype.kind == "complex":
        return f"complex<f{dtype.bits // 2}>"
    return "bf16" if dtype is BF16 else dtype.name


def attr_text(attr: Attr) -> str:
    """An attribute's value."""
    if isinstance(attr, bool):
        return "true" if attr else "false"
    if isinstance(attr, int):
        return f"{attr} : i64"
    if isinstance(attr, float):
        return f"{_float_text(attr)} : f64"
    if isinstance(attr, complex):
        return f"[{_float_text(attr.real)} : f64, {_float_text(attr.imag)} : f64]"
    if isinstance(attr, str):
        return '"' + attr.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\0A") + '"'
    if isinstance(attr, DType):
        return dtype_text(attr)
    if isinstance(attr, Sizes):
        return str(attr)
    if isinstance(attr, (AxisGroups, Guards)):
        return attr_text(attr.texts)
    if attr and isinstance(attr[0], str):
        return "[" + ", ".join(attr_text(a) for a in attr) + "]"
    return f"array<i64: {', '.join(map(str, attr))}>" if attr else "array<i64>"


def _float_text(value: float) -> str:
    if math.isfinite(value):
        text = repr(value)
        mantissa, _, exponent = text.partition("e")
        if "." not in mantissa:
            mantissa += ".0"
        return f"{mantissa}e{exponent}" if exponent else mantissa
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Printer:
    def __init__(self, locations: bool, end_of_body: str) -> None:
        self.locations = locations
        self.end_of_body = end_of_body
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.count = 0

    def module(self, graph: Graph, op: str, end: str, after: str | None = None) -> str:
        # Guards come last, as the builder adds them, so that a graph that was read back prints the same.
        head: Mapping[str, Attr] = {"sym_name": graph.name} | ({} if after is None else {"after": after})
        lines = ['"builtin.module"() ({', *self.kernel(graph, op, head, "  ", end), "}) : () -> ()"]
        return "\n".join(lines) + "\n"

    def kernel(self, graph: Graph, op: str, head: Mapping[str, Attr], indent: str, end: str) -> list[str]:
        name = {**head, **{k: graph.attrs[k] for k in sorted(graph.attrs, key="guards".__eq__)}}
        lines = [f'{indent}"{op}"() <{self.attrs(name)}> ({{', *self.body(graph, indent, end)]
        return [*lines, f"{indent}}}) : () -> ()"]

    def code(self, nest: Graph, indent: str) -> list[str]:
        """The loop nest of a region, as its second body."""
        around, self.end_of_body = self.end_of_body, "nest.yield"
        lines = self.kernel(nest, "nest.kernel", {}, indent + "  ", "nest.yield")
        self.end_of_body = around
        return [f"{indent}}}, {{", *lines]

    def body(self, graph: Graph, indent: str, end: str) -> list[str]:
        for value in graph.inputs:
            self.names[value] = self.fresh(value.name or "in")
        arguments = ", ".join(f"{self.names[v]} : {type_text(v.type)}" for v in graph.inputs)
        lines = [f"{indent}^bb0({arguments}):" if graph.inputs else f"{indent}^bb0:"]
        for node in graph.nodes:
            lines += self.node(node, indent + "  ")
        operands = ", ".join(self.names[v] for v in graph.outputs)
        types = ", ".join(type_text(v.type) for v in graph.outputs)
        lines.append(f'{indent}  "{end}"({operands}) : ({types}) -> ()')
        return lines

    def node(self, node: Node, indent: str) -> list[str]:
        name = f"%{self.count}"
        self.count += bool(node.results)
        for value in node.results:
            self.names[value] = name if len(node.results) == 1 else f"{name}#{value.index}"
        head = f"{name}:{len(node.results)}" if len(node.results) != 1 else name
        operands = ", ".join(self.names[v] for v in node.operands)
        types = ", ".join(type_text(v.type) for v in node.operands)
        results = ", ".join(type_text(v.type) for v in node.results)
        signature = f"({types}) -> {results if len(node.results) == 1 else f'({results})'}"
        attrs = f" {self.attrs(node.attrs)}" if node.attrs else ""
        place = ""
        if self.locations and node.span:
            place = f" loc({attr_text(node.span.file)}:{node.span.line}:{node.span.column})"
        text_name = node.op.name if "." in node.op.name else f"weft.{node.op.name}"
        start = f'{indent}{f"{head} = " if node.results else ""}"{text_name}"({operands})'
        if node.body is None:
            return [f"{start}{attrs} : {signature}{place}"]
        return [
            f"{start} ({{",
            *self.body(node.body, indent, self.end_of_body),
            *(() if node.code is None else self.code(node.code, indent)),
            f"{indent}}}){attrs} : {signature}{place}",
        ]

    def attrs(self, attrs: Mapping[str, Attr]) -> str:
        items = (name if value is True else f"{name} = {attr_text(value)}" for name, value in attrs.items())
        return "{" + ", ".join(items) + "}"

    def fresh(self, name: str) -> str:
        candidate, n = f"%{name}", 0
        while candidate in self.taken:
            n += 1
            candidate = f"%{name}_{n}"
        self.taken.add(candidate)
        return candidate
