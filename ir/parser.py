"""Parse MLIR's generic syntax into a graph, whether the printer wrote it or a person edited it.

Nodes are made by the builder, so the rules run again and a type that does not follow from them is an error.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from .builder import Builder
from .errors import LimitExceeded, Span, SyntaxProblem, UnknownName, VerifyProblem, nearest
from .facts import Facts
from .graph import Graph, Value
from .notation import ELEMENTS, parse_size, parse_sizes, parse_type
from .ops import DECLARED, TABLE, OpDef
from .types import Attr, TensorType
from .verify_attrs import missing_attribute

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<value>%[A-Za-z0-9_.$-]+(?:\#\d+)?)
      | (?P<dims>\#weft\.dims<[^>]*>)
      | (?P<tensor>tensor<(?:[^<>]|<[^<>]*>)*>)
      | (?P<weak>!weft\.weak<\w+>)
      | (?P<array>array<i64(?::[^>]*)?>)
      | (?P<complex>complex<f\d+>)
      | (?P<arrow>->)
      | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
      | (?P<word>[A-Za-z_][\w.$-]*)
      | (?P<block>\^\w+)
      | (?P<mark>[(){}<>,:=\[\]])""",
    re.VERBOSE,
)


def parse_graph(text: str, file: str = "<mlir>", table: Mapping[str, OpDef] = TABLE) -> Graph:
    """The kernel that a module's text holds."""
    try:
        return _Parser(text, file, table).module()
    except RecursionError:
        raise LimitExceeded(f"{file} has regions or lists inside one another too deep to read") from None


def _unquoted(text: str) -> str:
    return re.sub(r"\\(0A|.)", lambda found: "\n" if found[1] == "0A" else found[1], text[1:-1])


