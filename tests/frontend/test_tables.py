"""The tables that ship are those of the grammar, and loading them is quick."""

from __future__ import annotations

import json

import pytest
from weft.frontend import build_tables, tables
from weft.frontend.actions import Actions
from weft.frontend.sourcetext import Source


def test_shipped_tables_are_those_of_the_grammar() -> None:
    grammar = (build_tables.FOLDER / "grammar.lark").read_text(encoding="utf-8")
    shipped = (build_tables.FOLDER / "tables.json").read_text(encoding="utf-8")
    assert build_tables.text(build_tables.build(grammar)) == shipped


def test_a_changed_grammar_gives_other_tables() -> None:
    grammar = (build_tables.FOLDER / "grammar.lark").read_text(encoding="utf-8")
    shipped = json.loads((build_tables.FOLDER / "tables.json").read_text(encoding="utf-8"))
    assert build_tables.build(grammar.replace('"+" | "-") term', '"+") term')) != shipped


def test_every_rule_has_an_action_and_every_action_a_rule() -> None:
    names = {rule.alias or rule.origin.name for rule, expand in tables.load().rules if rule.alias or not expand}
    assert {str(n) for n in names if not n.startswith("_")} == set(Actions(Source("", "")).table())


def test_loading_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a grammar was compiled")

    monkeypatch.setattr("lark.load_grammar.load_grammar", refuse)
    monkeypatch.setattr("lark.parsers.lalr_analysis.LALR_Analyzer.__init__", refuse)
    shipped = json.loads((build_tables.FOLDER / "tables.json").read_text(encoding="utf-8"))
    assert tables.Tables(shipped).lexer.scanner is not None
