"""Run an LALR(1) parser from ready-built tables.

`tables.json` holds the terminals in the order in which they are tried, the keywords, the rules (origin, length, alias,
whether a lone child stands for the rule), and the steps of each state: a number from 0 up is the state to go to, a
negative one is the rule to reduce by. `build_tables.py` makes the file with lark. Importing lark takes longer than
compiling a kernel, so it is only imported here if the grammar was edited after the tables were built.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from ...ir.tuples import NamedTuple
from .tokens import Scanner, Token

END = "$END"
Action = Callable[[list[Any]], Any]


class Parts(list[Any]):
    """The children that a helper rule passes to the rule around it."""


class UnexpectedToken(Exception):
    """A token that no rule allows here, and the terminals that were expected."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token)
        self.token, self.expected = token, expected


class Rule(NamedTuple):
    """A rule of the grammar: its origin and its number of symbols."""

    origin: str
    length: int
    alias: str | None
    expand: bool

    @property
    def action(self) -> str | None:
        """The name of its action, or None if its children pass through."""
        return None if self.is_helper or (self.expand and not self.alias and self.length == 1) else self._name

    @property
    def is_helper(self) -> bool:
        """Whether it passes its children to the rule around it."""
        return self._name.startswith("_")

    @property
    def _name(self) -> str:
        return self.alias or self.origin


class LalrTables:
    """A scanner, the rules, and the LALR states that every parse shares."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.scanner = Scanner(data["terminals"], data["words"], data["ignore"])
        self.rules = [Rule(*fields) for fields in data["rules"]]
        self._reductions = [(rule.origin, rule.length, rule.action, rule.is_helper) for rule in self.rules]
        names = data["symbols"]
        self._states = [{names[s]: to for s, to in steps} for steps in data["states"]]
        self._start, self._end = data["start"], data["end"]

    def parse(self, tokens: Iterable[Token], actions: Mapping[str, Action]) -> Any:
        """Parse a text and return the result of the start rule's action; each action gets the children of its rule."""
        states, values = [self._start], list[Any]()
        for token in _with_end(tokens):
            while True:
                step = self._states[states[-1]].get(token.type)
                if step is None:
                    raise UnexpectedToken(token, frozenset(s for s in self._states[states[-1]] if s.isupper()))
                if step >= 0:
                    states.append(step)
                    values.append(token)
                    break
                origin, length, action, is_helper = self._reductions[-1 - step]
                kept = len(values) - length
                children = values[kept:]
                del values[kept:], states[kept + 1 :]
                if action is not None:
                    values.append(actions[action](_flat(children)))
                else:
                    values.append(_splice(children) if is_helper else children[0])
                states.append(self._states[states[-1]][origin])
                if token.type == END and states[-1] == self._end:
                    return values[-1]
        raise AssertionError("the tokens must end with the end of the text")


@cache
def load() -> LalrTables:
    """Load the tables that ship with the package, or build them with lark if the grammar was edited since."""
    folder = os.path.dirname(__file__)
    with open(os.path.join(folder, "tables.json"), encoding="utf-8") as file:
        data = json.load(file)
    with open(os.path.join(folder, "grammar.lark"), encoding="utf-8") as file:
        grammar = file.read()
    if data["grammar"] != checksum(grammar):
        from .build_tables import build

        data = build(grammar)
    return LalrTables(data)


def checksum(grammar: str) -> int:
    """Return a checksum of the grammar, by which stale tables are noticed."""
    return crc32(grammar.encode())


def _with_end(tokens: Iterable[Token]) -> Iterable[Token]:
    last = None
    for last in tokens:
        yield last
    yield Token(END, "", last.start, last.line) if last is not None else Token(END, "", 0, 1)


def _splice(children: list[Any]) -> Parts:
    """Splice the parts of helper rules; lists grow in place, so that a long one takes linear time."""
    if children and type(children[0]) is Parts:
        children[0].extend(_flat(children[1:]))
        return children[0]
    return Parts(_flat(children))


def _flat(children: list[Any]) -> list[Any]:
    if Parts not in map(type, children):
        return children
    out: list[Any] = []
    for child in children:
        if type(child) is Parts:
            out += child
        else:
            out.append(child)
    return out
