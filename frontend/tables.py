"""Ready-built tables in, a lark lexer and LALR parser out, without the 80 to 175 ms that building them takes.

`tables.json` holds the terminals (name, whether a pattern, the pattern, priority, greatest width), the rules (origin,
symbols, alias, whether a lone child stands for the rule) and for each state its steps: a number from 0 up is the
state to shift to, a negative one the rule to reduce by.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from lark.common import LexerConf
from lark.grammar import NonTerminal, Rule, Terminal
from lark.lexer import BasicLexer, PatternRE, PatternStr, TerminalDef
from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_parser import _Parser

Action = Callable[[list[Any]], Any]


class Parts(list[Any]):
    """What a helper rule gives: children that belong to the rule around it."""


class Tables:
    """A lexer, and the LALR states that every parse shares."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.lexer = BasicLexer(LexerConf(_terminals(data["terminals"]), re, data["ignore"], skip_validation=True))
        self.rules = [
            (Rule(NonTerminal(origin), [_symbol(*s) for s in expansion], i, alias), expand)
            for i, (origin, expansion, alias, expand) in enumerate(data["rules"])
        ]
        names = data["symbols"]
        reductions = [(Reduce, rule) for rule, _ in self.rules]
        states = {
            i: {names[s]: (Shift, to) if to >= 0 else reductions[-1 - to] for s, to in steps}
            for i, steps in enumerate(data["states"])
        }
        self._table = IntParseTable(states, {"start": data["start"]}, {"start": data["end"]})  # type: ignore[no-untyped-call]

    def parser(self, actions: Mapping[str, Action]) -> _Parser:
        """A parser that calls the action of a rule's alias, or else of its origin, with its children."""
        callbacks: dict[Any, Action] = {rule: _callback(rule, expand, actions) for rule, expand in self.rules}
        return _Parser(self._table, callbacks)


@cache
def load() -> Tables:
    """The tables that ship with the package."""
    with open(os.path.join(os.path.dirname(__file__), "tables.json"), encoding="utf-8") as file:
        return Tables(json.load(file))


def _terminals(data: list[list[Any]]) -> list[TerminalDef]:
    found = []
    for name, is_pattern, value, priority, width in data:
        pattern: PatternRE | PatternStr = PatternStr(value)
        if is_pattern:
            pattern = PatternRE(value)
            pattern._width = (1, width)  # else lark parses every pattern to find it
        found.append(TerminalDef(name, pattern, priority))
    return found


def _symbol(name: str, is_term: bool) -> Terminal | NonTerminal:
    return Terminal(name) if is_term else NonTerminal(name)


def _callback(rule: Rule, expand: bool, actions: Mapping[str, Action]) -> Action:
    name = rule.alias or rule.origin.name
    if name.startswith("_"):
        return _splice
    if expand and not rule.alias and len(rule.expansion) == 1:
        return lambda children: children[0]
    action = actions[name]
    return lambda children: action(_flat(children))


def _splice(children: list[Any]) -> Parts:
    """Children of a list grow in place, so that a long list takes linear time."""
    if children and type(children[0]) is Parts:
        children[0].extend(_flat(children[1:]))
        return children[0]
    return Parts(_flat(children))


def _flat(children: list[Any]) -> list[Any]:
    if not any(type(c) is Parts for c in children):
        return children
    out: list[Any] = []
    for child in children:
        if type(child) is Parts:
            out += child
        else:
            out.append(child)
    return out
