"""Split kernel text into tokens, with one `_NL` for newlines and `;` that end a statement.

A newline ends nothing inside `()` and `[]` or before `else`. `var` is a keyword only before a name, so
that NumPy's `var(x)` can be called. Brackets are matched here, so that an error can name the opening one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ir.errors import LimitExceeded, Span, SyntaxProblem
from ...ir.limits import limiter
from .spans import Source
from .tokens import Scanner, Token, UnexpectedCharacter

_OPEN = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSE = frozenset(_OPEN.values())
_CLOSING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_CHARACTERS = {
    ".": "values have no attributes or methods: write transpose(x) for x.T and sum(x) for x.sum()",
    '"': 'a string must end with " on the line where it begins',
    "'": 'write strings in double quotes: "..."',
    "!": "write 'not' for negation and '!=' for inequality",
    "?": "write 'a if c else b' to choose between two values",
    "\\": "put the expression in ( ) to continue it on the next line",
}


class Statements:
    """The tokens of one text, as the grammar expects them. `open` holds the brackets that are still open."""

    def __init__(self, scanner: Scanner, source: Source) -> None:
        self._scanner = scanner
        self._source = source
        self.open: list[Token] = []

    def __iter__(self) -> Iterator[Token]:
        try:
            yield from self._separated(self._words(self._scanner.tokens(self._source.text)))
        except UnexpectedCharacter as error:
            raise self._unexpected(error.at) from error
        if self.open:
            opened = self.open[-1]
            raise SyntaxProblem(
                f"'{opened}' is never closed", self.span(opened), f"add '{_CLOSING[opened.type]}' where it ends"
            )

    def span(self, token: Token) -> Span:
        return self._source.span(token.start, token.start + len(token))

    def _words(self, tokens: Iterator[Token]) -> Iterator[Token]:
        held: Token | None = None
        for token in tokens:
            if held is not None:
                yield held if token.type == "NAME" else Token("NAME", held, held.start, held.line)
            held = token if token.type == "VAR" else None
            if held is None:
                yield token
        if held is not None:
            yield held

    def _separated(self, tokens: Iterator[Token]) -> Iterator[Token]:
        ending: Token | None = None
        for token in tokens:
            if token.type == "_NL":
                inside = self.open and self.open[-1].type != "LBRACE" and token != ";"
                ending = ending if inside else ending or token
                continue
            self._match(token)
            if ending is not None and token.type != "ELSE":
                yield ending
            ending = None
            yield token
        if ending is not None:
            yield ending

    def _match(self, token: Token) -> None:
        if token.type in _OPEN:
            if len(self.open) >= limiter.now.depth:
                most = limiter.now.depth
                raise LimitExceeded(f"brackets are nested more than {most} levels deep", self.span(token), _SPLIT)
            self.open.append(token)
        elif token.type in _CLOSE:
            if not self.open:
                hint = "remove it, or add the opening bracket"
                raise SyntaxProblem(f"'{token}' has no opening bracket", self.span(token), hint)
            if _OPEN[self.open[-1].type] != token.type:
                opened = self.open[-1]
                raise SyntaxProblem(f"'{token}' does not close the '{opened}' of line {opened.line}", self.span(token))
            self.open.pop()

    def _unexpected(self, at: int) -> SyntaxProblem:
        character = self._source.text[at]
        shown = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
        hint = _CHARACTERS.get(character)
        if character == ".":
            hint = _attribute(self._source.text, at) or hint
        return SyntaxProblem(f"unexpected character {shown}", self._source.span(at, at + 1), hint)


def _attribute(text: str, at: int) -> str | None:
    """Advise on `np.exp` and `x.shape`, whose dot is at this place."""
    before, after = re.search(r"(\w*)$", text[:at]), re.match(r"\w*", text[at + 1 :])
    owner, name = before[0] if before else "", after[0] if after else ""
    if owner in ("np", "numpy", "math", "scipy", "torch", "jnp"):
        return f"functions have no prefix: write {name}(...)"
    if name in ("shape", "size"):
        return "the names of dimensions are numbers: with x: f32[n, m], write n for x.shape[0]"
    return None


_SPLIT = "give parts of the expression a name with 'let'"
