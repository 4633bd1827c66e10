"""Score implementations for a query: points, refusals with reasons, and the winner.

The tier counts first, then the score, then the newest registration. Each operand gives 10 points for an exact dtype and
5 for a castable one; suitable hints give more. A castable match counts only if no tier has an exact one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ir.dtypes import DType
from ...ir.errors import quantity
from ...ir.ops import TABLE, OpDef, Trait
from ...ir.records import record, replace
from ...ir.support.interruptions import is_interruption
from .implementation import TIERS, Implementation, Query

EXACT, CASTABLE = 10, 5
VECTORIZED, SUITED, BOUND = 20, 15, 10
SMALL, LARGE = 1_024, 65_536  # elements: at most, at least
EXPENSIVE = 32  # the number of simple operations that an expensive one counts as


@record
class ScorePoint:
    """Points and the reason for them."""

    what: str
    points: int

    def __str__(self) -> str:
        return f"{self.what} {self.points}"


@record
class ScoredImplementation:
    """An implementation in a ranking; `refusal` says why it can't be chosen."""

    implementation: Implementation
    points: tuple[ScorePoint, ...] = ()
    is_exact: bool = False
    refusal: str | None = None

    @property
    def score(self) -> int:
        return sum(p.points for p in self.points)


@record
class Ranking:
    """The usable implementations, the best first, and the refused ones."""

    order: tuple[ScoredImplementation, ...]
    refused: tuple[ScoredImplementation, ...]


def rank(implementations: Iterable[Implementation], query: Query) -> Ranking:
    """Rank all candidates for a query."""
    judged = [_judged(each, query) for each in implementations]
    if any(c.is_exact and c.refusal is None for c in judged):
        why = "castable, and another implementation takes these dtypes as they are"
        judged = [replace(c, refusal=why) if c.refusal is None and not c.is_exact else c for c in judged]
    able = sorted((c for c in judged if c.refusal is None), key=_place)
    return Ranking(tuple(able), tuple(c for c in judged if c.refusal is not None))


def _place(candidate: ScoredImplementation) -> tuple[int, int, int]:
    found = candidate.implementation
    return TIERS.index(found.tier), -candidate.score, -found.serial


def _judged(each: Implementation, query: Query) -> ScoredImplementation:
    specs = each.signature.inputs
    if len(specs) != len(query.dtypes):
        return ScoredImplementation(
            each, refusal=f"it takes {quantity(len(specs), 'operand')}, not {len(query.dtypes)}"
        )
    casts = [spec.cast(dtype) for spec, dtype in zip(specs, query.dtypes, strict=True)]
    for spec, dtype, cast in zip(specs, query.dtypes, casts, strict=True):
        if cast is None:
            return ScoredImplementation(each, refusal=f"{dtype} is not castable to {spec.name}")
    for spec, rank in zip(specs, query.ranks or (), strict=False):
        if not spec.takes_rank(rank):
            return ScoredImplementation(each, refusal=f"{spec} has not {rank} dimension{'s' * (rank != 1)}")
    exact = [cast == dtype for cast, dtype in zip(casts, query.dtypes, strict=True)]
    points = [
        *(ScorePoint(f"{d} exact", EXACT) if same else ScorePoint(f"{d} castable", CASTABLE)
          for d, same in zip(query.dtypes, exact, strict=True)),
        *_hinted(each, query),
    ]  # fmt: skip
    return ScoredImplementation(
        each, tuple(points), all(exact), each.constraints.refusal(query) or _unwilling(each, query)
    )


def _hinted(each: Implementation, query: Query) -> Iterable[ScorePoint]:
    hints, size = each.hints, query.size
    if "vectorized" in hints:
        yield ScorePoint("vectorized", VECTORIZED)
    if "small" in hints and size is not None and size <= SMALL:
        yield ScorePoint("small", SUITED)
    if "large" in hints and size is not None and size >= LARGE:
        yield ScorePoint("large", SUITED)
    bound = "compute-bound" if is_compute_bound(each, query.dtypes) else "memory-bound"
    if bound in hints:
        yield ScorePoint(bound, BOUND)


def is_compute_bound(each: Implementation, dtypes: Sequence[DType]) -> bool:
    """Tell whether the op does at least one operation for each byte it reads and writes."""
    known = TABLE.get(each.op)
    operations = each.operations if known is None else operations_of(known)
    result = each.signature.result_dtype(dtypes) or dtypes[0]
    return operations >= sum(d.size for d in (*dtypes, result))


def operations_of(op: OpDef) -> int:
    """Return how many simple operations an op counts as."""
    if Trait.VIEW in op.traits or op.arity == 0:
        return 0
    return EXPENSIVE if Trait.EXPENSIVE in op.traits else 1


def _unwilling(each: Implementation, query: Query) -> str | None:
    """Ask its `can_handle`. It is not told the size, because one compile serves many sizes."""
    if each.can_handle is None:
        return None
    try:
        willing = each.can_handle(replace(query, size=None))
    except Exception as error:
        if is_interruption(error):
            raise
        return f"its can_handle raised {type(error).__name__}: {error}"
    return None if willing else "its can_handle refuses"


def thresholds(implementations: Iterable[Implementation]) -> tuple[int, ...]:
    """Return the sizes at which the choice may change, in order."""
    found: set[int] = set()
    for each in implementations:
        limits = each.constraints
        if limits.min_size > 0:
            found.add(limits.min_size)
        if limits.max_size is not None:
            found.add(limits.max_size + 1)
        if "small" in each.hints:
            found.add(SMALL + 1)
        if "large" in each.hints:
            found.add(LARGE)
    return tuple(sorted(found))
