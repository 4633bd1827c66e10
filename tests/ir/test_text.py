"""Test the text form: deterministic, read back to an equal graph, and read by xDSL."""

from __future__ import annotations

import math
import struct
from io import StringIO

import pytest
from weft.ir.builder import Builder
from weft.ir.dims import maximum, symbol
from weft.ir.dtypes import ALL, BOOL, C128, F32, F64, I32, I64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT
from weft.ir.errors import Span, SyntaxProblem, UnknownName, VerifyProblem
from weft.ir.facts import Facts
from weft.ir.graph import Graph, Node
from weft.ir.ops import REGION, TABLE
from weft.ir.text.notation import parse_type
from weft.ir.text.parser import parse_graph
from weft.ir.text.printer import print_graph, type_text
from weft.ir.types import Attr, AxisGroups, Sizes, TensorType
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from xdsl.printer import Printer

FILE = 'my "kernels"/wave.weft'
n, m = symbol("n"), symbol("m")


def softmax() -> Graph:
    b = Builder("softmax")
    x = b.input("x", TensorType(F32, (n, m)))
    e = b.op(TABLE["exp"], b.op(TABLE["sub"], x, b.op(TABLE["max"], x, axes=(1,), keepdims=True)))
    return b.finish([b.op(TABLE["div"], e, b.op(TABLE["sum"], e, axes=(1,), keepdims=True))])


def every_attribute() -> Graph:
    b = Builder("every", Facts({"n": 3, "m": 3}))
    b.attrs |= {"unfused": ('a "quoted" \\ text\nof two, \\0A', "b"), "layouts": ("C", "F"), "chosen": ()}
    x, y = b.input("x", TensorType(F64, (n, 4))), b.input("y", TensorType(F64, (m, 4)))
    total = b.op(TABLE["add"], x, y)
    part = b.op(TABLE["slice"], total, starts=Sizes((n - 1, 0)), steps=(-2, 1), sizes=Sizes((maximum(0, n - 1), 4)))
    turned = b.op(TABLE["transpose"], part, order=(1, 0))
    flat = b.op(TABLE["reshape"], turned, shape=Sizes((4 * maximum(0, n - 1),)))
    return b.finish(
        [flat, b.op(TABLE["cast"], b.size(n), to=I32), b.op(TABLE["sum"], x, axes=(), keepdims=False, score=-3)]
    )


def constants() -> Graph:
    b = Builder("constants")
    values = [0.0, -0.0, 1e300, 5e-324, 1e22, 0.1, math.inf, -math.inf, math.nan]
    made = [b.constant(v, F64) for v in values]
    made += [b.constant(True), b.constant(False), b.constant(-7), b.constant(2**62, I64), b.constant(2.5)]
    made += [b.constant(complex(1.5, -0.0)), b.constant(complex(math.inf, 2), C128)]
    return b.finish(made)


def types() -> Graph:
    b = Builder("types")
    weak = [b.input(f"w{i}", TensorType(d)) for i, d in enumerate((WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX))]
    strong = [b.input(d.name, TensorType(d, s)) for d, s in zip(ALL, [(), (3,), (n, 2), (0, m)] * 4, strict=False)]
    return b.finish([*strong, *weak])


def region() -> Graph:
    b = Builder("outer")
    x = b.input("x", TensorType(F32, (n,)))
    inner = Builder("outer", b.facts)
    y = inner.input("x", TensorType(F32, (n,)))
    double = inner.op(TABLE["add"], y, y)
    body = inner.finish([double, inner.op(TABLE["sum"], double, axes=(0,))])
    outputs = (TensorType(F32, (n,)), TensorType(F32))
    attrs: dict[str, Attr] = {"space": Sizes((n,)), "reduced": (0,), "rows": AxisGroups(((0, 1), (2,)))}
    node = b.node(REGION, [x], attrs, None, body, outputs)
    return b.finish([b.op(TABLE["mul"], node.results[0], node.results[1])])


def nothing() -> Graph:
    return Builder("nothing").finish([])


GRAPHS = [softmax, every_attribute, constants, types, region, nothing]


def same(a: Node, b: Node) -> bool:
    return (
        a.op is b.op and repr(a.attrs) == repr(b.attrs) and [r.type for r in a.results] == [r.type for r in b.results]
    )


