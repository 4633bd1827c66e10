"""Parse the text of a loop nest, type aliases included; `ir/text/printer.py` prints it."""

from __future__ import annotations

from ..builder import Builder
from ..errors import LimitExceeded
from ..facts import Facts
from ..graph import Graph
from ..ops import FLOW, SIZE
from ..schemas import parse_schema, schema_problem
from ..text.parser import Parsed, Parser
from ..types import Guards
from .ops import KERNEL, NEST, OPS
from .verify import verify_nest

DECLARED_IN_NESTS = frozenset((*OPS, SIZE, *FLOW))


def parse_nest(text: str, file: str = "<mlir>") -> Graph:
    """The nest that a module's text holds, verified."""
    try:
        parsed = _module(Parser(text, file, NEST, DECLARED_IN_NESTS, "nest.yield"))
        nest = parsed.graph
        own, needed = nest.attrs.get("guards", Guards()), verify_nest(nest, parsed.places)
    except RecursionError:
        raise LimitExceeded(f"{file} nests regions or lists too deeply to read") from None
    if not needed:
        return nest
    assert isinstance(own, Guards)
    return Graph(nest.name, nest.inputs, nest.nodes, nest.outputs, {**nest.attrs, "guards": Guards((*own, *needed))})


def read_nest(text: str, file: str) -> Graph:
    """The nest that a module's text holds, not verified."""
    return _module(Parser(text, file, NEST, DECLARED_IN_NESTS, "nest.yield")).graph


def _module(parser: Parser) -> Parsed:
    parser.type_aliases()
    wrapped = parser.accept('"builtin.module"')
    if wrapped:
        for mark in "()({":
            parser.expect(mark)
    nest = kernel(parser)
    if wrapped:
        parser.expect("}")
        parser.expect(")")
        parser.signature()
    parser.take("end")
    return Parsed(nest, parser.places, None)


def kernel(parser: Parser) -> Graph:
    """Parse the nest at the parser's position, without verifying it."""
    start, schema = parser.at, parse_schema(KERNEL)
    parser.expect('"nest.kernel"')
    parser.expect("(")
    parser.expect(")")
    attrs = None
    if parser.accept("<"):
        attrs = parser.attrs(schema)
        parser.expect(">")
    builder = Builder("nest", Facts())
    parser.expect("(")
    nest = parser.body(builder, '"nest.yield"')
    parser.expect(")")
    if attrs is None:
        attrs = parser.attrs(schema)
    parser.signature()
    if problem := schema_problem(schema, attrs):
        raise parser.wrong(problem, attrs, start)
    name = str(attrs.pop("sym_name", "nest"))
    found = Graph(name, nest.inputs, nest.nodes, nest.outputs, dict(attrs))
    parser.places.put(found, parser.extent(start), attrs.places)
    return found
