"""Keep what one callable has learned from its calls: native entries, and calls that can be replayed.

An entry is compiled once a graph has been called in the same form so often that more calls are likely. A program that
makes only a few calls does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import ValueProblem
from ...ir.forking import lock
from ..replay import Repeat, key_of
from .call import CallForm, NativeCall
from .callables import is_native, set_entry
from .table import CALLS, INSIDE, LIMIT, NEXT, WordTable

if TYPE_CHECKING:
    from ...backends.llvm.engine.library import LoadedCode
    from ..compiler import Lowered

MAX_ENTRIES = 16
MAX_REPEATS = 16
AFTER = 8  # calls with the same signature before an entry is compiled: after so many, more are likely
_retired: list[NativeEntry] = []  # entries that were dropped while a call was inside


class NativeEntry:
    """Native code for calls of one form on one graph, with everything it needs."""

    def __init__(self, lowered: Lowered, form: CallForm, table: WordTable, library: LoadedCode, address: int) -> None:
        self.lowered, self.form, self.table, self.library, self.address = lowered, form, table, library, address

    @property
    def is_due(self) -> bool:
        """Tell whether it must ask Python before it serves more calls."""
        return self.table[CALLS] >= self.table[LIMIT]


class Chain:
    """The entries of a callable, the newest first, and the calls that Python replays until there is an entry."""

    def __init__(self) -> None:
        self._entries: tuple[NativeEntry, ...] = ()
        self._after = _calls_before_an_entry()
        self._seen: dict[
            tuple[int, CallForm], tuple[Lowered, int]
        ] = {}  # calls with the same signature since the last request for an entry
        self._repeats: dict[Any, tuple[Repeat, CallForm]] = {}
        self._lock = lock()
        self._dropped_calls = self._dropped_repeats = 0

    @property
    def hits(self) -> int:
        """How many calls found their graph here."""
        with self._lock:
            repeated = self._dropped_repeats + sum(known.calls for known, _ in list(self._repeats.values()))
        return self.calls + repeated

    @property
    def calls(self) -> int:
        """How many calls were served natively."""
        with self._lock:
            return self._dropped_calls + sum(e.table[CALLS] for e in self._entries)

    def repeat(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Repeat | None:
        """Return how to replay a call with the same signature, or None if Python must look closer."""
        if not self._repeats:
            return None
        key = key_of(args, kwargs)
        found = self._repeats.get(key)
        if found is None:
            return None
        known, form = found
        if known.calls < self._after - 2 and known.holds():
            return known
        with self._lock:
            if self._repeats.pop(key, None) is found:
                self._dropped_repeats += known.calls
                self._count(known.lowered, form, known.calls)
        return None

    def remember(self, key: tuple[Any, ...], form: CallForm, repeat: Repeat) -> None:
        """Replay calls with this key, unless native code serves them or will serve the next one."""
        with self._lock:
            if self._after == 2 or any(e.lowered is repeat.lowered and e.form == form for e in self._entries):
                return
            for oldest in list(self._repeats)[: 1 - MAX_REPEATS]:
                self._forget(oldest)
            if all(known.lowered is not repeat.lowered for known, _ in list(self._repeats.values())):
                repeat.prepare()  # the call has just compiled; of later sizes each may be the last of its kind
            self._repeats[key] = repeat, form

    def _forget(self, key: tuple[Any, ...]) -> None:
        if (found := self._repeats.pop(key, None)) is not None:
            self._dropped_repeats += found[0].calls

    def _count(self, lowered: Lowered, form: CallForm, calls: int) -> int:
        """Count a call with the same signature since the last request for an entry."""
        graph, before = self._seen.pop((id(lowered), form), (lowered, 0))
        for oldest in list(self._seen)[: 1 - 4 * MAX_ENTRIES]:
            self._seen.pop(oldest, None)
        total = calls + before if graph is lowered else calls
        self._seen[id(lowered), form] = lowered, total
        return total

    def count_served(self, lowered: Lowered, form: CallForm) -> bool:
        """Count a call that Python has just served, and tell whether an entry is due; then count anew."""
        with self._lock:
            if any(e.lowered is lowered and e.form == form and e.is_due for e in self._entries):
                return False  # it has one, which asked Python
            if self._count(lowered, form, 1) < self._after:
                return False
            self._seen.pop((id(lowered), form), None)
            return True

    def add(self, instance: Any, lowered: Lowered, call: NativeCall) -> bool:
        """Compile an entry and put it first; return False if the graph or the call can't have one."""
        from .build import build_entry

        entry = build_entry(lowered, call)
        if entry is None:
            return False
        with self._lock:
            if len(self._entries) >= MAX_ENTRIES:
                self._after *= 2  # whoever calls in more ways than there is room for soon stops making entries
            self._link((entry, *self._entries[: MAX_ENTRIES - 1]))
            for key, (known, form) in list(self._repeats.items()):
                if known.lowered is lowered and form == call.form:
                    self._forget(key)
            set_entry(instance, entry.address)
        return True

    @property
    def is_empty(self) -> bool:
        return not self._entries

    def limit(self, lowered: Lowered, calls: int) -> None:
        """Ask Python again after this many more native calls of a graph; 0 means as many as before."""
        with self._lock:
            for entry in self._entries:
                if entry.lowered is lowered and entry.table[LIMIT]:
                    entry.table[LIMIT] = entry.table[CALLS] + (calls or max(64, entry.table[CALLS]))

    def expire(self, graphs: Iterable[Lowered]) -> None:
        """End the entries of these graphs; the next call notices."""
        ended = list(graphs)
        with self._lock:
            for entry in self._entries:
                if any(entry.lowered is graph for graph in ended):
                    entry.table[LIMIT] = 0

    def drop_expired(self, instance: Any) -> None:
        """Return to Python if an entry has ended."""
        if any(entry.table[LIMIT] == 0 for entry in self._entries):
            self.clear(instance)

    def clear(self, instance: Any) -> None:
        """Return to Python, which checks everything again."""
        with self._lock:
            if is_native(instance):
                set_entry(instance, 0)
            self._seen.clear()
            for key in list(self._repeats):
                self._forget(key)
            self._link(())

    def _link(self, entries: tuple[NativeEntry, ...]) -> None:
        """Make these the chain. The code of dropped entries is kept while a call runs in it."""
        before, self._entries = self._entries, entries
        addresses = [*(entry.address for entry in entries[1:]), 0]
        for entry, following in zip(entries, addresses, strict=False):
            entry.table[NEXT] = following
        gone = [e for e in before if e not in entries]
        self._dropped_calls += sum(e.table[CALLS] for e in gone)
        _retired[:] = [e for e in (*_retired, *gone) if e.table[INSIDE]]


def _calls_before_an_entry() -> int:
    """Return `WEFT_NATIVE_AFTER`, or the default."""
    given = os.environ.get("WEFT_NATIVE_AFTER", "").strip()
    if not given:
        return AFTER
    if not given.isascii() or not given.isdigit() or int(given) < 2:
        raise ValueProblem(
            f"WEFT_NATIVE_AFTER must be a whole number of calls, at least 2, not {given!r}",
            hint="WEFT_NATIVE_CALLS=0 turns native calls off",
        )
    return int(given)
