"""Parse MLIR's generic syntax into a graph, whether the printer wrote it or a person edited it.

Nodes are made by the builder, so the op rules run again, and a type that contradicts them is an error. Attributes are
checked against the op's schema, and the place of everything is remembered for later messages.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..builder import Builder
from ..dims import LOOP
from ..errors import (
    IndexProblem,
    LimitExceeded,
    Span,
    SyntaxProblem,
    UnknownName,
    VerifyProblem,
    WeftError,
    nearest,
    quantity,
)
from ..facts import Facts
from ..graph import Graph, Value
from ..ops import DECLARED, TABLE, OpDef
from ..records import record
from ..schemas import KERNEL, Attribute, AttributeProblem, parse_schema, schema_of, schema_problem, typed
from ..types import Attr, Guards, TensorType
from .notation import ELEMENTS, parse_sizes, parse_type
from .places import Extent, Places, TextLines
from .printer import print_graph

MOST_RESULTS = 1 << 16  # of an op, as far as names are made for them
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<value>%[A-Za-z0-9_.$-]+(?:\#\d+)?)
      | (?P<dims>\#weft\.dims<[^>]*>)
      | (?P<tensor>(?:tensor|memref|vector)<(?:[^<>]|<[^<>]*>)*>)
      | (?P<weak>!weft\.weak<\w+>)
      | (?P<alias>![A-Za-z_]\w*)
      | (?P<array>array<i64(?::[^>]*)?>)
      | (?P<complex>complex<f\d+>)
      | (?P<arrow>->)
      | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
      | (?P<word>[A-Za-z_][\w.$-]*)
      | (?P<block>\^\w+)
      | (?P<mark>[(){}<>,:=\[\]])""",
    re.VERBOSE,
)


@record(eq=False)
class Parsed:
    """A graph, the places of its parts in the text, and the pass that it was printed after, if the text says so."""

    graph: Graph
    places: Places
    after: str | None

    def text(self, locations: bool = False) -> str:
        """The text as the printer writes it."""
        return print_graph(self.graph, locations, self.after)


def parse_graph(text: str, file: str = "<mlir>", table: Mapping[str, OpDef] = TABLE) -> Graph:
    """The kernel that a module's text holds."""
    return parse_text(text, file, table).graph


def parse_text(text: str, file: str = "<mlir>", table: Mapping[str, OpDef] = TABLE) -> Parsed:
    """The kernel that a module's text holds, with its places and the pass that it was printed after."""
    try:
        return Parser(text, file, table, DECLARED, "weft.yield").module()
    except RecursionError:
        raise LimitExceeded(f"{file} nests regions or lists too deeply to read") from None


def _unquoted(text: str) -> str:
    return re.sub(r"\\(0A|.)", lambda found: "\n" if found[1] == "0A" else found[1], text[1:-1])