class _Parser:
    def __init__(self, text: str, file: str, table: Mapping[str, OpDef]) -> None:
        self.text = text
        self.file = file
        self.table = table
        self.values: dict[str, Value] = {}
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                self.at = len(self.tokens)
                raise SyntaxProblem(f"unexpected character {text[at]!r}", self.span(at))
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(), at))
            at = match.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    # -- tokens

    def span(self, offset: int | None = None) -> Span:
        offset = self.tokens[self.at][2] if offset is None else offset
        line = self.text.count("\n", 0, offset) + 1
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return Span(self.file, line, offset - start + 1, 1, self.text[start : end if end >= 0 else None])

    def peek(self, text: str) -> bool:
        return self.tokens[self.at][1] == text

    def accept(self, text: str) -> bool:
        if self.peek(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise SyntaxProblem(f"expected '{text}', found '{self.tokens[self.at][1] or 'the end'}'", self.span())

    def take(self, *kinds: str) -> str:
        kind, text, _ = self.tokens[self.at]
        if kind not in kinds:
            raise SyntaxProblem(f"expected a {' or '.join(kinds)}, found '{text or 'the end'}'", self.span())
        self.at += 1
        return text

    # -- structure

    def module(self) -> Graph:
        wrapped = self.accept('"builtin.module"')
        if wrapped:
            for mark in "()({":
                self.expect(mark)
        self.expect('"weft.kernel"')
        self.expect("(")
        self.expect(")")
        attrs: dict[str, Attr] = {}
        if self.accept("<"):
            attrs = self.attrs()
            self.expect(">")
        name = str(attrs.pop("sym_name", "kernel"))
        builder = Builder(name, Facts())
        guards = attrs.pop("guards", ())
        for guard in guards if isinstance(guards, tuple) else (guards,):
            left, equal, right = str(guard).partition(" == ")
            if not equal:
                raise SyntaxProblem(f"the guard '{guard}' is not an equation", self.span(), 'write "n == m"')
            builder.facts.assume_equal(parse_size(left), parse_size(right))
        builder.attrs.update(attrs)
        self.expect("(")
        graph = self.body(builder, '"weft.return"')
        self.expect(")")
        self.signature()
        if wrapped:
            self.expect("}")
            self.expect(")")
            self.signature()
        self.take("end")
        return graph

    def body(self, builder: Builder, end: str) -> Graph:
        self.expect("{")
        if self.tokens[self.at][0] == "block":
            self.at += 1
            if self.accept("("):
                while not self.accept(")"):
                    name = self.take("value")
                    self.expect(":")
                    self.values[name] = builder.input(name[1:], self.type())
                    self.accept(",")
            self.expect(":")
        while not self.peek(end):
            self.node(builder)
        self.at += 1
        outputs = self.operands()
        self.signature()
        self.expect("}")
        return builder.finish(outputs)

    def node(self, builder: Builder) -> None:
        start = self.at
        name = self.take("value")
        count = self.integer(self.take("number")) if self.accept(":") else 1
        self.expect("=")
        op_name = self.take("string")[1:-1].removeprefix("weft.")
        if op_name not in self.table:
            self.at -= 1
            raise UnknownName(f"unknown op '{op_name}'", self.span(), nearest(op_name, list(self.table)))
        operands = self.operands()
        body = None
        if self.accept("("):
            body = self.body(Builder(builder.name, builder.facts), '"weft.yield"')
            self.expect(")")
        attrs = self.attrs() if self.peek("{") else {}
        results = self.signature()
        op = self.table[op_name]
        given = results if op in DECLARED else None
        if problem := missing_attribute(op, attrs):
            raise VerifyProblem(f"{op_name}: {problem}", self.span(self.tokens[start][2]))
        span = self.location() or self.span(self.tokens[start][2])
        node = builder.node(op, operands, attrs, span, body, given)
        for value, printed in zip(node.results, results, strict=True):
            if value.type != printed:
                raise VerifyProblem(
                    f"{op_name} gives {value.type}, the text says {printed}", self.span(self.tokens[start][2])
                )
            self.values[name if count == 1 else f"{name}#{value.index}"] = value

    def location(self) -> Span | None:
        if not self.accept("loc"):
            return None
        self.expect("(")
        file = _unquoted(self.take("string"))
        self.expect(":")
        line = self.integer(self.take("number"))
        self.expect(":")
        column = self.integer(self.take("number"))
        self.expect(")")
        return Span(file, line, column)

    def operands(self) -> tuple[Value, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            name = self.take("value")
            if name not in self.values:
                self.at -= 1
                raise UnknownName(f"unknown value '{name}'", self.span(), nearest(name, list(self.values)))
            found.append(self.values[name])
            self.accept(",")
        return tuple(found)

    def signature(self) -> tuple[TensorType, ...]:
        """The result types behind `: (operand types) -> `."""
        self.expect(":")
        self.types()
        self.expect("->")
        return self.types() if self.peek("(") else (self.type(),)

    def types(self) -> tuple[TensorType, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(self.type())
            self.accept(",")
        return tuple(found)

    def type(self) -> TensorType:
        text = self.take("tensor", "weak")
        try:
            return parse_type(text)
        except SyntaxProblem as error:
            self.at -= 1
            raise SyntaxProblem(error.message, self.span(), error.hint) from None

    # -- attributes

    def attrs(self) -> dict[str, Attr]:
        self.expect("{")
        found: dict[str, Attr] = {}
        while not self.accept("}"):
            name = self.take("word")
            found[name] = self.attr() if self.accept("=") else True
            self.accept(",")
        return found

    def attr(self) -> Attr:
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "string":
            return _unquoted(text)
        if kind == "dims":
            return parse_sizes(text[len("#weft.dims<") : -1])
        if kind == "array":
            inside = text[len("array<i64") : -1].lstrip(":")
            return tuple(self.integer(n) for n in inside.split(",") if n.strip())
        if kind == "weak":
            return parse_type(text).dtype
        if kind == "number":
            return self.number(text)
        if text == "[":
            return self.sequence()
        if text in ("true", "false"):
            return text == "true"
        if text in ELEMENTS:
            return ELEMENTS[text]
        self.at -= 1
        raise SyntaxProblem(f"not an attribute: '{text}'", self.span())

    def number(self, text: str) -> int | float:
        element = self.take("word") if self.accept(":") else "i64"
        if element.startswith("i"):
            return self.integer(text)
        if re.fullmatch(r"0x[0-9A-Fa-f]{1,16}", text):
            return float(struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0])
        if "0x" in text:
            raise SyntaxProblem(f"'{text}' has more than 64 bits", self.span())
        return float(text)

    def integer(self, text: str) -> int:
        try:
            return int(text, 0)
        except ValueError:
            raise SyntaxProblem(f"'{text.strip()}' is not a whole number", self.span()) from None

    def sequence(self) -> Attr:
        items: list[Attr] = []
        while not self.accept("]"):
            items.append(self.attr())
            self.accept(",")
        if items and isinstance(items[0], float):
            if len(items) != 2 or not isinstance(items[1], float):
                raise SyntaxProblem("a complex number has two parts", self.span())
            return complex(items[0], items[1])
        return tuple(str(i) for i in items)
