"""Turn the NumPy layers of existing dask graphs into Weft kernels: `with weft.dask.fuse(): z.compute()`.

dask fuses the layers of a chunk into one task, a small graph of its own. The NumPy functions of such a graph become one
jitted function; reads and other functions stay as they are. This needs parts of dask that are not documented. If they
have changed, or a task gains nothing, dask's own task stays, and the report says so.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dask
import numpy as np
from dask.array.optimization import optimize

from .compiling import jit
from .ir.errors import WeftError
from .ir.records import record
from .ir.tuples import NamedTuple

try:
    from dask._task_spec import DataNode, Task, TaskRef, _execute_subgraph, execute_graph
    from dask.base import tokenize
except ImportError:
    Task = None

OPERATORS = frozenset(
    getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "invert", "and_", "or_", "xor",
        "lshift", "rshift", "lt", "le", "eq", "ne", "ge", "gt",
    )
) | {abs, pow}  # fmt: skip
FUNCTIONS = ("sum", "prod", "max", "min", "any", "all", "where", "clip", "round", "transpose", "squeeze")
KNOWN = frozenset(getattr(np, name) for name in FUNCTIONS) | {np.amax, np.amin}
LEAST = 2  # NumPy calls that are worth a kernel


class FusedReport:
    """What `fuse` did: how many tasks became kernels, and why others did not."""

    def __init__(self) -> None:
        self.fused, self.functions = 0, 0
        self.left: dict[str, int] = {}

    def __str__(self) -> str:
        lines = [f"{self.fused} tasks are Weft kernels, of {self.functions} NumPy functions"]
        return "\n".join(lines + [f"{count} tasks are dask's own: {why}" for why, count in self.left.items()])

    def leave(self, why: str) -> None:
        """Count a task that stays as it is."""
        self.left[why] = self.left.get(why, 0) + 1


class FusedStep(NamedTuple):
    """A call of a NumPy function. An argument is (True, number of a value) or (False, a constant)."""

    function: Any
    args: tuple[tuple[bool, Any], ...]
    kwargs: tuple[tuple[str, Any], ...]


@record
class FusedSteps:
    """NumPy calls in order. Values are numbered, `inputs` first; `token` names what is computed."""

    inputs: int
    steps: tuple[FusedStep, ...]
    outputs: tuple[int, ...]
    token: str

    def __hash__(self) -> int:
        return hash(self.token)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FusedSteps) and other.token == self.token

    def run(self, *values: Any) -> tuple[Any, ...]:
        """Run the calls, on arrays or while tracing."""
        known = list(values)
        for function, args, kwargs in self.steps:
            known.append(function(*(known[x] if is_value else x for is_value, x in args), **dict(kwargs)))
        return tuple(known[k] for k in self.outputs)


@functools.lru_cache(512)
def _kernel(steps: FusedSteps) -> Callable[..., Any]:
    """The kernel of some steps, made once in each process."""
    return jit(_TAKING[steps.inputs](steps.run), whole=True)


def _taking(count: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function with this many parameters from one that takes any number."""
    makers: dict[int, Callable[[Any], Callable[..., Any]]] = {
        1: lambda f: lambda a: f(a),
        2: lambda f: lambda a, b: f(a, b),
        3: lambda f: lambda a, b, c: f(a, b, c),
        4: lambda f: lambda a, b, c, d: f(a, b, c, d),
        5: lambda f: lambda a, b, c, d, e: f(a, b, c, d, e),
        6: lambda f: lambda a, b, c, d, e, g: f(a, b, c, d, e, g),
    }
    return makers[count]


MOST_INPUTS = 6
_TAKING = {count: _taking(count) for count in range(1, MOST_INPUTS + 1)}


@record
class FusedTask:
    """What a fused task runs: other tasks, one kernel, and other tasks that need its results."""

    before: Mapping[Any, Any]
    steps: FusedSteps
    given: tuple[Any, ...]
    made: tuple[Any, ...]
    after: Mapping[Any, Any]
    wanted: Any
    names: tuple[Any, ...]

    def run(self, *values: Any) -> Any:
        known = dict(zip(self.names, values, strict=True))
        if self.before:
            needed = [k for k in self.given if k not in known]
            known |= execute_graph({**self.before, **_data(known)}, keys=needed)
        known |= zip(self.made, _computed(self.steps, [known[k] for k in self.given]), strict=True)
        if self.wanted in known:
            return known[self.wanted]
        return execute_graph({**self.before, **self.after, **_data(known)}, keys=[self.wanted])[self.wanted]


def _computed(steps: FusedSteps, values: list[Any]) -> tuple[Any, ...]:
    if not all(type(x) in (np.ndarray, int, float, bool) or isinstance(x, np.generic) for x in values):
        return steps.run(*values)  # masked or sparse arrays keep their own meaning
    try:
        found = _kernel(steps)(*values)
    except WeftError as error:
        warnings.warn(f"weft.dask.fuse: NumPy computes a task, because {error}", RuntimeWarning, stacklevel=2)
        return steps.run(*values)
    return found if isinstance(found, tuple) else (found,)


def _data(known: Mapping[Any, Any]) -> dict[Any, Any]:
    return {k: DataNode(k, v) for k, v in known.items()}


