"""Change the registry's tables: one writer at a time replaces the old `State` with a new one.

Changes that a thread makes inside a scope are recorded in the thread's journal and undone at the end of the scope.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...ir.errors import Unsupported, quantity
from ...ir.opdef import OpDef
from ...ir.ops import TABLE
from ...ir.records import replace
from ...ir.support.forking import lock
from .state import State

if TYPE_CHECKING:
    from .implementation import Implementation

Journal = tuple[list["Implementation"], list["Implementation"]]  # added, removed


class RegistryTables:
    """The registry's tables. `make_op` makes an op from its implementations; `changed` is called after each change."""

    def __init__(
        self, make_op: Callable[[str, tuple[Implementation, ...]], OpDef], changed: Callable[[], None]
    ) -> None:
        self.state = State()
        self._make_op, self._changed = make_op, changed
        self._lock = lock()
        self._serial = 0
        self._own = threading.local()

    def add(self, made: list[Implementation], file: str | None = None) -> list[Implementation]:
        """Register several at once; one that was read from the same place replaces the older one.

        With `file`, these are all registrations of that file, and its other ones are removed.
        """
        with self._lock:
            changed: dict[str, tuple[Implementation, ...]] = {}
            added, new, gone = [], [], []
            for op, present in self.state.user.items() if file is not None else ():
                old = [i for i in present if i.origin is not None and i.origin[0] == file]
                if old:
                    gone += old
                    changed[op] = tuple(i for i in present if i not in old)
            for each in made:
                present = changed.get(each.op, self.state.user.get(each.op, ()))
                if each in present:
                    added.append(each)
                    continue
                self._check_arity(each, present)
                if not each.serial:
                    self._serial += 1
                    each = replace(each, serial=self._serial)
                old = [i for i in present if _is_same_place(i, each)]
                gone += old
                changed[each.op] = (*(i for i in present if i not in old), each)
                new.append(each)
                added.append(each)
            if changed:
                self._put(changed)
                self._note(new, gone)
            self._changed()
        return added

    def remove(self, op: str, which: Callable[[Implementation], bool]) -> int:
        """Unregister implementations of an op and return how many there were."""
        with self._lock:
            present = self.state.user.get(op, ())
            gone = [i for i in present if which(i)]
            if gone:
                self._put({op: tuple(i for i in present if i not in gone)})
                self._note([], gone)
                self._changed()
        return len(gone)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo this thread's changes at the end."""
        journals = self._journals()
        journals.append(([], []))
        try:
            yield
        finally:
            added, removed = journals.pop()
            with self._lock:
                changed: dict[str, tuple[Implementation, ...]] = {}
                for op in dict.fromkeys(i.op for i in (*added, *removed)):
                    kept = [i for i in self.state.user.get(op, ()) if i not in added]
                    kept += [i for i in removed if i.op == op and i not in kept and i not in added]
                    changed[op] = tuple(sorted(kept, key=lambda i: i.serial))
                if changed:
                    self._put(changed)
                    self._changed()

    def _put(self, changed: Mapping[str, tuple[Implementation, ...]]) -> None:
        """Replace the implementations of these ops; caches for other ops stay."""
        old = self.state
        user = {op: found for op, found in {**old.user, **changed}.items() if found}
        ops = {name: made for name, made in old.ops.items() if name not in changed}
        for op, implementations in changed.items():
            if implementations and op not in TABLE:
                ops[op] = self._make_op(op, implementations)
        rankings = {key: found for key, found in list(old.rankings.items()) if key[0] not in changed}
        self.state = State(old.generation + 1, user, ops, rankings)

    def _check_arity(self, each: Implementation, present: tuple[Implementation, ...]) -> None:
        from .bundled import composites

        known = None if each.op in TABLE else composites().get(each.op)
        for other in (*present, *(() if known is None else (known,))):
            if len(other.signature.inputs) != len(each.signature.inputs):
                operands = quantity(len(other.signature.inputs), "operand")
                raise Unsupported(
                    f"'{each.signature}' must have {operands}, as '{each.op}' has",
                    hint="register it under another name",
                )

    def _journals(self) -> list[Journal]:
        journals: list[Journal] | None = getattr(self._own, "journals", None)
        if journals is None:
            journals = self._own.journals = []
        return journals

    def _note(self, added: list[Implementation], removed: list[Implementation]) -> None:
        journals = self._journals()
        if journals:
            journals[-1][0].extend(added)
            journals[-1][1].extend(removed)


def _is_same_place(a: Implementation, b: Implementation) -> bool:
    return a.origin is not None and a.origin == b.origin and a.signature == b.signature
