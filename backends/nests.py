"""Run a loop nest in Python on NumPy arrays; this defines every op of the `nest` dialect.

Nothing here reads `width`, `times`, `grain` or `line`: they only affect speed, never the result. Loops that are shared
between threads run in a shuffled order. New memory is filled with NaN, and every index is checked.

In lockstep mode, vector and jammed loops run all of their steps at once, statement by statement, as if every step were
a lane. A nest that the verifier accepts gives the same result in both modes; tests check that.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import dims, errors
from ..ir.errors import IndexProblem, ShapeProblem, ValueProblem, quantity
from ..ir.graph import Graph, Node, Value
from ..ir.nest import ops
from ..ir.nest.scopes import variables
from ..ir.opdef import OpDef
from ..ir.ops import TABLE
from ..ir.types import Guards, axis_groups, integer, ints, sizes
from . import reference, stated, tree
from .fused import fma

Array = np.ndarray[Any, Any]
UFUNCS = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "any": np.logical_or,
    "all": np.logical_and, "reduce_fmin": np.fmin, "reduce_fmax": np.fmax, "reduce_and": np.bitwise_and,
    "reduce_or": np.bitwise_or, "reduce_xor": np.bitwise_xor,
}  # fmt: skip


class Lane:
    """One step of the loops around: the numbers of their variables, and the values computed so far."""

    __slots__ = ("env", "running", "values")

    def __init__(self, env: dict[str, int], values: dict[Value, Any], running: dict[Node, Any]) -> None:
        self.env, self.values, self.running = env, values, running

    def step(self, **variables: int) -> Lane:
        """Make a step inside this one, which sees its variables and values."""
        env = {**self.env, **{dims.LOOP + name: number for name, number in variables.items()}}
        return Lane(env, dict(self.values), self.running)


Lanes = Sequence[Lane]


def run(
    nest: Graph,
    buffers: Sequence[Array],
    numbers: Mapping[str, int] | None = None,
    lockstep: bool = False,
    seed: int = 0,
) -> None:
    """Runs a nest on arrays, which it changes. `numbers` are the sizes that no array has."""
    _Runner(lockstep, random.Random(seed)).nest(nest, buffers, numbers or {})


class _Runner:
    def __init__(self, lockstep: bool, order: random.Random) -> None:
        self.lockstep, self.order = lockstep, order

    def nest(self, nest: Graph, buffers: Sequence[Array], numbers: Mapping[str, int]) -> None:
        env = {**sizes_of(nest, buffers, numbers), **numbers}
        check_guards(nest, env)
        with np.errstate(all="ignore"):
            self.body(nest, [Lane(env, dict(zip(nest.inputs, buffers, strict=True)), {})])

    def body(self, graph: Graph, lanes: Lanes) -> None:
        for node in graph:
            RUN.get(node.op, _Runner.number)(self, node, lanes)

    def number(self, node: Node, lanes: Lanes) -> None:
        """Runs an op of the main table."""
        for lane in lanes:
            found = reference.run_number(node, [lane.values[v] for v in node.operands], lane.env)
            made = ((v, v.type.dtype.numpy.type(x)) for v, x in zip(node.results, found, strict=True))
            lane.values.update(made)

    # -- loops

    def loop(self, node: Node, lanes: Lanes) -> None:
        assert node.body is not None
        (variable,) = variables(node)
        lanes = [Lane(lane.env, lane.values, {}) for lane in lanes]  # scans along this loop start again
        bounds = [_range(variable.first, variable.end, lane) for lane in lanes]
        if self.lockstep and node.attrs["kind"] in ("vector", "jammed") and not node.attrs.get("shared"):
            steps = [lane.step(**{variable.name: k}) for lane, own in zip(lanes, bounds, strict=True) for k in own]
            self.body(node.body, steps)
            return
        states = [[lane.values[v] for v in node.operands] for lane in lanes]
        orders = [list(own) for own in bounds]
        if node.attrs.get("shared"):
            for own in orders:
                self.order.shuffle(own)
        for k in range(max(map(len, orders), default=0)):
            active = [i for i, own in enumerate(orders) if k < len(own)]
            steps = [lanes[i].step(**{variable.name: orders[i][k]}) for i in active]
            for i, step in zip(active, steps, strict=True):
                step.values.update(zip(node.body.inputs, states[i], strict=True))
            self.body(node.body, steps)
            for i, step in zip(active, steps, strict=True):
                states[i] = [step.values[v] for v in node.body.outputs]
        for lane, state in zip(lanes, states, strict=True):
            lane.values.update(zip(node.results, state, strict=True))

    def walk(self, node: Node, lanes: Lanes) -> None:
        assert node.body is not None
        every = [_points(node, lane) for lane in lanes]
        if self.lockstep and node.attrs["kind"] == "vector":
            nested = [[lane.step(**point) for point in points] for lane, points in zip(lanes, every, strict=True)]
            self.body(node.body, [step for steps in nested for step in steps])
        else:
            nested = [[] for _ in lanes]
            for k in range(max(map(len, every), default=0)):
                active = [i for i, points in enumerate(every) if k < len(points)]
                steps = [lanes[i].step(**every[i][k]) for i in active]
                self.body(node.body, steps)
                for i, step in zip(active, steps, strict=True):
                    nested[i].append(step)
        for lane, steps in zip(lanes, nested, strict=True):
            for k, result in enumerate(node.results):
                element = node.body.outputs[k]
                if "chained" in node.attrs and ints(node.attrs, "chained")[k]:
                    assert element.node is not None
                    total = element.type.dtype.numpy.type(0)
                    for step in steps:
                        a, b = (step.values[v] for v in element.node.operands)
                        total = _multiply_add(a, b, total)
                    lane.values[result] = total
                    continue
                elements = np.array([step.values[element] for step in steps], element.type.dtype.numpy)
                lane.values[result] = _combined(node, k, elements, [step.env for step in steps])

    def product(self, node: Node, lanes: Lanes) -> None:
        assert node.body is not None
        terms = next(n for n in node.body if n.op is ops.TERMS)
        split = node.body.nodes.index(terms)
        before, after = (
            Graph(node.body.name, (), part, ()) for part in (node.body.nodes[:split], node.body.nodes[split + 1 :])
        )
        *outer, inner = variables(node)
        (total,) = node.body.inputs
        for lane in lanes:
            steps = [lane]
            for variable in outer:
                steps = [s.step(**{variable.name: k}) for s in steps for k in _range(variable.first, variable.end, s)]
            self.order.shuffle(steps)
            for step in steps:
                step.values[total] = total.type.dtype.numpy.type(0)
                for k in _range(inner.first, inner.end, step):
                    factor = step.step(**{inner.name: k})
                    self.body(before, [factor])
                    a, b = (factor.values[v] for v in terms.operands)
                    step.values[total] = _multiply_add(a, b, step.values[total])
            self.body(after, steps)

    def steps(self, node: Node, lanes: Lanes) -> None:
        """Runs a `while`."""
        assert node.body is not None
        active = list(lanes)
        states = {id(lane): [lane.values[v] for v in node.operands] for lane in lanes}
        while active:
            inner = [lane.step() for lane in active]
            for lane, step in zip(active, inner, strict=True):
                step.values.update(zip(node.body.inputs, states[id(lane)], strict=True))
            self.body(node.body, inner)
            going = []
            for lane, step in zip(active, inner, strict=True):
                go, *after = (step.values[v] for v in node.body.outputs)
                if go:
                    states[id(lane)] = after
                    going.append(lane)
            active = going
        for lane in lanes:
            lane.values.update(zip(node.results, states[id(lane)], strict=True))

    def when(self, node: Node, lanes: Lanes) -> None:
        assert node.body is not None
        for lane in lanes:
            lane.values.update((v, v.type.dtype.numpy.type(0)) for v in node.results)
        taken = [lane for lane in lanes if lane.values[node.operands[0]]]
        inner = [lane.step() for lane in taken]
        self.body(node.body, inner)
        for lane, step in zip(taken, inner, strict=True):
            given = (step.values[v] for v in node.body.outputs)
            lane.values.update(zip(node.results, given, strict=True))

    def switch(self, node: Node, lanes: Lanes) -> None:
        assert node.body is not None
        for lane in lanes:
            case = next(n for n in node.body if holds(n.attrs.get("guards", Guards()), lane.env))
            assert case.body is not None
            self.body(case.body, [lane.step()])

    # -- memory

    def alloc(self, node: Node, lanes: Lanes) -> None:
        for lane in lanes:
            dtype = node.results[0].type.dtype.numpy
            shape = [max(0, dims.evaluate(s, lane.env)) for s in node.results[0].type.shape]
            fresh = np.zeros(shape, dtype)
            fresh.view(np.uint8)[...] = 0xFF  # NaN for floats
            lane.values[node.results[0]] = fresh

    def load(self, node: Node, lanes: Lanes) -> None:
        for lane in lanes:
            array, index = _element(node, node.operands[0], lane)
            lane.values[node.results[0]] = array[index]

    def store(self, node: Node, lanes: Lanes) -> None:
        for lane in lanes:
            array, index = _element(node, node.operands[1], lane)
            array[index] = lane.values[node.operands[0]]

    def assign(self, node: Node, lanes: Lanes) -> None:
        """Run a graph of arrays, and write its results when all of them are computed."""
        assert node.body is not None
        writes = integer(node.attrs, "writes")
        split = len(node.operands) - writes
        for lane in lanes:
            given = [
                _array(v, lane).copy() if v.type.kind == "memref" else lane.values[v] for v in node.operands[:split]
            ]
            made = reference.run(node.body, given, lane.env)
            for target, value in zip(node.operands[split:], made, strict=False):
                _array(target, lane)[...] = value
            numbers = (x.dtype.type(x) for x in made[writes:])
            lane.values.update(zip(node.results, numbers, strict=True))

    def nothing(self, node: Node, lanes: Lanes) -> None:
        """Do nothing: for a prefetch, a view (accesses resolve it), and the check for Ctrl-C."""

    # -- numbers

    def across(self, node: Node, lanes: Lanes) -> None:
        for lane in lanes:
            partial = lane.values[node.operands[0]]
            lane.values[node.results[0]] = tree.across(UFUNCS[str(node.attrs["combine"])], partial)

    def scan(self, node: Node, lanes: Lanes) -> None:
        name = str(node.attrs["combine"])
        combine = UFUNCS[name] if name in UFUNCS else stated.MEANINGS.get(name, TABLE[name].numpy)
        assert combine is not None, name
        for lane in lanes:
            x = lane.values[node.operands[0]]
            lane.running[node] = x.dtype.type(combine(lane.running[node], x)) if node in lane.running else x
            lane.values[node.results[0]] = lane.running[node]

    def bind(self, node: Node, lanes: Lanes) -> None:
        (variable,) = variables(node)
        for lane in lanes:
            number = int(lane.values[node.operands[0]])
            if number not in _range(variable.first, variable.end, lane):
                size = dims.evaluate(variable.end, lane.env)
                raise IndexProblem(f"index {number} is out of bounds for axis with size {size}", node.span)
            lane.env[dims.LOOP + variable.name] = number

    def check(self, node: Node, lanes: Lanes) -> None:
        if not all(lane.values[node.operands[0]] for lane in lanes):
            raise getattr(errors, str(node.attrs["error"]))(str(node.attrs["message"]), node.span)


RUN: Mapping[OpDef, Callable[[_Runner, Node, Lanes], None]] = {
    ops.FOR: _Runner.loop, ops.WALK: _Runner.walk, ops.PRODUCT: _Runner.product, ops.WHILE: _Runner.steps,
    ops.WHEN: _Runner.when, ops.SWITCH: _Runner.switch, ops.ALLOC: _Runner.alloc, ops.LOAD: _Runner.load,
    ops.STORE: _Runner.store, ops.FETCH: _Runner.nothing, ops.VIEW: _Runner.nothing, ops.ASK: _Runner.nothing,
    ops.ASSIGN: _Runner.assign, ops.ACROSS: _Runner.across, ops.SCAN: _Runner.scan, ops.BIND: _Runner.bind,
    ops.CHECK: _Runner.check,
}  # fmt: skip


def sizes_of(nest: Graph, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> dict[str, int]:
    """The sizes that the arrays have, and other numbers; the arrays must agree with the types of the buffers."""
    found: dict[str, int] = dict(numbers or {})
    for value, array in zip(nest.inputs, buffers, strict=True):
        if array.ndim != value.type.rank or array.dtype != value.type.dtype.numpy:
            raise ShapeProblem(
                f"'{value.name}' must be {value.type}, not {array.dtype} with {quantity(array.ndim, 'dimension')}"
            )
        for size, number in zip(value.type.shape, array.shape, strict=True):
            if dims.is_symbol(size):
                found.setdefault(str(size), number)
    for value, array in zip(nest.inputs, buffers, strict=True):
        shape = tuple(dims.evaluate(s, found) for s in value.type.shape)
        if shape != array.shape:
            raise ShapeProblem(f"'{value.name}' is {value.type}, so it must have shape {shape} here, not {array.shape}")
    return found


def check_guards(nest: Graph, env: Mapping[str, int]) -> None:
    """Refuses sizes for which the nest is not valid."""
    guards = nest.attrs.get("guards", Guards())
    assert isinstance(guards, Guards)
    for guard in guards:
        if not holds(Guards((guard,)), env):
            raise ShapeProblem(f"{nest.name} needs {Guards((guard,)).texts[0]}, which does not hold for these arrays")


def holds(guards: Any, env: Mapping[str, int]) -> bool:
    """Whether all of some guards hold."""
    return all(dims.evaluate(a, env) == dims.evaluate(b, env) for a, b in guards)


def _range(first: dims.Size, end: dims.Size, lane: Lane) -> range:
    return range(dims.evaluate(first, lane.env), dims.evaluate(end, lane.env))


def _points(node: Node, lane: Lane) -> list[dict[str, int]]:
    """Yields the numbers of a walk's variables; a later range may depend on an earlier variable."""
    points: list[dict[str, int]] = [{}]
    for variable in variables(node):
        points = [
            {**point, variable.name: k}
            for point in points
            for k in _range(variable.first, variable.end, lane.step(**point))
        ]
    return points


