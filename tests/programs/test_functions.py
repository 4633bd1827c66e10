"""Test random functions under `jit` against plain Python: values, identity, sharing, arguments, output, exceptions."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import weft
from weft.frontend.programs import context, expressions, statements
from weft.frontend.programs.arrays import drafts
from weft.frontend.programs.planning import plan
from weft.frontend.programs.reading import meanings
from weft.ir.records import replace
from weft.runtime.nests import pieces as loop_pieces

from tests.programs.random_functions import PRELUDE, Writer

CALLS = (
    ("apart", 2), ("apart", 3), ("same", 2), ("shifted", 1), ("single", 2), ("apart", 0), ("whole", 2), ("loud", 2),
)  # fmt: skip
COMMON = compile(PRELUDE, "<prelude>", "exec")


def made(text: str, name: str) -> Any:
    """Compile a function so that its source can be read."""
    file = f"<random {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"__name__": "random_functions"}
    exec(COMMON, space)
    exec(compile(text, file, "exec"), space)
    linecache.cache["<prelude>"] = (len(PRELUDE), None, PRELUDE.splitlines(True), "<prelude>")
    return space["f"]


def arguments(kind: str, n: int) -> tuple[Any, ...]:
    """Arguments of one kind: apart in memory, the same array twice, overlapping, of other dtypes."""
    base = np.linspace(-1.0, 2.0, 6)
    a = base[1:5] if kind in ("same", "shifted") else base[1:5].copy()
    b = a if kind == "same" else base[:4] if kind == "shifted" else np.arange(4.0) + 0.5
    m = np.linspace(0.5, 3.0, 12).reshape(3, 4)
    if kind == "single":
        a, b, m = a.astype(np.float32), b.astype(np.float32), np.asfortranarray(m)
    if kind == "whole":
        a, b = np.arange(4), np.arange(4)[::-1].copy()
    if kind in ("half", "complex"):
        a, b = (x.astype(np.float16 if kind == "half" else complex) for x in (a, b))
    if kind == "turned":
        b = a[::-1]
    if kind == "rows":  # vectors that lie in the matrix
        a, b = m[1], m[:2].T[:, 0]
    if kind == "locked":
        a.flags.writeable = False
    if kind == "gaps":
        a = np.repeat(a, 2)[::2]
    s: Any = {"zero": np.array(0.75), "single": np.float32(0.75)}.get(kind, 0.75)
    return a, b, m, np.array([1, 3]), n, s, {"w": np.arange(4.0), "c": 1.5}


EVERY = (("apart", 2), ("same", 2), ("shifted", 1), ("single", 2), ("apart", 0), ("loud", 2))


def _seen(x: Any, objects: list[Any]) -> Any:
    """What can be seen of a value, with the arrays that it is or shares memory with."""
    if isinstance(x, np.ndarray):
        same = [x is y for y in objects]
        shared = [isinstance(y, np.ndarray) and bool(np.shares_memory(x, y)) for y in objects]
        objects.append(x)
        return "array", x.dtype, x.shape, x.copy(), same, shared, x.flags.writeable
    if isinstance(x, (tuple, list)):
        return type(x), [_seen(item, objects) for item in x]
    if isinstance(x, dict):
        return dict, [(key, _seen(value, objects)) for key, value in x.items()]
    return type(x), x


def outcome(function: Any, kind: str, n: int) -> Any:
    """Everything that can be seen of a call."""
    given = arguments(kind, n)
    space, printed = function.__globals__, io.StringIO()
    space["K"], space["W"] = 2.5 + n, np.array([0.5, -1.5, 2.0, n])
    space["half"] = space["other" if kind == "shifted" else "half_"]
    if kind == "loud":
        given = (*given[:6], space["Loud"](given[6]))
    objects = [x for x in (*given[:4], given[6]["w"], space["W"], space["P"].w) if isinstance(x, np.ndarray)]
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        try:
            result = _seen(function.jitted(*given), objects)
        except Exception as error:
            result = "raised", type(error), str(error)
    after = [_seen(x, objects) for x in (*given, space["STATE"], space["W"], space["P"].w, space["P"].c)]
    return result, after, printed.getvalue(), space["COUNT"]


def equal(x: Any, y: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, (np.ndarray, np.generic, float, complex)):
        if type(x) is not type(y) or np.asarray(x).dtype != np.asarray(y).dtype or np.shape(x) != np.shape(y):
            return False
        tolerance = {np.float16: 4e-3, np.float32: 1e-5, np.complex64: 1e-5}.get(np.asarray(x).dtype.type, 1e-9)
        return bool(np.allclose(x, y, rtol=tolerance, atol=1e-9, equal_nan=True))
    return type(x) is type(y) and bool(x == y)


def check(seed: int, backend: str = "reference", calls: Sequence[tuple[str, int]] = (), writer: Any = Writer) -> Any:
    """Write a function and compare calls; return the jitted function."""
    text = writer(seed).function()
    plain, other = made(text, f"{seed}"), made(text, f"{seed}")
    plain.jitted, jitted = plain, weft.jit(other, backend=backend)
    other.jitted = jitted
    for number, (kind, n) in enumerate(calls or (CALLS[0], CALLS[0], CALLS[seed % len(CALLS)])):
        wanted, found = outcome(plain, kind, n), outcome(other, kind, n)
        assert equal(wanted, found), f"{seed} call {number} {kind} {n}\n{text}\n{wanted}\n{found}"
    assert not any("planning failed" in r.text for r in jitted._program.reasons), text
    return jitted


QUIET = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


@QUIET
@pytest.mark.parametrize("part", range(6))
def test_random_functions(part: int) -> None:
    """The interpreter of nests and the reference backend run the pieces: with `test_random_loops`, 2,000 functions."""
    native = sum(check(seed).explain().native_pieces > 0 for seed in range(part * 250, (part + 1) * 250))
    assert native > 125


@QUIET
def test_random_functions_natively() -> None:
    assert sum(check(seed, "llvm").explain().native_pieces > 0 for seed in range(9000, 9030)) > 15


# -- faults that the random functions must find


def _stale(self: Any, values: Any) -> Any:
    known = vars(self).setdefault("known", dict(values))
    return RUN(self, {**values, **{name: known[name] for name in ("K", "W") if name in known}})


def _copied(result: Any, buffers: Any, values: Any, env: Any) -> Any:
    found = RESULT(result, buffers, values, env)
    return found.copy() if isinstance(found, np.ndarray) else found


def _unnumbered(result: Any, buffers: Any, values: Any, env: Any) -> Any:
    found = RESULT(result, buffers, values, env)
    return np.float64(found) if type(found) is float else found


def _unkept(self: Any, values: Any) -> Any:
    self.piece = replace(self.piece, kept=())
    return RUN(self, values)


def _without_else(self: Any, name: Any, tried: Any, tests: Any, missed: Any, hit: Any, place: Any) -> Any:
    return TRIED(self, name, tried, tests, [], hit, place)


def _reordered(self: Any, statements: Any) -> Any:
    return BLOCK(self, [*statements[1::-1], *statements[2:]])


def _without_orelse(p: Any, node: Any) -> None:
    p.branch(expressions.condition(p, node.test), lambda: p.block(node.body), lambda: None)


RESULT, RUN = loop_pieces._result, loop_pieces.LoopPiece.run
TRIED, BLOCK = plan._Planner._tried, context.Lowering.block
FAULTS: dict[str, tuple[Any, Any, Any, int]] = {  # the last number is where to start, which saves time
    "a live-out is missing": (plan._Planner, "_needed", lambda self, piece, rest: set(), 120),
    "a live-out of a loop is missing": (plan, "bound_names", lambda run: frozenset(), 20),
    "no class is checked": (plan._Planner, "_tests", lambda self, piece: [], 0),
    "helpers are not guarded": (meanings.Meanings, "are_kept", lambda self: True, 0),
    "arrays are not restored": (loop_pieces.LoopPiece, "run", _unkept, 50),
    "the statements of a miss are dropped": (plan._Planner, "_tried", _without_else, 0),
    "statements change places": (context.Lowering, "block", _reordered, 0),
    "an else is dropped": (statements.STATEMENTS, ast.If, _without_orelse, 80),
    "a capture is stale": (loop_pieces.LoopPiece, "run", _stale, 10),
    "a result is a copy": (loop_pieces, "_result", _copied, 0),
    "a number is NumPy's": (loop_pieces, "_result", _unnumbered, 10),
    "a reshaped array is a copy": (drafts.Draft, "viewed", lambda self, value: None, 60),
}


@QUIET
def test_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    for fault, (where, name, wrong, first) in FAULTS.items():
        with monkeypatch.context() as patch:
            (patch.setitem if isinstance(where, dict) else patch.setattr)(where, name, wrong)
            try:
                for seed in range(first, first + 150):
                    check(seed, calls=EVERY)
                missed.append(fault)
            except Exception:  # a difference, or something that could not run at all
                continue
    assert not missed
