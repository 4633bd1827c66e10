"""Report the choices of a tuner and how good they were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...ir.errors import quantity
from ...ir.records import record
from .choosing import Selection
from .history import Record

if TYPE_CHECKING:
    from .tuner import Tuner


@record
class ReportedChoice:
    """One choice: the kernel, the number of elements, and the variant."""

    kernel: str
    size: int
    selection: Selection
    is_best: bool | None  # in hindsight: whether no variant was measured to be faster; None if only one was measured


@record
class Report:
    """`counts` has choices by variant, `calls` the number of calls that asked for one, `by_op` the accuracy by
    kernel.
    """

    choices: tuple[ReportedChoice, ...]
    counts: dict[str, int]
    calls: int
    popular: tuple[tuple[str, int], ...]
    records: int

    @property
    def accuracy(self) -> float | None:
        """The share of choices that no measurement contradicts; None if there is no measurement."""
        return _share(self.choices)

    @property
    def by_op(self) -> dict[str, float | None]:
        """The accuracy by kernel."""
        names = dict.fromkeys(c.kernel for c in self.choices)
        return {name: _share([c for c in self.choices if c.kernel == name]) for name in names}

    def _repr_html_(self) -> str:
        from ..views import selection_html

        return selection_html(self)

    def __str__(self) -> str:
        lines = [
            f"{len(self.choices)} choices, {self.records} records, accuracy in hindsight {_percent(self.accuracy)}"
        ]
        lines += [f"  {name}: chosen {count} times" for name, count in sorted(self.counts.items())]
        lines += [f"  {name}: {quantity(calls, 'call')} asked" for name, calls in self.popular]
        for choice in self.choices:
            found = choice.selection
            others = ", ".join(f"{a.variant} {a.estimate.seconds * 1e6:.3g} us" for a in found.alternatives)
            lines.append(
                f"  {choice.kernel} at {choice.size}: {found.variant} {found.seconds * 1e6:.3g} us,"
                f" confidence {found.confidence:.2f}, {found.reason}; others: {others or 'none'}"
            )
        return "\n".join(lines)


def report(tuner: Tuner) -> Report:
    """Report the choices made so far."""
    records = list(tuner.history)
    choices, popular = [], Counter[str]()
    for plan in sorted(tuner.plans, key=lambda p: p.base.graph.name):
        popular[plan.base.graph.name] += sum(plan.served.values())
        for bucket, selection in sorted(plan.choices.items()):
            known = [r for r in records if r.workload.family == plan.base.family and r.workload.bucket == bucket]
            size = known[0].workload.size if known else 0
            choices.append(ReportedChoice(plan.base.graph.name, size, selection, _is_best(selection, known)))
    counts = Counter(c.selection.variant for c in choices)
    return Report(tuple(choices), dict(counts), sum(popular.values()), tuple(popular.most_common(10)), len(records))


def _is_best(selection: Selection, known: list[Record]) -> bool | None:
    """Tell whether the chosen variant is the fastest, or can't be distinguished from it."""
    own = next((r for r in known if r.variant == selection.variant), None)
    if own is None or len(known) < 2:
        return None
    return own.typical <= 1.05 * min(r.typical for r in known)


def _share(choices: tuple[ReportedChoice, ...] | list[ReportedChoice]) -> float | None:
    judged = [c.is_best for c in choices if c.is_best is not None]
    return sum(judged) / len(judged) if judged else None


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"