def _combined(node: Node, k: int, elements: Array, envs: Sequence[Mapping[str, int]]) -> Any:
    """The result of a walk: a position, the lanes of a tree, or one number."""
    names, result = node.attrs["combine"], node.results[k]
    assert isinstance(names, tuple)
    name, steps = str(names[k]), ints(node.attrs, "steps")[k]
    if name in ops.POSITIONS:
        if not elements.size:
            raise ValueProblem(f"attempt to get {name} of an empty sequence", node.span)
        if "position" not in node.attrs:
            return np.int64(np.argmax(elements) if name == "argmax" else np.argmin(elements))
        places = [dims.evaluate(sizes(node.attrs, "position")[0], env) for env in envs]
        order = np.argsort(places)
        return np.int64(places[order[np.argmax(elements[order]) if name == "argmax" else np.argmin(elements[order])]])
    width = result.type.shape[0] if result.type.kind == "vector" else 1
    assert isinstance(width, int)
    runs = np.split(elements, _starts_of_runs(node, envs)) if steps else [elements]
    partial = tree.walked(UFUNCS[name], identity(name, elements.dtype), runs, width, steps)
    return partial if result.type.kind == "vector" else partial[0]


def _starts_of_runs(node: Node, envs: Sequence[Mapping[str, int]]) -> list[int]:
    """Return the steps at which a range outside the innermost one has advanced."""
    outer = [dims.LOOP + variable.name for variable in variables(node)[:-1]]
    around = [[env[name] for name in outer] for env in envs]
    return [k for k in range(1, len(around)) if around[k] != around[k - 1]]


