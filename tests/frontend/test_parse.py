"""Test parsing: precedence, newlines, spans, and that every text gives a tree or one of Weft's errors."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from weft.frontend.language import syntax
from weft.frontend.language.parse import parse
from weft.frontend.language.source import parse_module
from weft.frontend.language.spans import Source
from weft.ir.errors import SyntaxProblem, WeftError


def show(expr: object) -> str:
    """Return an expression with all its brackets."""
    match expr:
        case syntax.Literal():
            return str(expr.value)
        case syntax.Name():
            return expr.name
        case syntax.Unary():
            return f"({expr.op} {show(expr.operand)})"
        case syntax.Binary():
            return f"({show(expr.left)} {expr.op} {show(expr.right)})"
        case syntax.Compare():
            return f"({show(expr.first)}{''.join(f' {op} {show(e)}' for op, e in expr.rest)})"
        case syntax.Logical():
            return "(" + f" {expr.op} ".join(map(show, expr.operands)) + ")"
        case syntax.Conditional():
            return f"({show(expr.then)} if {show(expr.condition)} else {show(expr.other)})"
        case syntax.Call():
            arguments = (f"{a.name}={show(a.value)}" if a.name else show(a.value) for a in expr.arguments)
            return f"{show(expr.callee)}({', '.join(arguments)})"
        case syntax.Slice():
            return ":".join("" if e is None else show(e) for e in (expr.start, expr.stop, expr.step))
        case syntax.Index():
            return f"{show(expr.value)}[{', '.join(map(show, expr.items))}]"
        case syntax.TupleOf():
            return f"<{', '.join(map(show, expr.items))}>"
    raise AssertionError(expr)


def items(text: str) -> tuple[syntax.Item, ...]:
    return parse(Source("test.weft", text)).items


def expression(text: str) -> str:
    (item,) = items(f"const A = {text}")
    assert isinstance(item, syntax.Const)
    return show(item.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("-a ** b", "(- (a ** b))"),
        ("a ** -b ** c", "(a ** (- (b ** c)))"),
        ("a // b % c @ d", "(((a // b) % c) @ d)"),
        ("a | b ^ c & d << e + f", "(a | (b ^ (c & (d << (e + f)))))"),
        ("not a == b", "(not (a == b))"),
        ("a < b <= c != d", "(a < b <= c != d)"),
        ("a or b and not c or d", "(a or (b and (not c)) or d)"),
        ("a if b else c if d else e", "(a if b else (c if d else e))"),
        ("a & b == c", "((a & b) == c)"),
        ("~x[0](1)", "(~ x[0](1))"),
        ("f(a, b=c, d=(1, 2),)", "f(a, b=c, d=<1, 2>)"),
        ("x[1:, None, ..., ::2, :n, a:b:c]", "x[1::, None, Ellipsis, ::2, :n:, a:b:c]"),
        ("()", "<>"),
        ("(1,)", "<1>"),
        ("((a))", "a"),
        ("var(x)", "var(x)"),
        ("0x1F + 0b11 + 0o17 + 1_000", "(((31 + 3) + 15) + 1000)"),
        ("1. + .5 + 1e3 + 2.5e-1", "(((1.0 + 0.5) + 1000.0) + 0.25)"),
        ("2j", "2j"),
        ("true or false", "(True or False)"),
    ],
)
def test_precedence_is_pythons(text: str, expected: str) -> None:
    assert expression(text) == expected


def test_newlines_end_statements_but_not_in_brackets_nor_before_else() -> None:
    head = "fn f(x,\n  y) {\n\n let a = (x\n + y); let b = x[\n0]\n if a < b { a }\n else { b }\n"
    with pytest.raises(SyntaxProblem):
        items(head + " return a\n if b \n else x\n}")
    (item,) = items(head + " return a if b \n else x\n}")
    assert isinstance(item, syntax.Function)
    assert [type(s).__name__ for s in item.body.statements] == ["Let", "Let", "If", "Return"]


def test_windows_line_ends_and_comments() -> None:
    found = items("# one\r\nconst A = 1 # two\r\n\r\nconst B = 2;const C = 3")
    assert [i.span.line for i in found] == [2, 4, 4]


def test_an_empty_file_has_no_items() -> None:
    assert items("") == items("\n\n # nothing\n") == ()


def test_spans_cover_what_was_written() -> None:
    (item,) = items("\n  const A = (x + y) * sin(z)")
    assert isinstance(item, syntax.Const) and isinstance(item.value, syntax.Binary)
    text, spans = item.span.text, (item.value.span, item.value.left.span, item.value.right.span)
    assert text is not None
    assert [text[s.column - 1 :][: s.length] for s in spans] == ["(x + y) * sin(z)", "(x + y)", "sin(z)"]
    assert {s.line for s in spans} == {2}


PROGRAM = """\
const C = 0.5
fn gelu(x) = C * x * (1 + tanh(C * (x + 0.04 * x**3)))
kernel f(x: float[..., m], b: f32[m], k: i32) -> (a: float[..., m], var: float) {
    var y = gelu(x) if k > 0 else x
    if k < 3 and not k == 1 { y += 1 } else { y = y[..., ::-1] }
    let s = sum(y, axis=(0, -1), keepdims=true)
    return y / s, max(b)
}
"""


def only_our_errors(text: str) -> None:
    try:
        parse_module(text, "fuzz.weft")
    except WeftError as error:
        assert str(error)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("abxn01.,:;()[]{}+-*/%@&|^~<>=!\"'# \n\t_\\é\x00"), max_size=60))
@example("\ufeff")
@example("\x0c")
def test_any_text_is_a_program_or_an_error(text: str) -> None:
    only_our_errors(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_characters_are_a_program_or_an_error(text: str) -> None:
    only_our_errors("kernel f(x: f32[n]) = " + text)


WORDS = st.sampled_from(
    ["let", "var", "if", "else", "for", "while", "return", "fn", "kernel", "const", "import", "extern", "x", "y", "n",
     "f32", "float", "1", "2.5", "...", "None", "true", "(", ")", "[", "]", "{", "}", "+", "-", "*", "**", "/", "=",
     "+=", "==", "<", ",", ":", ";", "->", "@", '"t"', "..", "in", "and", "or", "not", "sum", "exp", "where", "\n"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=40))
def test_any_words_are_a_program_or_an_error(words: list[str]) -> None:
    only_our_errors(" ".join(words))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_mutation_of_a_program_is_a_program_or_an_error(data: st.DataObject) -> None:
    text = PROGRAM
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = min(len(text), at + data.draw(st.integers(0, 6)))
        text = text[:at] + data.draw(st.one_of(st.just(""), WORDS, st.text(max_size=3))) + text[end:]
    only_our_errors(text)


def test_the_program_that_is_mutated_is_right() -> None:
    assert list(parse_module(PROGRAM, "fuzz.weft").kernels) == ["f"]
