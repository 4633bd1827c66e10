"""Test the protocol of the thread pool: its own code is interpreted under random schedules of the threads."""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from weft.runtime.native import pool_code

SOURCE = Path(pool_code.__file__).with_name("pool.routine").read_text()
CONSTANTS = {name: value for name, value in vars(pool_code).items() if name.isupper() and isinstance(value, int)}
CONSTANTS |= {"SHUT": ~pool_code.OPEN, "SPINS": 2, "FUTEX": 1, "YIELD": 2, "JOB": 0, "MOST": 1 << 62, "STOPPED": 2}
CONSTANTS["POLITE"] = 0  # at every turn
OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.BitAnd: operator.and_, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.GtE: operator.ge,
}  # fmt: skip
CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "fetch_add": operator.add, "fetch_sub": operator.sub, "fetch_or": operator.or_, "fetch_and": operator.and_,
}  # fmt: skip
Run = Generator[Any, None, Any]


class Place:
    """A field, or a word behind it."""

    def __init__(self, memory: dict[Any, Any], field: str, offset: int = 0) -> None:
        self.memory, self.key = memory, (field, offset)

    def __add__(self, bytes: int) -> Place:
        return Place(self.memory, self.key[0], self.key[1] + bytes)

    def read(self) -> Any:
        assert not self.memory.get("ended"), f"{self.key} was read after its call had ended"
        return self.memory.get(self.key, 0)

    def write(self, value: Any) -> None:
        assert not self.memory.get("ended"), f"{self.key} was written after its call had ended"
        self.memory[self.key] = value


class Left(Exception):
    """A routine returns."""


class Model:
    """The pool with simulated threads: each step of a thread reads or changes memory once."""

    def __init__(self, source: str, seed: int) -> None:
        self.routines = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
        self.random = random.Random(seed)
        self.pool: dict[Any, Any] = {}
        self.asleep: dict[int, int] = {}  # threads that wait for another number than this in `posted`
        self.thread = 0
        self.polite: set[int] = set()  # threads that offered their core to others
        plain = {"save": lambda: 0, "restore": lambda t: None, "signals": lambda: 0, "clock": lambda *_: 0}
        for name, value in plain.items():
            self.pool[name, 0] = value

    def run(self, threads: dict[int, Run], steps: int) -> None:
        """Take one step after another, each of a random thread, until the callers (negative names) are done."""
        while any(name < 0 for name in threads):
            steps -= 1
            assert steps, "the callers are stuck"
            self.thread = self.random.choice([name for name in threads if name not in self.asleep])
            try:
                next(threads[self.thread])
            except StopIteration:
                del threads[self.thread]

    # -- routines

    def call(self, name: str, *given: Any) -> Run:
        node = self.routines[name]
        names = dict(zip((a.arg for a in node.args.args), given, strict=True))
        try:
            yield from self.block(node.body, names)
        except Left as left:
            return left.args[0]

    def block(self, body: list[ast.stmt], names: dict[str, Any]) -> Run:
        for node in body:
            match node:
                case ast.Expr(value):
                    yield from self.value(value, names)
                case ast.Assign([target], value):
                    yield from self.assign(target, (yield from self.value(value, names)), names)
                case ast.AugAssign(target, op, value):
                    before = yield from self.value(target, names)
                    change = yield from self.value(value, names)
                    yield from self.assign(target, OPERATIONS[type(op)](before, change), names)
                case ast.If(test, body, orelse):
                    is_true = yield from self.value(test, names)
                    if (yield from self.block(body if is_true else orelse, names)) == "break":
                        return "break"
                case ast.While(test, body):
                    while (yield from self.value(test, names)):
                        if (yield from self.block(body, names)) == "break":
                            break
                case ast.Break():
                    return "break"
                case ast.Return(value):
                    raise Left((yield from self.value(value, names)) if value is not None else None)
        return None

    def assign(self, target: ast.expr, value: Any, names: dict[str, Any]) -> Run:
        if isinstance(target, ast.Name):
            names[target.id] = value
            return
        place = yield from self.place(target, names)
        yield
        place.write(value)

    def place(self, node: ast.expr, names: dict[str, Any]) -> Run:
        if not isinstance(node, ast.Attribute):
            return (yield from self.value(node, names))
        return Place((yield from self.value(node.value, names)), node.attr)

    def value(self, node: ast.expr, names: dict[str, Any]) -> Run:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name("pool"):
                return self.pool
            case ast.Name(name):
                return names[name] if name in names else CONSTANTS.get(name, name)
            case ast.Attribute():
                place = yield from self.place(node, names)
                yield
                return place.read()
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
                a = yield from self.value(left, names)
                return OPERATIONS[type(op)](a, (yield from self.value(right, names)))
            case ast.BoolOp(op, values):
                for value in values:
                    found = yield from self.value(value, names)
                    if bool(found) is isinstance(op, ast.Or):
                        break
                return found
            case ast.IfExp(test, yes, no):
                return (yield from self.value(yes if (yield from self.value(test, names)) else no, names))
            case ast.Call(ast.Name(name), args):
                return (yield from self.function(name, args, names))
        raise AssertionError(ast.unparse(node))

    def function(self, name: str, args: list[ast.expr], names: dict[str, Any]) -> Run:
        if name in ("atomic_load", "atomic_store", "address", "replaced") or name in CHANGES:
            place = yield from self.place(args[0], names)
            if name == "address":
                return place
            given = []
            for a in args[1:]:
                given.append((yield from self.value(a, names)))
            yield
            was = place.read()
            if name in CHANGES:
                place.write(CHANGES[name](was, given[0]))
            elif name == "atomic_store":
                place.write(given[0])
            elif name == "replaced" and was == given[0]:
                place.write(given[1])
                return True
            return False if name == "replaced" else was
        given = []
        for a in args:
            given.append((yield from self.value(a, names)))
        if name in self.routines and name != "now":
            return (yield from self.call(name, *given))
        yield
        if name == "invoke":
            return given[1](*given[2:])
        if name == "store":
            return given[1].write(given[0])
        if name == "system_call":
            return (yield from self.system_call(*given[1:5]))
        made = {"reserve": dict, "Job": lambda x: x, "min": min, "max": max, "pause": lambda: None, "now": lambda: 0}
        made |= {"i64": int, "i32": int, "unsigned": int, "unsigned_remainder": operator.mod}
        return made[name](*(() if name == "reserve" else given))

    def system_call(self, number: int, place: Any, operation: int, value: int) -> Run:
        if number == CONSTANTS["FUTEX"] and operation == pool_code.WAIT and place.read() == value:
            self.asleep[self.thread] = value
            yield
        elif number == CONSTANTS["YIELD"]:
            self.polite.add(self.thread)
        elif number == CONSTANTS["FUTEX"] and operation == pool_code.WAKE:
            for name in list(self.asleep)[:value]:
                del self.asleep[name]


