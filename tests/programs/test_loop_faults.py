"""Test that mistakes put into the compiler of loops are found, by small programs that each of them breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.frontend.programs import arithmetic, context, expressions, loops
from weft.frontend.programs.carrying import arrays as carried_arrays
from weft.frontend.programs.carrying import merging
from weft.frontend.programs.carrying import numbers as carried_numbers
from weft.frontend.programs.planning import paths
from weft.ir.records import replace
from weft.passes.nests import assignments
from weft.programs import pieces as piece_programs
from weft.runtime.nests import pieces as loop_pieces

from tests.programs import test_breaks, test_carried_arrays


def shared(a: Any, b: Any) -> Any:
    for i in range(len(a)):
        t = b[i]
        a[i] += 1
        a[i] += b[i] * t
    return a


def no_step(x: Any, n: int) -> Any:
    y = 0
    for i in range(n):
        y = x[i]
    return y


def one_kind(x: Any, n: int) -> Any:
    z = 1
    if x[0] > n:
        z = x[1]
    x[0] = z
    return z


def replaced(x: Any, n: int) -> Any:
    for _ in range(n):
        x[0] = 5
        x = x + 1
    return x


def swapped(x: Any, n: int) -> Any:
    a, b = x + 1, x * 2
    for _ in range(n):
        a, b = b, a
    return a, b


def viewed(x: Any, n: int) -> Any:
    x[n] = 7
    return x[1:], x[::-1]


def divided(x: Any, n: int) -> Any:
    with np.errstate(divide="raise"):
        for i in range(n):
            x[i] = 1 / x[i]
    return x


def searched(x: Any, n: int) -> Any:
    at = 0
    for i in range(len(x)):
        if x[i] > n:
            at = i
            break
    else:
        at = -1
    return at


def shifted(x: Any, n: int) -> Any:
    for _ in range(n):
        x[1:] = x[:-1] + 1
        x[:] = x[::-1] * 0.5
    return x


def powers(x: Any, n: int) -> Any:
    z = 1j
    for i in range(n):
        z = z * x[i] + 1
        if z.real > 5:
            z = z / 2
    return z


class Holder:
    def __init__(self) -> None:
        self.w = np.arange(4.0)

    @property
    def twice(self) -> Any:
        return self.w * 2


class Other(Holder):
    def __init__(self) -> None:
        self.kept = np.ones(4)

    @property
    def w(self) -> Any:  # type: ignore[override]
        return self.kept.copy()


def attribute(h: Any, n: int) -> Any:
    for i in range(n):
        h.w[i] += 1
    return h.w


def calls(function: Any) -> list[tuple[Any, ...]]:
    """Arguments that are new for each call."""
    x = np.arange(4.0)
    if function is shared:
        return [(x, x.copy()), (x, x), (x[1:], x[:-1])]
    if function is shifted:
        return [(np.arange(70.0), 2)]
    if function is attribute:
        return [(Holder(), 3), (Holder(), 2), (Other(), 3)]
    if function.__module__ == test_breaks.__name__:
        return [(np.arange(10.0),), (np.array([7.0, 1, 2]),), (np.zeros(4),)]
    if function.__module__ == test_carried_arrays.__name__:
        return [(np.arange(12.0).reshape(3, 4), n) for n in (3, 0)]
    return [(x.copy(), 3), (x.copy(), 2), (x.copy(), 0)]


PROGRAMS = (
    shared, no_step, one_kind, replaced, swapped, viewed, divided, searched, shifted, powers, attribute,
    test_breaks.found,
    test_breaks.last_of, test_carried_arrays.changed_behind, test_carried_arrays.two_names,
)  # fmt: skip


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    try:
        found = function(*args)
    except Exception as error:
        return type(error), str(error), repr(args[0])
    arrays = [x for x in (found if isinstance(found, tuple) else (found,)) if isinstance(x, np.ndarray)]
    given = [x for x in args if isinstance(x, np.ndarray)]
    return repr(found), [repr(x) for x in given], [np.shares_memory(x, y) for x in arrays for y in (*given, *arrays)]


def differ(backend: str = "reference", programs: Any = PROGRAMS) -> bool:
    """Whether a program behaves other than in Python."""
    for function in programs:
        jitted = weft.jit(function, backend=backend)
        for ours, theirs in zip(calls(function), calls(function), strict=True):
            if outcome(jitted, ours) != outcome(function, theirs):
                return True
    return False


# -- faults


def _overlapping(self: Any, values: Any) -> Any:
    self.piece = replace(self.piece, apart=())
    return RUN(self, values)


def _merged_kinds(a: Any, b: Any) -> Any:
    return JOIN(a, b)[0], None


def _copied(array: Any, view: Any, env: Any) -> Any:
    return VIEWED(array, view, env).copy()


def _forgotten(self: Any, *merged: Any) -> None:
    around, self.carried = self.carried, frozenset()
    MERGE(self, *merged)
    self.carried = around


def _always_else(p: Any, node: Any, outer: Any) -> None:
    p.env[context.BREAK] = outer
    p.block(node.orelse)


def _unguarded(self: Any, statements: Any, known: Any) -> None:
    PATHS(self, statements, known)
    self.guards = []


RUN, VIEWED, MERGE, JOIN = loop_pieces.LoopPiece.run, loop_pieces._viewed, context.Lowering._merge, arithmetic.join
PATHS, NUMBER = paths.Paths.__init__, expressions.Number
NOTHING: Any = lambda *given: None  # noqa: E731
FAULTS: dict[str, tuple[Any, str, Any]] = {
    "arguments that overlap are not noticed": (loop_pieces.LoopPiece, "run", _overlapping),
    "a loop of no steps is taken to have one": (loops._Count, "demand", NOTHING),
    "kinds are merged behind a step": (carried_numbers, "join", _merged_kinds),
    "kinds are merged behind a branch": (merging, "join", _merged_kinds),
    "an array that a loop replaces is changed in place": (carried_arrays.CarriedArrays, "_check_places", NOTHING),
    "an array that a loop replaces has another name": (carried_arrays.CarriedArrays, "_find_aliases", NOTHING),
    "arrays are swapped one after the other": (carried_arrays.CarriedArrays, "_apart", lambda self, view: view),
    "a view is a copy": (loop_pieces, "_viewed", _copied),
    "the error state is not looked at": (piece_programs, "is_usual", lambda: True),
    "a value from before break is lost": (context.Lowering, "_merge", _forgotten),
    "a value from before continue is lost in a lone step": (loops, "_lone_step", loops._step),
    "else runs after break": (loops, "_otherwise", _always_else),
    "classes of objects are not checked": (paths.Paths, "__init__", _unguarded),
    "both parts of a complex number are real": (carried_numbers, "of_parts", lambda kind, parts, other=None: NUMBER(
        kind, None if len(parts) == 2 else parts[0], pair=(parts[0], parts[0]) if len(parts) == 2 else None, other=other
    )),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_programs_without_faults() -> None:
    assert not differ()


@pytest.mark.filterwarnings("ignore")
def test_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    for fault, (where, name, wrong) in FAULTS.items():
        with monkeypatch.context() as patch:
            patch.setattr(where, name, wrong)
            missed += [] if differ() else [fault]
    assert not missed


def test_overlap_in_native_code_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differ("llvm", [shifted])
    monkeypatch.setattr(assignments, "reads_first", lambda *given: True)
    assert differ("llvm", [shifted])
