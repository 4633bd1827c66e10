"""Test that the shipped tables match the grammar, and that the parser reads them as lark would."""

from __future__ import annotations

import json

from weft.frontend.language import build_tables, tables
from weft.frontend.language.actions import Actions
from weft.frontend.language.spans import Source


def test_shipped_tables_are_those_of_the_grammar() -> None:
    grammar = (build_tables.FOLDER / "grammar.lark").read_text(encoding="utf-8")
    shipped = (build_tables.FOLDER / "tables.json").read_text(encoding="utf-8")
    assert build_tables.text(build_tables.build(grammar)) == shipped


def test_a_changed_grammar_gives_other_tables() -> None:
    grammar = (build_tables.FOLDER / "grammar.lark").read_text(encoding="utf-8")
    shipped = json.loads((build_tables.FOLDER / "tables.json").read_text(encoding="utf-8"))
    assert build_tables.build(grammar.replace('"+" | "-") term', '"+") term')) != shipped


def test_every_rule_has_an_action_and_every_action_a_rule() -> None:
    assert {r.action for r in tables.load().rules} - {None} == set(Actions(Source("", "")).table())


def test_a_longer_terminal_wins_and_words_are_whole() -> None:
    found = [(t.type, str(t)) for t in tables.load().scanner.tokens("x**=2..iff if")]
    assert found == [
        ("NAME", "x"),
        ("ASSIGN", "**="),
        ("NUMBER", "2"),
        ("__ANON_1", ".."),
        ("NAME", "iff"),
        ("IF", "if"),
    ]


def test_tokens_know_where_they_are() -> None:
    found = list(tables.load().scanner.tokens("a # b\n  c"))
    assert [(str(t), t.start, t.line) for t in found] == [("a", 0, 1), ("\n", 5, 1), ("c", 8, 2)]