def simulate(source: str, seed: int) -> None:
    """Two callers and some workers; every piece of every job is run once, and nobody sleeps over a job."""
    model = Model(source, seed)
    count = model.random.randint(1, 3)
    model.pool["started", 0] = count

    def caller() -> Run:
        for _ in range(3):
            ran: list[tuple[int, int]] = []
            extent = model.random.randint(1, 12)
            job: dict[Any, Any] = {
                ("workers", 0): count + 1,
                ("function", 0): lambda f, b, e, *_, ran=ran: ran.append((b, e)) or 0,
            }
            job |= {("extent0", 0): extent, ("extent1", 0): 1, ("frame", 0): 0}
            yield from model.call("cut", job, model.random.randint(1, 3), 1, 1, 1 << 40)
            place, is_ours = Place(model.pool, "busy"), False
            yield
            if place.read() == 0:
                place.write(1)
                is_ours = True
            if is_ours:
                yield from model.call("share", job, 2, count, 0)
                stale = [n for n, seen in model.asleep.items() if seen != model.pool["posted", 0]]
                assert not stale, "a worker sleeps, although something was posted"
            else:
                yield from model.call("run_as_caller", job, 2, 0)
            job["ended"] = True
            assert sorted(ran) == [(b, e) for b, e in _pieces(job, extent)], f"pieces that ran: {sorted(ran)}"

    threads = {name: model.call("worker") for name in range(count)} | {-1: caller(), -2: caller()}
    model.run(threads, 100_000)


def _pieces(job: dict[Any, Any], extent: int) -> list[tuple[int, int]]:
    step = job["piece0", 0]
    return [(begin, min(begin + step, extent)) for begin in range(0, extent, step)]


def test_random_schedules() -> None:
    for seed in range(40):
        simulate(SOURCE, seed)


def test_a_worker_that_waits_offers_its_core() -> None:
    """The core may be its caller's, or the one that another library's thread is waiting for."""
    model = Model(SOURCE, 0)
    worker = model.call("worker")
    while not model.asleep:
        next(worker)
    assert model.polite == {0}


FAULTS = {
    "a gate that stays open": ("fetch_and(pool.gate, SHUT, acq_rel)", "pool.gate"),
    "a caller that does not wait": ("while atomic_load(pool.gate, acquire) != 0:", "while 1 == 0:"),
    "a piece too many": ("if number >= limit:", "if number >= limit + 1:"),
    "a piece too few": ("if number >= limit:", "if number + 1 >= limit:"),
    "a post that nobody hears of": ("wake(others)", "wake(0)"),
    "a sleeper that is not counted": ("fetch_add(pool.sleepers, 1, seq_cst)", "pool.sleepers"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    right, wrong = FAULTS[name]
    assert right in SOURCE
    with pytest.raises(AssertionError, match=r"ended|pieces|sleeps|stuck"):
        for seed in range(400):
            simulate(SOURCE.replace(right, wrong), seed)
