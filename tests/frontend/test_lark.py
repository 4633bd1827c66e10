"""Test the table-driven parser against lark: the same tree, or an error at the same token."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Tree
from lark import Token as LarkToken
from lark.exceptions import UnexpectedCharacters
from lark.exceptions import UnexpectedToken as LarkUnexpected
from lark.lark import PostLex
from weft.frontend.language import build_tables, tables
from weft.frontend.language.lexing import Statements
from weft.frontend.language.spans import Source
from weft.frontend.language.tables import END, UnexpectedToken
from weft.frontend.language.tokens import Token, UnexpectedCharacter
from weft.ir.errors import WeftError

ROOT = Path(__file__).parents[2]
FILES = sorted(p for p in ROOT.rglob("*.weft") if "build" not in p.relative_to(ROOT).parts and ".venv" not in p.parts)
PAGES = [ROOT / "docs" / name for name in ("language.md", "index-notation.md", "control-flow.md")]
MUTANTS = 2  # of each text
PIECES = ["(", ")", "{", "}", "[", "]", ",", ":", "=", "+=", "**", "..", "...", "if", "else", "let", "var", "kernel",
          "return", "in", "not", "@", "->", "1.5e3", "0x1f", '"text"', "x", "\n", ";", "#", "?", "'", "$"]  # fmt: skip


class Joined(PostLex):
    """Return lark's own tokens, after the rule for newlines and `var`, which is not part of the grammar."""

    always_accept = ()

    def __init__(self, source: Source) -> None:
        self._source = source

    def process(self, stream: Iterator[LarkToken]) -> Iterator[LarkToken]:
        rules = Statements(_Tokens(stream), self._source)  # type: ignore[arg-type]
        for token in rules:
            yield LarkToken(token.type, str(token), token.start, token.line)


class _Tokens:
    """A scanner that returns lark's tokens instead of its own."""

    def __init__(self, stream: Iterator[LarkToken]) -> None:
        self._stream = stream

    def tokens(self, text: str) -> Iterator[Token]:
        for token in self._stream:
            yield Token(token.type, str(token), token.start_pos or 0, token.line or 1)


@cache
def lark() -> Lark:
    grammar = (build_tables.FOLDER / "grammar.lark").read_text(encoding="utf-8")
    options: dict[str, Any] = {"keep_all_tokens": True, "maybe_placeholders": False}
    return Lark(grammar, parser="lalr", lexer="basic", postlex=Joined(Source("", "")), **options)


def by_lark(text: str) -> Any:
    """Return the tree, or the error and its position."""
    lark().options.postlex._source = Source("test.weft", text)
    try:
        return _shown(lark().parse(text))
    except UnexpectedCharacters as error:
        return "character", error.pos_in_stream
    except LarkUnexpected as error:
        at = None if error.token.type == END else error.token.start_pos
        return "token", error.token.type, at, frozenset(s for s in error.expected if s.isupper())
    except WeftError as error:  # brackets are matched by the rule for newlines
        return type(error).__name__, str(error)


def by_tables(text: str) -> Any:
    shared = tables.load()
    names = {rule.action for rule in shared.rules} - {None}
    actions = {str(name): (lambda children, name=name: (name, *map(_shown, children))) for name in names}
    source = Source("test.weft", text)
    try:
        return _shown(shared.parse(Statements(shared.scanner, source), actions))
    except UnexpectedToken as error:
        at = None if error.token.type == END else error.token.start
        return "token", error.token.type, at, error.expected
    except WeftError as error:
        cause = error.__cause__
        return ("character", cause.at) if isinstance(cause, UnexpectedCharacter) else (type(error).__name__, str(error))


def _shown(found: Any) -> Any:
    """Convert a tree of either parser to tuples: the rule, then its children; tokens with their positions."""
    if isinstance(found, Tree):
        return (str(found.data), *map(_shown, found.children))
    if isinstance(found, LarkToken):
        return found.type, str(found), found.start_pos
    return (found.type, str(found), found.start) if isinstance(found, Token) else found


def texts() -> dict[str, str]:
    """Yield every kernel file of the project, valid or not, and the blocks of the pages."""
    found = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in FILES}
    for page in PAGES:
        blocks = re.findall(r"^```weft[^\n]*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        found |= {f"{page.name}:{k}": block for k, block in enumerate(blocks)}
    return found


def mutated(text: str, rng: random.Random) -> str:
    """Delete, duplicate, move or insert some parts of a text."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        words = re.findall(r"\w+|\s+|[^\w\s]", text) or [""]
        at, other = rng.randrange(len(words)), rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                del words[at]
            case 1:
                words.insert(at, rng.choice(PIECES))
            case 2:
                words[at] = words[other]
            case _:
                words = words[: at + 1]
        text = "".join(words)
    return text


def test_both_parsers_agree_on_every_text() -> None:
    found = texts()
    assert len(found) > 150
    for name, text in found.items():
        assert by_tables(text) == by_lark(text), name


def test_both_parsers_agree_on_mutated_texts() -> None:
    rng, wrong, kinds = random.Random(4), 0, set()
    for name, text in texts().items():
        for _ in range(MUTANTS):
            changed = mutated(text[:2000], rng)
            ours, theirs = by_tables(changed), by_lark(changed)
            assert ours == theirs, (name, changed)
            wrong += ours[0] != "start"
            kinds.add(ours[0])
    assert wrong > 100 and {"character", "token", "SyntaxProblem", "start"} <= kinds


def test_an_edited_grammar_is_given_to_lark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new keyword works at once, because the shipped tables no longer match the grammar."""
    for name in ("grammar.lark", "tables.json"):
        text = (build_tables.FOLDER / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace('RETURN: "return"', 'RETURN: "give"'), encoding="utf-8")
    monkeypatch.setattr(tables, "__file__", str(tmp_path / "tables.py"))
    assert "RETURN" not in {t.type for t in tables.load().scanner.tokens("give x")}
    edited = tables.load.__wrapped__()
    assert [t.type for t in edited.scanner.tokens("give x return")] == ["RETURN", "NAME", "NAME"]