def identity(name: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of a combiner."""
    if name in ("sum", "any", "reduce_or", "reduce_xor"):
        return dtype.type(0)
    if name in ("prod", "all"):
        return dtype.type(1)
    if name == "reduce_and":
        return np.invert(dtype.type(0))
    if dtype.kind == "f" and name.startswith("reduce"):
        return dtype.type(np.nan)
    name = name.removeprefix("reduce_f")
    if dtype.kind == "f":
        return dtype.type(-np.inf if name == "max" else np.inf)
    if dtype.kind == "b":
        return np.bool_(name == "min")
    return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max


def _multiply_add(a: Any, b: Any, total: Any) -> Any:
    if np.asarray(total).dtype.kind != "f" or np.asarray(total).dtype.itemsize < 4:  # no native code sums up halves
        return total + a * b
    return fma(a, b, total)[()]


def _array(buffer: Value, lane: Lane) -> Array:
    """The memory of a buffer or a view, as an array that can be written through."""
    if buffer.node is None or buffer.node.op is not ops.VIEW:
        array: Array = lane.values[buffer]
        return array
    whole = _array(buffer.node.operands[0], lane)
    if "collapse" in buffer.node.attrs:
        groups = axis_groups(buffer.node.attrs, "collapse")
        turned = whole.transpose([axis for group in groups for axis in group])
        return turned.reshape([math.prod(whole.shape[axis] for axis in group) for group in groups], copy=False)
    names = buffer.node.attrs["vars"]
    assert isinstance(names, tuple)
    shape = tuple(max(0, dims.evaluate(s, lane.env)) for s in buffer.type.shape)
    env = {**lane.env, **dict.fromkeys((dims.LOOP + str(n) for n in names), 0)}
    at = sizes(buffer.node.attrs, "at")
    first = [dims.evaluate(s, env) for s in at]
    strides = []
    for name in names:
        moved = [dims.evaluate(s, {**env, dims.LOOP + str(name): 1}) for s in at]
        strides.append(sum((b - a) * s for a, b, s in zip(first, moved, whole.strides, strict=True)))
    if 0 in shape:
        return np.zeros(shape, whole.dtype)
    start = whole[tuple(slice(k, k + 1) for k in first)]
    return np.lib.stride_tricks.as_strided(start, shape, strides)


def _element(node: Node, buffer: Value, lane: Lane) -> tuple[Array, tuple[int, ...]]:
    """Resolves views to memory and a checked index in it."""
    index = tuple(dims.evaluate(s, lane.env) for s in sizes(node.attrs, "at"))
    while buffer.node is not None and buffer.node.op is ops.VIEW and "collapse" not in buffer.node.attrs:
        names = buffer.node.attrs["vars"]
        assert isinstance(names, tuple)
        env = {**lane.env, **{dims.LOOP + str(n): k for n, k in zip(names, index, strict=True)}}
        index = tuple(dims.evaluate(s, env) for s in sizes(buffer.node.attrs, "at"))
        buffer = buffer.node.operands[0]
    array = _array(buffer, lane)
    assert all(0 <= k < n for k, n in zip(index, array.shape, strict=True)), (node, index, array.shape)
    return array, index
