"""Convert graphs and descriptions of native functions to JSON and back.

Only the types listed here can be read, and nothing that is read can execute. Repeated values, such as types and spans,
are stored once in a table. Reading does not import `json`: its regular expressions take longer than finding a kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ...backends.llvm.functions import FrameWord, NativeFunction, RegionCode
from ...ir import dtypes
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.errors import Span
from ...ir.graph import Graph, Node, Value
from ...ir.opdef import OpDef
from ...ir.ops import TABLE
from ...ir.text.notation import parse_size
from ...ir.types import Attr, AxisGroups, Guards, Sizes, TensorType

DTYPES = {d.name: d for d in (*dtypes.ALL, *dtypes.WEAK.values())}


class _Scanning:
    """What the scanner asks of a `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    found: Any
    try:
        found = import_module("_json").make_scanner(_Scanning)
    except ImportError:  # an interpreter without the C module
        found = import_module("json").JSONDecoder().scan_once
    return found  # type: ignore[no-any-return]


_scan = _scanner()


def read_json(text: bytes) -> Any:
    """Return the value of JSON text that `as_json` wrote; raise ValueError if it is something else."""
    decoded = text.decode("ascii")
    try:
        found, end = _scan(decoded, 0)
    except StopIteration:
        raise ValueError("not a JSON value") from None
    if end != len(decoded):
        raise ValueError("text after a JSON value")
    return found


def as_json(value: Any) -> bytes:
    import json

    return json.dumps(value, separators=(",", ":")).encode("ascii")


class JsonWriter:
    """Turn objects into JSON values; store `table` with them, and `ops`, which holds ops outside the fixed table."""

    def __init__(self) -> None:
        self.table: list[Any] = []
        self.ops: dict[str, Any] = {}
        self._places: dict[Any, int] = {}

    def graph(self, graph: Graph) -> Any:
        numbers = {value: k for k, value in enumerate(graph.inputs)}
        inputs = [[v.name, self.type(v.type), v.scalar] for v in graph.inputs]
        nodes = []
        for node in graph:
            if node.op.name not in TABLE:
                self.ops[node.op.name] = [node.op.arity, sorted(trait.name for trait in node.op.traits)]
            body = None if node.body is None else self.graph(node.body)
            operands = [numbers[v] for v in node.operands]
            types = [self.type(v.type) for v in node.results]
            names = [v.name for v in node.results] if any(v.name for v in node.results) else None
            nodes.append([node.op.name, operands, self.attrs(node.attrs), types, self.span(node.span), body, names])
            for value in node.results:
                numbers[value] = len(numbers)
        return [graph.name, inputs, nodes, [numbers[v] for v in graph.outputs], self.attrs(graph.attrs)]

    def function(self, function: RegionCode) -> Any:
        """Convert a function without its LLVM text."""
        entries = [[e.kind, e.slot, e.axis, e.symbol, size(e.bytes)] for e in function.entries]
        whole, chunks = ([self._part(p) for p in parts] for parts in (function.whole, function.chunks))
        return [entries, whole, chunks, size(function.columns), function.cut_from, function.may_fail]

    def _part(self, part: NativeFunction) -> Any:
        return [part.name, [size(s) for s in part.extents], list(part.grains), size(part.unit), part.tile]

    def type(self, type: TensorType) -> int:
        return self._placed(type, lambda: [type.dtype.name, [size(s) for s in type.shape]])

    def span(self, span: Span | None) -> int | None:
        if span is None:
            return None
        return self._placed(span, lambda: [span.file, span.line, span.column, span.length, span.text])

    def attrs(self, attrs: Mapping[str, Attr]) -> Any:
        return {name: attr(value) for name, value in attrs.items()}

    def _placed(self, key: Any, content: Any) -> int:
        if key not in self._places:
            self._places[key] = len(self.table)
            self.table.append(content())
        return self._places[key]


class Reader:
    """Turn JSON values back into objects; raise KeyError, ValueError, TypeError or IndexError for anything else."""

    def __init__(self, table: Sequence[Any] = (), ops: Mapping[str, OpDef] = {}) -> None:
        self.table, self.ops = table, ops
        self._types: dict[int, TensorType] = {}
        self._sizes: dict[str, Size] = {}

    def graph(self, found: Any) -> Graph:
        name, given, nodes, outputs, attrs = found
        values: list[Value] = []
        for label, type, is_scalar in given:
            values.append(Value(self.type(type), name=label))
            values[-1].scalar = is_scalar
        inputs = tuple(values)
        made = []
        for op, operands, own, types, span, body, names in nodes:
            node = Node(
                TABLE.get(op) or self.ops[op],
                tuple(values[k] for k in operands),
                self.attrs(own),
                tuple(self.type(t) for t in types),
                self.span(span),
                None if body is None else self.graph(body),
            )
            for value, label in zip(node.results, names or (), strict=False):
                value.name = label
            values += node.results
            made.append(node)
        return Graph(name, inputs, tuple(made), tuple(values[k] for k in outputs), self.attrs(attrs))

    def function(self, found: Any) -> RegionCode:
        entries, whole, chunks, columns, cut_from, may_fail = found
        return RegionCode(
            tuple(FrameWord(kind, slot, axis, symbol, self.size(s)) for kind, slot, axis, symbol, s in entries),
            tuple(map(self._part, whole)),
            tuple(map(self._part, chunks)),
            self.size(columns),
            cut_from,
            may_fail,
            {},
        )

    def _part(self, found: Any) -> NativeFunction:
        name, (first, second), (one, other), unit, tile = found
        return NativeFunction(name, "", (self.size(first), self.size(second)), (one, other), self.size(unit), tile)

    def type(self, place: int) -> TensorType:
        made = self._types.get(place)
        if made is None:
            dtype, shape = self.table[place]
            made = self._types[place] = TensorType(DTYPES[dtype], tuple(map(self.size, shape)))
        return made

    def span(self, place: int | None) -> Span | None:
        return None if place is None else Span(*self.table[place])

    def size(self, found: int | str) -> Size:
        if isinstance(found, int):
            return found
        made = self._sizes.get(found)
        if made is None:
            made = self._sizes[found] = parse_size(found)
        return made

    def guards(self, found: Any) -> Guards:
        return Guards((self.size(left), self.size(right)) for left, right in found)

    def attrs(self, found: Mapping[str, Any]) -> dict[str, Attr]:
        return {name: self._attribute(value) for name, value in found.items()}

    def _attribute(self, found: Any) -> Attr:
        if isinstance(found, list):
            return tuple(found)
        if not isinstance(found, dict):
            plain: bool | int | str = found
            return plain
        ((kind, content),) = found.items()
        if kind == "float":
            return _number(content)
        if kind == "complex":
            return complex(*map(_number, content))
        if kind == "dtype":
            return DTYPES[content]
        if kind == "sizes":
            return Sizes(map(self.size, content))
        if kind == "groups":
            return AxisGroups(map(tuple, content))
        if kind == "guards":
            return self.guards(content)
        raise ValueError(f"an attribute can't have the kind {kind}")


def size(value: Size) -> int | str:
    return value if isinstance(value, int) else str(value)


def attr(value: Attr) -> Any:
    """Convert an attribute; kinds that JSON does not distinguish become an object with one item."""
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": _bits(value)}
    if isinstance(value, complex):
        return {"complex": [_bits(value.real), _bits(value.imag)]}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, Sizes):
        return {"sizes": [size(s) for s in value]}
    if isinstance(value, AxisGroups):
        return {"groups": [list(group) for group in value]}
    if isinstance(value, Guards):
        return {"guards": [[size(left), size(right)] for left, right in value]}
    if isinstance(value, tuple) and all(isinstance(x, (int, str)) for x in value):
        return list(value)
    raise TypeError(f"an attribute can't have the type {type(value).__name__}")


def _bits(value: float) -> int:
    found: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return found


def _number(bits: int) -> float:
    found: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return found
