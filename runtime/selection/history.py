"""Store measured times of variants between processes, in one file of plain JSON.

Nothing in it can change a result: it only says which of several equal variants was fast. Implausible records are
dropped when the file is read.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ...ir.errors import FileProblem
from ...ir.records import fields, record
from ...ir.support.files import delete_abandoned, is_plain, put_file, read_plain
from ...ir.support.forking import lock
from .workload import Workload

WEEK = 7 * 24 * 3600.0
LIMIT = 4096  # records; the oldest are dropped
FORMAT = 2  # version 1 had trials on one thread that had not waited for others to wake up
RECENT = 9
MOST_BYTES = 8 << 20
SHORTEST, LONGEST = 1e-10, 1e7  # seconds that a call can have taken
Key = tuple[str, str, int, int]


@record
class Record:
    """The times of one variant on workloads of one size class; `weight` counts samples, old ones less."""

    workload: Workload
    variant: str
    weight: float
    mean: float
    least: float
    most: float
    when: float
    recent: tuple[float, ...]  # the latest samples

    @property
    def typical(self) -> float:
        """The time without disturbances: a quarter of the latest samples are below it."""
        return sorted(self.recent)[len(self.recent) // 4]

    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithm of `typical`."""
        ordered = sorted(self.recent)
        middle = ordered[len(ordered) // 2] if len(ordered) > 1 else 1.25 * ordered[0]
        return (middle / ordered[0] - 1) / math.sqrt(len(ordered))

    @property
    def key(self) -> Key:
        return (self.workload.family, self.variant, self.workload.bucket, self.workload.threads)

    def aged(self, now: float, half_life: float) -> float:
        """Return the remaining weight."""
        return float(self.weight * 0.5 ** (max(0.0, now - self.when) / half_life))


class History:
    """Records by graph, variant, size class and threads. `path` is their file; None stores nothing."""

    def __init__(
        self, path: Path | None = None, half_life: float = WEEK, clock: Callable[[], float] = time.time
    ) -> None:
        self.path, self.half_life, self.clock = path, half_life, clock
        self._records: dict[Key, Record] = {}
        self._lock = lock()
        self._is_read = False
        self._families: frozenset[str] | None = None

    def add(self, workload: Workload, variant: str, seconds: float) -> None:
        """Add a sample."""
        if not (math.isfinite(seconds) and seconds > 0):
            return
        now = self.clock()
        with self._lock:
            self._read()
            key = (workload.family, variant, workload.bucket, workload.threads)
            self._families = None
            old = self._records.pop(key, None)
            if old is None:
                self._records[key] = Record(workload, variant, 1.0, seconds, seconds, seconds, now, (seconds,))
            else:
                self._records[key] = _joined(old, old.aged(now, self.half_life), seconds, now)
            while len(self._records) > LIMIT:
                del self._records[min(self._records, key=lambda k: self._records[k].when)]

    def find(self, workload: Workload, variant: str) -> Record | None:
        """Find the record of a variant for this size class."""
        with self._lock:
            self._read()
            return self._records.get((workload.family, variant, workload.bucket, workload.threads))

    def families(self) -> frozenset[str]:
        """Return the graphs that have records."""
        with self._lock:
            self._read()
            if self._families is None:
                self._families = frozenset(family for family, *_ in self._records)
            return self._families

    def __iter__(self) -> Iterator[Record]:
        with self._lock:
            self._read()
            return iter(list(self._records.values()))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def clear(self) -> None:
        """Delete all records, also in the file."""
        with self._lock:
            self._records.clear()
            self._is_read, self._families = True, None
            if self.path is None:
                return
            if not is_plain(str(self.path)):
                raise FileProblem(f"can't delete the history {self.path}: it is not a plain file")
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                raise FileProblem(f"can't delete the history {self.path}: {error.strerror}") from error

    def save(self) -> None:
        """Rewrite the file; another process sees either the old one or the new one."""
        with self._lock:
            if self.path is None or not self._records:
                return
            for key, record in self._on_disk().items():  # what other processes wrote meanwhile
                if key not in self._records or record.when > self._records[key].when:
                    self._records[key] = record
            text = json.dumps({"format": FORMAT, "records": [_as_json(r) for r in self._records.values()]})
        with suppress(OSError):  # a history that can't be written is just lost
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if is_plain(str(self.path)):
                delete_abandoned(str(self.path))
                put_file(str(self.path), text.encode())

    def _read(self) -> None:
        if not self._is_read:
            self._is_read = True
            self._records = {**self._on_disk(), **self._records}

    def _on_disk(self) -> dict[Key, Record]:
        """Read the file, if it is valid."""
        try:
            if self.path is None:
                return {}
            found = json.loads(read_plain(str(self.path), MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("records"), list):
            return {}
        records = (_from_json(item, self.clock()) for item in found["records"][:LIMIT])
        return {record.key: record for record in records if record is not None}


def _joined(old: Record, weight: float, seconds: float, now: float) -> Record:
    total = weight + 1
    mean = old.mean + (seconds - old.mean) / total
    least, most = min(old.least, seconds), max(old.most, seconds)
    recent = (*old.recent, seconds)[-RECENT:]
    return Record(old.workload, old.variant, total, mean, least, most, now, recent)


def _as_json(record: Record) -> list[object]:
    load = record.workload
    return [
        [getattr(load, name) for name in fields(load)],
        *(getattr(record, name) for name in list(fields(record))[1:]),
    ]


def _from_json(item: object, now: float) -> Record | None:
    """Read a record, if it is valid: right types, finite, and not from the future."""
    if not isinstance(item, list) or len(item) != len(fields(Record)) or not isinstance(item[0], list):
        return None
    load, variant, *numbers, recent = item
    if len(load) != len(fields(Workload)) or not all(isinstance(x, str) for x in (*load[:2], variant)):
        return None
    if not all(type(x) is int and 0 <= x < 1 << 62 for x in load[2:]) or load[-1] < 1:
        return None
    if not isinstance(recent, list) or not 1 <= len(recent) <= RECENT:
        return None
    if not all(type(x) is float and math.isfinite(x) and x >= 0 for x in (*numbers, *recent)):
        return None
    weight, mean, least, most, when = numbers
    record = Record(Workload(*load), variant, weight, mean, least, most, when, tuple(recent))
    is_time = min(least, *recent) >= SHORTEST and max(most, *recent) <= LONGEST and least <= mean <= most
    return record if is_time and weight >= 1 and when <= now + 60 else None
