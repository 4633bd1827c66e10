"""Shrink a failing program to the smallest one that fails in the same link.

Every way of making a program smaller is tried again and again until none helps: fewer outputs, steps replaced by
their operands or by arguments, fewer and simpler arguments, smaller sizes, plain layouts, dtypes and numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .checking import Failure
from .drawing import REFUSALS, quiet
from .inputs import MOODS, Input
from .program import Program, Ref, Step, references, renamed, run

Judge = Callable[[Program], Failure | None]
SIMPLE_DTYPES = ("bool", "int8", "int32", "int64", "float32", "float64")
MAX_SPELLED = 40  # numbers of an argument that are written out


def shrink(program: Program, first: Failure, judge: Judge, seconds: float = 120) -> tuple[Program, Failure]:
    """A small program that fails in the same link, and how it fails."""
    best, failure = program, first
    end = time.monotonic() + seconds
    improved = True
    while improved:
        improved = False
        for smaller in _smaller(best):
            if time.monotonic() > end:
                return best, failure
            found = judge(smaller) if _is_sound(smaller) else None
            if found is not None and found.link == first.link:
                best, failure, improved = smaller, found, True
                break
    return best, failure


def _is_sound(program: Program) -> bool:
    """Tell whether the program can be replayed: it needs an array, and reads only earlier values."""
    first = len(program.inputs)
    passed = any(x.kind != "captured" for x in program.inputs)
    in_order = all(r < first + k for k, s in enumerate(program.steps) for r in references(s))
    return passed and in_order and (program.out is None or _fits_out(program))


def _fits_out(program: Program) -> bool:
    """Tell whether arguments that take results have their dtype and shape."""
    values = _values(program)
    pairs = [(values.get(k), how) for k, how in zip(program.outputs, program.out or (), strict=True)]
    taken = [(x, values[int(how.split()[1])]) for x, how in pairs if how.startswith("input")]
    return all(isinstance(x, np.ndarray) and x.dtype == y.dtype and x.shape == y.shape for x, y in taken)


def _smaller(program: Program) -> Iterator[Program]:
    yield from _fewer_outputs(program)
    yield from _fewer_steps(program)
    yield from _cut_off(program)
    yield from _simpler_steps(program)
    yield from _simpler_inputs(program)
    yield from _smaller_sizes(program)
    yield from _simpler_numbers(program)


def _fewer_outputs(program: Program) -> Iterator[Program]:
    if program.out is not None:
        yield replace(program, out=None)
    if program.resized is not None:
        yield replace(program, resized=None, apart=False)
    if len(program.outputs) > 1:
        for k in range(len(program.outputs)):
            outputs = (*program.outputs[:k], *program.outputs[k + 1 :])
            out = None if program.out is None else (*program.out[:k], *program.out[k + 1 :])
            yield pruned(replace(program, outputs=outputs, out=out))
        values = range(len(program.inputs), len(program.inputs) + len(program.steps))
        yield from (pruned(replace(program, outputs=(k,), out=None)) for k in values if (k,) != program.outputs)


def _fewer_steps(program: Program) -> Iterator[Program]:
    """A step replaced by one of the values that it reads."""
    first = len(program.inputs)
    for k in reversed(range(len(program.steps))):
        for operand in dict.fromkeys(references(program.steps[k])):
            to = {n: Ref(n) for n in range(first + len(program.steps))} | {first + k: Ref(operand)}
            steps = tuple(renamed(s, to) for s in program.steps)
            outputs = tuple(to[n].index for n in program.outputs)
            yield pruned(replace(program, steps=steps, outputs=outputs, out=None))


def _cut_off(program: Program) -> Iterator[Program]:
    """A step replaced by an argument that has its value."""
    values = _values(program)
    first = len(program.inputs)
    for k in reversed(range(len(program.steps) - 1)):
        x = values.get(first + k)
        if not isinstance(x, (np.ndarray, np.generic)) or x.size > MAX_SPELLED:
            continue
        made = Input(x.dtype.name, x.shape, numbers=tuple(np.asarray(x).ravel().tolist()))
        to = {n: Ref(n) if n < first else Ref(n + 1) for n in range(first + len(program.steps))} | {
            first + k: Ref(first)
        }
        steps = tuple(renamed(s, to) for s in program.steps)
        outputs = tuple(to[n].index for n in program.outputs)
        yield pruned(replace(program, inputs=(*program.inputs, made), steps=steps, outputs=outputs, out=None))


def _values(program: Program) -> dict[int, Any]:
    values: list[Any] = [x.make() for x in program.inputs]
    with quiet():
        for step in program.steps:
            try:
                values.append(run(step, values))
            except REFUSALS:
                break
    return dict(enumerate(values))


def _simpler_steps(program: Program) -> Iterator[Program]:
    for k, step in enumerate(program.steps):
        for key in step.kwargs:
            yield _with_step(program, k, replace(step, kwargs={n: x for n, x in step.kwargs.items() if n != key}))
        for args in _simpler_arguments(step.args):
            yield _with_step(program, k, replace(step, args=args))


def _simpler_arguments(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for n, x in enumerate(args):
        for simple in _simpler_argument(x):
            yield (*args[:n], simple, *args[n + 1 :])


def _simpler_argument(x: Any) -> Iterator[Any]:
    if isinstance(x, np.generic):
        yield x.item()
    elif isinstance(x, (tuple, list)) and len(x) > 1:
        yield from (type(x)((*x[:k], *x[k + 1 :])) for k in range(len(x)))
        yield from (type(x)((*x[:k], y, *x[k + 1 :])) for k, z in enumerate(x) for y in _simpler_argument(z))
    elif isinstance(x, slice):
        yield from (s for s in (slice(None), slice(x.start, None), slice(None, None, x.step)) if s != x)
    elif type(x) in (int, float) and not (np.isfinite(x) and x in (0, 1, 2)):
        yield from (0, 1, 2)


def _simpler_inputs(program: Program) -> Iterator[Program]:
    for k, x in enumerate(program.inputs):
        if x.kind == "captured":
            yield _with_input(program, k, replace(x, kind="array"))
        if x.layout != "C":
            yield _with_input(program, k, replace(x, layout="C"))
        for dtype in SIMPLE_DTYPES[: SIMPLE_DTYPES.index(x.dtype) if x.dtype in SIMPLE_DTYPES else None]:
            yield _with_input(program, k, replace(x, dtype=dtype, numbers=None))
        if x.numbers is None:
            yield from (_with_input(program, k, replace(x, mood=m)) for m in list(MOODS)[: list(MOODS).index(x.mood)])


def _smaller_sizes(program: Program) -> Iterator[Program]:
    """Reduce a size wherever it occurs, then in one argument, then drop an axis everywhere."""
    sizes = sorted({n for x in program.inputs for n in x.shape if n > 1}, reverse=True)
    for n in sizes:
        for smaller in dict.fromkeys((1, 2, 3, n // 2, n - 1)):
            if smaller < n:
                yield _resized(program, n, smaller)
    for n, m in (program.resized or {}).items():
        yield from (replace(program, resized={**program.resized, n: k}) for k in (0, 2, 3, m // 2) if k < m and k != 1)
    for k, x in enumerate(program.inputs):
        for axis, n in enumerate(x.shape):
            yield _with_input(program, k, _reshaped(x, x.shape[:axis] + x.shape[axis + 1 :]))
            if n > 1:
                yield _with_input(program, k, _reshaped(x, (*x.shape[:axis], 1, *x.shape[axis + 1 :])))


def _resized(program: Program, old: int, new: int) -> Program:
    shapes = [tuple(new if n == old else n for n in x.shape) for x in program.inputs]
    inputs = tuple(
        x if shape == x.shape else _reshaped(x, shape) for x, shape in zip(program.inputs, shapes, strict=True)
    )
    resized = program.resized and {(new if n == old else n): m for n, m in program.resized.items()}
    return replace(program, inputs=inputs, resized=resized)


def _reshaped(x: Input, shape: tuple[int, ...]) -> Input:
    if x.numbers is None:
        return replace(x, shape=shape)
    # The numbers that stay are those at the same places.
    whole = x.flat.reshape(x.shape)
    if len(shape) == len(x.shape):
        cut = whole[tuple(slice(n) for n in shape)]
    else:
        cut = whole.ravel()[: int(np.prod(shape, dtype=int))]
    return replace(x, shape=shape, numbers=tuple(cut.ravel().tolist()))


def _simpler_numbers(program: Program) -> Iterator[Program]:
    """List the numbers, then replace each by 0 or 1."""
    for k, x in enumerate(program.inputs):
        size = int(np.prod(x.shape, dtype=int))
        if x.numbers is None and 0 < size <= MAX_SPELLED:
            yield _with_input(program, k, replace(x, numbers=tuple(x.flat.tolist())))
        elif x.numbers is not None:
            for at, number in enumerate(x.numbers):
                for simple in (0, 1):
                    if not _is_same(number, simple) and not (simple and _is_same(number, 0)):
                        numbers = (*x.numbers[:at], simple, *x.numbers[at + 1 :])
                        yield _with_input(program, k, replace(x, numbers=numbers))


def _is_same(x: Any, y: int) -> bool:
    return bool(x == y) and not np.signbit(np.real(x))


def _with_step(program: Program, k: int, step: Step) -> Program:
    return pruned(replace(program, steps=(*program.steps[:k], step, *program.steps[k + 1 :])))


def _with_input(program: Program, k: int, x: Input) -> Program:
    return replace(program, inputs=(*program.inputs[:k], x, *program.inputs[k + 1 :]))


def pruned(program: Program) -> Program:
    """Drop steps and arguments that no output needs; one argument stays."""
    first = len(program.inputs)
    needed = set(program.outputs)
    for k in reversed(range(len(program.steps))):
        if first + k in needed:
            needed |= set(references(program.steps[k]))
    kept = {int(h.split()[1]) for h in program.out or () if h.startswith("input")}
    inputs = [k for k in range(first) if k in needed | kept] or [0]
    steps = [k for k in range(len(program.steps)) if first + k in needed]
    order = [*inputs, *(first + k for k in steps)]
    to: Mapping[int, Any] = {old: Ref(new) for new, old in enumerate(order)}
    out = program.out and tuple(
        f"input {to[int(h.split()[1])].index}" if h.startswith("input") else h for h in program.out
    )
    return Program(
        tuple(program.inputs[k] for k in inputs),
        tuple(renamed(program.steps[k], to) for k in steps),
        tuple(to[k].index for k in program.outputs),
        out,
        program.resized,
        program.apart,
    )
