"""The tables that ship are those of the grammar, and loading them is quick."""

from __future__ import annotations

import json
import time
from pathlib import Path

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


def test_loading_takes_milliseconds() -> None:
    data = json.loads((Path(build_tables.FOLDER) / "tables.json").read_text(encoding="utf-8"))
    best = min(_timed(data) for _ in range(10))
    assert best < 0.010


def _timed(data: object) -> float:
    start = time.process_time()
    text = json.dumps(data)
    loaded = tables.Tables(json.loads(text))  # type: ignore[arg-type]
    assert loaded.lexer.scanner is not None
    return time.process_time() - start
