"""Parse text to abstract syntax, or raise a `SyntaxProblem` or a `LimitExceeded`."""

from __future__ import annotations

import re

from ...ir.errors import LimitExceeded, SyntaxProblem
from ...ir.limits import limiter
from ...ir.support import float_environment
from . import tables
from .actions import Actions
from .lexing import Statements
from .spans import Source
from .syntax import File
from .tables import END, UnexpectedToken
from .tokens import Token

_NAMES = {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a string", "_NL": "the end of the line",
    "LBRACE": "'{'", "RBRACE": "'}'", "LPAR": "'('", "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "EQUAL": "'='",
    "COLON": "':'", "COMMA": "','", "ELSE": "'else'", "FN": "'fn'", "KERNEL": "'kernel'", "CONST": "'const'",
    "IMPORT": "'import'", "IN": "'in'",
}  # fmt: skip
_FOREIGN = {
    "def": "a function is 'fn name(x) = ...' or 'fn name(x) { ... }'",
    "lambda": "a function is 'fn name(x) = ...'",
    "elif": "write 'else if'",
    "class": "a file can only contain 'import', 'const', 'fn' and 'kernel'",
}
_STATEMENTS = ("LET", "VAR", "RETURN", "FOR", "WHILE", "IF")
_HEADS = ("kernel ", "fn ", "for ", "while ", "if ", "else")


def parse(source: Source) -> File:
    """Parse one file."""
    if len(source.text) > limiter.now.text:
        raise LimitExceeded(
            f"{source.file} has {len(source.text)} characters; the limit is {limiter.now.text}",
            hint="split it into several files and import them",
        )
    shared = tables.load()
    actions = Actions(source)
    lexer = Statements(shared.scanner, source)
    try:
        with float_environment.usual():  # Python rounds the numbers it reads in the thread's rounding mode
            parsed = shared.parse(lexer, actions.table())
    except UnexpectedToken as error:
        raise _unexpected(error, lexer, source) from error
    assert isinstance(parsed, File)
    return parsed


def _unexpected(error: UnexpectedToken, lexer: Statements, source: Source) -> SyntaxProblem:
    token = error.token
    if token.type == END:
        end = len(source.text.rstrip())
        return SyntaxProblem(f"the file ends too early{_wanted(error)}", source.span(max(0, end - 1), end))
    if token.type == "_NL":
        return SyntaxProblem(
            f"the line ends too early{_wanted(error)}" if token != ";" else "unexpected ';'",
            lexer.span(token),
            "put the expression in ( ) to continue it on the next line" if token != ";" else None,
        )
    return SyntaxProblem(
        f"unexpected '{token}'{_wanted(error)}", lexer.span(token), _advice(token, error, lexer, source)
    )


def _wanted(error: UnexpectedToken) -> str:
    """Name the tokens that were expected, if there are only a few."""
    expected = {name for name in error.expected if name != END}
    if not 0 < len(expected) <= 3 or not expected <= _NAMES.keys():
        return ""
    return f"; expected {' or '.join(sorted(_NAMES[name] for name in expected))}"


def _advice(token: Token, error: UnexpectedToken, lexer: Statements, source: Source) -> str | None:
    at = token.start
    before = re.findall(r"\w+", source.text[max(0, at - 20) : at])
    for word in (str(token), *before[-1:]):
        if word in _FOREIGN:
            return _FOREIGN[word]
    if token == "=" and "COLON" not in error.expected and lexer.open and lexer.open[-1].type != "LBRACE":
        return "'==' compares two values"
    if token == "{" and re.search(r"\bfor\s+\w+\s+in\s+[^{]*$", source.text[:at].rpartition("\n")[2]):
        return "a loop runs over a range: for i in 0..n { ... }"
    if token == ":" and source.text[:at].rpartition("\n")[2].lstrip().startswith(_HEADS):
        return "put the body in braces: { ... }"
    if token == "//":
        return "a comment starts with '#'"
    if before[-1:] == ["import"]:
        return 'only files of kernels are imported, as in import "common.weft"; NumPy\'s functions are there without'
    if token.type in _STATEMENTS and source.text[:at].rstrip()[-1:] == "}":
        return "end the statement before it with ';' or a line break"
    if token == "[" and source.text[:at].rstrip()[-1:] in tuple("+-*/<>&|"):
        return "there are no arrays in kernel text; pass the array as an argument"
    if token == "[" and source.text[:at].rstrip()[-1:] in tuple("(,="):
        return "there are no lists; write a tuple: concatenate((x, y))"
    if token in ("&", "|") and source.text[at - 1 : at] == token:
        return {"&": "write 'and'", "|": "write 'or'"}[str(token)]
    opened = lexer.open[-1] if lexer.open else None
    if opened is not None and opened.line != token.line and opened.type != "LBRACE":
        return f"the '{opened}' of line {opened.line} is still open"
    if token.type in _STATEMENTS and not lexer.open:
        return "put statements inside a 'fn' or a 'kernel'"
    if token.type in ("FN", "KERNEL", "CONST", "IMPORT") and lexer.open:
        return f"the '{lexer.open[-1]}' of line {lexer.open[-1].line} is still open"
    if token.type.isalpha() and token.isalpha() and "NAME" in error.expected and token.type != "NAME":
        return f"'{token}' is a keyword and can't be used as a name"
    return None
