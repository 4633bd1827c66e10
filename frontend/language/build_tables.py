"""Build the parser's LALR tables from `grammar.lark` and write them to `tables.json`.

python -m weft.frontend.language.build_tables
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import PatternRE, TerminalDef
from lark.parsers.lalr_analysis import Shift

from ...ir.support.files import write_file
from .tables import checksum

FOLDER = Path(__file__).parent


def build(grammar: str) -> dict[str, Any]:
    """Build the tables of a grammar; `tables.py` describes their form."""
    lark = Lark(grammar, parser="lalr", lexer="basic", keep_all_tokens=True, maybe_placeholders=False)
    table = lark.parser.parser._parse_table
    start = table.start_states["start"]
    rules = sorted(lark.rules, key=lambda r: (r.origin.name, [s.name for s in r.expansion]))
    number = {rule: i for i, rule in enumerate(rules)}
    symbols = sorted({name for actions in table.states.values() for name in actions})
    index = {name: i for i, name in enumerate(symbols)}
    order = _reached(table.states, start)
    place = {state: i for i, state in enumerate(order)}

    def action(kind: Any, target: Any) -> int:
        return place[target] if kind is Shift else -1 - number[target]

    words = _words(lark.terminals)
    return {
        "grammar": checksum(grammar),
        "terminals": [
            [t.name, t.pattern.to_regexp()]
            for t in sorted(lark.terminals, key=_precedence)
            if t.name not in words.values()
        ],
        "words": words,
        "ignore": sorted(lark.ignore_tokens),
        "rules": [[r.origin.name, len(r.expansion), r.alias, bool(r.options.expand1)] for r in rules],
        "symbols": symbols,
        "states": [
            sorted([index[name], action(*step)] for name, step in table.states[state].items()) for state in order
        ],
        "start": place[start],
        "end": place[table.end_states["start"]],
    }


def _precedence(terminal: TerminalDef) -> tuple[int, int, int, str]:
    """The sort key of terminals: when two match, the higher priority wins, then the longer possible match."""
    pattern = terminal.pattern
    return -terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name


def _words(terminals: Collection[TerminalDef]) -> dict[str, str]:
    """Find keywords, such as `if`, that the pattern for names matches too: they are looked up after the match."""
    patterns = [re.compile(t.pattern.value) for t in terminals if isinstance(t.pattern, PatternRE)]
    fixed = {t.pattern.value: t.name for t in terminals if not isinstance(t.pattern, PatternRE)}
    return {value: name for value, name in sorted(fixed.items()) if any(p.fullmatch(value) for p in patterns)}


def _reached(states: Mapping[int, Mapping[str, tuple[Any, Any]]], start: int) -> list[int]:
    """Number the states in an order that depends only on the grammar; lark's own order changes from run to run."""
    order = [start]
    for state in order:
        targets = (target for _, (kind, target) in sorted(states[state].items()) if kind is Shift)
        order += [t for t in dict.fromkeys(targets) if t not in order]
    return order


def text(tables: dict[str, Any]) -> str:
    """Write the tables as JSON, one state per line."""
    lines = [f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in tables.items() if k != "states"]
    states = ",\n".join(json.dumps(s, separators=(",", ":")) for s in tables["states"])
    return "{\n" + ",\n".join([*lines, f'"states": [\n{states}\n]']) + "\n}\n"


def main() -> None:
    grammar = (FOLDER / "grammar.lark").read_text(encoding="utf-8")
    write_file(str(FOLDER / "tables.json"), text(build(grammar)).encode())


if __name__ == "__main__":
    main()
