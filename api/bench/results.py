"""Hold measurements as values that can be written as JSON and read back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..ir.errors import FileProblem
from ..ir.records import fields, fresh, record

FORMAT = 1
OURS = "Weft"


@record
class Outcome:
    """One case: seconds by library, and the reason for each library without a time."""

    suite: str
    row: str
    size: int  # 0 where there is none
    dtype: str
    seconds: dict[str, float]
    notes: dict[str, str] = fresh(default_factory=dict)
    apart: tuple[str, ...] = ()  # libraries that are shown but do not do the same work
    memory: float | None = None  # seconds of a plain loop over the same memory

    @property
    def best(self) -> str:
        """The fastest peer, if there is one."""
        found = {name: t for name, t in self.seconds.items() if name != OURS and name not in self.apart}
        return min(found, key=lambda name: found[name]) if found else ""

    @property
    def ratio(self) -> float | None:
        """The time of the fastest peer divided by Weft's."""
        if not self.best or OURS not in self.seconds:
            return None
        return self.seconds[self.best] / self.seconds[OURS]

    @property
    def share(self) -> float | None:
        """The share of the machine's memory speed that Weft reaches."""
        if self.memory is None or OURS not in self.seconds:
            return None
        return self.memory / self.seconds[OURS]


@record
class BenchResults:
    """A whole run."""

    machine: dict[str, str]
    threads: int
    libraries: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def suites(self) -> list[str]:
        return list(dict.fromkeys(o.suite for o in self.outcomes))

    def _repr_html_(self) -> str:
        from .table import html

        return html(self)

    def of(self, suite: str) -> list[Outcome]:
        return [o for o in self.outcomes if o.suite == suite]

    def to_json(self) -> str:
        found = {name: getattr(self, name) for name in fields(self)}
        found["outcomes"] = [
            {name: getattr(each, name) for name in (*fields(each), "best", "ratio", "share")} for each in self.outcomes
        ]
        return json.dumps({"format": FORMAT, **found}, indent=1) + "\n"


def from_json(text: str, file: str) -> BenchResults:
    """Read what `to_json` wrote."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise FileProblem(f"{file} has format {found['format']}, not {FORMAT}", hint="run weft bench again")
        outcomes = tuple(_outcome(values) for values in found["outcomes"])
        return BenchResults(found["machine"], found["threads"], tuple(found["libraries"]), outcomes)
    except (ValueError, KeyError, TypeError) as error:
        raise FileProblem(f"{file} is not what weft bench --json writes ({error})") from error


def joined(runs: Sequence[BenchResults]) -> list[BenchResults]:
    """Join runs with the same threads, because a long run may be made in parts. Later results replace earlier ones."""
    found: dict[int, BenchResults] = {}
    for run in runs:
        if run.threads in found:
            before = found[run.threads]
            both = {(o.suite, o.row, o.size, o.dtype): o for o in (*before.outcomes, *run.outcomes)}
            libraries = tuple(dict.fromkeys((*before.libraries, *run.libraries)))
            run = BenchResults(before.machine | run.machine, run.threads, libraries, tuple(both.values()))
        found[run.threads] = run
    return list(found.values())


def _outcome(values: dict[str, Any]) -> Outcome:
    kept = {name: values[name] for name in ("suite", "row", "size", "dtype", "seconds", "notes", "memory")}
    return Outcome(**kept, apart=tuple(values["apart"]))


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that exist."""
    logs = [math.log(r) for r in ratios if r is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None