class _Attributes(dict[str, Attr]):
    """Attributes by name, with the places of their names and values."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, tuple[Extent, Extent]] = {}


class Parser:
    """Reads the ops of a table.

    Results of `declared` ops have the types in the text; other types come from the rules.
    """

    def __init__(
        self, text: str, file: str, table: Mapping[str, OpDef], declared: frozenset[OpDef], end_of_body: str
    ) -> None:
        self.lines = TextLines(text, file)
        self.places = Places(self.lines)
        self.table, self.declared, self.end_of_body = table, declared, f'"{end_of_body}"'
        self.aliases: dict[str, TensorType] = {}
        self.in_nest = end_of_body == "nest.yield"
        self.values: dict[str, Value] = {}
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise SyntaxProblem(f"unexpected character {text[at]!r}", self.lines.span(at))
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(), at))
            at = match.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    # -- tokens

    def extent(self, at: int | None = None) -> Extent:
        """The place of a token, by default the next one."""
        _, text, offset = self.tokens[self.at if at is None else at]
        return offset, max(1, len(text))

    def span(self, at: int | None = None) -> Span:
        return self.lines.span(*self.extent(at))

    @contextmanager
    def placed(self, at: int) -> Iterator[None]:
        """Add the position of a token to errors that are raised inside."""
        try:
            yield
        except WeftError as error:
            raise type(error)(error.message, error.span or self.span(at), error.hint) from None

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

    def module(self) -> Parsed:
        wrapped = self.accept('"builtin.module"')
        if wrapped:
            for mark in "()({":
                self.expect(mark)
        start = self.at
        self.expect('"weft.kernel"')
        self.expect("(")
        self.expect(")")
        attrs = _Attributes()
        if self.accept("<"):
            attrs = self.attrs(parse_schema(KERNEL))
            self.expect(">")
        if problem := schema_problem(parse_schema(KERNEL), attrs):
            raise self.wrong(problem, attrs, start)
        after = attrs.pop("after", None)
        builder = Builder(str(attrs.pop("sym_name", "kernel")), Facts())
        guards = attrs.pop("guards", Guards())
        assert isinstance(guards, Guards)
        for left, right in guards:
            builder.facts.assume_equal(left, right)
        builder.attrs.update(attrs)
        self.expect("(")
        graph = self.body(builder, '"weft.return"')
        self.places.put(graph, self.extent(start), attrs.places)
        self.expect(")")
        self.signature()
        if wrapped:
            self.expect("}")
            self.expect(")")
            self.signature()
        self.take("end")
        return Parsed(graph, self.places, None if after is None else str(after))

    def body(self, builder: Builder, end: str) -> Graph:
        """Parse a graph in braces; names defined in it are local."""
        around = dict(self.values)
        self.expect("{")
        if self.tokens[self.at][0] == "block":
            self.at += 1
            if self.accept("("):
                while not self.accept(")"):
                    start = self.at
                    name = self.take("value")
                    self.expect(":")
                    value = builder.input(name[1:], self.type())
                    self.define(name, value, start)
                    self.places.put(value, self.extent(start), {})
                    self.accept(",")
            self.expect(":")
        while not self.peek(end):
            if self.peek("}"):
                raise SyntaxProblem(f"a body must end with {end}", self.span())
            self.node(builder)
        start = self.at
        self.at += 1
        outputs = self.operands()
        self.agree(outputs, self.signature()[0], start)
        self.expect("}")
        self.values = around
        return builder.finish(outputs)

    def define(self, name: str, value: Value, start: int) -> None:
        """Binds a name to a value."""
        if name in self.values:
            raise SyntaxProblem(f"'{name}' is defined twice", self.span(start))
        self.values[name] = value

    def agree(self, operands: tuple[Value, ...], said: tuple[TensorType, ...], start: int) -> None:
        """Checks that the operand types in the text are those of the operands."""
        have = tuple(v.type for v in operands)
        if have != said:
            message = f"operands are ({_shown(have)}), but the text says ({_shown(said)})"
            raise VerifyProblem(message, self.span(start))

    def node(self, builder: Builder) -> None:
        start = self.at
        names = self.results() if self.tokens[start][0] == "value" or not self.in_nest else []
        op_name = self.take("string")[1:-1].removeprefix("weft.")
        if op_name not in self.table:
            self.at -= 1
            raise UnknownName(f"unknown op '{op_name}'", self.span(), nearest(op_name, list(self.table)))
        op, operands, body, code = self.table[op_name], self.operands(), None, None
        if self.accept("("):
            body = self.body(Builder(builder.name, builder.facts), self.end_of_body)
            code = self.code() if self.accept(",") else None
            self.expect(")")
        attrs = self.attrs(parse_schema(op.attributes)) if self.peek("{") else _Attributes()
        given, results = self.signature()
        if problem := schema_problem(schema_of(op, attrs, self.table), attrs):
            raise self.wrong(problem, attrs, start, f"{op_name}: ")
        span = self.location() or self.span(start)
        try:
            node = builder.node(op, operands, dict(attrs), span, body, results if op in self.declared else None)
        except WeftError as error:
            axes = next((attrs.places[n][1] for n in ("axes", "axis", "order") if n in attrs.places), None)
            is_axis = isinstance(error, IndexProblem) and axes is not None
            place = self.lines.span(*axes) if is_axis and axes is not None else self.span(start)
            raise type(error)(error.message, place, error.hint) from None
        node.code = code
        self.places.put(node, self.extent(start), attrs.places)
        self.agree(operands, given, start)
        if len(node.results) != len(results) or len(results) != len(names):
            raise VerifyProblem(
                f"{op_name} has {quantity(len(node.results), 'result')}, but the text says {len(names)}",
                self.span(start),
            )
        for name, value, printed in zip(names, node.results, results, strict=True):
            if value.type != printed:
                if not builder.facts.agree(value.type.shape, printed.shape) or value.type.dtype != printed.dtype:
                    raise VerifyProblem(
                        f"{op_name} returns {value.type}, but the text says {printed}", self.span(start)
                    )
                value.type = printed  # the same sizes in another form, because guards were added later
            self.define(name, value, start)

    def results(self) -> list[str]:
        """Parse the names of an op's results: `%a`, `%a:2`, which names `%a#0` and `%a#1`, or several in a row."""
        found = list[str]()
        while not found or self.accept(","):
            name = self.take("value")
            count = self.integer(self.take("number")) if self.accept(":") else 1
            found += [name] if count == 1 else [f"{name}#{k}" for k in range(min(count, MOST_RESULTS))]
        self.expect("=")
        return found

    def code(self) -> Graph:
        """Parse the second body of a region, its loop nest."""
        from ..nest.ops import NEST
        from ..nest.text import DECLARED_IN_NESTS, kernel

        around = self.values, self.table, self.declared, self.end_of_body
        self.values, self.table, self.declared, self.end_of_body = {}, NEST, DECLARED_IN_NESTS, '"nest.yield"'
        self.in_nest = True
        self.expect("{")
        found = kernel(self)
        self.expect("}")
        self.values, self.table, self.declared, self.end_of_body = around
        self.in_nest = False
        return found

    def wrong(self, problem: AttributeProblem, attrs: _Attributes, start: int, name: str = "") -> VerifyProblem:
        """An error at the attribute, or at the node if the attribute is missing."""
        place = attrs.places.get(problem.attribute)
        span = self.span(start) if place is None else self.lines.span(*place[0 if problem.is_name else 1])
        return VerifyProblem(f"{name}{problem.message}", span)

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

    def signature(self) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
        """The operand types and the result types of `: (operand types) -> result types`."""
        self.expect(":")
        operands = self.types()
        self.expect("->")
        return operands, self.types() if self.peek("(") else (self.type(),)

    def types(self) -> tuple[TensorType, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(self.type())
            self.accept(",")
        return tuple(found)

    def type(self) -> TensorType:
        text = self.take("tensor", "weak", "alias")
        if text in self.aliases:
            return self.aliases[text]
        if not self.in_nest and (LOOP in text or not text.startswith(("tensor", "!weft"))):
            raise SyntaxProblem(f"type {text} is only for nests", self.span(self.at - 1))
        with self.placed(self.at - 1):
            return parse_type(text)

    def type_aliases(self) -> None:
        """Reads the aliases before a module, such as `!a = tensor<f32>`."""
        while self.tokens[self.at][0] == "alias":
            name = self.take("alias")
            self.expect("=")
            self.aliases[name] = self.type()

    # -- attributes

    def attrs(self, schema: Mapping[str, Attribute]) -> _Attributes:
        self.expect("{")
        found = _Attributes()
        while not self.accept("}"):
            start = self.at
            name = self.take("word")
            if name in found:
                raise SyntaxProblem(f"attribute '{name}' is given twice", self.span(start))
            at = self.at + 1 if self.peek("=") else start
            value = self.attr() if self.accept("=") else True
            with self.placed(at):
                found[name] = typed(schema.get(name), value)
            offset, _ = self.extent(at)
            last, length = self.extent(self.at - 1)
            found.places[name] = (self.extent(start), (offset, last + length - offset))
            self.accept(",")
        return found

    def attr(self) -> Attr:
        start = self.at
        kind, text, _ = self.tokens[start]
        self.at += 1
        if kind == "string":
            return _unquoted(text)
        if kind == "dims":
            if LOOP in text and not self.in_nest:
                raise SyntaxProblem("loop variables are only for nests", self.span(start))
            with self.placed(start):
                return parse_sizes(text[len("#weft.dims<") : -1])
        if kind == "array":
            inside = text[len("array<i64") : -1].lstrip(":")
            return tuple(self.integer(n) for n in inside.split(",") if n.strip())
        if kind == "weak":
            with self.placed(start):
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
        start = self.at - 1
        element = self.take("word") if self.accept(":") else "i64"
        if element == "i64":
            return self.integer(text, start)
        if element != "f64":
            raise SyntaxProblem(f"a number must be i64 or f64, not '{element}'", self.span(self.at - 1))
        if re.fullmatch(r"0x[0-9A-Fa-f]{1,16}", text):
            return float(struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0])
        if "0x" in text:
            raise SyntaxProblem(f"'{text}' does not fit 64 bits", self.span(start))
        return float(text)

    def integer(self, text: str, at: int | None = None) -> int:
        """Parses a whole number; an error points at the given token, by default the last one."""
        try:
            return int(text, 0)
        except ValueError:
            place = self.span(self.at - 1 if at is None else at)
            raise SyntaxProblem(f"'{text.strip()[:40]}' is not a whole number", place) from None

    def sequence(self) -> Attr:
        items: list[Attr] = []
        start = self.at - 1
        while not self.accept("]"):
            items.append(self.attr())
            self.accept(",")
        if items and isinstance(items[0], float):
            if len(items) != 2 or not isinstance(items[1], float):
                raise SyntaxProblem("a complex number must have two parts", self.span(start))
            return complex(items[0], items[1])
        if not all(isinstance(item, str) for item in items):
            raise SyntaxProblem("a list must hold strings, or the two parts of a complex number", self.span(start))
        return tuple(str(item) for item in items)


def _shown(types: tuple[TensorType, ...]) -> str:
    return ", ".join(map(str, types))
