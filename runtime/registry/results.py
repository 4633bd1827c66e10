"""Define the registry's answers: `Lookup`, `ScoreTable` (prints as a table) and `Stats`."""

from __future__ import annotations

from ...ir.errors import UnknownName, quantity
from ...ir.records import record
from ...ir.support.interruptions import is_interruption
from .implementation import Implementation, Query
from .scores import Ranking, ScoredImplementation


@record
class Lookup:
    """The winner for a query, its score and the reason; `alternatives` are the other usable ones, in order."""

    implementation: Implementation
    score: int
    reason: str
    alternatives: tuple[ScoredImplementation, ...]


@record
class Stats:
    """`kernel_names` counts ops, `implementations` counts all implementations; the rest is about lookups."""

    kernel_names: int
    implementations: int
    cache_entries: int
    hits: int
    misses: int


@record
class ScoreTable:
    """Every candidate for a query with each point of its score, or why it was refused; `str()` gives a table."""

    query: Query
    ranking: Ranking

    @property
    def candidates(self) -> tuple[ScoredImplementation, ...]:
        return (*self.ranking.order, *self.ranking.refused)

    @property
    def winner(self) -> Implementation | None:
        return self.ranking.order[0].implementation if self.ranking.order else None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        query = self.query
        size = "" if query.size is None else f", {quantity(query.size, 'element')}"
        lines = [f"{query.op} of {' '.join(map(str, query.dtypes))}{size}"]
        for place, candidate in enumerate(self.ranking.order, start=1):
            points = " + ".join(map(str, candidate.points)) or "no points"
            lines.append(f"  {place}. {candidate.implementation}: score {candidate.score} = {points}")
            lines += _details(candidate.implementation, query)
        for candidate in self.ranking.refused:
            lines.append(f"  -  {candidate.implementation}: refused, {candidate.refusal}")
            lines += _details(candidate.implementation, query)
        lines.append(f"  winner: {self.winner or 'none'}{f', {reason(self.ranking)}' if self.winner else ''}")
        return "\n".join(lines)


def found_in(explained: ScoreTable) -> Lookup:
    """Return the winner, or raise a typed error if there is none."""
    query, ranking = explained.query, explained.ranking
    if not ranking.order:
        reasons = "; ".join(dict.fromkeys(f"{c.implementation.name}: {c.refusal}" for c in ranking.refused))
        given = " ".join(map(str, query.dtypes))
        raise UnknownName(f"no implementation of '{query.op}' takes {given}", hint=reasons or None)
    first, *others = ranking.order
    return Lookup(first.implementation, first.score, reason(ranking), tuple(others))


def reason(ranking: Ranking) -> str:
    """Explain why the first one wins."""
    first, *others = ranking.order
    if not others:
        return "the only one"
    second = others[0]
    if second.implementation.tier != first.implementation.tier:
        return f"{first.implementation.tier} kernels come before {second.implementation.tier} ones"
    if second.score != first.score:
        return f"score {first.score} against {second.score}"
    return "the same score, registered later"


def _details(each: Implementation, query: Query) -> list[str]:
    said = [str(each.constraints), each.note]
    if each.resources.memory or each.resources.threads != 1:
        said.append(f"needs {each.resources.memory} bytes, {each.resources.threads} threads")
    if each.estimate is not None:
        said.append(f"estimates {_estimated(each, query)}")
    return [f"     {'; '.join(part for part in said if part)}"] if any(said) else []


def _estimated(each: Implementation, query: Query) -> str:
    assert each.estimate is not None
    try:
        return f"{each.estimate(query):g}"
    except Exception as error:
        if is_interruption(error):
            raise
        return f"nothing: {type(error).__name__}: {error}"