@pytest.mark.parametrize("make", GRAPHS)
def test_round_trip(make: object) -> None:
    graph = make()  # type: ignore[operator]
    text = print_graph(graph)
    assert text == print_graph(make())  # type: ignore[operator]
    again = parse_graph(text)
    assert print_graph(again) == text
    assert again.name == graph.name and again.attrs == graph.attrs
    assert [v.type for v in again.inputs] == [v.type for v in graph.inputs]
    assert [v.type for v in again.outputs] == [v.type for v in graph.outputs]
    assert len(again) == len(graph) and all(same(a, b) for a, b in zip(graph, again, strict=True))


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("locations", [False, True])
def test_xdsl_reads_it(make: object, locations: bool) -> None:
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    graph = make()  # type: ignore[operator]
    module = Parser(context, print_graph(graph, locations)).parse_module()
    module.verify()
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(module)
    kernel = next(iter(module.body.block.ops))
    assert len(list(kernel.regions[0].block.ops)) == len(graph) + 1


def test_constants_keep_their_bits() -> None:
    again = parse_graph(print_graph(constants()))
    for old, new in zip(constants(), again, strict=True):
        a, b = old.attrs["value"], new.attrs["value"]
        assert type(a) is type(b)
        if isinstance(a, float) and isinstance(b, float):
            assert struct.pack("<d", a) == struct.pack("<d", b)
        elif not isinstance(a, complex):
            assert a == b


def test_spans_round_trip() -> None:
    b = Builder("f")
    x = b.input("x", TensorType(F32, (n,)))
    y = b.op(TABLE["exp"], x, span=Span(FILE, 12, 7, 3, "let y = exp(x)"))
    graph = b.finish([b.op(TABLE["neg"], y)])
    text = print_graph(graph, locations=True)
    assert 'loc("my \\"kernels\\"/wave.weft":12:7)' in text
    again = parse_graph(text, "dump.mlir")
    assert again.nodes[0].span == Span(FILE, 12, 7)
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "weft.neg" in row)
    span = again.nodes[1].span
    assert span is not None and (span.file, span.line, span.column) == ("dump.mlir", line, 5)
    assert "loc(" not in print_graph(graph)


@pytest.mark.parametrize(
    "type",
    [TensorType(d, s) for d in ALL for s in ((), (3,), (n, 0), (n * m, maximum(1, n)))] + [TensorType(WEAK_INT)],
    ids=str,
)
def test_types(type: TensorType) -> None:
    assert parse_type(type_text(type)) == type


def test_comments_and_no_module() -> None:
    text = print_graph(softmax())
    bare = "\n".join(text.splitlines()[1:-1])
    assert print_graph(parse_graph(f"// a comment\n{bare} // and another")) == text


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ('"weft.exp"', '"weft.exq"', UnknownName, "unknown op 'exq'"),
        ("(%x, %0)", "(%x, %9)", UnknownName, "unknown value '%9'"),
        (
            "-> tensor<?x1xf32, #weft.dims<n, 1>>",
            "-> tensor<?x1xf64, #weft.dims<n, 1>>",
            VerifyProblem,
            "max returns f32",
        ),
        ("keepdims}", "keepdims", SyntaxProblem, ""),
        ("xf32", "xf33", SyntaxProblem, "not a type"),
        ("array<i64: 1>", "array<i64: 7>", IndexError, "axes (7,) are out of bounds"),
        ('"weft.return"', '"weft.yield"', SyntaxProblem, "expected"),
        ("axes =", "axes = ?", SyntaxProblem, "unexpected character '?'"),
    ],
)
def test_broken_text(old: str, new: str, error: type[Exception], message: str) -> None:
    text = print_graph(softmax())
    assert old in text
    with pytest.raises(error) as caught:
        parse_graph(text.replace(old, new, 1), "broken.mlir")
    assert message in str(caught.value)


@pytest.mark.parametrize("cut", range(0, 800, 40))
def test_text_that_ends_early(cut: int) -> None:
    with pytest.raises(SyntaxProblem):
        parse_graph(print_graph(softmax())[:cut])


def test_names_that_clash_are_told_apart() -> None:
    b = Builder("f")
    values = [b.input("x", TensorType(BOOL)) for _ in range(3)]
    text = print_graph(b.finish(values))
    assert "%x : tensor<i1>, %x_1 : tensor<i1>, %x_2 : tensor<i1>" in text