@contextmanager
def fuse() -> Iterator[FusedReport]:
    """Compute the NumPy layers of dask arrays as Weft kernels, in all that is computed inside.

        with weft.dask.fuse() as report:
            z.compute()
        print(report)

    With a cluster, call `(z,) = dask.optimize(z)` inside the block, because otherwise the scheduler prepares the tasks.
    Results have dask's order of sums, with Weft's functions. Everything else runs as it would without the block.
    """
    report = FusedReport()
    if Task is None or dask.config.get("array.query-planning", False):
        report.leave("this version or mode of dask has other graphs")
        warnings.warn("weft.dask.fuse does nothing: this version or mode of dask has other graphs", stacklevel=3)
        yield report
        return

    def fused(graph: Any, keys: Any, **options: Any) -> Any:
        made = optimize(graph, keys, **options)
        return {key: _fused_task(key, task, report) for key, task in dict(made).items()}

    with dask.config.set(array_optimize=fused):
        yield report


def _fused_task(key: Any, task: Any, report: FusedReport) -> Any:
    if type(task) is not Task or task.func is not _execute_subgraph:
        return task
    inner, values = _flat({key: task}), [v for v in task.args[3:] if isinstance(v, TaskRef)]
    numpy_tasks = _numpy_part(inner)
    if len(numpy_tasks) < LEAST:
        report.leave("fewer than two NumPy functions")
        return task
    made = _task(inner, key, tuple(v.key for v in values), numpy_tasks)
    if made is None:
        report.leave(f"more than {MOST_INPUTS} inputs")
        return task
    report.fused += 1
    report.functions += len(numpy_tasks)
    return Task(key, functools.partial(FusedTask.run, made), *values)


def _flat(inner: Mapping[Any, Any]) -> dict[Any, Any]:
    """List the tasks of a graph, and those of the graphs inside it under names of their own."""
    found = {}
    for key, task in inner.items():
        if type(task) is not Task or task.func is not _execute_subgraph:
            found[key] = task
            continue
        nested, wanted, names, *values = task.args
        renamed: dict[Any, Any] = {}
        for name, value in zip(names, values, strict=True):
            renamed[name] = value.key if isinstance(value, TaskRef) else ("weft", key, name)
            if not isinstance(value, TaskRef):
                plain = value.value if isinstance(value, DataNode) else value
                found["weft", key, name] = DataNode(("weft", key, name), plain)
        nested = _flat(nested)
        renamed |= {name: key if name == wanted else ("weft", key, name) for name in nested}
        found |= {renamed[name]: each.substitute(renamed, key=renamed[name]) for name, each in nested.items()}
    return found


def _is_numpy(task: Any) -> bool:
    if type(task) is not Task:
        return False
    function = task.func.func if isinstance(task.func, functools.partial) else task.func
    if not (isinstance(function, np.ufunc) or (callable(function) and _in(function, OPERATORS | KNOWN))):
        return False
    return all(isinstance(a, TaskRef) or _is_constant(a) for a in task.args) and all(
        _is_constant(v) for v in task.kwargs.values()
    )


def _in(function: Any, known: frozenset[Any]) -> bool:
    try:
        return function in known
    except TypeError:
        return False


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (bool, int, float, str, np.dtype, type))


def _numpy_part(inner: Mapping[Any, Any]) -> list[Any]:
    """Choose the keys of NumPy functions that one kernel can compute: none needs another task that needs one of
    them.
    """
    found, later = list[Any](), set[Any]()
    for key in _in_order(inner):
        task, needed = inner[key], set(inner[key].dependencies)
        if needed & later or (needed & set(found) and not _is_numpy(task)):
            later.add(key)
        elif _is_numpy(task):
            found.append(key)
    return found


def _in_order(inner: Mapping[Any, Any]) -> list[Any]:
    done = dict[Any, None]()

    def visit(key: Any) -> None:
        if key in done:
            return
        for needed in inner[key].dependencies:
            if needed in inner:
                visit(needed)
        done[key] = None

    for key in inner:
        visit(key)
    return list(done)


def _task(inner: Mapping[Any, Any], wanted: Any, names: tuple[Any, ...], chosen: list[Any]) -> FusedTask | None:
    constants = {k: t.value for k, t in inner.items() if type(t) is DataNode and _is_constant(t.value)}
    read = [a.key for k in chosen for a in inner[k].args if isinstance(a, TaskRef) and a.key not in constants]
    given = list(dict.fromkeys(k for k in read if k not in chosen))
    if not 1 <= len(given) <= MOST_INPUTS:
        return None
    others = {k: t for k, t in inner.items() if k not in chosen}
    later = {n for t in others.values() for n in t.dependencies} | {wanted}
    made = [k for k in chosen if k in later]
    numbers = {k: n for n, k in enumerate([*given, *chosen])}
    steps = []
    for key in chosen:
        task = inner[key]
        partial = task.func if isinstance(task.func, functools.partial) else functools.partial(task.func)
        args = [(False, a) for a in partial.args]
        for a in task.args:
            is_value = isinstance(a, TaskRef) and a.key not in constants
            args.append(
                (True, numbers[a.key]) if is_value else (False, constants[a.key] if isinstance(a, TaskRef) else a)
            )
        steps.append(FusedStep(partial.func, tuple(args), tuple(sorted({**partial.keywords, **task.kwargs}.items()))))
    after = set[Any]()
    for key in _in_order(others):
        if set(others[key].dependencies) & (after | set(chosen)):
            after.add(key)
    outputs = tuple(numbers[k] for k in made)
    shown = [(getattr(s.function, "__name__", str(s.function)), s.args, str(s.kwargs)) for s in steps]
    program = FusedSteps(len(given), tuple(steps), outputs, tokenize(len(given), shown, outputs))
    before = {k: t for k, t in others.items() if k not in after}
    return FusedTask(before, program, tuple(given), tuple(made), {k: others[k] for k in after}, wanted, names)
